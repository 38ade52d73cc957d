"""Bins that mean the same to a gang are one class; what a bin of a class can hold is a set of patterns.

A pattern is a number of pods per role. The patterns that a bin holds are down-closed, so its maximal ones say
everything (resources, allowed roles, roles that may not share the bin). The candidates are the patterns that would fit
a bin with the most that any bin has of each resource; they are found by adding pod after pod, so their number follows
what a bin can hold and not how many roles there are. A bin is first reduced to ranks among the amounts that any
candidate needs, which is exact: bins of equal ranks hold equal patterns. Everything is array arithmetic over bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from advisor.problem import Apart, Flags, Ints, Problem

PATTERN_LIMIT = 16_384
"""Patterns that are enumerated at most; gangs with more use the form without patterns (`solve.py`)."""
COUNT_LIMIT = 1 << 20
"""Patterns times roles, at most: what it costs to write the patterns down, whatever the number of roles."""
CELL_LIMIT = 1 << 28
"""Kinds of bins times patterns, and classes times patterns times roles, at most."""
_CHUNK = 1 << 24

Packed = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Interchangeable bins, in the order in which they are to be used.

    bins     row numbers
    holds    flags over the patterns: what one of these bins can hold
    fresh    are these bins whole
    domains  the bins' domain for each rule of `Classes.wide`
    """

    bins: Ints
    holds: Flags
    fresh: bool
    domains: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """All classes with room for something.

    patterns  P×R, the candidates; the first is the empty one
    above     P×R, the number of the pattern with one more pod of the role, -1 where that is no candidate
    wide      the rules whose domains span several bins
    """

    patterns: Ints
    above: Ints
    classes: tuple[Class, ...]
    wide: tuple[Apart, ...]

    def maximal(self, holds: Flags) -> Ints:
        """The patterns held to which no pod can be added."""
        held = np.flatnonzero(holds)
        return np.asarray(self.patterns[held[~self._held(holds, self.above[held]).any(axis=1)]])

    def blocking(self, holds: Flags, role: int) -> Ints:
        """The smallest patterns held on which a bin has no room for one more pod of `role`."""
        stuck = holds & ~self._held(holds, self.above[:, role])
        larger = np.zeros(len(holds), dtype=np.bool_)
        above = self.above[stuck]
        larger[above[above >= 0]] = True
        return np.asarray(self.patterns[stuck & ~larger])

    @staticmethod
    def _held(holds: Flags, numbers: Ints) -> Flags:
        return np.asarray((numbers >= 0) & holds[numbers])

    def few(self, limit: int) -> bool:
        """Have all classes together at most `limit` maximal patterns?"""
        columns = 0
        for one in self.classes:
            columns += len(self.maximal(one.holds))
            if columns > limit:
                return False
        return True


