"""Searches for packings. A yes is checked, a no is counted or shown twice, and a search that ends early says so.

The questions: `place` (does the whole gang fit), `arrange` (the least disturbing way), `largest` (how much of it fits
at once), `whole_part` (how much in whole groups), `reduced` (the largest size with which it starts). Quick ways come
first: sums, packings by a simple rule.
CP-SAT runs with one worker and a deterministic limit, so equal problems get equal answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from advisor.model import counting, greedy, weights
from advisor.model.check import check
from advisor.model.patterns import PATTERN_LIMIT, Classes, capacity, classify
from advisor.problem import Assignment, Outcome, Problem

if TYPE_CHECKING:
    from advisor.model.variables import Variables

Bounds = list[tuple[int, int]]

COLUMNS = 20_000
"""Maximal patterns, over all classes, that become variables at most; with more of them the form by bin is smaller."""
CELLS = 50_000
"""Places of roles in bins that become variables at most, in the form by bin: some 300 MiB; more are not searched."""
TIDYING = 0.2
TIDY_COLUMNS = 6_000
TIDY_BINS = 200_000
"""Deterministic seconds spent on a less disturbing assignment, the variables that are worth it, and the bins that are
packed for it, over all ways: a preference, so the best that was found will do."""
COUNTING = 0.5
"""Deterministic seconds spent on the largest part that fits, which is told beside a no that is known already."""


@dataclass(frozen=True, slots=True)
class Search:
    """Limits of a search: CP-SAT's deterministic seconds, its random seed, the patterns that are enumerated at most."""

    deterministic_seconds: float = 10.0
    seed: int = 1
    patterns: int = PATTERN_LIMIT

    def within(self, seconds: float) -> Search:
        return replace(self, deterministic_seconds=min(seconds, self.deterministic_seconds))


class _LimitError(Exception):
    """The search ended before it knew."""


def place(problem: Problem, search: Search) -> Outcome:
    """Does the whole gang fit? Complete with an assignment, or not complete with the way the no was shown."""
    if counting.shortage(problem):
        return Outcome({}, complete=False, proof="count")
    quick = greedy.pack(problem)
    if quick is not None:
        return _yes(problem, quick)
    classes = _classes(problem, search)
    if classes is not None and weights.refuted(problem, classes):
        return Outcome({}, complete=False, proof="weights")
    return _search(problem, search, classes, _whole(problem))


