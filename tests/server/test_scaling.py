"""The subresource `scale`: a number comes in, and the pods of the object behind it are asked about."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.server import request, scaling
from advisor.server.config import Strictness
from advisor.server.request import Request, Resource
from advisor.server.scaling import Find
from tests.builders import TEAM, bound, cluster, nodes
from tests.server.asking import (
    CATALOG,
    Object,
    Office,
    body,
    change,
    creation,
    deployment,
    job,
    office,
    owner_of,
    template,
)
from tests.server.doors import doors, post

SERVED = {"app": "serve", "pod-template-hash": "7d9c4"}
AUTOSCALER = {"username": "system:serviceaccount:kube-system:horizontal-pod-autoscaler"}


def lws(replicas: int, size: int = 2) -> Object:
    """Groups of `size` pods with 4 GPUs each."""
    spec = {
        "replicas": replicas,
        "leaderWorkerTemplate": {"size": size, "workerTemplate": template(4, restartPolicy="Always")},
    }
    metadata = {"name": "serve", "namespace": TEAM}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def pytorch(replicas: int) -> Object:
    pod = template(4)
    pod["spec"]["containers"][0]["name"] = "pytorch"
    worker = {"replicas": replicas, "template": pod}
    metadata = {"name": "serve", "namespace": TEAM}
    spec = {"pytorchReplicaSpecs": {"Worker": worker}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata, "spec": spec}


def scale(replicas: int | None) -> Object:
    """As an API server has it: zero is left out."""
    spec = {"replicas": replicas} if replicas else {}
    metadata = {"name": "serve", "namespace": TEAM}
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec}


def scaled(old: int, new: int, **facts: Any) -> Object:
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    return body("UPDATE", scale(new), scale(old), subResource="scale", resource=resource, **facts)


class Hub:
    """A management cluster with one object, and what was asked of it."""

    def __init__(self, stored: Object | None) -> None:
        self.stored, self.asked = stored, [("", "", "")][:0]

    def __call__(self, resource: Resource, namespace: str, name: str, seconds: float) -> Mapping[str, Any]:
        self.asked.append((resource.plural, namespace, name))
        if self.stored is None:
            raise InputError("hub does not know how to get deployments team/serve (404)")
        return self.stored


def answer(here: Office, content: Object, find: Find | None, mode: str = "advise", **rules: Any) -> Object:
    with ThreadPoolExecutor(1) as threads:
        return asyncio.run(post(doors(here, threads, 30.0, find=find, **rules), f"/v1/review/{mode}", content))


def there(*pods: int, gpu: int = 8) -> Office:
    """Nodes of 8 GPUs, with so many pods of the object on each."""
    mine = [
        bound(on=f"n{node}", count=count, labels=SERVED, owner=owner_of(SERVED), gpu=gpu)
        for node, count in enumerate(pods)
        if count
    ]
    return office(cluster(nodes=nodes(len(pods), gpu=8), pods=mine, name="eu"))


# -- what is asked about ----------------------------------------------------------------------------------------------


def test_more_pods_that_fit_hold_the_difference() -> None:
    here, hub = there(1, 0, 0, 0), Hub(deployment(pods=1))
    found = answer(here, scaled(1, 3), hub, "enforce")
    assert found["allowed"]
    assert found["warnings"][0].startswith("wm-place: fits eu (16 nvidia.com/gpu on 2 nodes")
    assert here.held == 2
    assert hub.asked == [("deployments", TEAM, "serve")]


@pytest.mark.parametrize(("mode", "allowed"), [("advise", True), ("enforce", False)])
def test_more_pods_that_fit_nowhere_are_said_or_refused(mode: str, allowed: bool) -> None:
    here = there(1, 0)
    found = answer(here, scaled(1, 3), Hub(deployment(pods=1)), mode)
    assert found["allowed"] == allowed
    assert "eu full" in str(found)
    assert here.held == 0


def test_a_dry_run_holds_nothing() -> None:
    here = there(1, 0)
    assert answer(here, scaled(1, 2, dryRun=True), Hub(deployment(pods=1)))["warnings"]
    assert here.held == 0


@pytest.mark.parametrize(("new", "held"), [(3, 3), (1, 1), (0, 0)])
def test_what_has_not_come_yet_follows_its_size(new: int, held: int) -> None:
    here = there(0, 0, 0, 0)
    here.review(creation(deployment(pods=2)))
    assert answer(here, scaled(2, new), Hub(deployment(pods=2)), "enforce")["allowed"]
    assert here.held == held


def test_fewer_pods_are_let_in_without_a_word() -> None:
    found = answer(there(3, gpu=2), scaled(3, 1), Hub(deployment(pods=3)), "enforce")
    assert (found["allowed"], "warnings" in found) == (True, False)


@pytest.mark.parametrize("fewer", [0, 1])
def test_pods_that_were_scaled_away_make_way_for_those_that_come_back(fewer: int) -> None:
    """The usual way to restart: on a cluster that the object itself fills."""
    here = there(1, 1)
    assert answer(here, scaled(2, fewer), Hub(deployment(pods=2)), "enforce")["allowed"]
    assert answer(here, scaled(fewer, 2), Hub(deployment(pods=fewer)), "enforce")["allowed"]
    assert not here.review(creation(job("other", pods=1)), enforced=True).allowed


def test_a_size_that_stays_is_let_in_without_a_look() -> None:
    hub = Hub(None)
    assert answer(there(1), scaled(1, 1), hub, "enforce")["allowed"]
    assert hub.asked == []


def test_whoever_scales_an_object_with_an_owner_is_asked_about() -> None:
    """Its owner's controller would write the size into the object itself."""
    owned = deployment(pods=1)
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "x", "uid": "1", "controller": True}
    owned["metadata"]["ownerReferences"] = [owner]
    assert not answer(there(1, 0), scaled(1, 3, userInfo=AUTOSCALER), Hub(owned), "enforce")["allowed"]


