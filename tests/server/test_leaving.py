"""Pods that go make way for the new ones of the same object, and are not mistaken for these."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot, Unbound
from tests.builders import TEAM, Bound, bound, quota
from tests.server.asking import (
    Object,
    Office,
    change,
    creation,
    deployment,
    job,
    office,
    owner_of,
    removal,
    suspended,
    template,
)
from tests.server.test_promises import GPUS, HASH, canary, fleet, ray, room_left, run_by, running, scaled, served

OTHER = {"app": "serve", "pod-template-hash": "8b6d5"}


def test_what_is_replaced_on_a_full_cluster_takes_the_room_of_its_old_pods() -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    assert not here.review(creation(job("other", 1)), enforced=True).allowed
    here.review(removal(deployment(pods=4)))
    assert not here.review(creation(job("other", 1)), enforced=True).allowed  # the pods are still there
    assert here.review(creation(deployment(pods=5), dryRun=True), enforced=True).word == "refused"
    assert here.review(creation(deployment(pods=4)), enforced=True).word == "fits"
    here.read(fleet(4, *served(0, 1, 2, 3)), after=1)
    assert sum(here.desk.reservations.holds[0].due.values()) == 4
    here.read(fleet(4))
    assert (here.held, room_left(here, 0)) == (4, True)
    here.read(fleet(4, *running(OTHER, 0, 1, 2, 3)))
    assert here.held == 0


def test_old_pods_that_are_on_their_way_out_make_way_as_well() -> None:
    here = office(fleet(2, *served(0, 1)))
    here.review(removal(deployment(pods=2)))
    leaving = [replace(pod, pods=replace(pod.pods, terminating=True)) for pod in served(0, 1)]
    here.read(fleet(2, *leaving))
    assert not here.review(creation(job("other", 1)), enforced=True).allowed
    assert here.review(creation(deployment(pods=2)), enforced=True).word == "fits"


def test_a_read_that_still_shows_the_old_pods_releases_nothing() -> None:
    here = office(fleet(6, *served(0, 1)))
    here.review(removal(deployment(pods=2)))
    here.review(creation(deployment(pods=2)))
    here.read(fleet(6, *served(0, 1)), after=1)
    assert (here.held, room_left(here, 2)) == (2, True)
    here.read(fleet(6, *running(OTHER, 2, 3)))
    assert (here.held, room_left(here, 4)) == (0, True)


def test_pods_of_a_sibling_make_no_way() -> None:
    here = office(fleet(2, *canary(0, 1)))
    here.review(removal(deployment(pods=2)))
    assert here.review(creation(deployment(pods=2)), enforced=True).word == "refused"


def test_what_is_resumed_before_the_next_read_takes_the_room_of_its_old_pods() -> None:
    here, whole = office(fleet(4, *running(run_by("a"), 0, 1, 2, 3))), job("a", pods=4)
    here.review(change(whole, suspended(whole)))
    assert here.review(change(suspended(whole), whole), enforced=True).word == "fits"
    assert sum(here.desk.reservations.holds[0].due.values()) == 4


@pytest.mark.parametrize("low", [0, 1, 2])
def test_what_grows_again_takes_the_room_of_those_that_go(low: int) -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    assert scaled(here, 4, low) == "waved-through"
    assert scaled(here, low, 5) == "refused"
    assert (scaled(here, low, 4), sum(here.desk.reservations.holds[0].due.values())) == ("fits", 4 - low)
    here.read(fleet(4, *running({"app": "serve", **HASH}, *range(low))))
    assert (here.held, room_left(here, 0)) == (4 - low, True)
    here.read(fleet(4, *served(0, 1, 2, 3)))
    assert here.held == 0


def test_those_that_have_gone_already_leave_no_room_twice() -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    scaled(here, 4, 2)
    here.read(fleet(4, *served(0, 1)), after=2)
    assert (scaled(here, 2, 5), scaled(here, 2, 4)) == ("refused", "fits")


@pytest.mark.parametrize(("seconds", "word"), [(1, "fits"), (10, "refused")])
def test_those_that_stay_all_the_same_make_no_way(seconds: float, word: str) -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    scaled(here, 4, 2)
    here.read(fleet(4, *served(0, 1, 2, 3)), after=seconds)
    assert scaled(here, 2, 4) == word


def test_quotas_have_back_what_goes() -> None:
    full = quota(hard={GPUS: 16}, used={GPUS: 16})
    here = office(fleet(4, *served(0, 1), quotas=[full]))
    assert here.review(creation(deployment("b", 1)), enforced=True).word == "refused"
    here.review(removal(deployment(pods=2)))
    assert here.review(creation(deployment(pods=2)), enforced=True).word == "fits"


# -- labels that change -----------------------------------------------------------------------------------------------


def versioned(pods: int, version: str) -> dict[str, object]:
    found = deployment(pods=pods)
    found["spec"]["template"]["metadata"]["labels"]["chart"] = version
    return found


@pytest.mark.parametrize(("chart", "held"), [("1", 0), ("2", 0), (None, 2)])
def test_a_hold_knows_its_pods_by_old_and_by_new_labels(chart: str | None, held: int) -> None:
    here = office(fleet(4))
    here.review(creation(versioned(2, "1")))
    assert here.review(change(versioned(2, "1"), versioned(2, "2"))).word == "waved-through"
    labels = {"app": "serve", "chart": chart} if chart else {"app": "another", "chart": "2"}
    here.read(fleet(4, *running({**labels, **HASH}, 2, 3)))
    assert here.held == held


@pytest.mark.parametrize(("free", "word"), [(1, "fits"), (0, "refused")])
def test_changed_labels_ask_for_no_pod_anew(free: int, word: str) -> None:
    here = office(fleet(4 + free, *served(0, 1, 2, 3, chart="1")), fleet(0, name="west"))
    here.review(change(versioned(4, "1"), versioned(4, "2")))
    assert here.review(change(versioned(4, "2"), versioned(5, "2")), enforced=True).word == word
    assert here.held == free


# -- how long it is held ----------------------------------------------------------------------------------------------


def test_who_creates_it_again_and_again_refuses_nobody_after_its_time() -> None:
    here, other = office(fleet(4), expiry=300), creation(job("b", pods=1), dryRun=True)
    for number in range(20):
        here.review(creation(job("a", pods=4)))
        assert here.review(other, enforced=True).allowed == (number > 2)
        here.read(fleet(4), after=100)
    here.review(removal(job("a", pods=4)))
    here.review(creation(job("a", pods=4)))
    assert not here.review(other, enforced=True).allowed


def test_who_grows_and_shrinks_holds_room_no_longer() -> None:
    here = office(fleet(4), expiry=300)
    here.review(creation(deployment(pods=3)))
    for _ in range(2):
        here.read(fleet(4), after=100)
        scaled(here, 3, 2)
        scaled(here, 2, 3)
    assert here.held == 3
    here.read(fleet(4), after=101)
    assert here.held == 0


def test_more_pods_than_ever_were_due_have_their_own_time() -> None:
    here = office(fleet(6), expiry=300)
    here.review(creation(deployment(pods=3)))
    here.read(fleet(6, *served(0, 1)), after=200)
    scaled(here, 3, 5)
    here.read(fleet(6, *served(0, 1)), after=200)
    assert here.held == 3


def test_what_fits_nowhere_any_more_holds_nothing() -> None:
    here, chosen = office(fleet(4)), deployment(pods=3)
    here.review(creation(deployment(pods=3)))
    chosen["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "none"}
    assert here.review(change(deployment(pods=3), chosen), enforced=True).word == "refused"
    assert here.held == 3  # nothing has changed
    assert here.review(change(deployment(pods=3), chosen)).word == "fits-nowhere"
    assert (here.held, room_left(here, 4)) == (0, True)
    assert (here.review(change(chosen, deployment(pods=3))).word, here.held) == ("fits", 3)


def test_pods_of_one_look_and_two_sizes_each_leave_their_own_room() -> None:
    labels = {"app": "serve", **HASH}
    small = [bound(on="n1", labels=labels, owner=owner_of(labels), gpu=2)]
    here = office(fleet(2, *served(0), *small))
    here.review(removal(deployment(pods=2)))
    assert here.review(creation(deployment(pods=3)), enforced=True).word == "refused"
    assert here.review(creation(deployment(pods=2)), enforced=True).word == "fits"


def ends(pods: list[Bound]) -> list[Bound]:
    return [replace(pod, pods=replace(pod.pods, terminating=True)) for pod in pods]


@pytest.mark.parametrize(
    ("alive", "ending", "old", "new", "word"),
    [
        ([], [0, 1, 2, 3], 4, 5, "fits"),  # all are made anew
        ([], [0, 1, 2, 3], 4, 6, "refused"),
        ([0, 1], [2, 3], 2, 5, "fits"),  # two were too many
        ([0, 1], [2, 3], 2, 6, "refused"),
        ([0, 1], [2, 3], 4, 5, "fits"),  # two are evicted, and made anew before any other
        ([0, 1], [2, 3], 4, 6, "refused"),
    ],
)
def test_pods_that_end_make_way_whatever_was_heard(
    alive: list[int], ending: list[int], old: int, new: int, word: str
) -> None:
    """For as many as come in their place, and for no others."""
    here = office(fleet(5, *served(*alive), *ends(served(*ending))))
    assert scaled(here, old, new) == word


def test_pods_that_end_make_way_for_a_new_object_of_their_name() -> None:
    here = office(fleet(2, *ends(served(0, 1))))
    assert here.review(creation(job("other", 1)), enforced=True).word == "refused"
    assert here.review(creation(deployment(pods=2)), enforced=True).word == "fits"


# -- of which role those are that go ----------------------------------------------------------------------------------


def rays(first: int, second: int, sizes: tuple[int, int] = (8, 0), names: tuple[str, str] = ("a", "b")) -> Object:
    """A head without GPUs and two groups of workers."""
    found = ray(0)
    group = found["spec"]["workerGroupSpecs"][0]
    found["spec"]["workerGroupSpecs"] = [
        {**group, "groupName": name, "replicas": pods, "template": template(gpu)}
        for name, pods, gpu in zip(names, (first, second), sizes, strict=True)
    ]
    return found


def workers(group: str, gpu: int, *on: int, **more: str) -> list[Bound]:
    kind = "head" if group == "headgroup" else "worker"
    labels = {"ray.io/cluster": "r1", "ray.io/group": group, "ray.io/node-type": kind, **more}
    return [bound(on=f"n{number}", labels=labels, owner=owner_of(labels), gpu=gpu) for number in on]


def updated(here: Office, old: Object, new: Object) -> str:
    return here.review(change(old, new), enforced=True).word


def test_pods_of_one_role_that_go_leave_the_room_of_no_other() -> None:
    here = office(fleet(2, *workers("a", 8, 0, 1), *workers("b", 0, 0, 1), *workers("headgroup", 0, 0)))
    assert updated(here, rays(2, 2), rays(3, 2)) == "refused"
    assert updated(here, rays(2, 2), rays(2, 1)) == "waved-through"
    assert updated(here, rays(2, 1), rays(3, 1)) == "refused"


def test_pods_that_go_leave_the_room_of_their_own_role() -> None:
    """However the snapshot sorts them: those of the head come first."""
    names = ("workers", "b")
    here = office(fleet(4, *workers("headgroup", 0, 0), *workers("workers", 8, 0, 1, 2, 3)))
    old, new = rays(4, 0, names=names), rays(2, 0, names=names)
    assert (updated(here, old, new), updated(here, new, old)) == ("waved-through", "fits")
    assert here.held == 2
    here.read(fleet(4, *workers("headgroup", 0, 0), *workers("workers", 8, 0, 1)))
    assert (here.held, room_left(here, 0)) == (2, True)
    here.read(fleet(4, *workers("headgroup", 0, 0), *workers("workers", 8, 0, 1, 2, 3)))
    assert here.held == 0


def test_pods_go_in_an_update_that_adds_others() -> None:
    here = office(fleet(3, *workers("headgroup", 0, 0), *workers("a", 8, 0, 1, 2)))
    assert updated(here, rays(3, 0), rays(2, 1)) == "fits"
    assert updated(here, rays(2, 1), rays(3, 1)) == "fits"
    assert updated(here, rays(3, 1), rays(4, 1)) == "refused"


def test_the_room_of_pods_under_another_name_is_theirs() -> None:
    here = office(fleet(2, *workers("headgroup", 0, 0), *workers("a", 8, 0, 1)))
    assert updated(here, rays(2, 0, (8, 8)), rays(0, 2, (8, 8))) == "waved-through"
    assert updated(here, rays(0, 2, (8, 8)), rays(0, 3, (8, 8))) == "refused"
    here.read(fleet(2, *workers("headgroup", 0, 0), *ends(workers("a", 8, 0, 1))), after=2)
    assert updated(here, rays(0, 2, (8, 8)), rays(0, 3, (8, 8))) == "refused"


@pytest.mark.parametrize(("gone", "word"), [(1, "refused"), (2, "fits")])
def test_where_roles_cannot_be_told_apart_those_go_that_take_least(gone: int, word: str) -> None:
    """Pods whose labels say no group: either may be of either."""
    some = {"ray.io/cluster": "r1"}
    pods = [bound(on=f"n{on}", labels=some, owner=owner_of(some), gpu=gpu) for on, gpu in ((0, 8), (1, 4), (1, 4))]
    here = office(fleet(2, *workers("headgroup", 0, 0), *pods))
    whole, fewer = rays(1, 2, (8, 4)), rays(0, 2, (8, 4)) if gone == 1 else rays(1, 0, (8, 4))
    updated(here, whole, fewer)
    assert updated(here, fewer, whole) == word


# -- pods that go before they have a node -----------------------------------------------------------------------------


def waiting(pods: int) -> ClusterSnapshot:
    """A quota for two pods, and so many of the Job `a` that are bound nowhere yet."""
    labels = run_by("a")
    asked = {"nvidia.com/gpu": 8}
    own = [Unbound(TEAM, tuple(sorted(labels.items())), pods, owner_of(labels), asked)] if pods else []
    return fleet(6, quotas=[quota(hard={GPUS: 16}, used={GPUS: 8 * pods})], unbound=own)


def halved(here: Office) -> list[str]:
    steps = [(job("a", 2), job("a", 1)), (job("a", 1), job("a", 2)), (job("a", 2), job("a", 3))]
    return [updated(here, old, new) for old, new in steps]


def resumed(here: Office) -> list[str]:
    whole = job("a", 2)
    return [updated(here, whole, suspended(whole)), updated(here, suspended(whole), whole)]


def replaced(here: Office) -> list[str]:
    here.review(removal(job("a", 2), options={"propagationPolicy": "Background"}))
    return [here.review(creation(job("a", size)), enforced=True).word for size in (3, 2)]


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (halved, ["waved-through", "fits", "refused"]),
        (resumed, ["waved-through", "fits"]),
        (replaced, ["refused", "fits"]),
    ],
)
def test_pods_that_go_before_they_have_a_node_give_their_quota_back(steps: Any, words: list[str], held: bool) -> None:
    here = office(waiting(0) if held else waiting(2))
    if held:
        here.review(creation(job("a", 2)))
        here.read(waiting(2))
    assert steps(here) == words


# -- others that wait for room ----------------------------------------------------------------------------------------


def bereft(*pods: Bound, extra: int = 0) -> Office:
    """A Job of two pods, one of which has lost its room to these."""
    here = office(fleet(2 + extra))
    here.review(creation(job("a", 2)))
    for number in range(extra):
        here.review(creation(job(f"b{number}")))
    here.read(fleet(2 + extra, *pods))
    assert sum(one.bereft.total() for one in here.desk.reservations.holds) == 1
    return here


def test_room_that_is_let_go_of_is_there_for_those_that_have_lost_theirs() -> None:
    here = bereft(bound(on="n0", gpu=8), extra=1)
    here.review(removal(job("b0"), options={"propagationPolicy": "Background"}))
    assert here.review(creation(job("other")), enforced=True).word == "refused"


@pytest.mark.parametrize("ending", [False, True])
def test_pods_that_go_make_way_for_those_that_have_lost_their_room(ending: bool) -> None:
    here = bereft(*(ends(served(0)) if ending else served(0)))
    here.review(removal(deployment(pods=1)))
    assert here.review(creation(deployment(pods=1)), enforced=True).word == "refused"
