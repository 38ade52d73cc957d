"""An update that was let in may still not be stored: the next one tells by what it starts from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.server.asking import change, creation, deployment, job, office, removal, suspended
from tests.server.test_promises import fleet, room_left, scaled, served


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
