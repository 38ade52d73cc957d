"""What single kinds of the catalogue make of their manifests: minimums, refusals, what controllers add, co-location."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from advisor import files
from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.company import shortages
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.labels import HOSTNAME, PodAffinityTerm
from advisor.workload import Role, Workload
from tests.builders import TEAM, bound, cluster, nodes, question

Data = dict[str, Any]


def read(api_version: str, kind: str, spec: Data, **metadata: Any) -> Workload:
    manifest = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": TEAM, **metadata},
        "spec": spec,
    }
    (workload,) = reading.read(files.documents(files.Source("x", json.dumps(manifest))), Catalog()).workloads
    return workload


def faults(workload: Workload) -> list[str]:
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}" for fault in workload.faults]


def warnings(workload: Workload) -> list[str]:
    return [f"{note.path}: {note.text}" for note in workload.notes if note.warns]


def template(name: str = "main", *, gpu: int = 0, **spec: Any) -> Data:
    resources = {"limits": {"nvidia.com/gpu": gpu}} if gpu else {}
    return {"spec": {"containers": [{"name": name, "image": "x", "resources": resources}], **spec}}


def role(workload: Workload, name: str) -> Role:
    (found,) = [role for role in workload.roles if role.name == name]
    return found


def labels(found: Role) -> dict[str, str]:
    """Values that are known, and of others whose they are: ? can be guessed, ~ is not sure."""
    said = {
        label.key: label.value or f"<{label.of}{'?' * label.guessable}{'~' * (not label.sure)}>"
        for label in found.template.made
    }
    return dict(found.template.labels) | said


def selected(term: PodAffinityTerm) -> set[str]:
    return {str(requirement) for requirement in term.selector.requirements} if term.selector else set()


def groups(workload: Workload) -> list[tuple[int, Mapping[str, int]]]:
    return [(group.count, dict(group.members)) for group in workload.groups]


def verdict(workload: Workload, here: ClusterSnapshot) -> str:
    (found,) = advise(question(workload, here)).answers[0].verdicts
    return found.verdict


class TestVolcanoJob:
    def job(self, *tasks: Data, **spec: Any) -> Workload:
        return read("batch.volcano.sh/v1alpha1", "Job", {"tasks": list(tasks), **spec})

    @pytest.mark.parametrize(
        ("least", "minimums", "together", "at_least"),
        [
            (None, {"a": 2, "b": 4}, [(1, {"a": 2, "b": 4})], 6),
            (0, {"a": 2, "b": 4}, [(1, {"a": 2, "b": 4})], 6),
            (6, {"a": 2, "b": 4}, [(1, {"a": 2, "b": 4})], 6),
            (5, {"a": 1, "b": 3}, [], 5),  # below the tasks' sum: any five of the six
            (1, {"a": 0, "b": 0}, [], 1),
        ],
    )
    def test_the_pods_that_must_start(
        self, least: int | None, minimums: Data, together: list[Any], at_least: int
    ) -> None:
        stated = {} if least is None else {"minAvailable": least}
        tasks = [{"name": name, "replicas": pods, "template": template()} for name, pods in (("a", 2), ("b", 4))]
        found = self.job(*tasks, **stated)
        assert {role.name: role.minimum for role in found.roles} == minimums
        assert groups(found) == together
        assert found.min_available == at_least

    def test_the_minimum_of_a_task_holds_where_the_job_needs_as_many(self) -> None:
        one = {"name": "a", "replicas": 4, "minAvailable": 1, "template": template()}
        two = {"name": "b", "replicas": 2, "template": template()}
        found = self.job(one, two, minAvailable=4)
        assert {role.name: role.minimum for role in found.roles} == {"a": 1, "b": 2}
        assert (groups(found), found.min_available) == ([(1, {"a": 1, "b": 2})], 4)

    def test_partitions_that_must_start(self) -> None:
        parts = {"totalPartitions": 3, "partitionSize": 2, "minPartitions": 2}
        found = self.job({"name": "a", "replicas": 6, "partitionPolicy": parts, "template": template()})
        assert (role(found, "a").minimum, found.min_available) == (4, 4)
        wrong = self.job({"name": "a", "replicas": 5, "partitionPolicy": parts, "template": template()})
        assert faults(wrong) == ["spec.tasks.0.replicas: must be the partitions times their size"]

    def test_what_its_pods_have_from_the_job(self) -> None:
        volumes = [
            {"mountPath": "/in", "volumeClaimName": "data"},
            {"mountPath": "/out", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}},
        ]
        task = {"replicas": 2, "template": template(priorityClassName="own")}
        other = {"replicas": 1, "template": template(schedulerName="default-scheduler")}
        found = self.job(task, other, volumes=volumes, priorityClassName="high", queue="team")
        one, two = (role.template for role in found.roles)
        assert (one.scheduler, one.priority_class, one.volume_claims) == ("volcano", "own", ("data",))
        assert (two.scheduler, two.priority_class) == ("default-scheduler", "high")
        assert labels(found.roles[0]) == {
            "volcano.sh/job-name": "x",
            "volcano.sh/job-namespace": "team",
            "volcano.sh/queue-name": "team",
            "volcano.sh/task-index": "<pod?>",
            "volcano.sh/task-spec": "default0",
        }
        assert [(asked.path, asked.needs) for asked in found.unmodelled] == [
            ("spec.queue", "scheduling.volcano.sh"),
            ("spec.volumes", ""),
        ]

    @pytest.mark.parametrize(
        ("plugins", "ports"),
        [
            ({"pytorch": []}, {"master": [23456], "worker": [23456]}),
            ({"pytorch": ["--port=5000", "-port", "6000"]}, {"master": [6000], "worker": [6000]}),
            ({"pytorch": ["--master=boss"]}, {"master": [], "worker": []}),
            ({"mpi": ["--master=boss"], "ssh": None}, {"master": [22], "worker": [22]}),
            ({"ray": ["--head=master", "--headContainer=main"]}, {"master": [6379, 8265, 10001], "worker": []}),
            ({"tensorflow": [], "svc": []}, {"master": [], "worker": []}),
        ],
    )
    def test_on_the_network_of_the_host_the_ports_of_plugins_count(self, plugins: Data, ports: Data) -> None:
        pods = template(hostNetwork=True)
        found = self.job(*({"name": name, "replicas": 1, "template": pods} for name in ports), plugins=plugins)
        assert {
            role.name: [port.port for container in role.template.containers for port in container.ports]
            for role in found.roles
        } == ports

    def test_workers_may_wait_for_their_master_in_a_container(self) -> None:
        plugins = {"pytorch": ["--wait-master-enabled=true"]}
        tasks = [{"name": name, "replicas": 1, "template": template()} for name in ("master", "worker")]
        found = self.job(*tasks, plugins=plugins)
        assert [[one.name for one in role.template.init_containers] for role in found.roles] == [
            [],
            ["wait-for-master"],
        ]

    @pytest.mark.parametrize(("mode", "doubts"), [(None, 2), ("hard", 2), ("soft", 0)])
    def test_a_network_topology_is_a_doubt_unless_it_is_only_preferred(self, mode: str | None, doubts: int) -> None:
        wish = {"highestTierAllowed": 1} | ({"mode": mode} if mode else {})
        parts = {"totalPartitions": 1, "partitionSize": 2, "networkTopology": wish}
        task = {"name": "a", "replicas": 2, "partitionPolicy": parts, "template": template()}
        assert len(self.job(task, networkTopology=wish).unmodelled) == doubts

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"minAvailable": 3}, "spec.minAvailable: is more than the pods of all tasks"),
            ({"volumes": [{"mountPath": "/a"}]}, "spec.volumes.0: must have either a volumeClaim or a volumeClaimName"),
            ({"tasks": []}, "spec.tasks: must have a task at least"),
            (
                {"tasks": [{"name": "a", "replicas": 1, "dependsOn": {"name": ["b"]}, "template": template()}]},
                "spec.tasks.0.dependsOn.name.0: is not the name of another task",
            ),
            (
                {"tasks": [{"replicas": 1, "minAvailable": 2, "template": template()}]},
                "spec.tasks.0.minAvailable: is more than the replicas of the task",
            ),
            (
                {"tasks": [{"replicas": 1, "topologyPolicy": "restricted", "template": template(gpu=1)}]},
                "spec.tasks.0.topologyPolicy: needs limits of cpu and memory on every container",
            ),
            (
                {"tasks": [{"replicas": 1, "template": {"spec": {"containers": [{"name": "a"}]}}}]},
                "spec.tasks.0.template.spec.containers.0.image: is required",
            ),
        ],
    )
    def test_what_its_webhook_refuses(self, spec: Data, message: str) -> None:
        one = {"tasks": [{"replicas": 2, "template": template()}], **spec}
        assert faults(read("batch.volcano.sh/v1alpha1", "Job", one)) == [message]

    @pytest.mark.parametrize(("least", "warned"), [(1, 0), (2, 1), (None, 1)])
    def test_a_gang_that_waits_for_itself(self, least: int | None, warned: int) -> None:
        """Its PodGroup waits for minAvailable pods, and Volcano makes those of a task when the one before runs."""
        first = {"name": "a", "replicas": 1, "template": template()}
        later = {"name": "b", "replicas": 2, "dependsOn": {"name": ["a"]}, "template": template()}
        found = self.job(first, later, **({} if least is None else {"minAvailable": least}))
        assert not found.faults
        assert len([*shortages([found])]) == warned

    def test_another_kind_of_the_same_name_is_not_taken_for_it(self) -> None:
        with_tasks = {"tasks": [{"replicas": 1, "template": template()}]}
        assert faults(read("batch/v1", "Job", with_tasks)) == ["spec.template: is required"]


class TestTrainingOperator:
    def tf(self, **types: int) -> Workload:
        specs = {kind: {"replicas": pods, "template": template("tensorflow")} for kind, pods in types.items()}
        return read("kubeflow.org/v1", "TFJob", {"tfReplicaSpecs": specs})

    def test_types_of_a_tfjob_in_other_letters(self) -> None:
        found = self.tf(ps=2, worker=3)
        assert [(role.name, role.replicas) for role in found.roles] == [("PS", 2), ("Worker", 3)]
        assert faults(self.tf(Worker=1, helper=1)) == ["spec.tfReplicaSpecs.helper: is no replica type of a TFJob"]
        assert faults(self.tf(Chief=1, Master=1)) == ["spec.tfReplicaSpecs: must not name both a Chief and a Master"]

    @pytest.mark.parametrize(
        ("types", "worker"),
        [({"Worker": 2}, "<part?~>"), ({"Worker": 1}, "master"), ({"Chief": 1, "Worker": 2}, None)],
    )
    def test_without_a_chief_the_first_worker_is_the_master(self, types: dict[str, int], worker: str | None) -> None:
        key = "training.kubeflow.org/job-role"
        assert labels(role(self.tf(**types), "Worker")).get(key) == worker

    @pytest.mark.parametrize(
        ("kind", "field", "container"),
        [
            ("XGBoostJob", "xgbReplicaSpecs", "xgboost"),
            ("PaddleJob", "paddleReplicaSpecs", "paddle"),
            ("JAXJob", "jaxReplicaSpecs", "jax"),
        ],
    )
    def test_other_kinds_take_no_other_letters_and_no_other_container(
        self, kind: str, field: str, container: str
    ) -> None:
        specs = {"worker": {"replicas": 1, "template": template(container)}}
        assert f"spec.{field}.worker: is no replica type" in faults(read("kubeflow.org/v1", kind, {field: specs}))[0]
        specs = {"Worker": {"replicas": 1, "template": template("main")}}
        if kind == "XGBoostJob":
            specs["Master"] = {"replicas": 1, "template": template(container)}
        assert faults(read("kubeflow.org/v1", kind, {field: specs})) == [
            f"spec.{field}.Worker.template.spec.containers: must hold a container named {container}"
        ]

    def test_an_xgboost_job_has_one_master(self) -> None:
        worker = {"Worker": {"replicas": 1, "template": template("xgboost")}}
        assert faults(read("kubeflow.org/v1", "XGBoostJob", {"xgbReplicaSpecs": worker})) == [
            "spec.xgbReplicaSpecs.Master: is required"
        ]
        two = {"Master": {"replicas": 2, "template": template("xgboost")}}
        assert faults(read("kubeflow.org/v1", "XGBoostJob", {"xgbReplicaSpecs": two})) == [
            "spec.xgbReplicaSpecs.Master.replicas: must be 1 for the Master"
        ]

    def test_an_elastic_paddle_job_still_starts_whole(self) -> None:
        specs = {"Worker": {"replicas": 3, "template": template("paddle")}}
        policy = {"minReplicas": 1}
        found = read("kubeflow.org/v1", "PaddleJob", {"elasticPolicy": policy, "paddleReplicaSpecs": specs})
        assert (role(found, "Worker").minimum, role(found, "Worker").maximum) == (3, 3)

    def test_names_that_the_operator_refuses(self) -> None:
        specs = {"jaxReplicaSpecs": {"Worker": {"template": template("jax")}}}
        found = read("kubeflow.org/v1", "JAXJob", specs, name="v1.5")
        assert faults(found) == ["metadata.name: is refused by the operator as the name of a job"]

    @pytest.mark.parametrize(
        ("version", "kind", "field", "container"),
        [
            ("v1", "TFJob", "tfReplicaSpecs", "tensorflow"),
            ("v1", "PyTorchJob", "pytorchReplicaSpecs", "pytorch"),
            ("v1", "PaddleJob", "paddleReplicaSpecs", "paddle"),
            ("v1", "JAXJob", "jaxReplicaSpecs", "jax"),
            ("v1", "XGBoostJob", "xgbReplicaSpecs", "xgboost"),
            ("v1", "MPIJob", "mpiReplicaSpecs", "mpi"),
            ("v2beta1", "MPIJob", "mpiReplicaSpecs", "mpi"),
        ],
    )
    def test_a_volcano_queue_is_a_doubt(self, version: str, kind: str, field: str, container: str) -> None:
        specs = {"Worker": {"replicas": 2, "template": template(container)}}
        specs |= {"Master": {"template": template(container)}} if kind == "XGBoostJob" else {}
        specs |= {"Launcher": {"template": template(container)}} if kind == "MPIJob" else {}
        doubts = {}
        for queue in ("team", "default", ""):
            policy = {"schedulingPolicy": {"queue": queue}}
            found = read(f"kubeflow.org/{version}", kind, {field: specs, "runPolicy": policy})
            assert found.roles
            doubts[queue] = [(asked.path, asked.needs) for asked in found.unmodelled]
        assert doubts == {
            "team": [("spec.runPolicy.schedulingPolicy.queue", "scheduling.volcano.sh")],
            "default": [],
            "": [],
        }


RAY: Data = {
    "headGroupSpec": {"template": template()},
    "workerGroupSpecs": [
        {"groupName": "gpu", "replicas": 2, "minReplicas": 1, "numOfHosts": 2, "template": template()}
    ],
}


class TestRay:
    def test_pods_of_a_service_say_whether_they_serve(self) -> None:
        head, worker = read("ray.io/v1", "RayService", {"rayClusterConfig": RAY}).roles
        assert (labels(head)["ray.io/serve"], labels(worker)["ray.io/serve"]) == ("<role?>", "true")
        assert worker.replicas == 4

    def test_what_it_refuses(self) -> None:
        spec = {"rayClusterConfig": {**RAY, "headGroupSpec": {**RAY["headGroupSpec"]}}}
        spec["rayClusterConfig"]["headGroupSpec"]["headService"] = {"metadata": {"name": "mine"}}
        found = read("ray.io/v1", "RayService", {**spec, "upgradeStrategy": {"type": "Rolling"}}, name="x" * 48)
        assert [fault.partition(": ")[0] for fault in faults(found)] == [
            "metadata.name",
            "spec.upgradeStrategy.type",
            "spec.rayClusterConfig.headGroupSpec.headService.metadata.name",
        ]

    def test_a_cron_job_makes_the_pods_of_its_ray_job(self) -> None:
        job = {"rayClusterSpec": RAY}
        once = read("ray.io/v1", "RayJob", job)
        found = read("ray.io/v1", "RayCronJob", {"schedule": "0 0 * * *", "jobTemplate": job})
        assert [(role.name, role.replicas, role.injected) for role in found.roles] == [
            (role.name, role.replicas, role.injected) for role in once.roles
        ]
        assert groups(found) == groups(once) == [(1, {"head": 1, "gpu": 4})]
        assert warnings(found) == [
            "spec: makes RayJobs only where KubeRay 1.6 or later has its feature gate RayCronJob on"
        ]

    @pytest.mark.parametrize(
        ("schedule", "right"),
        [
            ("0 3 * * 1-5", True),
            ("@hourly", True),
            ("@every 90s", True),
            ("CRON_TZ=Asia/Tokyo 0 6 * * ?", True),
            ("0 3 * *", False),
            ("0 0 3 * * 1", False),
            ("", False),
        ],
    )
    def test_schedules(self, schedule: str, right: bool) -> None:
        job = {"rayClusterSpec": RAY}
        found = read("ray.io/v1", "RayCronJob", {"schedule": schedule, "jobTemplate": job})
        assert faults(found) == ([] if right else ["spec.schedule: is no schedule of five fields"])

    def test_a_group_that_is_called_submitter_is_part_of_the_gang(self) -> None:
        spec = {**RAY, "workerGroupSpecs": [{**RAY["workerGroupSpecs"][0], "groupName": "submitter"}]}
        found = read("ray.io/v1", "RayJob", {"rayClusterSpec": spec})
        assert groups(found) == [(1, {"head": 1, "worker/submitter": 4})]

    @pytest.mark.parametrize(("clusters", "of"), [(1, "<workload>"), (2, "<group>")])
    def test_pods_of_a_fleet_share_the_name_of_their_cluster(self, clusters: int, of: str) -> None:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": RAY}
        spec = {"replicas": clusters, "selector": {"matchLabels": {"a": "b"}}, "template": template}
        found = read("orchestration.aibrix.ai/v1alpha1", "RayClusterFleet", spec)
        assert not warnings(found)
        assert labels(role(found, "gpu"))["ray.io/cluster"] == of
        assert labels(role(found, "gpu"))["orchestration.aibrix.ai/raycluster-fleet-name"] == "x"
        assert groups(found) == [(clusters, {"head": 1, "gpu": 4})]

    def test_a_fleet_whose_selector_selects_nothing_of_it(self) -> None:
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": RAY}}
        (warned,) = warnings(read("orchestration.aibrix.ai/v1alpha1", "RayClusterFleet", spec))
        assert warned.startswith("spec.selector: must be labels of spec.template")


class TestStormService:
    def service(self, *roles: Data, replicas: int | None = 1, annotations: Data | None = None, **spec: Any) -> Workload:
        whole = {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"roles": list(roles), **spec}}}
        stated = whole if replicas is None else {"replicas": replicas, **whole}
        return read("orchestration.aibrix.ai/v1alpha1", "StormService", stated, annotations=annotations or {})

    def test_numbers_that_are_not_given_are_none(self) -> None:
        one = {"name": "one", "replicas": 1, "template": template()}
        none = {"name": "none", "template": template()}
        assert faults(self.service(one, replicas=None)) == [
            "spec.replicas: is not given, so the controller makes no pods"
        ]
        found = self.service(one, none)
        assert [(role.name, role.replicas) for role in found.roles] == [("one", 1), ("none", 0)]
        assert warnings(found) == ["spec.template.spec.roles[1].replicas: is not given, so the role has no pods"]
        assert faults(self.service(none)) == [
            "spec.template.spec.roles.0.replicas: is given for no role, so there are no pods"
        ]

    @pytest.mark.parametrize(("sets", "of"), [(1, "<workload>"), (3, "<group>")])
    def test_labels(self, sets: int, of: str) -> None:
        roles = [
            {"name": "a", "replicas": 2, "stateful": True, "template": template()},
            {"name": "b", "replicas": 1, "podGroupSize": 4, "template": template()},
        ]
        found = self.service(*roles, replicas=sets)
        prefix = "stormservice.orchestration.aibrix.ai/"
        assert labels(role(found, "a"))["roleset-name"] == labels(role(found, "b"))["roleset-name"] == of
        assert labels(role(found, "a"))[f"{prefix}role-replica-index"] == "<pod?>"
        assert labels(role(found, "b"))[f"{prefix}role-replica-index"] == "0"
        assert f"{prefix}podset-name" not in labels(role(found, "a"))
        assert labels(role(found, "b"))[f"{prefix}podset-name"] == ("<role>" if sets == 1 else "<part>")

    @pytest.mark.parametrize(
        ("sets", "strategy", "least"),
        [
            (1, {"coschedulingSchedulingStrategy": {"minMember": 2}}, 2),
            (1, {"volcanoSchedulingStrategy": {"minMember": 3, "queue": "team"}}, 3),
            (2, {"coschedulingSchedulingStrategy": {"minMember": 2}}, None),
            (1, {}, None),
        ],
    )
    def test_what_a_scheduler_starts_with(self, sets: int, strategy: Data, least: int | None) -> None:
        one = {"name": "a", "replicas": 4, "template": template()}
        found = self.service(one, replicas=sets, schedulingStrategy=strategy)
        assert found.min_available == least
        assert groups(found) == [(sets, {"a": 4})]
        assert [asked.text for asked in found.unmodelled] == ["a Volcano queue"] * ("queue" in str(strategy))

    @pytest.mark.parametrize(
        ("scope", "wanted"),
        [
            ("StormService", {"storm-service-name=x"}),
            ("RoleSet", {"storm-service-name=x", "roleset-name as its own"}),
            ("Role", {"storm-service-name=x", "role-name=a"}),
        ],
    )
    def test_a_required_domain_is_an_affinity(self, scope: str, wanted: set[str]) -> None:
        one = {"name": "a", "replicas": 2, "template": template(gpu=8)}
        found = self.service(one, topologyPolicy={"key": HOSTNAME, "scope": scope, "mode": "Required"})
        (term,) = role(found, "a").template.affinity
        assert term.topology_key == HOSTNAME
        assert selected(term) == wanted
        assert verdict(found, cluster(nodes(2, gpu=8))) == "unknown"

    @pytest.mark.parametrize("mode", [{}, {"mode": "Preferred"}])
    def test_a_preferred_domain_keeps_nothing_away(self, mode: Data) -> None:
        one = {"name": "a", "replicas": 2, "template": template(gpu=8)}
        found = self.service(one, topologyPolicy={"key": HOSTNAME, "scope": "RoleSet", **mode})
        assert verdict(found, cluster(nodes(2, gpu=8))) == "fits"

    def test_the_sidecar_is_there_once(self) -> None:
        asked = {"model.aibrix.ai/sidecar-injection": "true"}
        one = {"name": "a", "replicas": 1, "template": template(gpu=1)}
        has = {"name": "b", "replicas": 1, "template": template("aibrix-runtime", gpu=1)}
        found = self.service(one, has, annotations=asked)
        assert [len(role.template.containers) for role in found.roles] == [2, 1]

    def test_names_of_pod_groups_have_a_limit(self) -> None:
        long = {"name": "r" * 23, "replicas": 1, "podGroupSize": 2, "template": template()}
        assert faults(self.service(long)) == [
            "spec.template.spec.roles.0.name: is too long with the name of the service"
        ]
        assert not faults(self.service({**long, "podGroupSize": 1}))


class TestDisaggregatedSet:
    RACK = "example.com/rack"

    def set(self, *roles: tuple[str, int, int], slices: int = 1, **spec: Any) -> Workload:
        """Roles of so many groups of so many pods of 8 GPUs."""
        stated = [
            {
                "name": name,
                "spec": {"replicas": groups, "leaderWorkerTemplate": {"size": size, "workerTemplate": template(gpu=8)}},
            }
            for name, groups, size in roles
        ]
        return read("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", {"slices": slices, "roles": stated, **spec})

    def test_every_slice_has_every_role(self) -> None:
        found = self.set(("prefill", 2, 3), ("decode", 1, 1), slices=2)
        assert [(role.name, role.replicas, role.minimum) for role in found.roles] == [
            ("prefill", 12, 3),
            ("decode", 2, 1),
        ]
        assert groups(found) == [(4, {"prefill": 3}), (2, {"decode": 1})]

    def placed(self, policy: str, slices: int = 1) -> Workload:
        placement = {"type": policy, "topology": self.RACK}
        return self.set(("prefill", 1, 2), ("decode", 1, 1), slices=slices, placementPolicy=placement)

    def test_a_slice_in_one_domain(self) -> None:
        template = role(self.placed("ExclusiveSlice"), "prefill").template
        (together,), (apart,) = template.affinity, template.anti_affinity
        assert {term.topology_key for term in (together, apart)} == {self.RACK}
        prefix = "disaggregatedset.x-k8s.io/"
        assert selected(together) == {f"{prefix}name=x", f"{prefix}slice as its own"}
        assert selected(apart) == {f"{prefix}name=x", f"{prefix}slice", f"{prefix}slice other than its own"}
        assert labels(role(self.placed("ExclusiveSlice"), "prefill"))[f"{prefix}slice"] == "0"
        assert labels(role(self.placed("ExclusiveSlice", 2), "prefill"))[f"{prefix}slice"] == "<group?>"

    @pytest.mark.parametrize(
        ("policy", "slices", "expected"),
        [
            ("None", 1, "fits"),
            ("None", 2, "fits-reduced"),  # one slice of the two
            ("ExclusiveSlice", 1, "unknown"),  # co-location is not evaluated yet
            ("ExclusiveTopology", 1, "unknown"),
        ],
    )
    def test_placement_policies(self, policy: str, slices: int, expected: str) -> None:
        hosts = nodes(3, gpu=8, labels={self.RACK: "r"})
        assert verdict(self.placed(policy, slices), cluster(hosts)) == expected

    @pytest.mark.parametrize(
        ("policy", "key", "expected"),
        [
            ("ExclusiveSlice", "disaggregatedset.x-k8s.io/name", "unknown"),
            ("ExclusiveTopology", "disaggregatedset.x-k8s.io/name", "full"),
            ("ExclusiveTopology", "another", "unknown"),
        ],
    )
    def test_another_set_in_the_only_domain(self, policy: str, key: str, expected: str) -> None:
        hosts = nodes(4, gpu=8, labels={self.RACK: "r"})
        other = bound(on="n0", labels={key: "other", "disaggregatedset.x-k8s.io/slice": "0"}, gpu=8)
        assert verdict(self.placed(policy), cluster(hosts, [other])) == expected

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"slices": 101}, "spec.slices: must be 1 to 100"),
            ({"placementPolicy": {"type": "ExclusiveSlice"}}, "spec.placementPolicy.topology: is required"),
        ],
    )
    def test_what_is_refused(self, spec: Data, message: str) -> None:
        assert faults(self.set(("a", 1, 1), ("b", 1, 1), **spec)) == [message]

    def test_roles_are_two_and_none_of_them_empty_alone(self) -> None:
        assert faults(self.set(("a", 1, 1))) == ["spec.roles: must have two to ten roles"]
        assert faults(self.set(("a", 1, 1), ("b", 0, 1))) == ["spec.roles: must have replicas all, or none of them"]


class TestReplicaSet:
    def test_its_selector_must_select_its_pods(self) -> None:
        pods = {"metadata": {"labels": {"app": "a"}}, **template()}
        wrong = read("apps/v1", "ReplicaSet", {"selector": {"matchLabels": {"app": "b"}}, "template": pods})
        assert faults(wrong) == ["spec.selector: does not match the labels of the template"]
        right = read("apps/v1", "ReplicaSet", {"selector": {"matchLabels": {"app": "a"}}, "template": pods})
        assert [(role.name, role.replicas, role.minimum) for role in right.roles] == [("replica", 1, 1)]


VOLCANO, AIBRIX = "batch.volcano.sh/v1alpha1", "orchestration.aibrix.ai/v1alpha1"
VOLUME = {"mountPath": "/a", "volumeClaimName": 3}
ROLE = {"name": "a", "replicas": 1, "template": template()}
STORM = {"replicas": 1, "selector": {}}
ASKED = {"enableInTreeAutoscaling": True, "autoscalerOptions": {"resources": {"limits": {"cpu": "much"}}}}


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "wrong"),
    [
        (VOLCANO, "Job", {"tasks": [ROLE], "volumes": [VOLUME]}, "spec.volumes.0.volumeClaimName"),
        (VOLCANO, "Job", {"tasks": [{**ROLE, "dependsOn": {"name": [[]]}}]}, "spec.tasks.0.dependsOn.name.0"),
        (VOLCANO, "Job", {"tasks": [ROLE], "plugins": {"mpi": "22"}}, "spec.plugins.mpi"),
        (
            AIBRIX,
            "StormService",
            {**STORM, "template": {"metadata": {"labels": {"name": 3}}, "spec": {"roles": [ROLE]}}},
            "spec.template.metadata.labels.name",
        ),
        (
            AIBRIX,
            "StormService",
            {**STORM, "template": {"spec": {"roles": [ROLE], "schedulingStrategy": {"godelSchedulingStrategy": []}}}},
            "spec.template.spec.schedulingStrategy.godelSchedulingStrategy",
        ),
        (
            "ray.io/v1",
            "RayCluster",
            {**RAY, **ASKED},
            "spec.autoscalerOptions.resources.limits.cpu",
        ),
        (
            "ray.io/v1",
            "RayService",
            {"rayClusterConfig": {**RAY, "headGroupSpec": {"template": template(), "labels": {"a": []}}}},
            "spec.rayClusterConfig.headGroupSpec.labels.a",
        ),
    ],
)
def test_a_wrong_type_is_told_where_it_stands(api_version: str, kind: str, spec: Data, wrong: str) -> None:
    assert [fault.partition(": ")[0] for fault in faults(read(api_version, kind, spec))] == [wrong]


def test_a_fleet_has_not_all_that_ray_clusters_have() -> None:
    group = {**RAY["workerGroupSpecs"][0], "suspend": True, "labels": {"a": "b"}}
    cluster = {**RAY, "workerGroupSpecs": [group], "historyServerOptions": {"collectorOptions": {}}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": {"spec": cluster}}
    head, worker = read(AIBRIX, "RayClusterFleet", spec).roles
    assert (len(head.template.containers), worker.replicas, labels(worker).get("a")) == (1, 4, None)
