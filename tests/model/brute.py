"""All placements of a small problem, one by one: the judge of the solver."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from advisor.model.check import faults
from advisor.problem import Assignment, Problem


def splits(pods: int, bins: int) -> Iterator[tuple[int, ...]]:
    """All ways to put `pods` equal pods into `bins` bins."""
    if bins == 1:
        yield (pods,)
        return
    for first in range(pods + 1):
        for rest in splits(pods - first, bins - 1):
            yield (first, *rest)


def placements(problem: Problem, sizes: tuple[int, ...]) -> Iterator[Assignment]:
    """Every placement of exactly these sizes that breaks no rule."""
    if not problem.bins:
        if not any(sizes):
            yield {}
        return
    for chosen in product(*(splits(size, problem.bins) for size in sizes)):
        placed = {role: {b: n for b, n in enumerate(bins) if n} for role, bins in enumerate(chosen)}
        if not any(faults(problem, placed, sizes)):
            yield placed


def fits(problem: Problem, sizes: tuple[int, ...]) -> bool:
    return any(True for _ in placements(problem, sizes))


def largest(problem: Problem) -> int:
    """The most pods that fit at once."""
    every = product(*(range(wanted + 1) for wanted in problem.wanted))
    return max((sum(sizes) for sizes in every if fits(problem, sizes)), default=0)


def sticks(problem: Problem) -> bool:
    """Can placing pod after pod, in any order and on any bin that takes it, end before the whole gang is placed?

    Every valid part of the gang can be reached by some order, since taking a pod away breaks no rule.
    """
    for stage in problem.alive():
        every = product(*(range((w if r in stage else 0) + 1) for r, w in enumerate(problem.wanted)))
        for sizes in every:
            for role in stage:
                if sizes[role] < problem.wanted[role]:
                    larger = tuple(n + (r == role) for r, n in enumerate(sizes))
                    for placed in placements(problem, sizes):
                        if not _has_room(problem, placed, role, larger):
                            return True
    return False


def _has_room(problem: Problem, placed: Assignment, role: int, larger: tuple[int, ...]) -> bool:
    for b in range(problem.bins):
        there = dict(placed.get(role, {}))
        there[b] = there.get(b, 0) + 1
        if not any(faults(problem, {**placed, role: there}, larger)):
            return True
    return False


def reduced(problem: Problem) -> int | None:
    """The most pods of a smaller gang that still makes sense; None when not even the smallest fits."""
    every = product(*(range(least, wanted + 1) for least, wanted in zip(problem.least, problem.wanted, strict=True)))
    enough = [s for s in every if sum(s) >= problem.least_total and _begun(problem, s)]
    sizes = [s for s in enough if _makes_sense(problem, s, 1) and fits(problem, s)]
    return max(map(sum, sizes), default=None)


def _begun(problem: Problem, sizes: tuple[int, ...]) -> bool:
    return all(
        sum(sizes[role] for role in one.whole) + sum(min(1, sizes[role]) for role in one.single) >= one.least
        for one in problem.begins
    )


def whole_part(problem: Problem) -> int:
    """The most pods that fit and are part of a gang: whole groups where it has several, whole blocks, in order."""
    if sum(group.count for group in problem.groups) == 1:
        problem = replace(problem, groups=())
    every = product(*(range(wanted + 1) for wanted in problem.wanted))
    return max((sum(s) for s in every if _makes_sense(problem, s, 0) and fits(problem, s)), default=0)


def _makes_sense(problem: Problem, sizes: tuple[int, ...], least: int) -> bool:
    blocks = all(size % block == 0 for size, block in zip(sizes, problem.blocks, strict=True))
    waits = all(
        not sizes[wait.role] or any(sizes[role] >= pods for role, pods in wait.one_of) for wait in problem.waits
    )
    return blocks and waits and _whole_groups(problem, sizes, least)


def _whole_groups(problem: Problem, sizes: tuple[int, ...], least: int) -> bool:
    """Is there a number of each group, `least` or more unless it is a further one, that explains these sizes?"""
    for counts in product(*(range(0 if group.further else least, group.count + 1) for group in problem.groups)):
        shares = zip(problem.groups, counts, strict=True)
        if any(group.further and n * problem.groups[0].count > counts[0] * group.count for group, n in shares):
            continue
        if all(_explained(problem, role, sizes[role], counts) for role in problem.roles):
            return True
    return not problem.groups


def _explained(problem: Problem, role: int, size: int, counts: tuple[int, ...]) -> bool:
    inside = sum(group.count * group.most[role] for group in problem.groups)
    if not inside:
        return True
    kept = sum(count * group.members[role] for count, group in zip(counts, problem.groups, strict=True))
    room = sum(count * group.most[role] for count, group in zip(counts, problem.groups, strict=True))
    return kept <= size <= room + max(0, problem.wanted[role] - inside)


def least_disturbance(problem: Problem) -> tuple[int, int]:
    """The fewest whole bins broken, and then the fewest bins used, by any placement of the whole gang."""
    return min(disturbance(problem, placed) for placed in placements(problem, problem.wanted))


def disturbance(problem: Problem, placed: Assignment) -> tuple[int, int]:
    used = {b for bins in placed.values() for b in bins}
    return sum(bool(problem.fresh[b]) for b in used), len(used)