@pytest.mark.parametrize(("stored", "pods"), [(lws(1), 6), (pytorch(1), 3), (deployment(pods=1), 3)])
def test_every_kind_says_what_its_scale_sets(stored: Object, pods: int) -> None:
    """None of its pods is seen, so all are still to come."""
    here = office(cluster(nodes=nodes(8, gpu=8), name="eu"))
    assert answer(here, scaled(1, 3), Hub(stored), "enforce")["allowed"]
    assert here.held == pods


# -- what cannot be told ----------------------------------------------------------------------------------------------


def broken(*_: object) -> Object:
    return {"number": 1 // 0}


def finding(name: str) -> Find | None:
    unscaled = job("serve")
    found: dict[str, Find | None] = {
        "no hub": None,
        "not there": Hub(None),
        "no profile says": Hub(unscaled),
        "no kind of ours": Hub({"apiVersion": "example.com/v1", "kind": "Gang", "metadata": {}}),
        "no object": Hub({"items": []}),
        "a fault": broken,
    }
    return found[name]


@pytest.mark.parametrize("name", ["no hub", "not there", "no profile says", "no kind of ours", "no object", "a fault"])
def test_more_pods_that_cannot_be_judged_are_refused_only_where_the_unknown_is(name: str) -> None:
    strict = Strictness(refuse_unknown=True)
    lenient = answer(there(1, 0), scaled(1, 2), finding(name), "enforce")
    assert lenient["allowed"]
    assert lenient["warnings"][0].startswith("wm-place: whether some cluster has room for more of its pods was not")
    refused = answer(there(1, 0), scaled(1, 2), finding(name), "enforce", strictness=strict)
    assert (refused["allowed"], refused["status"]["code"]) == (False, 403)
    assert answer(there(1, 0), scaled(1, 2), finding(name), strictness=strict)["allowed"]


def test_fewer_pods_that_cannot_be_judged_are_let_in_without_a_word() -> None:
    here, strict = there(0, 0), Strictness(refuse_unknown=True)
    here.review(creation(deployment(pods=2)))
    found = answer(here, scaled(2, 1), Hub(None), "enforce", strictness=strict)
    assert (found["allowed"], "warnings" in found, here.held) == (True, False, 2)


def test_a_management_cluster_that_hangs_keeps_nobody() -> None:
    """The look takes half of the time at most; what comes of it later is nobody's."""
    here, free = there(1, 0), threading.Event()

    def hang(*_: object) -> Object:
        free.wait()
        return deployment(pods=1)

    with ThreadPoolExecutor(1) as deciding, ThreadPoolExecutor(1) as looking:
        entered = doors(here, deciding, 0.2, looking=looking, find=hang)
        found = asyncio.run(post(entered, "/v1/review/enforce", scaled(1, 2)))
        assert here.review(creation(deployment("other"))).word == "fits"
        free.set()
    assert found["allowed"]
    assert "the management cluster did not answer in time" in found["warnings"][0]
    assert here.held == 1


# -- the request of it ------------------------------------------------------------------------------------------------


def parsed(old: int, new: int) -> Request:
    return request.parse(scaled(old, new))


def test_a_change_of_scale_is_one_of_the_object() -> None:
    stored = deployment(pods=7)
    whole = scaling.whole(parsed(1, 3), lambda *_: stored, CATALOG, 1.0)
    expected = change(deployment(pods=1), deployment(pods=3))
    assert (whole.key, whole.object, whole.old) == (expected.key, expected.object, expected.old)
    assert (whole.operation, whole.subresource) == ("UPDATE", "")
    assert stored == deployment(pods=7)


@pytest.mark.parametrize(("old", "new", "growth"), [(1, 3, 2), (3, 0, -3), (0, 2, 2), (2, 2, 0)])
def test_zero_is_left_out_of_a_scale(old: int, new: int, growth: int) -> None:
    assert scaling.growth(parsed(old, new)) == growth


@pytest.mark.parametrize(
    ("asked", "concerned"),
    [
        (scaled(1, 2), True),
        (body("UPDATE", deployment(), deployment(), subResource="status"), False),
        (body("UPDATE", deployment(), deployment()), False),
        (body("DELETE", None, deployment(), subResource="scale"), False),
    ],
)
def test_only_changes_of_scale_are_looked_at(asked: Object, concerned: bool) -> None:
    assert scaling.concerns(request.parse(asked)) == concerned


@pytest.mark.parametrize("spec", ["many", {"replicas": "many"}, {"replicas": True}, {"replicas": 1.5}])
def test_a_scale_that_is_none_is_a_bad_request(spec: object) -> None:
    with pytest.raises(InputError, match="spec"):
        scaling.growth(request.parse(body("UPDATE", {**scale(1), "spec": spec}, scale(1), subResource="scale")))
