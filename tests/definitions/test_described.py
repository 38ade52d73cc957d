"""Wrong types, words that no field takes, what is missing, and fields that nobody knows: told by the table of types."""

from __future__ import annotations

import json
from typing import Any

import pytest

from advisor import files
from advisor.definitions import openapi, reading
from advisor.definitions.catalog import Catalog
from advisor.errors import Fault
from advisor.workload import Workload

CONTAINER = {"name": "main", "image": "x"}


def read(manifest: dict[str, Any]) -> Workload:
    source = files.Source("it.yaml", json.dumps(manifest, indent=1))
    (workload,) = reading.read(files.documents(source), Catalog()).workloads
    return workload


def pod(**spec: Any) -> dict[str, Any]:
    return {"containers": [CONTAINER], **spec}


def bare(spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it", **metadata}, "spec": spec}


def job(spec: dict[str, Any], **of: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", **spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "it"}, "spec": {"template": template, **of}}


def group(spec: dict[str, Any]) -> dict[str, Any]:
    """Its API server looks at the types of its template, and nobody at its words before there are pods."""
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "it"},
        "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": spec}}},
    }


def faults(workload: Workload) -> list[str]:
    return [str(Fault(fault.message, fault.path)) for fault in workload.faults]


def warnings(workload: Workload) -> list[tuple[str, str]]:
    return [(note.path, note.text) for note in workload.notes if note.warns]


def container(**of: Any) -> dict[str, Any]:
    return pod(containers=[{**CONTAINER, **of}])


TYPES = [
    (
        pod(terminationGracePeriodSeconds="30"),
        'terminationGracePeriodSeconds: must be a whole number, not the text "30"',
    ),
    (pod(enableServiceLinks="false"), 'enableServiceLinks: must be true or false, not the text "false"'),
    (pod(imagePullSecrets=["mine"]), "imagePullSecrets[0]: must be a mapping, not text"),
    (container(stdin="yes"), 'containers[0].stdin: must be true or false, not the text "yes"'),
    (container(env=[{"name": "A", "value": 5}]), "containers[0].env[0].value: must be text, not a number"),
    (container(env={"A": "5"}), "containers[0].env: must be a list, not a mapping"),
    (container(livenessProbe={"tcpSocket": {"port": True}}), "containers[0].livenessProbe.tcpSocket.port: must be a"),
    (container(livenessProbe={"timeoutSeconds": 2**31}), "containers[0].livenessProbe.timeoutSeconds: is out of range"),
    (pod(volumes=[{"name": "a", "emptyDir": {"sizeLimit": "1GB"}}]), 'volumes[0].emptyDir.sizeLimit: "1GB" is not a'),
    (pod(volumes=[{"name": "a", "emptyDir": ""}]), "volumes[0].emptyDir: must be a mapping, not text"),
]
WORDS = [
    (
        container(ports=[{"containerPort": 80, "protocol": "tcp"}]),
        "containers[0].ports[0].protocol: must be one of SCTP",
    ),
    (container(restartPolicy="Sometimes"), "containers[0].restartPolicy: must be one of Always, Never, OnFailure"),
    (
        container(securityContext={"procMount": "All"}),
        "containers[0].securityContext.procMount: must be one of Default",
    ),
    (pod(securityContext={"fsGroupChangePolicy": "No"}), "securityContext.fsGroupChangePolicy: must be one of Always"),
    (pod(volumes=[{"name": "a", "hostPath": {"path": "/a", "type": "dir"}}]), "volumes[0].hostPath.type: must be one"),
]
LACKING = [
    (container(ports=[{"name": "http"}]), "containers[0].ports[0].containerPort: is required"),
    (container(env=[{"value": "a"}]), "containers[0].env[0].name: is required"),
    (container(volumeMounts=[{"name": "a"}]), "containers[0].volumeMounts[0].mountPath: is required"),
    (container(livenessProbe={"httpGet": {"path": "/"}}), "containers[0].livenessProbe.httpGet.port: is required"),
    (pod(volumes=[{"name": "a", "hostPath": {}}]), "volumes[0].hostPath.path: is required"),
    (pod(volumes=[{"name": "a", "csi": {"driver": ""}}]), "volumes[0].csi.driver: is required"),
]


@pytest.mark.parametrize(("kind", "above"), [(bare, "spec."), (job, "spec.template.spec.")])
@pytest.mark.parametrize(("spec", "said"), [*TYPES, *WORDS, *LACKING])
def test_the_api_server_refuses_it_with_the_object(kind: Any, above: str, spec: dict[str, Any], said: str) -> None:
    found = [one for one in faults(read(kind(spec))) if one.startswith(f"{above}{said}")]
    assert len(found) == 1


