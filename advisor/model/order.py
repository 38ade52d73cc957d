"""Does any order of placing the pods, by any choice of bins, end with the whole gang placed?

A scheduler places one pod at a time and never takes one back. It can get stuck only in a state in which some pods are
placed and every bin refuses the next pod of some role. Each bin must then hold a pattern to which that pod cannot be
added; if no such state exists within the gang's own numbers, every order succeeds, and that is a proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from advisor.model.patterns import Classes, classify
from advisor.model.solve import Search
from advisor.problem import Flags, Ints, Problem


def any_order(problem: Problem, search: Search) -> bool:
    """True when proven; False also where that was not worked out (rules that span bins, too many patterns)."""
    classes = classify(problem, search.patterns)
    if classes is None or classes.wide:
        return False
    return not any(_may_stick(problem, classes, role, alive, search) for alive in problem.alive() for role in alive)


def _may_stick(problem: Problem, classes: Classes, role: int, alive: tuple[int, ...], search: Search) -> bool:
    """Can the other pods, placed by an adversary, leave no room for one more pod of `role`?"""
    present = _present(classes, alive)
    blocks = [(len(one.bins), classes.blocking(one.holds & present, role)) for one in classes.classes]
    at_most = [problem.wanted[r] - (r == role) if r in alive else 0 for r in problem.roles]
    least = sum(count * int(patterns.sum(axis=1).min()) for count, patterns in blocks)
    if least > sum(at_most):
        return False
    return _solvable(blocks, at_most, search)


def _present(classes: Classes, alive: tuple[int, ...]) -> Flags:
    """Flags of the patterns that hold pods of the roles alive only."""
    others = [role for role in range(classes.patterns.shape[1]) if role not in alive]
    return np.asarray(~(classes.patterns[:, others] > 0).any(axis=1), dtype=np.bool_)


def _solvable(blocks: list[tuple[int, Ints]], at_most: list[int], search: Search) -> bool:
    """∀ class: Σ_b y[c,b] = n_c   and   ∀ r: Σ a_b[r] · y[c,b] ≤ at_most[r]"""
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
    return bool(solver.solve(model) != cp_model.INFEASIBLE)
