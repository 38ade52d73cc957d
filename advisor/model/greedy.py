"""A quick yes: each role in turn into the bins that suit it, in several ways. Finding none proves nothing.

The first way is the one whose answers disturb least: the hardest role first, the tightest bins first. The others are
tried where it fails: roles by their share of everything, and bins by how little they are worth to the roles to come.
Where a rule spans bins, a role takes whole domains one after the other, those first that the roles it is kept apart
from would miss the least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product

import numpy as np

from advisor.model.counting import fill
from advisor.problem import Apart, Assignment, Flags, Ints, Problem

Keys = tuple[Ints | Flags, ...]
EFFORT = 1 << 26
"""Pairs of roles times bins; beyond them what is a bin worth to all others is not asked for every role."""
Order = Callable[[Problem, int, Ints, "Ground"], Keys]
"""Sort keys of the bins for a role with room[b] there, the most important first."""


class Ground:
    """The bins while they are filled: what is left at each stage, and who is where."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.alive = problem.alive()
        self.left = [problem.free.copy() for _ in self.alive]
        self.placed: dict[int, dict[int, int]] = {}

    def put(self, role: int, bins: dict[int, int]) -> None:
        self.placed[role] = bins
        rows, counts = np.array(list(bins), dtype=np.int64), np.array(list(bins.values()), dtype=np.int64)
        for stage, roles in enumerate(self.alive):
            if role in roles and len(rows):
                self.left[stage][rows] -= counts[:, None] * self.problem.need[role]

    def room(self, role: int) -> Ints:
        """B: how many pods of `role` each bin takes by itself, with what is there already."""
        problem = self.problem
        room = np.full(problem.bins, problem.wanted[role], dtype=np.int64)
        for stage, roles in enumerate(self.alive):
            if role in roles:
                for k in np.flatnonzero(problem.need[role] > 0):
                    np.minimum(room, self.left[stage][:, k] // problem.need[role, k], out=room)
        room[~problem.allowed[role]] = 0
        for rule in problem.apart:
            if (role, role) in rule.pairs:
                np.minimum(room, np.where(rule.domain >= 0, 1, room), out=room)
            for other, bins in self.placed.items():
                if other != role and _pair(role, other) in rule.pairs:
                    room[_beside(bins, rule.domain)] = 0
        return np.maximum(room, 0)


def pack(problem: Problem) -> Assignment | None:
    """An assignment of the whole gang, or None when no way finds one."""
    return next(packings(problem), None)


def packings(problem: Problem) -> Iterator[Assignment]:
    """The assignments of the whole gang that the ways find, each in its turn."""
    if _over_budget(problem):
        return
    wide = tuple(rule for rule in problem.apart if not rule.singletons)
    order_by = cache(lambda key: tuple(sorted(problem.roles, key=partial(key, problem))))
    tried = set()
    large = len(problem.wanted) ** 2 * problem.bins > EFFORT
    for bins, key in product((order for order in BIN_ORDERS if order is not _cheapest or not large), ROLE_ORDERS):
        order = order_by(key)
        if (bins, order) not in tried:
            tried.add((bins, order))
            found = _in_order(problem, order, bins, wide)
            if found is not None:
                yield found


def _in_order(problem: Problem, order: Sequence[int], bins: Order, wide: tuple[Apart, ...]) -> Assignment | None:
    ground = Ground(problem)
    for role in order:
        room = ground.room(role)
        keys = (*_domains(ground, role, room, wide), *bins(problem, role, room, ground))
        own = [rule for rule in wide if (role, role) in rule.pairs]
        if own:
            room = _one_a_domain(room, keys, own)
        there = fill(room, problem.wanted[role], keys)
        if sum(there.values()) < problem.wanted[role]:
            return None
        ground.put(role, there)
    return ground.placed


def _domains(ground: Ground, role: int, room: Ints, wide: tuple[Apart, ...]) -> Iterator[Ints]:
    """For each rule that spans bins: the domains in the order in which the role takes them."""
    for rule in wide:
        rivals = [r for r in ground.problem.roles if r != role and _pair(role, r) in rule.pairs]
        rivals = [r for r in rivals if r not in ground.placed]
        if rivals:
            own = _per_domain(rule, room)
            theirs = np.max(
                [_per_domain(rule, ground.room(r)) / max(ground.problem.wanted[r], 1) for r in rivals], axis=0
            )
            rank = np.empty(len(own), dtype=np.int64)
            rank[np.argsort(theirs / np.maximum(own, 1), kind="stable")] = np.arange(len(own))
            yield np.where(rule.domain >= 0, rank[rule.domain], -1)


def _per_domain(rule: Apart, room: Ints) -> Ints:
    held = rule.domain >= 0
    total = np.zeros(int(rule.domain.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(total, rule.domain[held], room[held])
    return total


def _one_a_domain(room: Ints, keys: Keys, rules: list[Apart]) -> Ints:
    """The room that is left when of each domain only the bin that comes first is used."""
    room = room.copy()
    taken: list[set[int]] = [set() for _ in rules]
    usable = np.flatnonzero(room)
    for b in usable[np.lexsort([key[usable] for key in reversed(keys)])].tolist():
        domains = [int(rule.domain[b]) for rule in rules]
        if any(domain in gone for domain, gone in zip(domains, taken, strict=True)):
            room[b] = 0
        for domain, gone in zip(domains, taken, strict=True):
            if domain >= 0 and room[b]:
                gone.add(domain)
    return room


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _beside(bins: dict[int, int], domain: Ints) -> Flags:
    """The bins in the domains of the given ones."""
    held = np.unique(domain[list(bins)]) if bins else domain[:0]
    return np.asarray(np.isin(domain, held[held >= 0]))


def _over_budget(problem: Problem) -> bool:
    charges = (
        (b, sum(b.per_pod[r] * problem.wanted[r] for r in alive)) for b in problem.budgets for alive in problem.alive()
    )
    return any(charged > budget.limit for budget, charged in charges)


def _hardest(problem: Problem, role: int) -> float:
    """How much of the largest bin one pod takes, by its scarcest resource."""
    largest = np.maximum(problem.free.max(axis=0, initial=0), 1)
    return -float((problem.need[role] / largest).max(initial=0.0))


def _bulkiest(problem: Problem, role: int) -> float:
    """How much of a bin one pod takes, all resources together."""
    return -float((problem.need[role] / np.maximum(problem.free.sum(axis=0, dtype=np.float64), 1)).sum())


def _choosiest(problem: Problem, role: int) -> float:
    """How little room there is for each pod that is wanted."""
    return float(Ground(problem).room(role).sum()) / max(problem.wanted[role], 1)


def _tightest(problem: Problem, role: int, room: Ints, ground: Ground) -> Keys:
    return problem.fresh, problem.slack


def _roomiest(problem: Problem, role: int, room: Ints, ground: Ground) -> Keys:
    return _untouched(problem, ground) & problem.fresh, _untouched(problem, ground), -room, problem.slack


def _untouched(problem: Problem, ground: Ground) -> Flags:
    untouched = np.ones(problem.bins, dtype=np.bool_)
    for bins in ground.placed.values():
        untouched[list(bins)] = False
    return untouched


def _cheapest(problem: Problem, role: int, room: Ints, ground: Ground) -> Keys:
    """Bins that are worth least to the other roles first: the room for them in pods, weighed by how many they are."""
    lost = np.zeros(problem.bins)
    for other in problem.roles:
        if other != role and other not in ground.placed:
            theirs = ground.room(other)
            lost += theirs * (problem.wanted[other] / max(int(theirs.sum()), 1))
    rank = np.empty(problem.bins, dtype=np.int64)
    rank[np.argsort(lost / np.maximum(room, 1), kind="stable")] = np.arange(problem.bins)
    return (rank,)


def _snuggest(problem: Problem, role: int, room: Ints, ground: Ground) -> Keys:
    """Bins of which the pods that fit leave least over, in shares of what all bins have."""
    share = 1.0 / np.maximum(problem.free.sum(axis=0, dtype=np.float64), 1)
    used = ground.alive[0]
    wanted = np.flatnonzero(problem.need[list(used)].any(axis=0))
    left = (ground.left[0] - room[:, None] * problem.need[role])[:, wanted] @ share[wanted]
    rank = np.empty(problem.bins, dtype=np.int64)
    rank[np.argsort(left, kind="stable")] = np.arange(problem.bins)
    return (rank,)


ROLE_ORDERS: tuple[Callable[[Problem, int], float], ...] = (_hardest, _bulkiest, _choosiest)
BIN_ORDERS: tuple[Order, ...] = (_tightest, _roomiest, _cheapest, _snuggest)
