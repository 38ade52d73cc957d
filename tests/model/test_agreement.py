"""The model, the checker and brute force agree on 10,000 small random problems, yes and no."""

from __future__ import annotations

import pytest

from advisor import model
from advisor.problem import Problem
from tests.model import brute
from tests.model.random_problems import problem

CHUNK = 250
SEEDS = range(0, 10_000, CHUNK)

BY_PATTERN = model.Search()
BY_BIN = model.Search(patterns=0)


@pytest.mark.parametrize("first", SEEDS)
def test_place_finds_a_packing_exactly_when_there_is_one(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = problem(seed)
        expected = brute.fits(asked, asked.wanted)
        for search in (BY_PATTERN, BY_BIN):
            assert model.place(asked, search).complete == expected, f"seed {seed}, {search}"


@pytest.mark.parametrize("first", SEEDS[::4])
def test_largest_is_the_largest(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = problem(seed)
        for search in (BY_PATTERN, BY_BIN):
            found = model.largest(asked, search)
            assert sum(found.sizes.values()) == brute.largest(asked), f"seed {seed}, {search}"


@pytest.mark.parametrize("first", SEEDS[::4])
def test_reduced_keeps_the_floor_and_whole_groups(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = problem(seed)
        expected = brute.reduced(asked)
        for search in (BY_PATTERN, BY_BIN):
            found = model.reduced(asked, search)
            size = sum(found.sizes.values()) if found.complete else None
            assert size == expected, f"seed {seed}, {search}"


@pytest.mark.parametrize("first", SEEDS[::4])
def test_a_part_of_a_gang_is_the_largest_of_whole_groups(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = problem(seed)
        for search in (BY_PATTERN, BY_BIN):
            found = model.whole_part(asked, search)
            assert sum(found.sizes.values()) == brute.whole_part(asked), f"seed {seed}, {search}"


@pytest.mark.parametrize("first", SEEDS[::4])
def test_arrange_disturbs_the_least(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = problem(seed)
        if brute.fits(asked, asked.wanted):
            for search in (BY_PATTERN, BY_BIN):
                found = model.arrange(asked, search).placed
                assert found is not None
                assert brute.disturbance(asked, found) == brute.least_disturbance(asked), f"seed {seed}, {search}"


@pytest.mark.parametrize("first", SEEDS[::4])
def test_any_order_is_said_exactly_when_no_order_sticks(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = problem(seed)
        if brute.fits(asked, asked.wanted):
            said = model.any_order(asked, BY_PATTERN)
            if said or _per_bin(asked):
                assert said == (not brute.sticks(asked)), f"seed {seed}"


def _per_bin(asked: Problem) -> bool:
    """Rules that span bins are not worked out by `any_order`, which then says no."""
    return all(rule.singletons for rule in asked.apart)
