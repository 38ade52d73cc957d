"""The packing question of one cluster as sets and whole numbers, and its outcome. No Kubernetes words.

Roles are numbered 0..R-1, bins (nodes) 0..B-1, resources 0..K-1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """Two pods whose roles are a pair may not share a domain; a pair (r, r) allows one pod of r a domain.

    domain[b] is the domain of bin b, -1 where the rule does not hold. `pairs` are ordered (r ≤ q).
    """

    pairs: frozenset[tuple[int, int]]
    domain: Ints

    @property
    def singletons(self) -> bool:
        """Does each domain hold one bin only, so that the rule is about single bins?"""
        held = self.domain[self.domain >= 0]
        return len(np.unique(held)) == len(held)


@dataclass(frozen=True, slots=True)
class Budget:
    """At every stage:  fixed + Σ per_pod[r] · size[r] ≤ limit, over the roles alive then."""

    per_pod: tuple[int, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class Group:
    """`count` equal groups of members[r] pods, which may have up to most[r]; a smaller size keeps whole groups.

    One of them at least, unless they are `further` ones: those come with groups of the first kind, each with its share.
    """

    count: int
    members: tuple[int, ...]
    most: tuple[int, ...]
    further: bool = False


@dataclass(frozen=True, slots=True)
class After:
    """A smaller size has pods of `role` only beside so many of one of the others: (role, pods)."""

    role: int
    one_of: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Begin:
    """A smaller size has `least` pods with which it begins: any of the roles `whole`, one of each of the `single`."""

    least: int
    whole: tuple[int, ...]
    single: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Put wanted[r] pods of every role r into bins.

    need     R×K, what one pod takes            free     B×K, what a bin has, ≥ 0
    allowed  R×B, may role r use bin b          stages   R sets: the stages at which r is alive
    least    R, a smaller answer needs at least these; least_total: and this many pods in all
    blocks   R, the pods of a smaller answer come in multiples of these (empty: one by one)
    fresh    B, bins that are still whole; using one costs more than using a broken one
    slack    B, orders equal bins: the less slack, the sooner it is used
    """

    wanted: tuple[int, ...]
    need: Ints
    free: Ints
    allowed: Flags
    stages: tuple[tuple[int, ...], ...]
    fresh: Flags
    slack: Ints
    apart: tuple[Apart, ...] = ()
    budgets: tuple[Budget, ...] = ()
    least: tuple[int, ...] = ()
    least_total: int = 0
    groups: tuple[Group, ...] = ()
    blocks: tuple[int, ...] = ()
    waits: tuple[After, ...] = ()
    begins: tuple[Begin, ...] = ()

    @property
    def roles(self) -> range:
        return range(len(self.wanted))

    @property
    def bins(self) -> int:
        return int(self.free.shape[0])

    @property
    def has_parts(self) -> bool:
        """Do pods of a part of the gang come in groups or blocks, or some of them only with others?"""
        several = sum(group.count for group in self.groups) > 1
        return several or bool(self.waits) or max(self.blocks, default=1) > 1

    @property
    def fingerprint(self) -> bytes:
        """Equal for equal problems only: the answer to one is the answer to the other."""
        arrays = [self.need, self.free, self.allowed, self.fresh, self.slack, *(rule.domain for rule in self.apart)]
        shapes = [array.shape for array in arrays]
        pairs = [sorted(rule.pairs) for rule in self.apart]
        rest = (self.wanted, self.stages, self.budgets, self.least, self.least_total)
        sizes = (self.groups, self.blocks, self.waits, self.begins)
        digest = blake2b(repr((shapes, pairs, rest, sizes)).encode())
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        return digest.digest()

    def alive(self) -> list[tuple[int, ...]]:
        """The roles alive at each stage, each distinct set once, supersets only."""
        numbers = {stage for alive in self.stages for stage in alive}
        sets = {tuple(r for r in self.roles if stage in self.stages[r]) for stage in numbers} or {()}
        return sorted(one for one in sets if not any(set(one) < set(other) for other in sets))


Assignment = Mapping[int, Mapping[int, int]]
"""Role → bin → pods; zero counts are left out."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found.

    placed      the pods that were put somewhere (None: the search ended at its limit)
    complete    does it hold what was asked for; if not, `proof` says how the no was shown
    proof       "count": a sum that a reader can redo; "weights": such a sum with a weight for each role's pods;
                "solver": shown twice, by two different searches
    """

    placed: Assignment | None
    complete: bool
    proof: str = ""

    @property
    def sizes(self) -> dict[int, int]:
        return {role: sum(bins.values()) for role, bins in (self.placed or {}).items()}
