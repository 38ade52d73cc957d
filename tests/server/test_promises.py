"""What is asked about and held while an object lives: all pods that are still to come, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot, Unbound
from advisor.question import Policy
from advisor.server.store import Latest
from tests.builders import NOON, TEAM, Bound, bound, cluster, nodes, quota
from tests.server.asking import (
    Object,
    Office,
    change,
    creation,
    cronjob,
    deployment,
    job,
    office,
    owner_of,
    removal,
    statefulset,
    template,
)

HASH = {"pod-template-hash": "7d9c4"}
OF_A_JOB = {"controller-uid": "5", "batch.kubernetes.io/controller-uid": "5"}
OF_A_SET = {"controller-revision-hash": "x", "apps.kubernetes.io/pod-index": "0"}
CANARY = "ReplicaSet.apps/serve-canary-7d9c4"
GPUS = "requests.nvidia.com/gpu"


def fleet(count: int, *pods: Bound, name: str = "east", **facts: Any) -> ClusterSnapshot:
    """Nodes n0, n1, … of 8 GPUs, which is what one pod of every object here asks for."""
    return cluster(nodes=nodes(count, gpu=8), pods=pods, name=name, **facts)


def running(labels: Mapping[str, str], *on: int) -> list[Bound]:
    return [bound(on=f"n{number}", labels=labels, owner=owner_of(labels), gpu=8) for number in on]


def served(*on: int, **more: str) -> list[Bound]:
    """Pods of the Deployment `serve`."""
    return running({"app": "serve", **HASH, **more}, *on)


def canary(*on: int) -> list[Bound]:
    """Pods of the Deployment `serve-canary`, which have the labels of `serve` and one more."""
    return [replace(one, pods=replace(one.pods, owner=CANARY)) for one in served(*on, track="canary")]


def run_by(name: str) -> dict[str, str]:
    """Labels of a Job's pods."""
    return {"job-name": name, "batch.kubernetes.io/job-name": name, **OF_A_JOB}


def scaled(here: Office, old: int, new: int) -> str:
    return here.review(change(deployment(pods=old), deployment(pods=new)), enforced=True).word


def room_left(here: Office, pods: int) -> bool:
    """Is there room for a gang of so many pods, and for no larger one?"""
    fits = [here.review(creation(job("other", size), dryRun=True)).word == "fits" for size in (pods, pods + 1)]
    return fits == [pods > 0, False]


# -- an object that grows and shrinks ---------------------------------------------------------------------------------


def test_each_update_asks_only_for_what_is_still_to_come() -> None:
    here = office(fleet(6, *served(0, 1)))
    for old, new, word, held in (
        (2, 4, "fits", 2),
        (4, 6, "fits", 4),
        (6, 7, "refused", 4),
        (6, 3, "waved-through", 1),
    ):
        assert (scaled(here, old, new), here.held) == (word, held)
    assert room_left(here, 3)


def test_pods_that_have_come_meanwhile_are_asked_about_no_more() -> None:
    here = office(fleet(6, *served(0, 1)))
    scaled(here, 2, 4)
    here.read(fleet(6, *served(0, 1, 2)))
    assert (here.held, scaled(here, 4, 6), here.held) == (1, "fits", 3)
    here.read(fleet(6, *served(0, 1, 2, 3, 4, 5)))
    assert (here.held, scaled(here, 6, 7)) == (0, "refused")


def test_what_there_was_no_room_for_is_still_to_come() -> None:
    """It was let in all the same: what joins it comes on top."""
    here = office(fleet(4))
    here.review(creation(deployment(pods=3)))
    assert here.review(change(deployment(pods=3), deployment(pods=9))).word == "fits-nowhere"
    assert (scaled(here, 9, 10), here.held) == ("refused", 3)
    assert (scaled(here, 9, 4), here.held) == ("waved-through", 3)


