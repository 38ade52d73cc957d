"""Which pods are those that room waits for: new ones, in the place of others, the next ones, or those of a namesake."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from advisor.cluster import ClusterSnapshot, Quota, Unbound
from tests.builders import TEAM, Bound, bound, quota
from tests.server.asking import Object, Office, change, creation, deployment, job, office, owner_of
from tests.server.test_ownership import pod, thing
from tests.server.test_phases import init_on, of, staged
from tests.server.test_promises import (
    GPUS,
    HASH,
    IN_A_SET,
    OF_A_SET,
    fleet,
    grouped,
    jobset,
    ray,
    room_left,
    run_by,
    running,
    scaled,
    served,
)


def rolled(*on: int) -> list[Bound]:
    """Pods of the next ReplicaSet of the Deployment `serve`."""
    return running({"app": "serve", "pod-template-hash": "8b6d5"}, *on)


def restarted(*on: int) -> list[Bound]:
    return running({**IN_A_SET, "jobset.sigs.k8s.io/restart-attempt": "1", "controller-uid": "7"}, *on)


def allowed(here: Office, pods: int) -> bool:
    return here.review(creation(job("other", pods), dryRun=True), enforced=True).allowed


# -- in the place of others -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "reads"),
    [
        (deployment(pods=4), [served(0, 1), rolled(2, 3)]),
        (deployment(pods=4), [served(0, 1), served(0), [*served(0), *rolled(2)], rolled(2, 3)]),
        (deployment(pods=4), [served(0, 1), [], served(2, 3)]),
        (jobset(4), [running(IN_A_SET, 0, 1), restarted(2, 3)]),
        (
            job("train", 4),
            [running(run_by("train"), 0, 1), running(run_by("train"), 1), running(run_by("train"), 1, 3)],
        ),
    ],
)
def test_pods_in_the_place_of_others_release_nothing(asked: Object, reads: Sequence[list[Bound]]) -> None:
    here = office(fleet(8))
    here.review(creation(asked))
    for pods in reads:
        here.read(fleet(8, *pods))
        assert here.held == 2


def test_pods_that_were_evicted_and_come_back_are_not_those_that_join() -> None:
    here = office(fleet(8, *served(0, 1, 2, 3)))
    scaled(here, 4, 6)
    for on, held in (((0, 1), 2), ((0, 1, 4, 5), 2), ((0, 1, 4, 5, 6), 1), ((0, 1, 4, 5, 6, 7), 0)):
        here.read(fleet(8, *served(*on)))
        assert here.held == held


def test_an_update_in_the_midst_of_it_forgets_none_that_were_there() -> None:
    here = office(fleet(8))
    here.review(creation(deployment(pods=4)))
    here.read(fleet(8, *served(0, 1, 2)))
    here.read(fleet(8, *served(0)))
    assert (scaled(here, 4, 5), here.held) == ("fits", 2)
    here.read(fleet(8, *served(0, 1, 2)))
    assert here.held == 2


def test_after_fewer_pods_are_wanted_those_that_come_are_new() -> None:
    here = office(fleet(8, *served(0, 1, 2, 3)))
    assert (scaled(here, 4, 2), scaled(here, 2, 4), here.held) == ("waved-through", "fits", 2)
    here.read(fleet(8, *served(0, 1)))
    here.read(fleet(8, *served(0, 1, 4)))
    assert here.held == 1


def test_pods_of_a_role_that_was_smaller_meanwhile_are_new() -> None:
    """Another role waits for its pods all the time."""

    def two_groups(first: int, second: int) -> Object:
        groups = [ray(pods, name)["spec"]["workerGroupSpecs"][0] for name, pods in (("a", first), ("b", second))]
        return {**ray(0), "spec": {**ray(0)["spec"], "workerGroupSpecs": groups}}

    def first(*on: int) -> ClusterSnapshot:
        return fleet(8, *running(grouped("a"), *on))

    here = office(first(0, 1, 2))
    for old, new, on in (((3, 0), (3, 2), (0, 1, 2)), ((3, 2), (1, 2), (0,)), ((1, 2), (3, 2), (0, 4))):
        here.review(change(two_groups(*old), two_groups(*new)))
        here.read(first(*on))
    assert here.desk.reservations.holds[0].sizes == {"a": 1, "b": 2}


def test_what_may_be_there_already_refuses_nobody() -> None:
    """Of a Job that has done with two pods, the next two look like two that were tried again."""
    here, own = office(fleet(8)), run_by("train")
    here.review(creation(job("train", 4)))
    here.read(fleet(8, *running(own, 0, 1)))
    here.read(fleet(8))
    assert (allowed(here, 6), allowed(here, 7)) == (True, False)
    here.read(fleet(8, *running(own, 2)))
    assert (allowed(here, 6), allowed(here, 7)) == (True, False)
    asked = here.review(creation(job("other", 6), dryRun=True), enforced=True)
    assert (here.held, asked.word, asked.allowed) == (2, "fits-nowhere", True)
    here.read(fleet(8, *running(own, 2, 3)))
    assert (allowed(here, 6), allowed(here, 7), here.held) == (True, False, 2)


@pytest.mark.parametrize("on", [(0, 1), (0,)], ids=["the next one", "in the place of another"])
def test_a_quota_counts_each_pod_once_though_some_take_the_place_of_others(on: Sequence[int]) -> None:
    """Of four, two have come; one more exists, and has no node yet."""
    labels = {"app": "serve", **HASH}
    waiting = [Unbound(TEAM, tuple(sorted(labels.items())), 1, owner_of(labels))]

    def limited(used: int) -> Quota:
        return quota(hard={GPUS: 64}, used={GPUS: used * 8})

    here = office(fleet(12, quotas=[limited(0)]))
    here.review(creation(deployment(pods=4)))
    here.read(fleet(12, *served(0, 1), quotas=[limited(2)]))
    here.read(fleet(12, *served(*on), unbound=waiting, quotas=[limited(len(on) + 1)]))
    assert (here.held, room_left(here, 4)) == (2, True)


def test_who_was_missing_comes_back_and_is_not_waited_for() -> None:
    """One pod is being replaced while the object is told to have one more."""
    here = office(fleet(4))
    here.review(creation(deployment(pods=2)))
    here.read(fleet(4, *served(0, 1)))
    here.read(fleet(4, *served(0)))
    assert scaled(here, 2, 3) == "fits"
    here.read(fleet(4, *served(0, 2)))
    assert (here.held, room_left(here, 1)) == (1, True)
    here.read(fleet(4, *served(0, 2, 3)))
    assert here.held == 0


# -- time -------------------------------------------------------------------------------------------------------------


def test_time_begins_anew_with_each_pod_that_comes() -> None:
    here, own = office(fleet(4), expiry=60), run_by("train")
    here.review(creation(job("train", 4)))
    here.read(fleet(4, *running(own, 0)), after=50)
    here.read(fleet(4, *running(own, 0, 1)), after=50)
    assert here.held == 2
    here.read(fleet(4, *running(own, 0, 1)), after=50)
    assert here.held == 2
    here.read(fleet(4, *running(own, 0, 1)), after=20)
    assert here.held == 0


def test_a_later_stage_keeps_its_room_while_an_earlier_one_runs() -> None:
    here = office(fleet(4), expiry=60)
    here.review(creation(staged(1, 4)))
    for _ in range(5):
        here.read(fleet(4, *init_on(0)), after=40)
        assert (here.held, allowed(here, 1)) == (4, False)
    here.read(fleet(4), after=40)
    assert here.held == 4
    here.read(fleet(4), after=40)
    assert here.held == 0


def test_pods_count_that_came_while_nobody_asked() -> None:
    here, own = office(fleet(6), expiry=60), run_by("train")
    here.review(creation(staged(1, 4)))
    here.read(fleet(6, *init_on(0)), after=400)
    assert here.held == 4
    here.review(creation(job("train", 2)))
    here.read(fleet(6, *init_on(0), *running(own, 5)), after=400)
    assert here.held == 5


@pytest.mark.parametrize("bound_already", [True, False])
def test_pods_of_a_later_stage_prove_that_the_earlier_ones_have_ended(bound_already: bool) -> None:
    here, labels = office(fleet(4)), of("work")
    here.review(creation(staged(1, 2)))
    waiting = [Unbound(TEAM, tuple(sorted(labels.items())), 1, owner_of(labels))]
    here.read(fleet(4, *running(labels, 3)) if bound_already else fleet(4, unbound=waiting))
    assert [one.due for one in here.desk.reservations.holds] == [{"work": 1 if bound_already else 2}]


def test_pods_of_an_earlier_stage_prove_nothing() -> None:
    here = office(fleet(4))
    here.review(creation(staged(2, 1)))
    here.read(fleet(4, *init_on(0)))
    assert here.desk.reservations.holds[0].due == {"init": 1, "work": 1}


# -- namesakes --------------------------------------------------------------------------------------------------------


def group(replicas: int) -> Object:
    template = {"size": 2, "leaderTemplate": pod(8), "workerTemplate": pod(8)}
    return thing(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "serve",
        replicas=replicas,
        leaderWorkerTemplate=template,
    )


def test_pods_without_the_label_that_a_controller_always_adds_are_those_of_another_kind() -> None:
    """A StatefulSet of the same name runs in another cluster."""
    theirs, prefix = running({"app": "serve", **OF_A_SET}, 0, 1), "leaderworkerset.sigs.k8s.io/"
    here = office(fleet(2, name="east"), fleet(4, name="west"))
    here.review(creation(group(1)))
    here.read(fleet(4, *theirs, name="west"))
    assert here.held == 2
    own = [
        bound(
            on="n0",
            labels={f"{prefix}name": "serve", f"{prefix}worker-index": "0"},
            owner="StatefulSet.apps/serve",
            gpu=8,
        ),
        bound(
            on="n1",
            labels={f"{prefix}name": "serve", f"{prefix}worker-index": "1"},
            owner="StatefulSet.apps/serve-0",
            gpu=8,
        ),
    ]
    here.read(fleet(2, *own, name="east"))
    assert here.held == 0
    assert here.review(change(group(1), group(2)), enforced=True).word == "refused"
