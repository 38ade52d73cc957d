"""Does any order of placing the pods, by any choice of bins, end with the whole gang placed?

A scheduler places one pod at a time and never takes one back. It can get stuck only in a state in which some pods are
placed and every bin refuses the next pod of some role. Each bin must then hold a pattern to which that pod cannot be
added; if no such state exists within the gang's own numbers, every order succeeds, and that is a proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from advisor.model import counting
from advisor.model.patterns import Classes, classify
from advisor.model.solve import COLUMNS, Search
from advisor.problem import Flags, Ints, Problem

PROVING = 0.5
"""Deterministic seconds in all: not being told "in any order" costs little, and is no claim."""


def any_order(problem: Problem, search: Search) -> bool:
    """True when proven; False also where that was not worked out (rules that span bins, a proof that is too large)."""
    classes = classify(problem, search.patterns)
    if classes is None or classes.wide:
        return False
    left = min(PROVING, search.deterministic_seconds)
    for alive in problem.alive():
        for role in sorted(alive, key=lambda r: int(counting.places(problem, r))):
            spent = _proven(problem, classes, role, alive, search.within(left))
            if spent is None:
                return False
            left = max(0.0, left - spent)
    return True


def _proven(problem: Problem, classes: Classes, role: int, alive: tuple[int, ...], search: Search) -> float | None:
    """The time it took to prove that other pods, placed by an adversary, leave room for one more of `role`, or None."""
    present = _present(classes, alive)
    blocks = [(len(one.bins), classes.blocking(one.holds & present, role)) for one in classes.classes]
    if sum(len(patterns) for _, patterns in blocks) > COLUMNS:
        return None
    at_most = [problem.wanted[r] - (r == role) if r in alive else 0 for r in problem.roles]
    least = sum(count * int(patterns.sum(axis=1).min()) for count, patterns in blocks)
    return 0.0 if least > sum(at_most) else _refuted(blocks, at_most, search)


def _present(classes: Classes, alive: tuple[int, ...]) -> Flags:
    """Flags of the patterns that hold pods of the roles alive only."""
    others = [role for role in range(classes.patterns.shape[1]) if role not in alive]
    return np.asarray(~(classes.patterns[:, others] > 0).any(axis=1), dtype=np.bool_)


def _refuted(blocks: list[tuple[int, Ints]], at_most: list[int], search: Search) -> float | None:
    """The time it took to prove that there is no solution of

    ∀ class: Σ_b y[c,b] = n_c   and   ∀ r: Σ a_b[r] · y[c,b] ≤ at_most[r]
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    used: list[list[Any]] = [[] for _ in at_most]
    for count, patterns in blocks:
        chosen = [model.new_int_var(0, count, "") for _ in patterns]
        model.add(sum(chosen) == count)
        for pattern, y in zip(patterns.tolist(), chosen, strict=True):
            for role, pods in enumerate(pattern):
                if pods:
                    used[role].append(pods * y)
    for terms, most in zip(used, at_most, strict=True):
        model.add(sum(terms) <= most)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = search.seed
    solver.parameters.max_deterministic_time = search.deterministic_seconds
    if solver.solve(model) != cp_model.INFEASIBLE:
        return None
    return float(solver.response_proto.deterministic_time)