def test_a_part_that_was_let_in_leaves_the_rest_to_come() -> None:
    pod = template(8)
    pod["spec"]["containers"][0]["name"] = "pytorch"
    elastic = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p", "namespace": TEAM},
        "spec": {
            "elasticPolicy": {"minReplicas": 1, "maxReplicas": 5},
            "pytorchReplicaSpecs": {"Worker": {"replicas": 5, "template": pod}},
        },
    }
    here = office(fleet(3), policy=Policy(allow_reduced=True))
    decision = here.review(creation(elastic), enforced=True)
    assert decision.warnings == ("wm-place: fits reduced east (24 of 40 nvidia.com/gpu: 3 of 5 pods on 3 nodes)",)
    (one,) = here.desk.reservations.holds
    assert (here.held, one.due) == (3, {"Worker": 5})


@pytest.mark.parametrize(
    ("there", "word", "held"),
    [
        (fleet(4), "refused", 0),  # none has come: all ten are wanted
        (fleet(4, *served(0, 1, 2)), "fits", 1),
        (fleet(4, unbound=[Unbound(TEAM, (), 9, owner_of({"app": "serve", **HASH}))]), "fits", 1),
        (replace(fleet(4), taken_at=NOON - timedelta(hours=1)), "fits-nowhere", 0),  # nobody knows
    ],
)
def test_what_was_let_in_without_room_is_there_once_a_pod_of_it_is_seen(
    there: ClusterSnapshot, word: str, held: int
) -> None:
    here = office(fleet(4))
    assert here.review(creation(deployment(pods=9))).word == "fits-nowhere"
    here.snapshots.put(Latest("east", there))
    assert (scaled(here, 9, 10), here.held) == (word, held)


def test_what_does_not_come_in_time_is_still_to_come() -> None:
    here = office(fleet(3), expiry=60)
    here.review(creation(deployment(pods=2)))
    here.read(fleet(3), after=61)
    assert here.held == 0
    assert (scaled(here, 2, 4), scaled(here, 2, 3), here.held) == ("refused", "fits", 3)


STEPS = st.lists(
    st.one_of(st.tuples(st.just("scale"), st.integers(1, 8)), st.tuples(st.just("come"), st.integers(1, 3))), max_size=8
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS, enforced=st.booleans())
def test_what_is_held_is_still_to_come_whatever_happens(steps: list[tuple[str, int]], enforced: bool) -> None:
    """Six nodes for a pod each. What was promised has its room until its pods are there, and nobody else has it."""
    here, wanted, there = office(fleet(6)), 1, 0
    here.review(creation(deployment(pods=1)))
    for what, number in steps:
        if what == "scale":
            asked = change(deployment(pods=wanted), deployment(pods=number))
            wanted = number if here.review(asked, enforced=enforced).allowed else wanted
        there = min(wanted, 6, there + number) if what == "come" else min(wanted, there)
        here.read(fleet(6, *served(*range(there))))
        assert here.held == wanted - there if enforced else here.held <= wanted - there
        assert room_left(here, 6 - there - here.held)


def ray(replicas: int, group: str = "w", gpu: int = 8) -> Object:
    head = {"rayStartParams": {}, "template": template(0)}
    workers = {"groupName": group, "replicas": replicas, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r1", "namespace": TEAM},
        "spec": {"headGroupSpec": head, "workerGroupSpecs": [{**workers, "template": template(gpu)}]},
    }


def grouped(group: str = "w") -> dict[str, str]:
    return {"ray.io/cluster": "r1", "ray.io/group": group, "ray.io/node-type": "worker"}


@pytest.mark.parametrize(
    ("new", "word", "allowed"),
    [
        (ray(2, "w2"), "waved-through", True),  # as many of the same, by another name
        (ray(3, "w2"), "refused", False),  # one more than go
        (ray(2, "w2", gpu=4), "fits-nowhere", True),  # others: what room those that go leave, nobody can tell
        (ray(2, "w2", gpu=16), "refused", False),  # there is none for these, whoever goes
    ],
)
def test_pods_that_go_leave_their_room_to_those_that_come(new: Object, word: str, allowed: bool) -> None:
    here = office(fleet(2, *running(grouped(), 0, 1)))
    decision = here.review(change(ray(2), new), enforced=True)
    assert (decision.word, decision.allowed, here.held) == (word, allowed, 0)


