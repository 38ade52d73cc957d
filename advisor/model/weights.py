"""A no by weighted counting: give every pod a weight by its role; the bins cannot hold the weight of the whole gang.

The weights are the prices of a linear program (the packing with fractions of bins), rounded to whole numbers. Where
they come from does not matter: that no pattern of a class weighs more than it is said to, and that all bins together
hold less than the gang weighs, are sums of whole numbers, done here without the solver. A plain total of one resource
is the special case in which a pod weighs what it needs of it.

    Σ_r w[r] · wanted[r]  >  Σ_c n_c · max_p Σ_r w[r] · a_p[r]        ⇒  no packing
"""

from __future__ import annotations

import numpy as np

from advisor.model.patterns import Classes
from advisor.problem import Ints, Problem

SCALE = 1 << 20


def refuted(problem: Problem, classes: Classes) -> bool:
    """Is there a weighted sum that shows that the whole gang does not fit? False proves nothing."""
    maximal = [classes.maximal(one.holds) for one in classes.classes]
    counts = [len(one.bins) for one in classes.classes]
    return too_heavy(problem.wanted, maximal, counts, _prices(problem.wanted, maximal, counts))


def too_heavy(wanted: tuple[int, ...], maximal: list[Ints], counts: list[int], weights: Ints) -> bool:
    """Does the gang weigh more than all bins can hold, each class filled with its heaviest pattern?"""
    gang = sum(int(weight) * pods for weight, pods in zip(weights, wanted, strict=True))
    held = sum(
        count * int((patterns @ weights).max(initial=0)) for count, patterns in zip(counts, maximal, strict=True)
    )
    return gang > held


def _prices(wanted: tuple[int, ...], maximal: list[Ints], counts: list[int]) -> Ints:
    """What a pod of each role is worth when as few pods as can be are left out and bins may be divided.

    min Σ_r out[r]   with   Σ_{c,p} a_p[r] · y[c,p] + out[r] ≥ wanted[r]   and   Σ_p y[c,p] ≤ n_c
    """
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("GLOP")
    left_out = solver.Objective()
    left_out.SetMinimization()
    covered = [solver.Constraint(pods, solver.infinity()) for pods in wanted]
    for role, pods in enumerate(wanted):
        out = solver.NumVar(0, pods, "")
        left_out.SetCoefficient(out, 1)
        covered[role].SetCoefficient(out, 1)
    for patterns, count in zip(maximal, counts, strict=True):
        room = solver.Constraint(0, count)
        for pattern in patterns.tolist():
            y = solver.NumVar(0, solver.infinity(), "")
            room.SetCoefficient(y, 1)
            for role, pods in enumerate(pattern):
                if pods:
                    covered[role].SetCoefficient(y, pods)
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return np.zeros(len(wanted), dtype=np.int64)
    return np.array([max(0, round(row.dual_value() * SCALE)) for row in covered], dtype=np.int64)
