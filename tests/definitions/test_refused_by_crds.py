"""What the CRDs of kinds refuse where it decides how many pods come, or when."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from advisor import files
from advisor.definitions import layers, profile_schema, reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError, dotted
from tests.definitions.builders import read
from tests.test_catalog import FILES

Object = dict[str, Any]


def example(kind: str, version: str = "") -> Object:
    """The first manifest of the catalogue's examples of a kind."""
    for path in FILES:
        document = layers.builtin(path).entries[0].profile_document
        assert document
        for one in profile_schema.parse(document).spec.examples:
            if one.manifest["kind"] == kind and str(one.manifest["apiVersion"]).endswith(version):
                found: Object = json.loads(json.dumps(one.manifest))
                return found
    raise LookupError(kind)


def changed(manifest: Object, path: tuple[str | int, ...], value: Any) -> Object:
    found: Any = deepcopy(manifest)
    holder = found
    for step in path[:-1]:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    holder[path[-1]] = value
    return dict(found)


@pytest.mark.parametrize(
    ("kind", "path", "right", "wrong"),
    [
        ("RayCluster", ("spec", "headGroupSpec", "rayStartParams"), {"num-cpus": "0"}, {"num-cpus": 0}),
        ("RayCluster", ("spec", "rayVersion"), "2.9", 2.9),
        ("JobSet", ("spec", "startupPolicy", "startupPolicyOrder"), "AnyOrder", "Foo"),
        ("JobSet", ("spec", "successPolicy", "operator"), "Any", "Some"),
        ("JobSet", ("spec", "failurePolicy", "rules"), [{"action": "RestartJob"}], [{"action": "Restart"}]),
        ("JobSet", ("spec", "suspend"), False, "true"),
        ("TrainJob", ("spec", "suspend"), True, "true"),
        ("PyTorchJob", ("spec", "runPolicy", "suspend"), True, 1),
        ("LeaderWorkerSet", ("spec", "rolloutStrategy", "type"), "RollingUpdate", "Recreate"),
        ("PodCliqueSet", ("spec", "template", "cliques", 0, "spec", "replicas"), 1, None),
    ],
)
def test_a_value_that_the_crd_refuses_is_a_fault(
    kind: str, path: tuple[str | int, ...], right: Any, wrong: Any
) -> None:
    manifest = example(kind)
    assert read(changed(manifest, path, right)).faults == ()
    told = [dotted(fault.path) for fault in read(changed(manifest, path, wrong)).faults]
    assert any(one.startswith(dotted(path)) for one in told), told


def test_quantities_with_blanks_are_for_kinds_of_kubernetes_only() -> None:
    """The patterns of CRDs refuse them."""
    resources = {"limits": {"nvidia.com/gpu": " 1"}}
    path = ("spec", "template", "spec", "containers", 0, "resources")
    assert read(changed(example("Deployment"), path, resources)).faults == ()
    inside = ("spec", "leaderWorkerTemplate", "workerTemplate", *path[2:])
    (fault,) = read(changed(example("LeaderWorkerSet"), inside, resources)).faults
    assert fault.message == "has blanks around it"


def test_a_list_inside_a_list_is_refused_as_kubectl_does_it() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [example("Pod")]}
    assert read(inner).faults == ()
    with pytest.raises(InputError, match="is a List inside a List"):
        read({"apiVersion": "v1", "kind": "List", "items": [inner]})


def test_items_of_a_list_of_one_kind_are_of_that_kind() -> None:
    pod = {key: value for key, value in example("Pod").items() if key not in ("apiVersion", "kind")}
    found = read({"apiVersion": "v1", "kind": "PodList", "items": [pod]})
    assert (found.kind, found.pods) == ("Pod", 1)
    with pytest.raises(InputError, match="apiVersion is missing"):
        read({"apiVersion": "v1", "kind": "List", "items": [pod]})


def test_a_list_may_have_no_items() -> None:
    more: list[Object] = [{}, {"items": None}, {"items": []}]
    for one in ({"apiVersion": "v1", "kind": "List", **items} for items in more):
        found = reading.read(files.documents(files.Source("x", json.dumps(one))), Catalog())
        assert (found.workloads, found.missing) == ((), ())
    with pytest.raises(InputError):
        reading.read(files.documents(files.Source("x", '{"kind": "List"}')), Catalog())
