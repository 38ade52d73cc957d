"""An update that was let in may still not be stored: the next one tells by what it starts from."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from tests.server.asking import Object, change, creation, deployment, job, office, removal, suspended
from tests.server.test_promises import MAKE, fleet, room_left, run_by, running, scaled, served


@pytest.mark.parametrize(
    ("updates", "held"),
    [
        ([(2, 4), (2, 4)], 2),  # the API server tries a patch again after a conflict
        ([(2, 4), (4, 6)], 4),
        ([(2, 4), (2, 3)], 1),
        ([(2, 6), (2, 1)], 0),
        ([(2, 6), (2, 9), (2, 3)], 1),  # the second is refused
        ([(2, 4), (4, 3), (4, 6)], 4),
        ([(2, 4), (4, 2), (4, 5)], 3),
        ([(2, 4), (4, 2), (2, 4)], 2),
    ],
)
def test_what_was_not_stored_is_not_counted(updates: list[tuple[int, int]], held: int) -> None:
    here = office(fleet(6, *served(0, 1)))
    for old, new in updates:
        scaled(here, old, new)
    assert here.held == held
    assert room_left(here, 4 - held)


@pytest.mark.parametrize("suspends", [False, True])
def test_a_deletion_tells_as_well_what_was_not_stored(suspends: bool) -> None:
    """Another webhook may deny it every time."""
    here, own = office(fleet(2)), job("train", 2, uid="u1")
    here.review(creation(own))
    first = change(own, suspended(own)) if suspends else removal(own)
    for asked in (first, removal(own)):
        here.review(asked)
    assert here.held == 0
    touched = deepcopy(own)
    touched["spec"]["backoffLimit"] = 3
    here.review(change(own, touched))
    assert (here.held, room_left(here, 0)) == (2, True)


def test_pods_that_have_come_since_are_not_waited_for_again() -> None:
    here = office(fleet(6, *served(0, 1)))
    scaled(here, 2, 5)
    here.read(fleet(6, *served(0, 1, 2)))
    scaled(here, 5, 3)
    here.read(fleet(6, *served(0, 1, 2, 3)))
    assert (scaled(here, 5, 6), here.held) == ("fits", 2)


def test_a_dry_run_neither_counts_nor_forgets() -> None:
    here = office(fleet(4, *served(0, 1)))
    scaled(here, 2, 4)
    asked = change(deployment(pods=2), deployment(pods=4))
    assert here.review(replace(asked, dry_run=True), enforced=True).word == "fits"
    assert here.held == 2
    assert (scaled(here, 2, 3), here.held) == ("fits", 1)


def test_an_update_that_says_the_same_tells_nothing() -> None:
    """It may have been read before the other one was stored."""
    here = office(fleet(4, *served(0, 1)))
    scaled(here, 2, 4)
    scaled(here, 2, 2)
    assert here.held == 2


def test_a_deletion_that_was_not_stored_leaves_its_room() -> None:
    here = office(fleet(6))
    here.review(creation(deployment(pods=4)))
    here.review(removal(deployment(pods=4)))
    assert here.held == 0
    assert (scaled(here, 4, 5), here.held) == ("fits", 5)


def test_what_is_being_deleted_gets_no_room_back() -> None:
    here, going = office(fleet(6)), deployment(pods=4)
    here.review(creation(going))
    here.review(removal(going))
    going["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"
    fewer = deployment(pods=1)
    fewer["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"
    here.review(change(going, fewer))
    assert here.held == 0


def test_a_suspension_that_was_not_stored_leaves_its_room() -> None:
    here, running = office(fleet(4)), job("a", pods=2)
    here.review(creation(running))
    here.review(change(running, suspended(running)))
    assert here.held == 0
    larger = job("a", pods=3)
    assert (here.review(change(running, larger)).word, here.held) == ("fits", 3)


def written(obj: Object, **metadata: Any) -> Object:
    found = deepcopy(obj)
    found["metadata"].update(metadata)
    return found


# -- what runs as a whole, so that nothing is held for it --------------------------------------------------------------


def test_pods_that_were_to_go_and_stay_leave_no_room() -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    assert scaled(here, 4, 2) == "waved-through"
    assert scaled(here, 4, 5) == "refused"


@pytest.mark.parametrize(("make", "labels"), MAKE, ids=["job", "deployment", "statefulset"])
def test_an_object_that_is_not_deleted_leaves_no_room(make: Any, labels: dict[str, str]) -> None:
    here = office(fleet(4, *running(labels, 0, 1, 2, 3)))
    here.review(removal(make(4), options={"propagationPolicy": "Background"}))
    assert here.review(change(make(4), make(8)), enforced=True).word == "refused"


def test_a_job_that_is_not_suspended_leaves_no_room() -> None:
    whole = job("a", 4)
    here = office(fleet(4, *running(run_by("a"), 0, 1, 2, 3)))
    here.review(change(whole, suspended(whole)))
    assert here.review(change(whole, job("a", 8)), enforced=True).word == "refused"


def test_a_dry_run_sees_that_it_was_not_stored_and_forgets_nothing() -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    scaled(here, 4, 2)
    asked = change(deployment(pods=4), deployment(pods=5), dryRun=True)
    assert here.review(asked, enforced=True).word == "refused"
    assert scaled(here, 2, 4) == "fits"


@pytest.mark.parametrize(("uid", "word"), [("1", "refused"), ("2", "fits")])
def test_a_uid_says_which_object_is_there(uid: str, word: str) -> None:
    """A creation in between fails where the first one is there still; the second one's pods are to come."""
    here = office(fleet(4, *served(0, 1, 2, 3)))
    here.review(removal(written(deployment(pods=4), uid="1")))
    here.review(creation(deployment(pods=2)))
    old, new = (written(deployment(pods=pods), uid=uid) for pods in (2, 4))
    assert here.review(change(old, new), enforced=True).word == word


def test_what_keeps_pods_away_may_be_written_on_it() -> None:
    graph = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {"name": "g", "namespace": "team"},
        "spec": {
            "nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceName": "a"}]}},
            "minReplicas": 2,
            "maxReplicas": 2,
            "resources": {"limits": {"nvidia.com/gpu": 8}},
        },
    }
    larger = deepcopy(graph)
    larger["spec"] |= {"minReplicas": 3, "maxReplicas": 3}  # type: ignore[operator]
    pods = running({"serving.kserve.io/inferencegraph": "g", "app": "g", "pod-template-hash": "7d9c4"}, 0, 1)
    here = office(fleet(2, *pods))
    here.review(change(graph, written(graph, annotations={"serving.kserve.io/stop": "true"})))
    assert here.review(change(graph, larger), enforced=True).word == "refused"


# -- what is only written on an object --------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [4, 8])
def test_what_is_written_on_it_in_between_tells_nothing(nodes: int) -> None:
    here = office(fleet(nodes, *served(0, 1)))
    scaled(here, 2, 4)
    labelled = {pods: written(deployment(pods=pods), labels={"x": "y"}) for pods in (2, 4)}
    here.review(change(deployment(pods=2), labelled[2]))
    assert (here.review(change(labelled[2], labelled[4]), enforced=True).word, here.held) == ("fits", 2)
