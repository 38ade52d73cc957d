"""The quick ways: patterns met once, packings by a rule, weighted sums, numbers that no cluster could hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from advisor import model
from advisor.model import counting, greedy, weights
from advisor.model.check import faults
from advisor.model.patterns import classify
from advisor.problem import Problem
from tests.builders import keep_apart, problem
from tests.model import brute, random_problems

RANDOM = range(2_000)


def test_candidates_are_what_some_bin_could_hold_and_each_once() -> None:
    classes = classify(problem([9, 9], [[2, 1], [3, 1]], [[7, 3], [4, 9]]))
    assert classes is not None
    expected = [p for p in product(range(4), range(3)) if 2 * p[0] + 3 * p[1] <= 7 and sum(p) <= 9]
    assert sorted(map(tuple, classes.patterns.tolist())) == sorted(expected)


def test_many_roles_keep_the_form_by_pattern() -> None:
    roles = 20
    asked = problem([4] * roles, [[2 + r % 3] for r in range(roles)], [[8]] * 5)
    assert classify(asked) is not None


def test_more_patterns_than_the_limit_are_not_enumerated() -> None:
    asked = problem([400, 400, 400], [[1], [1], [1]], [[100]] * 5)
    assert classify(asked) is None


def test_what_is_found_quickly_is_valid() -> None:
    for seed in RANDOM:
        asked = random_problems.problem(seed)
        for found in greedy.packings(asked):
            assert not list(faults(asked, found, asked.wanted)), f"seed {seed}"


def test_roles_apart_by_rack_are_packed_without_a_search() -> None:
    racks = [b // 2 for b in range(8)]
    asked = problem([8, 8], [[1], [1]], [[2]] * 8, apart=[keep_apart((0, 1), domain=racks)])
    assert greedy.pack(asked) is not None
    assert greedy.pack(problem([9, 8], [[1], [1]], [[2]] * 8, apart=asked.apart)) is None


def test_one_pod_a_zone_is_counted() -> None:
    zones = [b % 3 for b in range(9)]
    rule = keep_apart((0, 0), domain=zones)
    assert counting.shortage(problem([3], [[1]], [[4]] * 9, apart=[rule])) is None
    short = counting.shortage(problem([4], [[1]], [[4]] * 9, apart=[rule]))
    assert short == counting.Shortage("role", 0, 4, 3)


def near(*pods: int) -> Problem:
    """Totals suffice for nine, eleven and fourteen pods, and no packing does."""
    return problem(pods, [[17, 3], [13, 2], [7, 1]], [[cpu, 8] for cpu in (61, 47, 53, 59, 43, 41, 37, 67)])


def test_a_near_miss_is_refuted_by_weights() -> None:
    found = model.place(near(9, 11, 14), model.Search())
    assert (found.complete, found.proof) == (False, "weights")
    assert model.place(near(8, 11, 14), model.Search()).complete


def test_weights_refute_only_what_does_not_fit() -> None:
    for seed in RANDOM:
        asked = random_problems.problem(seed)
        classes = classify(asked)
        assert classes is not None
        if weights.refuted(asked, classes):
            assert not brute.fits(asked, asked.wanted), f"seed {seed}"


@pytest.mark.parametrize(("weight", "refuted"), [([1, 1], False), ([2, 1], True), ([0, 0], False)])
def test_weights_are_believed_for_their_sum_only(weight: list[int], refuted: bool) -> None:
    """One bin holds two of the second role or one of the first: (2, 1) weighs 5, two bins hold 4."""
    patterns = np.array([[1, 0], [0, 2]], dtype=np.int64)
    assert weights.too_heavy((2, 1), [patterns], [2], np.array(weight, dtype=np.int64)) is refuted


@pytest.mark.parametrize("pods", [10**7, 10**9, 10**12])
def test_numbers_beyond_any_cluster_are_cut_down(pods: int) -> None:
    asked = problem([pods, pods], [[1], [2]], [[8]] * 3, least=[1, 1])
    assert model.place(asked, model.Search()).proof == "count"
    assert sum(model.largest(asked, model.Search()).sizes.values()) == 24
    assert model.reduced(asked, model.Search()).complete


def test_a_search_that_ends_at_its_limit_is_no_answer() -> None:
    found = model.place(near(9, 11, 14), model.Search(deterministic_seconds=0.0, patterns=0))
    assert (found.placed, found.complete, found.proof) == (None, False, "")


def test_an_assignment_is_there_also_when_no_time_is_left_to_improve_it() -> None:
    asked = problem([2, 2], [[2], [1]], [[4], [3], [3]])
    found = model.arrange(asked, model.Search(deterministic_seconds=0.0))
    assert found.complete
    assert found.placed is not None
    assert not list(faults(asked, found.placed, asked.wanted))
