"""What KServe makes of InferenceServices (0.15.2) and LLMInferenceServices (0.20), case by case."""

from __future__ import annotations

from typing import Any

import pytest

from tests.definitions.builders import read, requests, roles
from tests.kube.objects import merged

Object = dict[str, Any]
GPU = "nvidia.com/gpu"
RAW = "serving.kserve.io/deploymentMode"
SCALER = "serving.kserve.io/autoscalerClass"


def asks(**requests: Any) -> Object:
    return {"resources": {"requests": requests}}


def gpus(number: int) -> Object:
    return {"resources": {"requests": {GPU: number}, "limits": {GPU: number}}}


def main(**resources: Any) -> Object:
    """A pod spec of the one container that serves."""
    return {"containers": [{"name": "main", **resources}]}


def told(*objects: Object) -> list[str]:
    """Faults as path: message."""
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}" for fault in read(*objects).faults]


class TestInferenceService:
    def service(self, predictor: Object, **annotations: str) -> Object:
        return {
            "apiVersion": "serving.kserve.io/v1beta1",
            "kind": "InferenceService",
            "metadata": {"name": "chat", "namespace": "team", "annotations": {RAW: "RawDeployment", **annotations}},
            "spec": {"predictor": predictor},
        }

    def nodes(self, tensor: int, pipeline: int, head: int, worker: int) -> Object:
        container = {"name": "worker-container", **(gpus(worker) if worker else {})}
        model = {"modelFormat": {"name": "huggingface"}, "storageUri": "pvc://models", **(gpus(head) if head else {})}
        spec = {"tensorParallelSize": tensor, "pipelineParallelSize": pipeline, "containers": [container]}
        return self.service({"model": model, "workerSpec": spec}, **{SCALER: "none"})

    @pytest.mark.parametrize(
        ("tensor", "pipeline", "head", "worker", "pods", "of_head", "of_worker"),
        [
            (4, 2, 4, 4, 1, 4, 4),
            (8, 4, 8, 8, 3, 8, 8),
            (2, 2, 0, 1, 3, 1, 1),
            (4, 2, 0, 2, 3, 2, 2),
            (2, 2, 1, 0, 3, 1, 1),
            (2, 2, 0, 0, 3, 1, 1),
            (4, 1, 4, 1, 0, 4, 0),
        ],
    )
    def test_nodes_and_their_gpus(
        self, tensor: int, pipeline: int, head: int, worker: int, pods: int, of_head: int, of_worker: int
    ) -> None:
        found = roles(self.nodes(tensor, pipeline, head, worker))
        assert requests(found["head"])[GPU] == of_head
        assert (found["worker"].replicas if "worker" in found else 0) == pods
        if pods:
            assert requests(found["worker"])[GPU] == of_worker

    def test_without_its_runtime_the_usual_one_stands_in_and_the_answer_is_open(self) -> None:
        workload = read(self.service({"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://m"}}))
        assert [missing.guessed for missing in workload.missing] == [True]
        assert requests(workload.roles[0]) == {"cpu": 1000, "memory": 2 * 1024**3}
        assert any("KServe 0.15.2" in note.text and note.warns for note in workload.notes)

    def test_a_given_number_of_gpus_counts_whatever_the_runtime(self) -> None:
        model = {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://m", **gpus(3)}
        workload = read(self.service({"model": model}))
        assert requests(workload.roles[0])[GPU] == 3
        assert workload.missing

    @pytest.mark.parametrize(
        ("model", "known"),
        [
            ({"modelFormat": {"name": "rare"}}, False),
            ({"modelFormat": {"name": "rare"}, "runtime": "own"}, False),
            ({"modelFormat": {"name": "sklearn"}, "runtime": "own"}, False),
            ({"modelFormat": {"name": "sklearn"}, "runtime": "kserve-sklearnserver"}, True),
            ({"modelFormat": {"name": "sklearn", "version": "1"}}, True),
            ({"modelFormat": {"name": "sklearn", "version": "77"}}, False),
            ({"modelFormat": {"name": "sklearn"}, "protocolVersion": "grpc-v9"}, False),
        ],
    )
    def test_only_a_default_runtime_stands_in(self, model: Object, known: bool) -> None:
        workload = read(self.service({"model": {"storageUri": "s3://m", **model}}))
        assert (workload.is_open, bool(workload.roles)) == (not known, known)
        assert [missing.guessed for missing in workload.missing] == [known]

    @pytest.mark.parametrize(
        "spec",
        [
            {"supportedModelFormats": [{"name": "other", "autoSelect": True}]},
            {"supportedModelFormats": [{"name": "rare"}]},
            {"supportedModelFormats": [{"name": "rare", "autoSelect": True}], "disabled": True},
            {"supportedModelFormats": [{"name": "rare", "autoSelect": True}], "protocolVersions": ["v2"]},
        ],
        ids=["another format", "not by itself", "disabled", "another protocol"],
    )
    def test_a_runtime_that_a_model_does_not_choose_is_none(self, spec: Object) -> None:
        containers = [{"name": "kserve-container", **gpus(4)}]
        runtime = {
            "apiVersion": "serving.kserve.io/v1alpha1",
            "kind": "ServingRuntime",
            "metadata": {"name": "own"},
            "spec": {"containers": containers, **spec},
        }
        workload = read(self.service({"model": {"modelFormat": {"name": "rare"}, "storageUri": "s3://m"}}), runtime)
        assert workload.is_open
        assert [note.text for note in workload.notes if note.rule == "reference"] == []
        assert [one.title for one in workload.missing] == [
            "any ServingRuntime or any ClusterServingRuntime that supports its model"
        ]

    @pytest.mark.parametrize(
        ("spec", "refused"),
        [
            ({"supportedModelFormats": [{"name": "rare"}]}, False),
            ({"supportedModelFormats": [{"name": "rare", "version": "2"}]}, False),
            ({"supportedModelFormats": [{"name": "other"}]}, True),
            ({"supportedModelFormats": [{"name": "rare"}], "disabled": True}, True),
        ],
    )
    def test_a_runtime_that_is_named_must_support_the_model(self, spec: Object, refused: bool) -> None:
        runtime = {
            "apiVersion": "serving.kserve.io/v1alpha1",
            "kind": "ClusterServingRuntime",
            "metadata": {"name": "own"},
            "spec": {"containers": [{"name": "kserve-container", **gpus(4)}], **spec},
        }
        model = {"modelFormat": {"name": "rare"}, "runtime": "own", "storageUri": "s3://m"}
        workload = read(self.service({"model": model}), runtime)
        said = ["names a runtime that is disabled or does not support the model"] * refused
        assert [fault.message for fault in workload.faults] == said

    def test_a_runtime_of_the_namespace_comes_before_that_of_the_cluster(self) -> None:
        def runtime(kind: str, cpu: str, **metadata: str) -> Object:
            spec = {
                "supportedModelFormats": [{"name": "rare", "autoSelect": True}],
                "containers": [{"name": "kserve-container", **asks(cpu=cpu, memory="1Gi")}],
            }
            metadata = {"name": kind.lower(), **metadata}
            return {"apiVersion": "serving.kserve.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}

        own, shared = runtime("ServingRuntime", "3", namespace="team"), runtime("ClusterServingRuntime", "5")
        service = self.service({"model": {"modelFormat": {"name": "rare"}, "storageUri": "pvc://m/x"}})
        assert requests(roles(service, shared, own)["predictor"])["cpu"] == 3000
        assert requests(roles(service, shared)["predictor"])["cpu"] == 5000

    @pytest.mark.parametrize(
        ("predictor", "fault"),
        [
            ({}, "spec.predictor: must have one model, one framework or a container of its own"),
            ({"sklearn": {}, "xgboost": {}}, "spec.predictor: must have one model, one framework or a container"),
            ({"sklearn": {}, "minReplicas": 3, "maxReplicas": 2}, "spec.predictor.minReplicas: is above maxReplicas"),
            ({"sklearn": {"resources": {"limits": {"cpu": "x"}}}}, "spec.predictor.sklearn.resources.limits.cpu: "),
            ({"sklearn": {}, "nodeSelector": {"a": 1}}, "spec.predictor.nodeSelector.a: must be text"),
        ],
    )
    def test_what_is_refused(self, predictor: Object, fault: str) -> None:
        (found,) = told(self.service(predictor))
        assert found.startswith(fault)


def llm(annotations: Object | None = None, labels: Object | None = None, **spec: Any) -> Object:
    metadata = {"name": "chat", "namespace": "team", "annotations": annotations or {}, "labels": labels or {}}
    return {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": "LLMInferenceService",
        "metadata": metadata,
        "spec": {"model": {"uri": "pvc://models/chat"}, **spec},
    }


def config(name: str, namespace: str = "kserve", **spec: Any) -> Object:
    metadata = {"name": name, "namespace": namespace}
    kind = "LLMInferenceServiceConfig"
    return {"apiVersion": "serving.kserve.io/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}


class TestConfigs:
    def test_later_ones_come_before_earlier_ones_and_the_object_before_all(self) -> None:
        service = llm(
            baseRefs=[{"name": "a"}, {"name": "b"}],
            template={"nodeSelector": {"c": "own"}, "containers": [{"name": "main", **asks(cpu=3)}]},
        )
        first = config(
            "a",
            replicas=2,
            template={"nodeSelector": {"a": "1", "b": "1", "c": "1"}, **main(**asks(cpu=1, memory="1Gi"))},
        )
        second = config("b", replicas=5, template={"nodeSelector": {"b": "2"}, **main(**asks(cpu=2, **{GPU: 1}))})
        found = roles(service, first, second)["workload"]
        assert found.replicas == 5
        assert requests(found) == {"cpu": 3000, "memory": 1024**3, GPU: 1}
        assert dict(found.template.nodes.pairs) == {"a": "1", "b": "2", "c": "own"}

    def test_containers_and_volumes_are_joined_by_name_and_tolerations_replaced(self) -> None:
        claim = {"persistentVolumeClaim": {"claimName": "given"}}
        given = config(
            "a",
            template={
                "containers": [{"name": "main", **asks(cpu=1)}, {"name": "side", **asks(cpu=2)}],
                "volumes": [{"name": "kept", **claim}, {"name": "changed", **claim}],
                "tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}],
            },
        )
        own = {
            "containers": [{"name": "more", **asks(cpu=4)}, {"name": "side", **asks(memory="1Gi")}],
            "volumes": [{"name": "changed", "emptyDir": {}}],
            "tolerations": [{"key": "c", "operator": "Exists"}],
        }
        found = roles(llm(baseRefs=[{"name": "a"}], template=own), given)["workload"]
        assert requests(found) == {"cpu": 7000, "memory": 1024**3}
        assert found.template.volume_claims == ("given", "models")
        assert [toleration.key for toleration in found.template.tolerations] == ["c"]

    def test_those_of_the_namespace_come_first(self) -> None:
        others = config("a", replicas=7), config("a", "team", replicas=2), config("a", "other", replicas=9)
        assert roles(llm(baseRefs=[{"name": "a"}]), *others)["workload"].replicas == 2

    def test_without_one_nobody_knows_the_pods(self) -> None:
        (missing,) = read(llm(baseRefs=[{"name": "a"}, {"name": "b"}]), config("a")).missing
        assert (missing.required, missing.guessed) == (True, False)
        assert missing.title == "LLMInferenceServiceConfig b or LLMInferenceServiceConfig kserve/b"

    @pytest.mark.parametrize(
        ("spec", "fault"),
        [
            ({"replicas": 2}, "spec: has both replicas and scaling with its configs"),
            ({"worker": main()}, "spec: has a worker but no parallelism with its configs"),
        ],
    )
    def test_what_they_make_of_the_object_is_judged(self, spec: Object, fault: str) -> None:
        scaling = {"maxReplicas": 3, "wva": {"hpa": {}}}
        assert fault in told(llm(baseRefs=[{"name": "a"}], scaling=scaling), config("a", **spec))

    def test_pipelines_over_nodes_need_one_that_nobody_installs(self) -> None:
        (missing,) = read(llm(parallelism={"pipeline": 2}, worker=main())).missing
        assert missing.path == ("spec", "parallelism")
        assert "kserve-config-llm-worker-pipeline-parallel" in missing.title


PRESETS = "presets"


class TestPresets:
    """Containers that only the cluster's presets know: what is usual asks for nothing, but that is no certain zero."""

    @pytest.mark.parametrize(
        ("spec", "paths"),
        [
            ({}, ["spec.template"]),
            ({"template": {"nodeSelector": {"gpu": "large"}}}, ["spec.template"]),
            ({"template": {"containers": [{"name": "beside"}]}}, ["spec.template"]),
            ({"template": main(**gpus(2))}, []),
            ({"template": main()}, []),
            ({"template": main(), "prefill": {}}, ["spec.prefill.template"]),
            ({"template": main(), "prefill": {"template": main()}}, []),
            ({"worker": main(), "parallelism": {"data": 16, "dataLocal": 8}}, ["spec.template"]),
            (
                {"template": main(), "worker": {"nodeName": "a"}, "parallelism": {"data": 16, "dataLocal": 8}},
                ["spec.worker"],
            ),
            ({"template": main(), "worker": main(), "parallelism": {"data": 16, "dataLocal": 8}}, []),
        ],
    )
    def test_they_are_a_doubt(self, spec: Object, paths: list[str]) -> None:
        found = read(llm(**spec)).unmodelled
        assert [one.path for one in found if PRESETS in one.text] == paths

    def test_configs_may_say_them(self) -> None:
        service = llm(baseRefs=[{"name": "base"}])
        assert [one for one in read(service, config("base", template=main())).unmodelled if PRESETS in one.text] == []
        assert [one for one in read(service, config("base", replicas=2)).unmodelled if PRESETS in one.text]


@pytest.mark.parametrize("stop", ["true", "false"])
def test_what_is_stopped_says_so(stop: str) -> None:
    stopped = {"metadata": {"annotations": {"serving.kserve.io/stop": stop}}}
    service = TestInferenceService().service({"containers": [{"name": "it", "image": "x"}]})
    for one in (service, llm(template=main())):
        workload = read(merged(one, stopped))
        notes = [(note.rule, note.path) for note in workload.notes if note.rule == "suspended"]
        assert notes == [("suspended", 'metadata.annotations["serving.kserve.io/stop"]')] * (stop == "true")
        assert (workload.waits, workload.pods) == (stop == "true", 1)


class TestNodes:
    @pytest.mark.parametrize(("data", "local", "workers"), [(8, 4, 1), (32, 8, 3), (8, 3, 1), (8, 8, 0), (4, 8, 0)])
    def test_a_group_has_a_leader_and_workers(self, data: int, local: int, workers: int) -> None:
        parallelism = {"data": data, "dataLocal": local}
        service = llm(replicas=3, parallelism=parallelism, template=main(**gpus(4)), worker=main())
        found = roles(service)
        assert (found["leader"].replicas, found["leader"].minimum) == (3, 1)
        assert requests(found["leader"]) == {GPU: 4}
        assert (found["worker"].replicas if "worker" in found else 0) == 3 * workers
        (group,) = read(service).groups
        assert (group.count, sum(group.members.values())) == (3, workers + 1)

    def test_without_a_template_the_leader_is_the_presets_which_asks_for_nothing(self) -> None:
        service = llm(parallelism={"data": 2, "dataLocal": 1}, worker=main(**gpus(8)))
        found = roles(service)
        assert (requests(found["leader"]), requests(found["worker"])) == ({}, {GPU: 8})
        assert [note.path for note in read(service).notes if note.warns] == ["spec.worker"]

    def test_an_autoscaler_scales_whole_groups(self) -> None:
        scaling = {"minReplicas": 2, "maxReplicas": 5, "wva": {"keda": {}}}
        service = llm(parallelism={"data": 4, "dataLocal": 1}, template=main(), worker=main(), scaling=scaling)
        found = roles(service)
        assert [(one.replicas, one.minimum, one.maximum) for one in found.values()] == [(2, 2, 5), (6, 6, 15)]

    def test_labels_of_a_group(self) -> None:
        parallelism = {"data": 2, "dataLocal": 1}
        prefill = {"parallelism": parallelism, "template": main(), "worker": main()}
        found = roles(llm(parallelism=parallelism, template=main(), worker=main(), prefill=prefill))
        component, serving = "app.kubernetes.io/component", "llm-d.ai/role"
        labels = {name: dict(role.template.labels) for name, role in found.items()}
        assert {name: (one[component], one.get(serving)) for name, one in labels.items()} == {
            "decode-leader": ("llminferenceservice-workload-leader", "decode"),
            "decode-worker": ("llminferenceservice-workload-worker", None),
            "prefill-leader": ("llminferenceservice-workload-leader-prefill", "prefill"),
            "prefill-worker": ("llminferenceservice-workload-worker-prefill", None),
        }
        sets = {one["leaderworkerset.sigs.k8s.io/name"] for one in labels.values()}
        assert sets == {"chat-kserve-mn", "chat-kserve-mn-prefill"}

    def test_exclusive_places_are_handed_down(self) -> None:
        annotations = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"}
        service = llm(annotations, parallelism={"data": 2, "dataLocal": 1}, template=main(), worker=main())
        assert [(one.key, one.exclusive) for one in roles(service)["worker"].topology] == [("rack", True)]


class TestRouter:
    def config(self, *types: str, text: bool = False) -> Object:
        inline: Any = {"plugins": [{"type": one} for one in types]}
        if text:
            inline = "plugins:\n" + "".join(f"- type: {one}\n" for one in types)
        return {"scheduler": {"config": {"inline": inline}}}

    @pytest.mark.parametrize("text", [False, True])
    @pytest.mark.parametrize(
        ("plugin", "cpu", "names"),
        [
            ("latency-scorer", 1, ["workload", "scheduler"]),
            ("predicted-latency-producer", 11, ["workload", "scheduler"]),
            ("token-producer", 1, ["workload", "scheduler", "tokenizer"]),
            ("precise-prefix-cache-scorer", 1, ["workload", "scheduler", "tokenizer"]),
        ],
    )
    def test_plugins_bring_containers_and_pods(self, plugin: str, cpu: int, names: list[str], text: bool) -> None:
        found = roles(llm(router=self.config("queue-scorer", plugin, text=text)))
        assert list(found) == names
        assert requests(found["scheduler"])["cpu"] == cpu * 1000

    def test_its_own_sizes_count(self) -> None:
        router = {"scheduler": {"replicas": 2, "template": main(**asks(cpu=3))}}
        found = roles(llm(router=router))["scheduler"]
        assert (found.replicas, requests(found)) == (2, {"cpu": 3000, "memory": 2 * 1024**3})

    @pytest.mark.parametrize("router", [{}, {"route": {}}, {"scheduler": {"pool": {"ref": {"name": "other"}}}}])
    def test_without_one_of_its_own_there_is_none(self, router: Object) -> None:
        assert list(roles(llm(router=router))) == ["workload"]

    def test_plugins_that_were_not_read_are_a_doubt(self) -> None:
        router = {"scheduler": {"config": {"ref": {"name": "plugins", "key": "epp"}}}}
        (doubt,) = read(llm(router=router, template=main())).unmodelled
        assert doubt.path == "spec.router.scheduler.config.ref"


class TestPods:
    @pytest.mark.parametrize(
        ("uri", "cpu", "claims"),
        [("hf://a/b", 100, ()), ("s3://a/b", 100, ()), ("oci://a/b:1", 10, ()), ("pvc://models/a", 0, ("models",))],
    )
    def test_where_the_model_lies(self, uri: str, cpu: int, claims: tuple[str, ...]) -> None:
        found = roles(llm(model={"uri": uri}))["workload"]
        assert requests(found).get("cpu", 0) == cpu
        assert found.template.volume_claims == claims

    def test_nothing_is_fetched_where_that_is_off(self) -> None:
        found = roles(llm(model={"uri": "gs://a"}, storageInitializer={"enabled": False}))["workload"]
        assert requests(found) == {}

    def test_adapters_are_fetched_too(self) -> None:
        model = {"uri": "pvc://models/a", "lora": {"adapters": [{"name": "x", "uri": "hf://a/x"}]}}
        assert requests(roles(llm(model=model))["workload"])["cpu"] == 100

    def test_tiers_of_a_cache_take_room_on_disks(self) -> None:
        tiers = [
            {"fileSystem": {"emptyDir": {"size": "10Gi"}}},
            {"fileSystem": {"pvc": {"ref": {"name": "slow"}}}},
            {"fileSystem": {"emptyDir": {"size": "500Mi"}}},
        ]
        offloading = {"cpu": "1Gi", "secondary": tiers}
        template = main(**asks(**{"ephemeral-storage": "1Gi"}))
        found = roles(llm(template=template, kvCacheOffloading=offloading))["workload"]
        assert requests(found)["ephemeral-storage"] == 11 * 1024**3 + 500 * 1024**2
        assert found.template.volume_claims == ("models", "slow")

    @pytest.mark.parametrize(("count", "devices"), [(None, 1), ("", 1), (" 3 ", 3)])
    def test_managed_devices_are_claims_of_pods_that_serve(self, count: str | None, devices: int) -> None:
        annotations = {"serving.kserve.io/exp-dra-device-class": "gpu.example.com"}
        if count is not None:
            annotations["serving.kserve.io/exp-dra-device-count"] = count
        prefill = {"template": main()}
        found = roles(llm(annotations, template=main(), prefill=prefill, router={"scheduler": {}}))
        for name in ("decode", "prefill"):
            (claim,) = found[name].template.device_claims
            assert claim.devices == {"gpu.example.com": devices}
        assert found["scheduler"].template.device_claims == ()

    def test_labels_of_the_manifest_win(self) -> None:
        service = llm(labels={"kueue.x-k8s.io/queue-name": "q", "dropped": "x"})
        service["spec"]["labels"] = {"app.kubernetes.io/name": "other", "team": "a"}
        labels = dict(roles(service)["workload"].template.labels)
        assert labels["app.kubernetes.io/name"] == "other"
        assert (labels["llm-d.ai/role"], labels["kueue.x-k8s.io/queue-name"]) == ("both", "q")
        assert "dropped" not in labels


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"model": {}}, "spec.model.uri: is required, as no config says it"),
        ({"model": {"uri": "models/chat"}}, "spec.model.uri: must begin with what it is and ://, such as hf://"),
        ({"model": {"uri": "gs://a"}}, "spec.model.uri: must be of pvc, oci, hf or s3, as KServe has to fetch it"),
        ({"worker": main()}, "spec.worker: needs parallelism with data and dataLocal, or with pipeline"),
        ({"parallelism": {"data": 2}}, "spec.parallelism: must have both data and dataLocal or neither"),
        (
            {"parallelism": {"data": 2, "dataLocal": 1, "pipeline": 2}},
            "spec.parallelism: cannot have pipeline beside data",
        ),
        ({"parallelism": {"tensor": 0}}, "spec.parallelism.tensor: must be at least 1"),
        ({"scaling": {"maxReplicas": 2}}, "spec.scaling: must have either wva or keda"),
        (
            {"prefill": {"replicas": 1, "scaling": {"maxReplicas": 2, "keda": {"triggers": []}}}},
            "spec.prefill.scaling: cannot stand beside replicas",
        ),
        (
            {"scaling": {"minReplicas": 3, "maxReplicas": 2, "wva": {"hpa": {}}}},
            "spec.scaling.minReplicas: must be at least 1 and at most maxReplicas",
        ),
        ({"router": {"scheduler": {"replicas": 0}}}, "spec.router.scheduler.replicas: must be at least 1"),
        ({"router": {"scheduler": {"config": {}}}}, "spec.router.scheduler.config: must have either inline or ref"),
        ({"template": main(**asks(cpu="x"))}, "spec.template.containers.0.resources.requests.cpu: "),
    ],
)
def test_what_is_refused(spec: Object, fault: str) -> None:
    assert [one for one in told(llm(**spec)) if one.startswith(fault)], told(llm(**spec))


@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5"])
def test_a_number_of_managed_devices_that_is_none(count: str) -> None:
    annotations = {
        "serving.kserve.io/exp-dra-device-class": "gpu.example.com",
        "serving.kserve.io/exp-dra-device-count": count,
    }
    (fault,) = told(llm(annotations))
    assert fault.endswith("must be a number, at least 1")