def test_a_role_of_another_name_before_any_pod_has_come_is_held_under_that_name() -> None:
    here = office(fleet(4))
    here.review(creation(ray(2)))
    assert here.review(change(ray(2), ray(2, "w2"))).word == "fits"
    assert here.desk.reservations.holds[0].sizes == {"head": 1, "w2": 2}


def test_an_update_of_what_cannot_be_read_is_advice() -> None:
    """How many of its pods are there already, nobody can tell."""
    faulty = ray(2)
    faulty["spec"]["workerGroupSpecs"][0] |= {"minReplicas": 3, "maxReplicas": 2}
    full, free = office(fleet(2, *running(grouped(), 0, 1))), office(fleet(4, *running(grouped(), 0, 1)))
    for here in (full, free):
        assert (here.review(change(faulty, ray(2)), enforced=True).allowed, here.held) == (True, 0)
    assert not full.review(change(faulty, ray(9)), enforced=True).allowed


@pytest.mark.parametrize(("pods", "allowed"), [(4, True), (5, False)])
def test_a_schedule_is_asked_about_as_a_whole(pods: int, allowed: bool) -> None:
    """None of its pods are there between two runs."""
    old, new = cronjob(), cronjob()
    old["spec"]["jobTemplate"]["spec"] |= {"parallelism": 2, "completions": 2}
    new["spec"]["jobTemplate"]["spec"] |= {"parallelism": pods, "completions": pods}
    limited = fleet(4, quotas=[quota(hard={GPUS: 32}, used={GPUS: 0})])
    assert office(limited).review(change(old, new), enforced=True).allowed == allowed


# -- where it is ------------------------------------------------------------------------------------------------------


def test_what_was_dispatched_elsewhere_grows_where_it_is() -> None:
    here = office(fleet(2, name="east"), fleet(6, name="west"))
    assert here.review(creation(deployment(pods=2))).audit["cluster"] == "east"
    here.read(fleet(6, *served(0, 1), name="west"))
    assert here.held == 0
    grown = here.review(change(deployment(pods=2), deployment(pods=4)), enforced=True)
    assert (grown.word, grown.audit["cluster"], here.held) == ("fits", "west", 2)


def test_what_has_no_pods_yet_may_go_anywhere() -> None:
    """Those of a sibling, which have its labels and one more, tie it to no cluster."""
    here = office(fleet(2, *canary(0, 1), name="full"), fleet(2, name="free"))
    assert here.review(change(deployment(pods=0), deployment(pods=2)), enforced=True).audit["cluster"] == "free"


def test_pods_of_a_sibling_are_not_where_its_own_are() -> None:
    here = office(fleet(2, *canary(0, 1), name="full"), fleet(3, *served(0, 1), name="own"))
    assert here.review(change(deployment(pods=2), deployment(pods=3)), enforced=True).audit["cluster"] == "own"
    injected = office(fleet(2, *served(0, 1, mesh="yes"), name="full"), fleet(2, name="free"))
    assert scaled(injected, 2, 3) == "refused"


# -- whose pods they are ----------------------------------------------------------------------------------------------


def jobset(pods: int = 2) -> Object:
    replicated = {"name": "w", "replicas": 1, "template": {"spec": job("x", pods)["spec"]}}
    metadata = {"name": "js", "namespace": TEAM}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {"replicatedJobs": [replicated]},
    }


IN_A_SET = {"jobset.sigs.k8s.io/jobset-name": "js", "jobset.sigs.k8s.io/replicatedjob-name": "w"}


@pytest.mark.parametrize(
    ("labels", "held"),
    [
        ({**IN_A_SET, "jobset.sigs.k8s.io/restart-attempt": "0", "jobset.sigs.k8s.io/group-name": "default"}, 0),
        ({**IN_A_SET, "jobset.sigs.k8s.io/restart-attempt": "1"}, 0),
        ({"jobset.sigs.k8s.io/jobset-name": "js"}, 0),
        ({**IN_A_SET, "jobset.sigs.k8s.io/jobset-name": "js-2"}, 2),
        ({"app": "js"}, 2),
    ],
)
def test_the_label_with_its_name_tells_whose_a_pod_is(labels: Mapping[str, str], held: int) -> None:
    here = office(fleet(6))
    here.review(creation(jobset()))
    here.read(fleet(6, *running(labels, 4, 5)))
    assert here.held == held


