"""What a valid placement is, in plain Python. Believes nobody: neither the solver nor the classes it worked with.

Every yes passes through here before anybody sees it; `faults` is also the rule book of the brute force in the tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.problem import Assignment, Ints, Problem


class BrokenPlacementError(AssertionError):
    """A search returned a placement that breaks a rule: our fault, never the user's."""


def check(problem: Problem, placed: Assignment, sizes: Sequence[int]) -> None:
    """Raises BrokenPlacementError unless `placed` puts exactly sizes[r] pods of every role where they may be."""
    found = list(faults(problem, placed, sizes))
    if found:
        raise BrokenPlacementError("; ".join(found))


def faults(problem: Problem, placed: Assignment, sizes: Sequence[int]) -> Iterator[str]:
    yield from _counts(problem, placed, sizes)
    for stage in _stages(problem):
        yield from _overfilled(problem, placed, stage)
    yield from _together(problem, placed)
    yield from _over_budget(problem, sizes)


def _stages(problem: Problem) -> list[list[int]]:
    numbers = sorted({stage for alive in problem.stages for stage in alive})
    return [[r for r in problem.roles if stage in problem.stages[r]] for stage in numbers]


def _counts(problem: Problem, placed: Assignment, sizes: Sequence[int]) -> Iterator[str]:
    for role in problem.roles:
        there = placed.get(role, {})
        if any(count < 0 for count in there.values()):
            yield f"role {role} has a negative count"
        if sum(there.values()) != sizes[role]:
            yield f"role {role} has {sum(there.values())} of {sizes[role]} pods"
        for bin_, count in there.items():
            if count and not problem.allowed[role, bin_]:
                yield f"role {role} may not use bin {bin_}"


def _overfilled(problem: Problem, placed: Assignment, alive: Sequence[int]) -> Iterator[str]:
    used: dict[int, list[int]] = {}
    for role in alive:
        for bin_, count in placed.get(role, {}).items():
            total = used.setdefault(bin_, [0] * problem.need.shape[1])
            for k, need in enumerate(problem.need[role].tolist()):
                total[k] += need * count
    for bin_, amounts in used.items():
        for k, amount in enumerate(amounts):
            if amount > 0 and amount > int(problem.free[bin_, k]):
                yield f"bin {bin_} is asked for {amount} of resource {k} and has {problem.free[bin_, k]}"


def _together(problem: Problem, placed: Assignment) -> Iterator[str]:
    for rule in problem.apart:
        for one, other in sorted(rule.pairs):
            beside = _by_domain(rule.domain, placed.get(other, {}))
            for domain, count in _by_domain(rule.domain, placed.get(one, {})).items():
                if count > 1 if one == other else beside.get(domain):
                    yield f"roles {one} and {other} share domain {domain}"


def _by_domain(domains: Ints, bins: Mapping[int, int]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for bin_, count in bins.items():
        domain = int(domains[bin_])
        if domain >= 0 and count:
            counts[domain] = counts.get(domain, 0) + count
    return counts


def _over_budget(problem: Problem, sizes: Sequence[int]) -> Iterator[str]:
    for number, budget in enumerate(problem.budgets):
        for alive in _stages(problem):
            charged = sum(budget.per_pod[role] * sizes[role] for role in alive)
            if charged > budget.limit and any(budget.per_pod[role] * sizes[role] for role in alive):
                yield f"budget {number} is charged {charged} of {budget.limit}"
