"""What can be settled by sums that a reader can redo: a no without a search, and the best size of a single role."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from advisor.model.patterns import capacity
from advisor.problem import Assignment, Flags, Ints, Problem

UNBOUNDED = 1 << 30
"""More pods than any node holds; a cap for counts that nothing else bounds."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """`what` is short: a role's places ("role"), a resource's "total" or a "budget"; its number, needs and has."""

    what: str
    number: int
    needs: int
    has: int


def shortage(problem: Problem) -> Shortage | None:
    """A sum that shows that the whole gang does not fit; None proves nothing."""
    for role, places in enumerate(most(problem)):
        if places < problem.wanted[role]:
            return Shortage("role", role, problem.wanted[role], places)
    for number, budget in enumerate(problem.budgets):
        for alive in problem.alive():
            charged = sum(budget.per_pod[role] * problem.wanted[role] for role in alive)
            if charged > budget.limit and any(budget.per_pod[role] * problem.wanted[role] for role in alive):
                return Shortage("budget", number, charged, budget.limit)
    return _total(problem)


def most(problem: Problem) -> tuple[int, ...]:
    """R: how many of the wanted pods of each role alone there are places for, one a domain where a rule says so."""
    return tuple(min(problem.wanted[role], _places(problem, role)) for role in problem.roles)


def _places(problem: Problem, role: int) -> int:
    room = capacity(problem, role)
    counts = [int(room.sum())]
    for rule in problem.apart:
        if (role, role) in rule.pairs:
            free = rule.domain < 0
            counts.append(int(room[free].sum()) + len(np.unique(rule.domain[~free & (room > 0)])))
    return min(counts)


def _total(problem: Problem) -> Shortage | None:
    for alive in problem.alive():
        for k in range(problem.need.shape[1]):
            users = [role for role in alive if problem.need[role, k]]
            needs = sum(int(problem.need[role, k]) * problem.wanted[role] for role in users)
            bins = problem.allowed[users].any(axis=0)
            has = sum(problem.free[bins, k].tolist())
            if needs > has:
                return Shortage("total", k, needs, has)
    return None


def places(problem: Problem, role: int) -> int:
    """How many pods of one role alone the bins hold, however many are wanted."""
    return int(capacity(replace(problem, wanted=(UNBOUNDED,) * len(problem.wanted)), role).sum())


def single(problem: Problem) -> Assignment | None:
    """The most pods of a gang of one role, tightest bins first; None where a sum cannot settle it."""
    if len(problem.wanted) != 1 or not all(rule.singletons for rule in problem.apart):
        return None
    most = problem.wanted[0]
    for budget in problem.budgets:
        if budget.per_pod[0] > 0:
            most = min(most, max(0, budget.limit) // budget.per_pod[0])
    return {0: fill(capacity(problem, 0), most, (problem.fresh, problem.slack))}


def fill(room: Ints, most: int, keys: tuple[Ints | Flags, ...]) -> dict[int, int]:
    """Up to `most` pods into bins that hold room[b] each, in the order of the keys, the most important first."""
    usable = np.flatnonzero(room)
    order = usable[np.lexsort((usable, *(key[usable] for key in reversed(keys))))]
    before = np.cumsum(room[order]) - room[order]
    taken = np.clip(most - before, 0, room[order])
    used = taken > 0
    return dict(zip(order[used].tolist(), taken[used].tolist(), strict=True))
