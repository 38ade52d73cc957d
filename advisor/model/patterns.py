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

import numpy as np
from numpy.typing import NDArray

from advisor.problem import Apart, Flags, Ints, Problem

PATTERN_LIMIT = 16_384
"""Patterns that are enumerated at most; gangs with more use the form without patterns (`solve.py`)."""
CELL_LIMIT = 1 << 28
"""Kinds of bins times patterns, at most."""
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
    return Classes(patterns, _above(patterns), tuple(classes), wide)


def _candidates(problem: Problem, narrow: list[Apart], limit: int) -> Ints | None:
    """P×R: what would fit a bin with the most of everything; None when that is more than `limit` patterns.

    Pods are added in the order of their roles, so each pattern is met once, and a pattern that is too much is not
    added to.
    """
    caps = [int(capacity(problem, role).max(initial=0)) for role in problem.roles]
    most = problem.free.max(axis=0, initial=0)
    everywhere = [rule for rule in narrow if (rule.domain >= 0).all()]
    layer = np.zeros((1, len(caps)), dtype=np.int64)
    last = np.zeros(1, dtype=np.int64)
    layers, found = [layer], 1
    while len(layer) and found <= limit:
        parents = [(role, layer[(last <= role) & (layer[:, role] < cap)]) for role, cap in enumerate(caps)]
        last = np.repeat(np.arange(len(caps)), [len(those) for _, those in parents])
        layer = np.concatenate([layer[:0], *(those for _, those in parents)])
        layer[np.arange(len(layer)), last] += 1
        demand = _demand(problem, layer)
        fits = ((demand <= most) | (demand == 0)).all(axis=1)
        for rule in everywhere:
            fits &= ~_broken(rule, layer)
        layer, last = layer[fits], last[fits]
        layers.append(layer)
        found += len(layer)
    return np.concatenate(layers) if found <= limit else None


def _above(patterns: Ints) -> Ints:
    """P×R: the number of each pattern with one more pod of each role, -1 where there is none."""
    count, roles = patterns.shape
    larger = [patterns + np.eye(roles, dtype=np.int64)[role] for role in range(roles)]
    codes = _codes(np.concatenate([patterns, *larger]))
    order = np.argsort(codes[:count])
    own = codes[:count][order]
    at = np.minimum(np.searchsorted(own, codes[count:]), count - 1)
    found = np.where(own[at] == codes[count:], order[at], -1)
    return found.reshape(roles, count).T


def _codes(rows: Ints) -> Ints:
    """A number for every row, equal for equal rows only."""
    columns = rows - rows.min(axis=0, initial=0)
    sizes = [int(most) + 1 for most in columns.max(axis=0, initial=0)]
    if prod(sizes) < 1 << 62:
        codes = np.zeros(len(rows), dtype=np.int64)
        for column, size in zip(columns.T, sizes, strict=True):
            codes = codes * size + column
        return codes
    return _kinds(rows)


def _kinds(rows: Ints | Packed) -> Ints:
    """The kind of every row, from its bytes: for rows that are too long to become a number."""
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return np.asarray(np.unique(whole, return_inverse=True)[1].ravel(), dtype=np.int64)


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