def test_roles_are_told_apart_by_the_labels_that_a_pod_shares_with_them() -> None:
    here = office(fleet(6))
    here.review(creation(ray(2)))
    here.read(fleet(6, *running(grouped(), 0, 1)))
    assert here.desk.reservations.holds[0].sizes == {"head": 1}


# -- an object that is created again ----------------------------------------------------------------------------------


MAKE: list[tuple[Callable[[int], Object], dict[str, str]]] = [
    (lambda pods: job("serve", pods), run_by("serve")),
    (lambda pods: deployment(pods=pods), {"app": "serve", **HASH}),
    (lambda pods: statefulset(pods=pods), {"app": "serve", **OF_A_SET}),
]


@pytest.mark.parametrize(("make", "labels"), MAKE, ids=["job", "deployment", "statefulset"])
def test_what_runs_holds_nothing_when_somebody_creates_it_again(
    make: Callable[[int], Object], labels: dict[str, str]
) -> None:
    """The API server answers that it exists, after we have let it in."""
    here = office(fleet(6))
    here.review(creation(make(2)))
    here.read(fleet(6, *running(labels, 0, 1)))
    for _ in range(3):
        assert here.review(creation(make(2))).word == "fits"
        assert here.held == 0
    assert room_left(here, 4)


def test_what_is_created_again_after_its_time_keeps_room_that_refuses_nobody() -> None:
    """It exists and its pods are gone, another webhook denies it every time, or now it is stored: nobody can tell."""
    here = office(fleet(2))
    here.review(creation(job("a", 2)))
    here.read(fleet(2), after=301)
    for _ in range(2):
        assert here.review(creation(job("a", 2)), enforced=True).word == "fits"
        assert here.held == 2
    other = here.review(creation(job("b", 2)), enforced=True)
    assert (other.allowed, other.word) == (True, "fits-nowhere")
    here.read(fleet(2, *running(run_by("a"), 0, 1)))
    assert here.held == 0


def test_pods_that_only_look_like_it_leave_a_new_object_its_room() -> None:
    here = office(fleet(6, *canary(0, 1)))
    here.review(creation(deployment(pods=2)))
    assert here.held == 2


@pytest.mark.parametrize(("make", "labels"), MAKE, ids=["job", "deployment", "statefulset"])
def test_what_is_deleted_and_created_between_two_reads_waits_for_its_new_pods(
    make: Callable[[int], Object], labels: dict[str, str]
) -> None:
    here, pods = office(fleet(6)), running(labels, 0, 1)
    here.review(creation(make(2)))
    here.read(fleet(6, *pods))
    here.review(removal(make(2)))
    here.review(creation(make(2)))
    assert here.held == 2
    here.read(fleet(6, *(replace(pod, pods=replace(pod.pods, terminating=True)) for pod in pods)))
    assert here.held == 2
    here.read(fleet(6, *pods))
    assert here.held == 0
    assert room_left(here, 4)


# -- quotas -----------------------------------------------------------------------------------------------------------


def limited(used: int, *pods: Bound, created: int = 0, objects: int = 0) -> ClusterSnapshot:
    """Six nodes and a quota of 4 pods' GPUs; `created`: pods of the Job `a` that are bound nowhere yet."""
    hard, counted = {GPUS: 32, "count/jobs.batch": 2}, {GPUS: used * 8, "count/jobs.batch": objects}
    labels = tuple(sorted(run_by("a").items()))
    unbound = [Unbound(TEAM, labels, created, owner_of(run_by("a")))] if created else []
    return fleet(6, *pods, quotas=[quota(hard=hard, used=counted)], unbound=unbound)


@pytest.mark.parametrize(("there", "created"), [([], 0), ([], 1), ([], 2), ([0], 0), ([0], 1), ([0, 1], 0)])
def test_a_quota_is_charged_once_from_promise_to_pod(there: list[int], created: int) -> None:
    """It counts a pod when it is created, long before the pod has a node."""
    here = office(limited(0))
    here.review(creation(job("a", 2)))
    seen = len(there) + created
    here.read(limited(seen, *running(run_by("a"), *there), created=created, objects=min(1, seen)))
    assert here.held == 2 - len(there)
    assert room_left(here, 2)