def arrange(problem: Problem, search: Search) -> Outcome:
    """The whole gang, breaking as few whole bins and using as few bins as is found; for a problem that `place` solved.

    Every quick way is tried, and the search goes on from the best of them for a while.
    """
    from advisor.model.objective import least_disturbance

    ways = islice(greedy.packings(problem), max(1, TIDY_BINS // max(problem.bins, 1)))
    quick = min(ways, key=lambda found: disturbance(problem, found), default=None)
    classes = _classes(problem, search, TIDY_COLUMNS)
    if quick is not None and classes is None and problem.bins * (len(problem.wanted) + 1) > TIDY_COLUMNS:
        return _yes(problem, quick)
    try:
        tidy = _model(problem, classes, _whole(problem), minimise=least_disturbance, near=quick)
        found = _run(tidy, search.within(TIDYING), plainly=True, exact=False)
    except _LimitError:
        found = None
    known = [one for one in (found, quick) if one is not None]
    if not known:
        return place(problem, search)
    return _yes(problem, min(known, key=lambda one: disturbance(problem, one)))


def disturbance(problem: Problem, placed: Assignment) -> tuple[int, int]:
    """How many whole bins an assignment breaks, and how many bins it uses."""
    used = {b for bins in placed.values() for b in bins}
    return sum(bool(problem.fresh[b]) for b in used), len(used)


def largest(problem: Problem, search: Search) -> Outcome:
    """The most pods of the gang that fit at once, regardless of what a start needs.

    No role can have more than its own places, so a packing of that many of each is the largest.
    """
    single = counting.single(problem)
    if single is not None:
        return _yes(problem, single)
    most = counting.most(problem)
    every = greedy.pack(replace(problem, wanted=most))
    if every is not None:
        return _yes(problem, every)
    from advisor.model.objective import most_pods

    bounds = [(0, pods) for pods in most]
    search = search.within(COUNTING)
    return _search(problem, search, _classes(problem, search), bounds, maximise=most_pods)


def whole_part(problem: Problem, search: Search) -> Outcome:
    """The most pods that fit at once as parts of a gang: whole groups where it has several, whole blocks, in order.

    Of a gang that is one group any of its pods count: otherwise there would be all of it or nothing to tell.
    """
    from advisor.model.objective import most_pods

    if not problem.has_parts:
        return largest(problem, search)
    if sum(group.count for group in problem.groups) == 1:
        problem = replace(problem, groups=())
    bounds = [(0, pods) for pods in counting.most(problem)]
    search = search.within(COUNTING)
    return _search(problem, search, _classes(problem, search), bounds, maximise=most_pods, smaller="part")


def reduced(problem: Problem, search: Search) -> Outcome:
    """The largest size at or above the floor that the problem states; not complete when not even that fits."""
    from advisor.model.objective import most_pods

    bounds = list(zip(problem.least, counting.most(problem), strict=True))
    if any(least > most for least, most in bounds):
        return Outcome({}, complete=False, proof="count")
    return _search(problem, search, _classes(problem, search), bounds, maximise=most_pods, smaller="start")


def _whole(problem: Problem) -> Bounds:
    return [(wanted, wanted) for wanted in problem.wanted]


def _yes(problem: Problem, found: Assignment) -> Outcome:
    """Believed only after the checker has seen it."""
    check(problem, found, [sum(found.get(role, {}).values()) for role in problem.roles])
    return Outcome(found, complete=True)


def _classes(problem: Problem, search: Search, columns: int = COLUMNS) -> Classes | None:
    """The classes of the bins; None where the form by bin is the better one."""
    classes = classify(problem, search.patterns)
    return classes if classes is not None and classes.few(columns) else None


def _search(problem: Problem, search: Search, classes: Classes | None, bounds: Bounds, **aims: Any) -> Outcome:
    """Search, and where that says "impossible", search again in another way before it is believed."""
    try:
        for plainly in (True, False):
            found = _run(_model(problem, classes, bounds, **aims), search, plainly, exact="maximise" in aims)
            if found is not None:
                return _yes(problem, found)
    except _LimitError:
        return Outcome(None, complete=False)
    return Outcome({}, complete=False, proof="solver")


def _model(
    problem: Problem,
    classes: Classes | None,
    bounds: Bounds,
    minimise: Callable[[Variables, Problem], Any] | None = None,
    maximise: Callable[[Variables, Problem], Any] | None = None,
    smaller: Literal["", "part", "start"] = "",
    near: Assignment | None = None,
) -> Variables:
    """Raises _LimitError for more variables than a search is worth.

    `smaller`: the sizes are those of a part of the gang, or of one with which it starts.
    """
    from advisor.model import constraints, variables

    if classes is None:
        if sum(int((capacity(problem, role) > 0).sum()) for role in problem.roles) > CELLS:
            raise _LimitError
        v = variables.by_bin(problem, bounds)
        constraints.node_capacity(v, problem)
        constraints.apart_by_bin(v, problem)
    else:
        v = variables.by_pattern(problem, classes, bounds)
        constraints.apart_by_class(v, problem, classes)
    constraints.whole_gang(v)
    constraints.within_budgets(v, problem)
    if smaller:
        constraints.whole_groups(v, problem, started=smaller == "start")
        constraints.whole_blocks(v, problem)
        constraints.in_order(v, problem)
    if smaller == "start":
        constraints.enough_in_all(v, problem)
        constraints.begun(v, problem)
    if minimise:
        v.model.minimize(minimise(v, problem))
    if maximise:
        v.model.maximize(maximise(v, problem))
    if near:
        variables.begin_at(v, problem, near)
    return v


def _run(v: Variables, search: Search, plainly: bool, exact: bool) -> Assignment | None:
    """An assignment, or None when there is surely none. Raises _LimitError.

    `plainly`: the model as it is, which mostly is the faster way here; else rewritten by the solver first, with another
    seed. `exact`: only the proven best will do.
    """
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = search.seed + (not plainly)
    solver.parameters.max_deterministic_time = search.deterministic_seconds
    solver.parameters.cp_model_presolve = not plainly
    status = solver.solve(v.model)
    if status == cp_model.INFEASIBLE:
        return None
    if status != cp_model.OPTIMAL and (exact or status != cp_model.FEASIBLE):
        raise _LimitError
    sizes = [int(solver.value(size)) for size in v.size]
    return _read_classes(v, solver, sizes) if v.patterns else _read_bins(v, solver, sizes)


def _read_bins(v: Variables, solver: Any, sizes: list[int]) -> Assignment:
    values = [{b: int(solver.value(x)) for b, x in bins.items()} for bins in v.bins]
    return {role: _trimmed(bins, sizes[role]) for role, bins in enumerate(values)}


def _read_classes(v: Variables, solver: Any, sizes: list[int]) -> Assignment:
    """Give each chosen pattern to bins of its class in their order, then drop what is beyond the sizes."""
    placed: list[dict[int, int]] = [{} for _ in sizes]
    limits = _counted(v, solver, sizes)
    for c, (one, patterns, chosen) in enumerate(v.patterns):
        counts = [int(solver.value(y)) for y in chosen]
        rows = np.repeat(patterns, counts, axis=0)
        for b, pattern in zip(one.bins[: len(rows)].tolist(), rows.tolist(), strict=True):
            for role, pods in enumerate(pattern):
                pods = min(pods, limits[role][c])
                limits[role][c] -= pods
                if pods:
                    placed[role][b] = pods
    return {role: _trimmed(bins, sizes[role]) for role, bins in enumerate(placed)}


def _counted(v: Variables, solver: Any, sizes: list[int]) -> list[list[int]]:
    """How many pods of a role may be read off each class."""
    if v.counted is None:
        return [[size] * len(v.patterns) for size in sizes]
    return [[int(solver.value(x)) for x in row] for row in v.counted]


def _trimmed(bins: dict[int, int], size: int) -> dict[int, int]:
    """At most `size` pods, taken from the bins that come first."""
    kept: dict[int, int] = {}
    for b, pods in bins.items():
        take = min(pods, size)
        size -= take
        if take:
            kept[b] = take
    return kept