@pytest.mark.parametrize(("spec", "said"), TYPES)
def test_a_wrong_type_is_a_fault_in_any_kind(spec: dict[str, Any], said: str) -> None:
    (found,) = faults(read(group(spec)))
    assert found.startswith(f"spec.leaderWorkerTemplate.workerTemplate.spec.{said}")


@pytest.mark.parametrize(("spec", "said"), WORDS)
def test_a_wrong_word_is_a_warning_where_the_object_is_taken(spec: dict[str, Any], said: str) -> None:
    workload = read(group(spec))
    ((path, text),) = warnings(workload)
    assert f"{path}: {text}".startswith(f"spec.leaderWorkerTemplate.workerTemplate.spec.{said}")
    assert faults(workload) == []
    assert all(role.template.malformed for role in workload.roles)


@pytest.mark.parametrize(("spec", "said"), LACKING)
def test_what_is_missing_may_be_filled_in_elsewhere(spec: dict[str, Any], said: str) -> None:
    assert faults(read(group(spec))) == [], said


UNKNOWN = [
    (container(resources={"limit": {"nvidia.com/gpu": 64}}), "containers[0].resources.limit", "did you mean limits?"),
    (container(Resources={"limits": {}}), "containers[0].Resources", "did you mean resources"),
    (container(resources={"Requests": {"cpu": 1}}), "containers[0].resources.Requests", "did you mean requests?"),
    (pod(nodeselector={"a": "b"}), "nodeselector", "did you mean nodeSelector"),
    (container(env=[{"name": "A", "valuefrom": {}}]), "containers[0].env[0].valuefrom", "did you mean valueFrom"),
]


@pytest.mark.parametrize(
    ("kind", "above"),
    [(bare, "spec."), (job, "spec.template.spec."), (group, "spec.leaderWorkerTemplate.workerTemplate.spec.")],
)
@pytest.mark.parametrize(("spec", "path", "meant"), UNKNOWN)
def test_a_field_that_nobody_knows_is_a_warning_at_its_line(
    kind: Any, above: str, spec: dict[str, Any], path: str, meant: str
) -> None:
    workload = read(kind(spec))
    assert faults(workload) == []
    (note,) = [note for note in workload.notes if note.rule == "unknown-field"]
    assert (note.path, note.warns) == (f"{above}{path}", True)
    assert note.text.startswith(f"Kubernetes {openapi.version()} has no such field here") and meant in note.text
    assert note.where and note.where.line and note.where.line > 6


def test_fields_of_the_object_itself_are_looked_at_too() -> None:
    workload = read(job(pod(), Parallelism=8))
    (found,) = warnings(workload)
    assert found[0] == "spec.Parallelism" and found[1].endswith("did you mean parallelism?")
    for field, value, said in (
        ("suspend", "true", "must be true or false"),
        ("ttlSecondsAfterFinished", "5", "must be a whole number"),
        ("backoffLimit", 2**31, "is out of range"),
    ):
        assert any(one.startswith(f"spec.{field}: {said}") for one in faults(read(job(pod(), **{field: value}))))


def test_a_kind_has_fields_of_its_own_among_those_of_pods() -> None:
    own = {"containers": [CONTAINER], "minReplicas": 1, "minreplicas": 1}
    service = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": {"name": "it"}}
    found = [note.path for note in read({**service, "spec": {"predictor": own}}).notes if note.rule == "unknown-field"]
    assert found == ["spec.predictor.minreplicas"]


@pytest.mark.parametrize("amount", [0.5, "0.5", 2, 2.0])
def test_a_fraction_without_quotes_is_refused_by_kinds_that_say_so(amount: Any) -> None:
    asked = container(resources={"requests": {"cpu": amount}})
    assert faults(read(bare(asked))) == []
    path = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].resources.requests.cpu"
    wanted = [f"{path}: must be text or a whole number, not 0.5"] if amount == 0.5 else []
    found = read(group(asked))
    assert faults(found) == wanted
    assert all(fault.hint.startswith("put it in quotes") for fault in found.faults)


def test_fields_that_are_told_otherwise_are_told_once() -> None:
    assert faults(read(bare({"containers": [{"image": "x"}]}))) == ["spec.containers[0].name: is required"]
    assert faults(read(bare({"containers": None}))) == ["spec.containers: has no containers"]
    assert len(faults(read(bare(pod(nodeSelector={"a": True}))))) == 1


@pytest.mark.parametrize(
    "value",
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00", None, "today", 5, "2026-01-31", "2026-01-31t12:00:00z"],
)
def test_times(value: Any) -> None:
    right = value is None or str(value).startswith("2026-01-31T")
    assert (faults(read(bare(pod(), creationTimestamp=value))) == []) == right
