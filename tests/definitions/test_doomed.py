"""Pods that the API server refuses are not described as if they came (kubernetes/pkg/apis/core/validation)."""

import json
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import Fault
from advisor.workload import Workload

GPU = "nvidia.com/gpu"
LIMIT = "needs a limit of the same amount"
REFUSED = "the API server refuses such pods"
UNLESS = f"{REFUSED}, unless a LimitRange gives them one"


def template(requests: Any = None, limits: Any = None, **spec: Any) -> dict[str, Any]:
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "x", "image": "x", "resources": resources}], **spec},
    }


def pod(**of: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": template(**of)["spec"]}


def deployment(**of: Any) -> dict[str, Any]:
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template(**of)}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "it"}, "spec": spec}


def group(**of: Any) -> dict[str, Any]:
    spec = {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template(**of)}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "it"},
        "spec": spec,
    }


def read(manifest: dict[str, Any]) -> Workload:
    (workload,) = reading.read(
        files.documents(files.Source("it.yaml", json.dumps(manifest, indent=1))), Catalog()
    ).workloads
    return workload


def faults(workload: Workload) -> list[str]:
    return [str(Fault(fault.message, fault.path)) for fault in workload.faults]


def warnings(workload: Workload) -> list[tuple[str, str]]:
    return [(note.path, note.text) for note in workload.notes if note.warns]


RIGHT = [
    {"limits": {GPU: 1}},
    {"requests": {GPU: 1}, "limits": {GPU: 1}},
    {"limits": {GPU: "2000m"}},
    {"requests": {"cpu": 1}},
    {"requests": {"cpu": 1}, "limits": {"cpu": 2}},
    {"tolerations": [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]},
]
WRONG = [
    ({"limits": {GPU: "1.5"}}, f'spec.containers[0].resources.limits["{GPU}"]', "must be a whole number"),
    (
        {"limits": {GPU: 2}, "requests": {GPU: 1}},
        f'spec.containers[0].resources.requests["{GPU}"]',
        "must equal its limit",
    ),
    ({"limits": {"cpu": 1}, "requests": {"cpu": 2}}, "spec.containers[0].resources.requests.cpu", "is above its limit"),
    ({"limits": {"gpus": 1}}, "spec.containers[0].resources.limits.gpus", "is not a resource that can be asked for"),
    ({"requests": {"memory": "-1"}}, "spec.containers[0].resources.requests.memory", "is negative"),
    (
        {"tolerations": [{"operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}]},
        "spec.tolerations[0]",
        "tolerationSeconds needs the effect NoExecute",
    ),
]


@pytest.mark.parametrize("kind", [pod, deployment, group])
@pytest.mark.parametrize("asked", RIGHT)
def test_what_is_taken_is_not_warned_of(kind: Any, asked: dict[str, Any]) -> None:
    found = read(kind(**asked))
    assert (faults(found), warnings(found)) == ([], [])


@pytest.mark.parametrize(("kind", "above"), [(pod, ""), (deployment, "spec.template.")])
@pytest.mark.parametrize(("asked", "path", "message"), WRONG)
def test_what_the_api_server_looks_at_with_the_object_is_a_fault(
    kind: Any, above: str, asked: dict[str, Any], path: str, message: str
) -> None:
    (found,) = faults(read(kind(**asked)))
    assert found.startswith(f"{above}{path}: {message}")


@pytest.mark.parametrize(("asked", "path", "message"), WRONG)
def test_elsewhere_it_is_a_warning_with_its_place(asked: dict[str, Any], path: str, message: str) -> None:
    found = read(group(**asked))
    assert faults(found) == []
    ((where, text),) = warnings(found)
    assert where == f"spec.leaderWorkerTemplate.workerTemplate.{path}"
    assert text.startswith(message) and text.endswith(REFUSED)
    (note,) = [note for note in found.notes if note.warns]
    assert note.where and note.where.line and note.where.line > 8


def test_a_limit_that_is_missing_may_come_from_a_limitrange_unless_a_template_is_looked_at() -> None:
    asked = {"requests": {GPU: 1}}
    place = f'spec.containers[0].resources.requests["{GPU}"]'
    assert faults(read(deployment(**asked))) == [f"spec.template.{place}: {LIMIT}"]
    assert (faults(read(pod(**asked))), warnings(read(pod(**asked)))) == ([], [(place, f"{LIMIT}: {UNLESS}")])
    assert warnings(read(group(**asked))) == [
        (f"spec.leaderWorkerTemplate.workerTemplate.{place}", f"{LIMIT}: {UNLESS}")
    ]


def nim(**resources: Any) -> dict[str, Any]:
    spec = {"image": {"repository": "x", "tag": "1"}, "authSecret": "x", "storage": {"pvc": {"name": "x"}}}
    return {
        "apiVersion": "apps.nvidia.com/v1alpha1",
        "kind": "NIMService",
        "metadata": {"name": "it"},
        "spec": {**spec, "resources": resources},
    }


def test_a_field_that_becomes_a_container_is_warned_of_at_its_own_place() -> None:
    right, wrong = read(nim(limits={GPU: 1})), read(nim(requests={GPU: 1}))
    assert (faults(right), [one for one in warnings(right) if REFUSED in one[1]]) == ([], [])
    assert (f'spec.resources.requests["{GPU}"]', f"{LIMIT}: {UNLESS}") in warnings(wrong)


def test_a_misnamed_volume_is_a_warning_also_where_it_would_be_a_fault() -> None:
    found = read(deployment(volumes=[{"name": "YOUR_VOLUME", "emptyDir": {}}]))
    assert (faults(found), warnings(found)) == (
        [],
        [("spec.template.spec.volumes[0].name", f'"YOUR_VOLUME" is no name: {REFUSED}')],
    )


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"tolerations": [{"key": "a b", "operator": "Exists"}]}, "tolerations[0].key"),
        ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, "schedulingGates[1].name"),
        ({"hostname": "a.b"}, "hostname"),
    ],
)
def test_a_value_that_is_refused_is_a_fault_or_a_warning(spec: dict[str, Any], path: str) -> None:
    """The latter where only the pods are refused (`tests/live/test_refused_pods.py` has all of them)."""
    (fault,) = read(deployment(**spec)).faults
    assert str(Fault("", fault.path)).startswith(f"spec.template.spec.{path}")
    ((where, text),) = {one for one in warnings(read(group(**spec))) if REFUSED in one[1]}
    assert where == f"spec.leaderWorkerTemplate.workerTemplate.spec.{path}"
    assert text == f"{fault.message}: {REFUSED}"
