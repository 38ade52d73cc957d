"""Objects that are not as the API promises: kind, object and field are named, and secrets are not even built."""

from __future__ import annotations

import json
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.kube import decode, kinds, wire
from tests.kube.fleet import pages
from tests.kube.objects import Object, node, pod


def page(kind: str, *objects: Object) -> bytes:
    return next(pages(kind, list(objects), 10))


@pytest.mark.parametrize(
    ("kind", "objects", "says"),
    [
        (kinds.POD, [pod("a"), pod("b", {"spec": {"nodeName": 3}})], 'Pod["team/b"].spec.nodeName: Expected'),
        (kinds.POD, [pod("a", {"spec": {"containers": [{"name": 1}]}})], 'Pod["team/a"].spec.containers[0].name'),
        (kinds.POD, [{"metadata": {"name": "a"}}], "Pod.a: Object missing required field spec"),
        (kinds.POD, [pod("a"), 3], 'Pod["number 1"]: Expected object, got int'),
        (kinds.POD, [{"metadata": 3}], 'Pod["number 0"].metadata: Expected object, got int'),
        (kinds.NODE, [node("n", {"status": {"allocatable": {"cpu": []}}})], "Node.n.status.allocatable: Expected"),
        (kinds.NODE, [node("n", {"metadata": {"labels": {"a": 1}}})], "Node.n.metadata.labels: Expected"),
    ],
)
def test_a_wrong_type_in_a_list(kind: kinds.Kind, objects: list[Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        decode.objects(kind, page(kind.name, *objects))
    assert says in str(caught.value)


def test_a_wrong_type_in_one_object() -> None:
    with pytest.raises(InputError, match=r'Pod\["team/a"\]\.spec\.priority: Expected int'):
        decode.one(kinds.POD, json.dumps(pod("a", {"spec": {"priority": "high"}})).encode())


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"items": 3}', b"[]"])
def test_what_is_no_list(body: bytes) -> None:
    with pytest.raises(InputError, match="PodList"):
        decode.objects(kinds.POD, body)


@pytest.mark.parametrize("body", [b'{"items": null}', b'{"items": []}', b"{}"])
def test_an_empty_list(body: bytes) -> None:
    assert not decode.objects(kinds.POD, body)


def test_nulls_are_as_good_as_nothing() -> None:
    nulls = {
        "metadata": {"labels": None, "annotations": None, "ownerReferences": None},
        "spec": {"initContainers": None, "affinity": None, "overhead": None, "resources": None, "nodeName": None},
        "status": {"containerStatuses": None, "conditions": None, "phase": None},
    }
    (found,) = decode.objects(kinds.POD, page("Pod", pod("a", nulls)))
    assert decode.amounts(found.spec.overhead) == {}
    assert decode.strings(found.metadata.labels) == {}


def test_environment_and_arguments_are_never_built() -> None:
    secret = "canary-77"
    spec = {
        "containers": [{"name": "a", "env": [{"name": "X", "value": secret}], "args": [secret], "command": [secret]}]
    }
    (found,) = decode.objects(kinds.POD, page("Pod", pod("a", {"spec": spec})))
    assert secret not in repr(found)
    fields = {name for shape in (wire.Pod, wire.PodSpec, wire.Container) for name in shape.__struct_encode_fields__}
    assert not fields & {"env", "envFrom", "args", "command"}


@pytest.mark.parametrize(
    ("body", "kind", "token"),
    [
        (page("Pod", pod("a")), "PodList", ""),
        (b'{"kind":"PodList","metadata":{"continue":"x"},"items":[{"items":1}]}', "PodList", "x"),
        (b'{"items":[],"kind":"PodList","metadata":{"continue":"x"}}', "PodList", "x"),
        (b'{"kind":"PodList","items":[],"metadata":{"continue":"x"}}', "PodList", "x"),
        (b'{"kind":"PodList","metadata":{},"items":null}', "PodList", ""),
    ],
)
def test_the_head_of_a_list_wherever_it_stands(body: bytes, kind: str, token: str) -> None:
    head = decode.head(body)
    assert (head.kind, head.metadata.next or "") == (kind, token)


def test_kinds_are_told_apart_by_group() -> None:
    assert kinds.known("", "Node") is kinds.NODE
    assert kinds.known("longhorn.io", "Node") is None
    assert kinds.known("kueue.x-k8s.io", "LocalQueue") is kinds.LOCAL_QUEUE


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (kinds.POD.path(), "/api/v1/pods"),
        (kinds.RESOURCE_QUOTA.path(namespace="team"), "/api/v1/namespaces/team/resourcequotas"),
        (kinds.LOCAL_QUEUE.path("v1beta1", "team"), "/apis/kueue.x-k8s.io/v1beta1/namespaces/team/localqueues"),
        (kinds.RUNTIME_CLASS.path(), "/apis/node.k8s.io/v1/runtimeclasses"),
    ],
)
def test_paths(path: str, expected: str) -> None:
    assert path == expected
