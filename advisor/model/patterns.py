"""Bins that mean the same to a gang are one class; what a bin of a class can hold is a set of patterns.

A pattern is a number of pods per role. The patterns that a bin holds are down-closed, so its maximal ones say
everything (resources, allowed roles, roles that may not share the bin). All candidate patterns form a grid, 0..cap[r]
per role; a bin is first reduced to ranks among the amounts that any pattern can need, which is exact: bins of equal
ranks hold equal patterns. Everything is array arithmetic over bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from advisor.problem import Apart, Flags, Ints, Problem

GRID_LIMIT = 16_384
"""Patterns that are enumerated at most; gangs with more use the form without patterns (`solve.py`)."""
_CHUNK = 1 << 25


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Interchangeable bins, in the order in which they are to be used.

    bins     row numbers
    grid     flags over the pattern grid: what one of these bins can hold
    fresh    are these bins whole
    domains  the bins' domain for each rule of `Classes.wide`
    """

    bins: Ints
    grid: Flags
    fresh: bool
    domains: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """All classes with room for something; `wide` are the rules whose domains span several bins."""

    caps: tuple[int, ...]
    classes: tuple[Class, ...]
    wide: tuple[Apart, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(cap + 1 for cap in self.caps)

    def patterns(self, flags: Flags) -> Ints:
        """P×R: the patterns of the grid that are flagged, in grid order."""
        return np.stack(np.unravel_index(np.flatnonzero(flags), self.shape), axis=1).astype(np.int64)

    def maximal(self, flags: Flags) -> Ints:
        """The flagged patterns to which no pod can be added."""
        grid = flags.reshape(self.shape)
        larger = np.zeros_like(grid)
        for role in range(len(self.caps)):
            larger |= _shifted(grid, role)
        return self.patterns((grid & ~larger).ravel())


def _shifted(grid: NDArray[np.bool_], role: int) -> NDArray[np.bool_]:
    """At each pattern: is the pattern with one more pod of `role` flagged?"""
    moved = np.zeros_like(grid)
    inner = [slice(None)] * grid.ndim
    outer = [slice(None)] * grid.ndim
    inner[role], outer[role] = slice(None, -1), slice(1, None)
    moved[tuple(inner)] = grid[tuple(outer)]
    return moved


def blocking(classes: Classes, flags: Flags, role: int) -> Ints:
    """The smallest patterns on which a bin has no room for one more pod of `role`."""
    grid = flags.reshape(classes.shape)
    stuck = grid & ~_shifted(grid, role)
    smaller = np.zeros_like(stuck)
    for other in range(len(classes.caps)):
        below = [slice(None)] * grid.ndim
        above = [slice(None)] * grid.ndim
        below[other], above[other] = slice(None, -1), slice(1, None)
        smaller[tuple(above)] |= stuck[tuple(below)]
    return classes.patterns((stuck & ~smaller).ravel())


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


def classify(problem: Problem, limit: int = GRID_LIMIT) -> Classes | None:
    """Sort the bins into classes; None when the grid would have more than `limit` patterns."""
    caps = tuple(int(capacity(problem, role).max(initial=0)) for role in problem.roles)
    if prod(cap + 1 for cap in caps) > limit:
        return None
    narrow = [rule for rule in problem.apart if rule.singletons]
    wide = tuple(rule for rule in problem.apart if not rule.singletons)
    grid = np.stack(np.unravel_index(np.arange(prod(cap + 1 for cap in caps)), [cap + 1 for cap in caps]), axis=1)
    demand = _demand(problem, grid)
    keys = _keys(problem, demand, narrow, wide)
    first, inverse = _distinct(keys)
    holds = _holds(problem, grid, demand, narrow, first)
    return Classes(caps, tuple(_merged(problem, holds, keys[first], inverse, len(wide))), wide)


def _distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The first of each kind of row, and the kind of every row; rows become single numbers where those fit."""
    sizes = [int(size) for size in rows.max(axis=0, initial=0) - rows.min(axis=0, initial=0) + 1]
    if prod(sizes) < 1 << 62:
        numbers = np.zeros(len(rows), dtype=np.int64)
        for column, size in zip((rows - rows.min(axis=0, initial=0)).T, sizes, strict=True):
            numbers = numbers * size + column
        _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.ravel()


def _demand(problem: Problem, grid: Ints) -> Ints:
    """P×K: what a pattern needs of each resource at its busiest stage; clipped, so that it cannot overflow."""
    ceiling = problem.free.max(axis=0, initial=0) + 1
    need = np.minimum(problem.need, ceiling)
    demand = np.zeros((len(grid), need.shape[1]), dtype=np.int64)
    for alive in problem.alive():
        roles = list(alive)
        total = np.zeros_like(demand)
        for role in roles:
            total = np.minimum(total + np.minimum(grid[:, [role]] * need[role], ceiling), ceiling)
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


def _holds(problem: Problem, grid: Ints, demand: Ints, narrow: list[Apart], bins: Ints) -> Flags:
    """U×P: which patterns each of the given bins can hold."""
    holds = np.ones((len(bins), len(grid)), dtype=np.bool_)
    step = max(1, _CHUNK // max(1, len(grid)))
    for start in range(0, len(bins), step):
        rows = slice(start, start + step)
        some = bins[rows]
        for k in range(demand.shape[1]):
            holds[rows] &= (demand[None, :, k] <= problem.free[some, k][:, None]) | (demand[None, :, k] == 0)
        for role in problem.roles:
            holds[rows] &= problem.allowed[role, some][:, None] | (grid[None, :, role] == 0)
        for rule in narrow:
            holds[rows] &= (rule.domain[some] < 0)[:, None] | ~_broken(rule, grid)[None, :]
    return holds


def _broken(rule: Apart, grid: Ints) -> Flags:
    """P: the patterns that put two pods together which the rule keeps apart."""
    broken = np.zeros(len(grid), dtype=np.bool_)
    for one, other in rule.pairs:
        broken |= grid[:, one] > 1 if one == other else (grid[:, one] > 0) & (grid[:, other] > 0)
    return broken


def _merged(problem: Problem, holds: Flags, keys: Ints, inverse: Ints, wide: int) -> list[Class]:
    """Classes by what bins hold, their freshness and domains; bins that hold nothing are left out."""
    tail = keys[:, keys.shape[1] - 1 - wide :]
    packed = np.concatenate([np.packbits(holds, axis=1).astype(np.int64), tail], axis=1)
    first, group = _distinct(packed)
    members = group[inverse]
    order = np.lexsort((np.arange(problem.bins), problem.slack, members))
    starts = np.searchsorted(members[order], np.arange(len(first) + 1))
    found = []
    for number, sample in enumerate(first):
        if holds[sample, 1:].any():
            bins = order[starts[number] : starts[number + 1]]
            found.append(Class(bins, holds[sample], bool(tail[sample, 0]), tuple(map(int, tail[sample, 1:]))))
    return found
