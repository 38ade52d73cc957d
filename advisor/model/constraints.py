"""The rules of a valid packing, each as a sentence, a formula and a loop."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from advisor.model.patterns import Classes
from advisor.model.variables import Variables
from advisor.problem import Apart, Problem


def whole_gang(v: Variables) -> None:
    """Every pod that counts is somewhere.   ∀ r:  Σ cover[r] ≥ size[r]

    Surplus is harmless, a pattern minus a pod is a pattern too.
    """
    for size, cover in zip(v.size, v.cover, strict=True):
        v.model.add(sum(cover) >= size)


def node_capacity(v: Variables, p: Problem) -> None:
    """No bin is overfilled at any stage.   ∀ b, k, stage:  Σ_{r alive} need[r,k] · x[r,b] ≤ free[b,k]

    Only for the form by bin; patterns hold it by construction.
    """
    for b in sorted({b for bins in v.bins for b in bins}):
        for k in range(p.need.shape[1]):
            for alive in p.alive():
                terms = [int(p.need[r, k]) * v.bins[r][b] for r in alive if b in v.bins[r] and p.need[r, k]]
                if len(terms) > 1:
                    v.model.add(sum(terms) <= int(p.free[b, k]))


def apart_by_bin(v: Variables, p: Problem) -> None:
    """Roles that are kept apart do not share a domain; the form by bin."""
    for rule in p.apart:
        domains: defaultdict[int, list[int]] = defaultdict(list)
        for b in sorted({b for bins in v.bins for b in bins}):
            if rule.domain[b] >= 0:
                domains[int(rule.domain[b])].append(b)
        for bins in domains.values():
            pods = [[v.bins[r][b] for b in bins if b in v.bins[r]] for r in p.roles]
            _keep_apart(v, rule, pods)


def apart_by_class(v: Variables, p: Problem, classes: Classes) -> None:
    """Roles that are kept apart do not share a domain of several bins; the form by pattern.

    A class may cover more pods than are placed there, so the pods that count, x[r,c] ≤ Σ_p a_p[r] · y[c,p], get
    variables of their own, and Σ_c x[r,c] = size[r].
    """
    if not classes.wide:
        return
    placed = [_placed(v, role) for role in p.roles]
    for number, rule in enumerate(classes.wide):
        domains: defaultdict[int, list[int]] = defaultdict(list)
        for c, (one, _, _) in enumerate(v.patterns):
            if one.domains[number] >= 0:
                domains[one.domains[number]].append(c)
        for members in domains.values():
            _keep_apart(v, rule, [[placed[r][c] for c in members] for r in p.roles])
    v.cover = v.counted = placed


def _placed(v: Variables, role: int) -> list[Any]:
    counted = []
    for c, (_, patterns, chosen) in enumerate(v.patterns):
        x = v.model.new_int_var(0, v.most[role], f"x{role},{c}")
        v.model.add(x <= sum(int(pods) * y for pods, y in zip(patterns[:, role], chosen, strict=True)))
        counted.append(x)
    return counted


def _keep_apart(v: Variables, rule: Apart, pods: list[list[Any]]) -> None:
    """In one domain: at most one pod of a role with itself, no pods of one role beside pods of the other."""
    for one, other in sorted(rule.pairs):
        if one == other:
            v.model.add(sum(pods[one]) <= 1)
        else:
            first = v.model.new_bool_var("")
            v.model.add(sum(pods[one]) <= v.most[one] * first)
            v.model.add(sum(pods[other]) <= v.most[other] * (1 - first))


def within_budgets(v: Variables, p: Problem) -> None:
    """No budget is overdrawn at any stage.   ∀ budget, stage:  Σ_{r alive} per_pod[r] · size[r] ≤ max(0, limit)

    A budget that is overdrawn already forbids what would be charged to it, and nothing else.
    """
    for budget in p.budgets:
        for alive in p.alive():
            terms = [budget.per_pod[r] * v.size[r] for r in alive if budget.per_pod[r]]
            if terms:
                v.model.add(sum(terms) <= max(0, budget.limit))


def whole_groups(v: Variables, p: Problem, started: bool) -> None:
    """A smaller gang keeps whole groups, one of each kind at least where it has `started`, but for further ones.

    ∀ r:  Σ_g u[g] · members[g,r] ≤ size[r] ≤ Σ_g u[g] · most[g,r] + pods outside the groups
    ∀ further g:  u[g] / count[g] ≤ u[0] / count[0]
    """
    kept = [v.model.new_int_var(int(started and not group.further), group.count, "u") for group in p.groups]
    for group, u in zip(p.groups, kept, strict=True):
        if group.further and not p.groups[0].further:
            v.model.add(u * p.groups[0].count <= kept[0] * group.count)
    for role in p.roles:
        inside = sum(group.count * group.most[role] for group in p.groups)
        if inside:
            least, most = (
                sum(u * pods[role] for pods, u in zip(each, kept, strict=True) if pods[role])
                for each in ([group.members for group in p.groups], [group.most for group in p.groups])
            )
            v.model.add(v.size[role] >= least)
            v.model.add(v.size[role] <= most + max(0, p.wanted[role] - inside))


def whole_blocks(v: Variables, p: Problem) -> None:
    """The pods of a smaller gang come in whole blocks.   ∀ r:  size[r] = block[r] · n"""
    for size, block, most in zip(v.size, p.blocks, v.most, strict=False):
        if block > 1:
            v.model.add(size == block * v.model.new_int_var(0, most // block, ""))


def in_order(v: Variables, p: Problem) -> None:
    """No pods of a role without those that it waits for.   size[r] > 0  ⇒  ⋁ size[q] ≥ pods"""
    for wait in p.waits:
        some = v.model.new_bool_var("")
        v.model.add(v.size[wait.role] <= v.most[wait.role] * some)
        there = [v.model.new_bool_var("") for _ in wait.one_of]
        for (role, pods), enough in zip(wait.one_of, there, strict=True):
            v.model.add(v.size[role] >= pods).only_enforce_if(enough)
        v.model.add_bool_or([~some, *there])


def begun(v: Variables, p: Problem) -> None:
    """A smaller gang begins with pods that are made at first.

    ∀ begin:  Σ_{r whole} size[r] + Σ_{r single} min(1, size[r]) ≥ least
    """
    for begin in p.begins:
        first = [v.model.new_bool_var("") for _ in begin.single]
        for role, one in zip(begin.single, first, strict=True):
            v.model.add(v.size[role] >= one)
        v.model.add(sum([*(v.size[role] for role in begin.whole), *first]) >= begin.least)


def enough_in_all(v: Variables, p: Problem) -> None:
    """A smaller gang has at least so many pods.   Σ_r size[r] ≥ least_total"""
    if p.least_total:
        v.model.add(sum(v.size) >= p.least_total)
