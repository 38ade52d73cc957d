"""What holds for all kinds whose pods somebody else than their user sizes, makes or refuses: autoscalers, other
controllers, and the API server that looks at the Jobs, Deployments and StatefulSets of a controller."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from advisor import files
from advisor.definitions import layers, profile_schema, reading
from advisor.definitions.catalog import Catalog
from advisor.definitions.profile_schema import ProfileSpec
from advisor.errors import InputError, dotted
from advisor.workload import Unmodelled, Workload
from tests.test_catalog import FILES

Data = dict[str, Any]


def profile(stem: str) -> ProfileSpec:
    (path,) = [path for path in FILES if path.stem == stem]
    document = layers.builtin(path).entries[0].profile_document
    assert document
    return profile_schema.parse(document).spec


def example(stem: str, **given: Any) -> tuple[Data, list[Data]]:
    """The first manifest of a profile, and what stands beside it; `given` (a.b=1 as a__b=1) is laid over it."""
    first = profile(stem).examples[0]
    manifest, *others = [json.loads(json.dumps(one)) for one in (first.manifest, *first.with_)]
    for path, value in given.items():
        put(manifest, path.split("__"), value)
    return manifest, others


def put(data: Any, steps: list[str], value: Any) -> None:
    """A step `*` stands for every member."""
    *above, last = steps
    for place, step in enumerate(above):
        if step == "*":
            for member in data.values() if isinstance(data, dict) else data:
                put(member, steps[place + 1 :], value)
            return
        data = data.setdefault(step, {})
    data[last] = value


def read(manifest: Data, *others: Data) -> Workload:
    texts = [json.dumps(one) for one in (manifest, *others)]
    documents = [one for text in texts for one in files.documents(files.Source("m.json", text))]
    return reading.read(documents, Catalog()).workloads[0]


def sizes(workload: Workload) -> dict[str, tuple[int, int]]:
    assert not workload.faults
    return {role.name: (role.replicas, role.minimum) for role in workload.roles}


ONE_AT_MOST = "agents-x-k8s-io-sandbox-v1alpha1"
SCALED = [path.stem for path in FILES if profile(path.stem).scaled and path.stem != ONE_AT_MOST]


def scaler(of: Data, least: int | None, most: int) -> Data:
    target = {"apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"]}
    spec = {"scaleTargetRef": target, "maxReplicas": most} | ({} if least is None else {"minReplicas": least})
    metadata = {"name": "h", "namespace": of["metadata"].get("namespace", "default")}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("stem", SCALED)
@pytest.mark.parametrize(
    ("stated", "bounds", "wanted"),
    [(1, (2, 5), 2), (9, (2, 5), 5), (9, (None, 5), 5), (3, (2, 5), 3), (0, (2, 5), 0)],
)
def test_an_autoscaler_keeps_what_is_stated_between_its_bounds(
    stem: str, stated: int, bounds: tuple[int | None, int], wanted: int
) -> None:
    """kubernetes v1.37.2 pkg/controller/podautoscaler/horizontal.go `reconcileAutoscaler`: before it reads metrics."""
    path = (profile(stem).scaled or "").lstrip(".")
    key = path.replace(".", "__")
    (manifest, others), (right, _) = example(stem, **{key: stated}), example(stem, **{key: wanted})
    found = read(manifest, scaler(manifest, *bounds), *others)
    one = sizes(read(example(stem, **{key: 1})[0], *others))
    kept = {name: (bounds[0] or 1) * least for name, (_, least) in one.items()}
    assert sizes(found) == {
        name: (pods, max(least, min(pods, kept[name]))) for name, (pods, least) in sizes(read(right, *others)).items()
    }
    said = [note.text for note in found.notes if note.rule == "scaler" and note.warns and note.path == path]
    least, most = bounds
    text = f"becomes {wanted} (it says {stated}): HorizontalPodAutoscaler h keeps it at {least or 1} to {most}"
    assert said == ([text] if stated != wanted else [])


def test_a_target_that_says_nothing_has_its_default_between_the_bounds() -> None:
    manifest, _ = example("apps-deployment-v1")
    del manifest["spec"]["replicas"]
    assert [sizes(read(manifest, scaler(manifest, *bounds)))["replica"][0] for bounds in ((3, 9), (1, 1), (0, 4))] == [
        3,
        1,
        1,
    ]


def test_a_scaler_with_bounds_the_wrong_way_round_is_refused() -> None:
    manifest, _ = example("apps-deployment-v1")
    with pytest.raises(InputError, match=r"spec\.maxReplicas: is below the minReplicas"):
        read(manifest, scaler(manifest, 3, 2))


JOBS, RAY = "kubernetes.io/job-controller", "ray.io/kuberay-operator"
KUBEFLOW = ("tfjob", "pytorchjob", "mpijob", "jaxjob", "paddlejob", "xgboostjob")
MANAGED = [
    ("batch-job-v1", "spec.managedBy", JOBS),
    ("batch-cronjob-v1", "spec.jobTemplate.spec.managedBy", JOBS),
    ("jobset-x-k8s-io-jobset-v1alpha2", "spec.managedBy", "jobset.sigs.k8s.io/jobset-controller"),
    ("jobset-x-k8s-io-jobset-v1alpha2", "spec.replicatedJobs[].template.spec.managedBy", JOBS),
    ("ray-io-raycluster-v1", "spec.managedBy", RAY),
    ("ray-io-rayjob-v1", "spec.managedBy", RAY),
    ("ray-io-rayjob-v1", "spec.rayClusterSpec.managedBy", RAY),
    ("ray-io-rayservice-v1", "spec.managedBy", RAY),
    ("ray-io-rayservice-v1", "spec.rayClusterConfig.managedBy", RAY),
    ("ray-io-raycronjob-v1", "spec.jobTemplate.managedBy", RAY),
    ("orchestration-aibrix-ai-rayclusterfleet-v1alpha1", "spec.template.spec.managedBy", RAY),
    *((f"kubeflow-org-{kind}-v1", "spec.runPolicy.managedBy", "kubeflow.org/training-operator") for kind in KUBEFLOW),
    ("kubeflow-org-mpijob-v2beta1", "spec.runPolicy.managedBy", "kubeflow.org/mpi-operator"),
    ("trainer-kubeflow-org-trainjob-v1alpha1", "spec.managedBy", "trainer.kubeflow.org/trainjob-controller"),
]


@pytest.mark.parametrize(("stem", "path", "own"), MANAGED)
def test_another_controller_is_a_doubt_or_refused(stem: str, path: str, own: str) -> None:
    """MultiKueue is no other: it has the same object made elsewhere."""

    def found(manager: str) -> tuple[list[str], list[Unmodelled]]:
        manifest, others = example(stem, **{path.replace("[]", ".*").replace(".", "__"): manager})
        read_ = read(manifest, *others)
        places = [re.sub("[[][0-9]+[]]", "[]", dotted(one.path)) for one in read_.faults]
        return places, [one for one in read_.unmodelled if one.path == path]

    for known in (own, "kueue.x-k8s.io/multikueue"):
        assert found(known) == ([], [])
    faults, doubts = found("example.com/another")
    told = [(one.restricts, one.text) for one in doubts]
    assert faults == [path] or told == [(False, "another controller makes the pods")]


ALWAYS, JOB = "must be Always", "must be OnFailure or Never"
LWS, SUBMITTER = "spec.leaderWorkerTemplate.workerTemplate.spec", "spec.submitterPodTemplate"
JOBSET = "spec.replicatedJobs.*.template.spec.template.spec"
CONTAINERS = [{"name": "main", "image": "x"}]


@pytest.mark.parametrize(
    ("stem", "path", "value", "wrong", "says"),
    [
        ("leaderworkerset-x-k8s-io-leaderworkerset-v1", f"{LWS}.restartPolicy", "Always", "", ""),
        (
            "leaderworkerset-x-k8s-io-leaderworkerset-v1",
            f"{LWS}.restartPolicy",
            "Never",
            f"{LWS}.restartPolicy",
            ALWAYS,
        ),
        ("jobset-x-k8s-io-jobset-v1alpha2", f"{JOBSET}.restartPolicy", "", "", ""),
        (
            "jobset-x-k8s-io-jobset-v1alpha2",
            f"{JOBSET}.restartPolicy",
            "Always",
            f"{JOBSET.replace('.*', '[0]')}.restartPolicy",
            JOB,
        ),
        ("ray-io-rayjob-v1", SUBMITTER, {"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}, "", ""),
        ("ray-io-rayjob-v1", SUBMITTER, {"spec": {"containers": CONTAINERS}}, f"{SUBMITTER}.spec.restartPolicy", JOB),
        (
            "ray-io-raycronjob-v1",
            "spec.jobTemplate.submitterPodTemplate",
            {"spec": {"containers": CONTAINERS}},
            "spec.jobTemplate.submitterPodTemplate.spec.restartPolicy",
            JOB,
        ),
        (
            "serving-kserve-io-inferenceservice-v1beta1",
            "spec.predictor.restartPolicy",
            "Never",
            "spec.predictor.restartPolicy",
            ALWAYS,
        ),
        (
            "jobset-x-k8s-io-jobset-v1alpha2",
            "metadata.name",
            "a" * 62,
            "spec.replicatedJobs[0].name",
            "gives Jobs or pods a name that is too long or no name",
        ),
        (
            "jobset-x-k8s-io-jobset-v1alpha2",
            "spec.replicatedJobs.*.template.spec.backoffLimit",
            -1,
            "spec.replicatedJobs[0].template.spec.backoffLimit",
            "must be a whole number, 0 or more",
        ),
        (
            "ray-io-raycluster-v1",
            "metadata.name",
            "a" * 54,
            "metadata.name",
            "is refused by KubeRay as the name of a RayCluster",
        ),
        ("ray-io-rayjob-v1", "metadata.name", "1a", "metadata.name", "is refused by KubeRay as the name of a RayJob"),
        ("core-pod-v1", "metadata.name", "Bad_Name", "metadata.name", "is no name of an object"),
        ("grove-io-podcliqueset-v1alpha1", "metadata.name", "Bad_Name", "metadata.name", "is no name of an object"),
        ("kubeflow-org-pytorchjob-v1", "spec.pytorchReplicaSpecs.*.template.spec.restartPolicy", "Sometimes", "", ""),
    ],
)
def test_what_the_api_server_refuses_of_a_controller_or_a_user(
    stem: str, path: str, value: Any, wrong: str, says: str
) -> None:
    manifest, others = example(stem, **{path.replace(".", "__"): value})
    found = read(manifest, *others)
    told = [(dotted(fault.path), fault.message) for fault in found.faults]
    assert told[:1] == ([(wrong, says)] if wrong else [])
    assert not [note.text for note in found.notes if note.rule == "refused-pods"]


def test_a_word_that_no_pod_has_is_warned_of_where_the_object_is_taken() -> None:
    manifest, _ = example("ray-io-raycluster-v1", spec__headGroupSpec__template__spec__restartPolicy="Sometimes")
    (said,) = [note for note in read(manifest).notes if note.rule == "refused-pods"]
    assert said.path == "spec.headGroupSpec.template.spec.restartPolicy"
    assert said.text.startswith("must be one of Always, Never, OnFailure: the API server refuses such pods")