def capacity(problem: Problem, role: int) -> Ints:
    """B: how many pods of `role` alone each bin can hold, at most as many as are wanted."""
    room = np.full(problem.bins, max(problem.wanted[role], 0), dtype=np.int64)
    for k in np.flatnonzero(problem.need[role] > 0):
        np.minimum(room, problem.free[:, k] // problem.need[role, k], out=room)
    room[~problem.allowed[role]] = 0
    for rule in problem.apart:
        if (role, role) in rule.pairs:
            np.minimum(room, np.where(rule.domain >= 0, 1, room), out=room)
    return room


def classify(problem: Problem, limit: int = PATTERN_LIMIT) -> Classes | None:
    """Sort the bins into classes; None when there are more than `limit` patterns, or too many for so many bins."""
    narrow = [rule for rule in problem.apart if rule.singletons]
    wide = tuple(rule for rule in problem.apart if not rule.singletons)
    patterns = _candidates(problem, narrow, limit)
    if patterns is None:
        return None
    demand = _demand(problem, patterns)
    keys = _keys(problem, demand, narrow, wide)
    first, inverse = _distinct(keys)
    if len(first) * len(patterns) > CELL_LIMIT:
        return None
    holds = _holds(problem, patterns, demand, narrow, first)
    classes = _merged(problem, holds, len(patterns), keys[first], inverse, len(wide))
    if len(classes) * patterns.size > CELL_LIMIT:
        return None
    return Classes(patterns, _above(patterns), tuple(classes), wide)


def _candidates(problem: Problem, narrow: list[Apart], limit: int) -> Ints | None:
    """P×R: what would fit a bin with the most of everything; None when that is more than `limit` patterns.

    Pods are added in the order of their roles, so each pattern is met once, and a pattern that is too much is not
    added to. Of those with one more pod only the ones that fit are ever written down.
    """
    limit = min(limit, COUNT_LIMIT // max(len(problem.wanted), 1))
    caps = [int(capacity(problem, role).max(initial=0)) for role in problem.roles]
    rivals = _rivals(problem, [rule for rule in narrow if (rule.domain >= 0).all()])
    sums = _Sums(problem)
    layer, last, sum_ = np.zeros((1, len(caps)), dtype=np.int64), np.zeros(1, dtype=np.int64), sums.nothing()
    layers, found = [layer], 1
    while len(layer):
        grown = []
        for role, cap in enumerate(caps):
            parents = np.flatnonzero((last <= role) & (layer[:, role] < cap))
            parents = parents[~layer[parents][:, rivals[role]].any(axis=1)]
            more = sums.plus(sum_[:, parents], role)
            fits = sums.fit(more)
            grown.append((role, parents[fits], more[:, fits]))
            found += int(fits.sum())
            if found > limit:
                return None
        rows = np.concatenate([parents for _, parents, _ in grown])
        last = np.repeat(np.arange(len(caps)), [len(parents) for _, parents, _ in grown])
        layer, sum_ = layer[rows], np.concatenate([more for _, _, more in grown], axis=1)
        layer[np.arange(len(layer)), last] += 1
        layers.append(layer)
    return np.concatenate(layers)


def _rivals(problem: Problem, rules: list[Apart]) -> list[list[int]]:
    """For each role those whose pods share no bin with its own, by rules that hold in every bin."""
    found: list[set[int]] = [set() for _ in problem.roles]
    for rule in rules:
        for one, other in rule.pairs:
            found[one].add(other)
            found[other].add(one)
    return [sorted(roles) for roles in found]


class _Sums:
    """S×P×K: what patterns need of each resource at each stage; clipped, so that it cannot overflow."""

    def __init__(self, problem: Problem) -> None:
        self._most = problem.free.max(axis=0, initial=0)
        self._need = np.minimum(problem.need, self._most + 1)
        self._alive = problem.alive()

    def nothing(self) -> Ints:
        return np.zeros((len(self._alive), 1, len(self._most)), dtype=np.int64)

    def plus(self, sums: Ints, role: int) -> Ints:
        """With one more pod of the role."""
        there = np.array([role in roles for roles in self._alive], dtype=np.int64)
        return np.asarray(np.minimum(sums + there[:, None, None] * self._need[role], self._most + 1))

    def fit(self, sums: Ints) -> Flags:
        """P: does a bin with the most of everything hold it? What is not needed need not be there."""
        return np.asarray(((sums <= self._most) | (sums == 0)).all(axis=(0, 2)))


def _above(patterns: Ints) -> Ints:
    """P×R: the number of each pattern with one more pod of each role, -1 where there is none."""
    count, roles = patterns.shape
    above = np.empty((count, roles), dtype=np.int64)
    codes = _Codes(patterns)
    for role in range(roles):
        above[:, role] = codes.above(role)
    return above


class _Codes:
    """Patterns as numbers, or as bytes where those are too long, in their order."""

    def __init__(self, patterns: Ints) -> None:
        sizes = [int(most) + 2 for most in patterns.max(axis=0, initial=0)]
        self._weights = _weights(sizes)
        small = np.min_scalar_type(max(sizes, default=0))
        self._rows = patterns if self._weights is not None else np.ascontiguousarray(patterns, dtype=small)
        self._own = self._numbers(self._rows)
        self._order = np.argsort(self._own)
        self._sorted = self._own[self._order]

    def _numbers(self, rows: NDArray[Any]) -> NDArray[Any]:
        return _bytes(rows) if self._weights is None else np.asarray(rows @ self._weights)

    def above(self, role: int) -> Ints:
        """For each pattern the number of the one with one more pod of the role, -1 where there is none."""
        if self._weights is not None:
            wanted = self._own + self._weights[role]
        else:
            larger = self._rows.copy()
            larger[:, role] += 1
            wanted = _bytes(larger)
        at = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
        return np.asarray(np.where(self._sorted[at] == wanted, self._order[at], -1), dtype=np.int64)


def _weights(sizes: list[int]) -> Ints | None:
    """What a count in each column is worth in the number of a row; None where the numbers would be too large."""
    if prod(sizes) >= 1 << 62:
        return None
    return np.array([prod(sizes[place + 1 :]) for place in range(len(sizes))], dtype=np.int64)


def _bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Every row as one value, for rows that are too long to become a number."""
    return np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def _codes(rows: Ints) -> Ints:
    """A number for every row, equal for equal rows only."""
    columns = rows - rows.min(axis=0, initial=0)
    weights = _weights([int(most) + 1 for most in columns.max(axis=0, initial=0)])
    return _kinds(rows) if weights is None else np.asarray(columns @ weights)


def _kinds(rows: Ints | Packed) -> Ints:
    """The kind of every row, from its bytes: for rows that are too long to become a number."""
    return np.asarray(np.unique(_bytes(rows), return_inverse=True)[1].ravel(), dtype=np.int64)


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The first of each kind of row, and the kind of every row."""
    _, first, inverse = np.unique(_codes(rows), return_index=True, return_inverse=True)
    return first, inverse.ravel()


def _demand(problem: Problem, patterns: Ints) -> Ints:
    """P×K: what a pattern needs of each resource at its busiest stage; clipped, so that it cannot overflow."""
    ceiling = problem.free.max(axis=0, initial=0) + 1
    need = np.minimum(problem.need, ceiling)
    demand = np.zeros((len(patterns), need.shape[1]), dtype=np.int64)
    for alive in problem.alive():
        roles = list(alive)
        total = np.zeros_like(demand)
        for role in roles:
            total = np.minimum(total + np.minimum(patterns[:, [role]] * need[role], ceiling), ceiling)
        np.maximum(demand, total, out=demand)
    return demand


def _keys(problem: Problem, demand: Ints, narrow: list[Apart], wide: tuple[Apart, ...]) -> Ints:
    """B×…: one row per bin; bins with equal rows hold equal patterns and lie in the same domains."""
    columns = [
        np.searchsorted(np.unique(demand[:, k]), problem.free[:, k], side="right") for k in range(demand.shape[1])
    ]
    columns += [flags.astype(np.int64) for flags in problem.allowed]
    columns += [(rule.domain >= 0).astype(np.int64) for rule in narrow]
    columns.append(problem.fresh.astype(np.int64))
    columns += [rule.domain for rule in wide]
    return np.stack(columns, axis=1)


def _holds(problem: Problem, patterns: Ints, demand: Ints, narrow: list[Apart], bins: Ints) -> Packed:
    """U×P, eight flags a byte: which patterns each of the given bins can hold."""
    step = max(1, _CHUNK // len(patterns))
    chunks = [bins[start : start + step] for start in range(0, len(bins), step)]
    packed = [np.packbits(_held_by(problem, patterns, demand, narrow, some), axis=1) for some in chunks]
    return np.concatenate([np.zeros((0, -(-len(patterns) // 8)), dtype=np.uint8), *packed])


def _held_by(problem: Problem, patterns: Ints, demand: Ints, narrow: list[Apart], bins: Ints) -> Flags:
    holds = np.ones((len(bins), len(patterns)), dtype=np.bool_)
    for k in range(demand.shape[1]):
        holds &= (demand[None, :, k] <= problem.free[bins, k][:, None]) | (demand[None, :, k] == 0)
    for role in problem.roles:
        holds &= problem.allowed[role, bins][:, None] | (patterns[None, :, role] == 0)
    for rule in narrow:
        holds &= (rule.domain[bins] < 0)[:, None] | ~_broken(rule, patterns)[None, :]
    return holds


def _broken(rule: Apart, patterns: Ints) -> Flags:
    """P: the patterns that put two pods together which the rule keeps apart."""
    broken = np.zeros(len(patterns), dtype=np.bool_)
    for one, other in rule.pairs:
        broken |= patterns[:, one] > 1 if one == other else (patterns[:, one] > 0) & (patterns[:, other] > 0)
    return broken


def _merged(problem: Problem, holds: Packed, patterns: int, keys: Ints, inverse: Ints, wide: int) -> list[Class]:
    """Classes by what bins hold, their freshness and domains; bins that hold nothing are left out."""
    tail = keys[:, keys.shape[1] - 1 - wide :]
    first, group = _distinct(np.concatenate([_kinds(holds)[:, None], tail], axis=1))
    members = group[inverse]
    order = np.lexsort((np.arange(problem.bins), problem.slack, members))
    starts = np.searchsorted(members[order], np.arange(len(first) + 1))
    found = []
    for number, sample in enumerate(first):
        flags = np.unpackbits(holds[sample], count=patterns).astype(np.bool_)
        if flags[1:].any():
            bins = order[starts[number] : starts[number + 1]]
            found.append(Class(bins, flags, bool(tail[sample, 0]), tuple(map(int, tail[sample, 1:]))))
    return found
