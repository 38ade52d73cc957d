"""What a question may cost in memory, whatever is asked; and what is given up for it is never a no."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from advisor import model
from advisor.model.patterns import classify
from advisor.model.solve import CELLS
from advisor.problem import Problem
from tests.builders import keep_apart, problem

SEARCH = model.Search(deterministic_seconds=0.1)
MIB = 1 << 20


def peak(work: Callable[[], object]) -> int:
    """The most memory that it had at once; numpy tells of its own."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def small_pods(roles: int) -> Problem:
    """Gangs of which a bin holds any combination: many more than can be written down."""
    return problem([1] * roles, [[1 + role, 1] for role in range(roles)], [[64_000, 110]] * 10)


def one_a_bin(roles: int) -> Problem:
    """As many patterns as roles: few, each of them long."""
    return problem([1] * roles, [[8, 1]] * roles, [[8, 110]] * (roles + 1))


@pytest.mark.parametrize("roles", [20, 100, 170, 400])
def test_patterns_that_are_too_many_are_not_written_down(roles: int) -> None:
    asked = small_pods(roles)
    assert peak(lambda: classify(asked)) < 100 * MIB
    assert classify(asked) is None


@pytest.mark.parametrize("roles", [20, 100, 400])
def test_few_patterns_of_many_roles_are_cheap(roles: int) -> None:
    asked = one_a_bin(roles)
    assert peak(lambda: classify(asked)) < 100 * MIB
    assert model.any_order(asked, SEARCH)


def test_a_limit_is_for_patterns_times_roles() -> None:
    assert classify(one_a_bin(1000)) is not None
    assert classify(one_a_bin(1100)) is None


@pytest.mark.parametrize("roles", [3, 70])
def test_what_comes_above_a_pattern(roles: int) -> None:
    """Also where a pattern is too long to become one number."""
    asked = problem([2] * roles, [[1]] * roles, [[2]] * 3)
    found = classify(asked)
    assert found is not None
    numbers = {tuple(row): number for number, row in enumerate(found.patterns.tolist())}
    for row, above in zip(found.patterns, found.above, strict=True):
        more = [tuple((row + one).tolist()) for one in np.eye(roles, dtype=np.int64)]
        assert above.tolist() == [numbers.get(larger, -1) for larger in more]


def test_roles_apart_everywhere_are_in_no_pattern_together() -> None:
    rule = keep_apart((0, 1), (1, 1), domain=range(4))
    found = classify(problem([3, 3], [[1], [1]], [[2]] * 4, apart=[rule]))
    assert found is not None
    assert sorted(map(tuple, found.patterns.tolist())) == [(0, 0), (0, 1), (1, 0), (2, 0)]


def test_more_variables_than_are_searched_is_unknown_and_never_a_no() -> None:
    """A bin of nine holds four pods of two, which no sum of one resource shows."""
    roles, bins = 110, 500
    assert roles * bins > CELLS
    asked = problem([19] * roles, [[2]] * roles, [[9]] * bins)
    assert classify(asked) is None
    assert peak(lambda: model.place(asked, SEARCH)) < 100 * MIB
    assert model.place(asked, SEARCH).placed is None
