"""Pods that go make way for the new ones of the same object, and are not mistaken for these."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.builders import bound, quota
from tests.server.asking import change, creation, deployment, job, office, owner_of, removal, suspended
from tests.server.test_promises import GPUS, HASH, canary, fleet, room_left, run_by, running, scaled, served

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


def test_who_creates_it_again_and_again_holds_room_no_longer() -> None:
    here = office(fleet(4), expiry=300)
    for number in range(20):
        here.review(creation(job("a", pods=4)))
        assert here.held == (4 if number < 3 else 0)
        here.read(fleet(4), after=100)
    here.review(removal(job("a", pods=4)))
    here.review(creation(job("a", pods=4)))
    assert here.held == 4


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