def test_pods_without_a_node_that_were_there_before_are_no_new_ones() -> None:
    here = office(limited(2, created=2))
    assert here.review(change(job("a", 2), job("a", 4))).word == "fits"
    here.read(limited(2, created=2, objects=1))
    assert room_left(here, 0)
    here.read(limited(3, created=3, objects=1))
    assert room_left(here, 0)


@pytest.mark.parametrize(("pods", "word"), [(4, "fits"), (5, "refused")])
def test_pods_that_exist_without_a_node_are_planned_anew_without_a_second_charge(pods: int, word: str) -> None:
    here = office(limited(0))
    here.review(creation(job("a", 2)))
    here.read(limited(2, created=2, objects=1))
    assert here.review(change(job("a", 2), job("a", pods)), enforced=True).word == word
    if word == "fits":
        assert here.held == 4
        assert room_left(here, 0)
        here.read(limited(4, *running(run_by("a"), 0, 1, 2), created=1, objects=1))
        assert (here.held, room_left(here, 0)) == (1, True)


@pytest.mark.parametrize(("limit", "word"), [(32, "fits"), (24, "refused")])
def test_what_joins_is_charged_beside_what_runs(limit: int, word: str) -> None:
    full = quota(hard={GPUS: limit}, used={GPUS: 16})
    here = office(fleet(6, *running(run_by("a"), 0, 1), quotas=[full]))
    assert here.review(change(job("a", 2), job("a", 4)), enforced=True).word == word


# -- one cluster under two names --------------------------------------------------------------------------------------


def named(name: str, *pods: Bound, uids: str = "u") -> ClusterSnapshot:
    return replace(fleet(2, *pods, name=name), uids=frozenset(uids))


@pytest.mark.parametrize(("uids", "word"), [("u", "refused"), ("v", "fits")])
def test_a_cluster_is_promised_once_whatever_it_is_called(uids: str, word: str) -> None:
    here = office(named("a"), named("b", uids=uids))
    assert here.review(creation(job("one", 2)), enforced=True).word == "fits"
    assert here.review(creation(job("two", 2)), enforced=True).word == word


def test_pods_are_seen_under_either_name_and_once() -> None:
    here = office(named("a"), named("b"))
    here.review(creation(job("one", 2)))
    pods = running(run_by("one"), 0)
    for name in ("b", "a", "b"):
        here.read(named(name, *pods))
        assert here.held == 1
    here.read(named("a", *pods, *running(run_by("one"), 1)))
    assert here.held == 0


def test_what_was_read_earlier_under_another_name_is_no_news() -> None:
    here = office(named("a"), named("b"))
    here.review(creation(job("one", 2)))
    pods = running(run_by("one"), 0)
    here.read(named("a", *pods), after=10)
    here.read(named("b"), after=-5)
    here.read(named("a", *pods), after=10)
    assert here.held == 1


def test_what_runs_under_one_name_grows_under_either() -> None:
    here = office(replace(fleet(3, *served(0), name="a"), uids=frozenset("u")), named("b", *served(0)))
    assert scaled(here, 1, 2) == "fits"
    assert here.held == 1


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_every_name_is_judged_by_what_was_read_last_under_any(order: str) -> None:
    here = office(named("a"), named("b"))
    here.review(creation(deployment(pods=2)))
    here.read(named(order[0], *served(0, 1)))
    assert here.held == 0
    assert here.review(creation(job("two", 1)), enforced=True).word == "refused"
    here.read(named(order[1], *served(0)))
    assert here.review(creation(job("two", 1)), enforced=True).audit["cluster"] == "a"


def test_a_name_whose_reads_fail_is_judged_by_another() -> None:
    here = office(named("a"), named("b"))
    here.clock.pass_by(100)
    here.read(named("b", *served(0)))
    decision = here.review(creation(job("two", 2)), enforced=True)
    assert (decision.word, "not judged" in decision.message) == ("refused", False)
