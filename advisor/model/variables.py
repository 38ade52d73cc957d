"""The variables of a packing in its two forms, both exact.

By pattern (the usual form): y[c, p] bins of class c use maximal pattern p. By bin: x[r, b] pods of role r in bin b, for
gangs whose patterns are too many to enumerate (many small pods of several roles).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from advisor.model.patterns import Class, Classes, capacity
from advisor.problem import Assignment, Ints, Problem


@dataclass
class Variables:
    """A CP-SAT model under construction.

    size[r]   pods of role r that are placed
    most[r]   the most pods that size[r] may be
    cover[r]  expressions whose sum is at least size[r]
    used      (are the bins fresh, how many of them are used), for the objectives
    patterns  form by pattern: each class, its maximal patterns, and how many bins take each
    counted   form by pattern with rules that span bins: pods of role r that count in class c
    bins      form by bin: pods of role r in each bin
    use       form by bin: is the bin used
    """

    model: cp_model.CpModel
    size: list[Any]
    most: tuple[int, ...]
    cover: list[list[Any]]
    used: list[tuple[bool, Any]] = field(default_factory=list)
    patterns: list[tuple[Class, Ints, list[Any]]] = field(default_factory=list)
    counted: list[list[Any]] | None = None
    bins: list[dict[int, Any]] = field(default_factory=list)
    use: dict[int, Any] = field(default_factory=dict)


def by_pattern(problem: Problem, classes: Classes, sizes: list[tuple[int, int]]) -> Variables:
    """Σ_p y[c,p] ≤ n_c for every class, and cover[r] = { a_p[r] · y[c,p] }."""
    model = cp_model.CpModel()
    v = Variables(model, _sizes(model, sizes), tuple(most for _, most in sizes), [[] for _ in problem.roles])
    for number, one in enumerate(classes.classes):
        patterns = classes.maximal(one.holds)
        count = len(one.bins)
        chosen = [model.new_int_var(0, count, f"y{number},{p}") for p in range(len(patterns))]
        model.add(sum(chosen) <= count)
        for pattern, y in zip(patterns.tolist(), chosen, strict=True):
            for role, pods in enumerate(pattern):
                if pods:
                    v.cover[role].append(pods * y)
        v.used.append((one.fresh, sum(chosen)))
        v.patterns.append((one, patterns, chosen))
    return v


def by_bin(problem: Problem, sizes: list[tuple[int, int]]) -> Variables:
    """x[r,b] ≤ what bin b holds of r alone; the capacity of a bin is a constraint (`constraints.node_capacity`)."""
    model = cp_model.CpModel()
    v = Variables(model, _sizes(model, sizes), tuple(most for _, most in sizes), [[] for _ in problem.roles])
    for role in problem.roles:
        room = capacity(problem, role)
        bins = {int(b): model.new_int_var(0, int(room[b]), f"x{role},{b}") for b in np.flatnonzero(room)}
        v.bins.append(bins)
        v.cover[role] = list(bins.values())
    for b in sorted({b for bins in v.bins for b in bins}):
        used = model.new_bool_var(f"u{b}")
        for bins in v.bins:
            if b in bins:
                model.add(bins[b] == 0).only_enforce_if(~used)
        v.use[b] = used
        v.used.append((bool(problem.fresh[b]), used))
    return v


def _sizes(model: cp_model.CpModel, bounds: list[tuple[int, int]]) -> list[Any]:
    return [model.new_int_var(least, most, f"size{role}") for role, (least, most) in enumerate(bounds)]


def begin_at(v: Variables, problem: Problem, placed: Assignment) -> None:
    """Tell the solver of an assignment that is known to be valid."""
    for role, bins in enumerate(v.bins):
        for b, x in bins.items():
            v.model.add_hint(x, placed.get(role, {}).get(b, 0))
    there = {b for bins in placed.values() for b in bins}
    for b, used in v.use.items():
        v.model.add_hint(used, b in there)
    pods = np.zeros((len(there), len(problem.wanted)), dtype=np.int64)
    rows = {b: row for row, b in enumerate(sorted(there))}
    for role, counts in placed.items():
        for b, count in counts.items():
            pods[rows[b], role] = count
    used = np.array(sorted(there), dtype=np.int64)
    for one, patterns, chosen in v.patterns:
        for y, count in zip(chosen, _taken(patterns, pods[np.isin(used, one.bins)]), strict=True):
            v.model.add_hint(y, count)


def _taken(patterns: Ints, pods: Ints) -> list[int]:
    """How many bins take each maximal pattern, when each takes the first that covers its pods."""
    taken = [0] * len(patterns)
    kinds, counts = np.unique(pods, axis=0, return_counts=True)
    for kind, count in zip(kinds, counts.tolist(), strict=True):
        taken[int((patterns >= kind).all(axis=1).argmax())] += count
    return taken
