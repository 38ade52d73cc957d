"""A quick yes: each role in turn, the hardest first, into the tightest bins. Finding none proves nothing."""

from __future__ import annotations

import numpy as np

from advisor.model.counting import fill
from advisor.problem import Assignment, Flags, Ints, Problem


def pack(problem: Problem) -> Assignment | None:
    """An assignment of the whole gang, or None when this simple order does not find one."""
    if not all(rule.singletons for rule in problem.apart) or _over_budget(problem):
        return None
    alive = problem.alive()
    left = [problem.free.copy() for _ in alive]
    placed: dict[int, dict[int, int]] = {}
    for role in sorted(problem.roles, key=lambda r: (-_share(problem, r), r)):
        bins = fill(_room(problem, role, left, alive, placed), problem, problem.wanted[role])
        if sum(bins.values()) < problem.wanted[role]:
            return None
        placed[role] = bins
        rows, counts = np.array(list(bins), dtype=np.int64), np.array(list(bins.values()), dtype=np.int64)
        for stage, roles in enumerate(alive):
            if role in roles and len(rows):
                left[stage][rows] -= counts[:, None] * problem.need[role]
    return placed


def _over_budget(problem: Problem) -> bool:
    charges = (
        (b, sum(b.per_pod[r] * problem.wanted[r] for r in alive)) for b in problem.budgets for alive in problem.alive()
    )
    return any(charged > budget.limit for budget, charged in charges)


def _share(problem: Problem, role: int) -> float:
    """How much of the largest bin one pod takes, by its scarcest resource."""
    largest = np.maximum(problem.free.max(axis=0, initial=0), 1)
    return float((problem.need[role] / largest).max(initial=0.0))


def _room(
    problem: Problem, role: int, left: list[Ints], alive: list[tuple[int, ...]], placed: dict[int, dict[int, int]]
) -> Ints:
    room = np.full(problem.bins, problem.wanted[role], dtype=np.int64)
    for stage, roles in enumerate(alive):
        if role in roles:
            for k in np.flatnonzero(problem.need[role] > 0):
                np.minimum(room, left[stage][:, k] // problem.need[role, k], out=room)
    room[~problem.allowed[role]] = 0
    for rule in problem.apart:
        if (role, role) in rule.pairs:
            np.minimum(room, np.where(rule.domain >= 0, 1, room), out=room)
        for other, bins in placed.items():
            if other != role and (min(role, other), max(role, other)) in rule.pairs:
                room[_held(bins, rule.domain >= 0)] = 0
    return np.maximum(room, 0)


def _held(bins: dict[int, int], where: Flags) -> Flags:
    held = np.zeros(len(where), dtype=np.bool_)
    held[list(bins)] = True
    return held & where
