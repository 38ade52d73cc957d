"""Metadata, annotations and images: pairs of what a real API server takes and what it refuses, and so do we."""

from __future__ import annotations

import pytest

from tests.definitions.builders import container
from tests.live.test_refusals import Object, bare, faults, job, refusal, told
from tests.live.test_refused_pods import early, pods
from tests.servers.pool import Servers

ANNOTATIONS = [
    ("seccomp.security.alpha.kubernetes.io/pod", "runtime/default", "foo"),
    ("controller.kubernetes.io/pod-deletion-cost", "-5", "x"),
    ("container.apparmor.security.beta.kubernetes.io/main", "unconfined", "foo"),
]
METADATA: list[tuple[Object, Object, str]] = [
    ({"finalizers": ["a.b/c", "orphan"]}, {"finalizers": ["a"]}, "finalizers[0]"),
    ({"creationTimestamp": None}, {"creationTimestamp": "yesterday"}, "creationTimestamp"),
    ({"creationTimestamp": "2026-01-31T12:00:00.5+01:00"}, {"creationTimestamp": "2026-01-31"}, "creationTimestamp"),
    (
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}]},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a"}]},
        "ownerReferences[0].uid",
    ),
]


@pytest.mark.parametrize(("key", "right", "wrong"), ANNOTATIONS)
def test_annotations_that_mean_something_to_the_server(servers: Servers, key: str, right: str, wrong: str) -> None:
    server = servers.server()
    for value, refused in ((right, False), (wrong, True)):
        manifest = bare(metadata={"name": "x", "annotations": {key: value}})
        assert bool(refusal(server, manifest)) == refused
        assert bool(faults(manifest)) == refused


@pytest.mark.parametrize(("right", "wrong", "path"), METADATA)
def test_metadata_of_whatever_kind(servers: Servers, right: Object, wrong: Object, path: str) -> None:
    server = servers.server()
    for make in (bare, job):
        taken, refused = make(metadata={"name": "x", **right}), make(metadata={"name": "x", **wrong})
        assert (refusal(server, taken), faults(taken)) == ("", [])
        assert refusal(server, refused)[:3] in ("400", "422")
        assert f"metadata.{path}" in faults(refused)


@pytest.mark.parametrize("image", ["a/b:c\n", " a", "\t"])
def test_blanks_around_an_image_are_refused_in_pods(servers: Servers, image: str) -> None:
    """What makes pods is taken with them, and its pods never come."""
    server = servers.server()
    for spec in (container(image=image), early(image=image)):
        assert refusal(server, bare(**spec)).startswith("422 ")
        for manifest, place in pods(spec):
            assert [one for one in told(manifest) if one.startswith(place) and one.endswith(".image")]
