"""Small random problems, each from a seed, so that a failure can be replayed."""

from __future__ import annotations

import random

import numpy as np

from advisor.problem import After, Apart, Begin, Budget, Group, Problem


def problem(seed: int) -> Problem:
    """Up to three roles, four bins and three resources, with every kind of rule now and then."""
    rng = random.Random(seed)
    roles, bins, resources = rng.choice([1, 1, 2, 2, 3]), rng.randint(0, 4), rng.randint(1, 3)
    wanted = tuple(rng.randint(1, 3 if roles > 1 else 5) for _ in range(roles))
    groups = _groups(rng, wanted)
    return Problem(
        wanted=wanted,
        need=_numbers(rng, roles, resources, [0, 1, 1, 2, 3]),
        free=_numbers(rng, bins, resources, [0, 1, 2, 3, 4, 5]),
        allowed=np.array([[rng.random() < 0.85 for _ in range(bins)] for _ in range(roles)], dtype=np.bool_).reshape(
            roles, bins
        ),
        stages=_stages(rng, roles),
        fresh=np.array([rng.random() < 0.5 for _ in range(bins)], dtype=np.bool_),
        slack=np.array([rng.randint(0, 5) for _ in range(bins)], dtype=np.int64),
        apart=_apart(rng, roles, bins),
        budgets=tuple(_budget(rng, roles) for _ in range(rng.choice([0, 0, 1]))),
        least=tuple(min(rng.randint(0, count), count) for count in wanted),
        least_total=rng.choice([0, 0, rng.randint(0, sum(wanted))]),
        groups=groups,
        blocks=tuple(rng.choice([1, 1, 2]) for _ in range(roles)),
        waits=_waits(rng, wanted),
        begins=_begins(rng, wanted),
    )


def _numbers(
    rng: random.Random, rows: int, columns: int, values: list[int]
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[rng.choice(values) for _ in range(columns)] for _ in range(rows)], dtype=np.int64).reshape(
        rows, columns
    )


def _stages(rng: random.Random, roles: int) -> tuple[tuple[int, ...], ...]:
    stages = range(rng.choice([1, 1, 1, 2, 3]))
    return tuple(tuple(sorted(rng.sample(stages, rng.randint(1, len(stages))))) for _ in range(roles))


def _apart(rng: random.Random, roles: int, bins: int) -> tuple[Apart, ...]:
    if rng.random() > 0.4:
        return ()
    rules = []
    for _ in range(rng.randint(1, 2)):
        pairs = [sorted((rng.randrange(roles), rng.randrange(roles))) for _ in range(rng.randint(1, 2))]
        narrow = [b if rng.random() < 0.9 else -1 for b in range(bins)]
        domain = rng.choice([narrow, [rng.randint(-1, 1) for _ in range(bins)]])
        rules.append(Apart(frozenset((one, other) for one, other in pairs), np.array(domain, dtype=np.int64)))
    return tuple(rules)


def _budget(rng: random.Random, roles: int) -> Budget:
    return Budget(tuple(rng.randint(0, 2) for _ in range(roles)), rng.randint(-1, 8))


def _groups(rng: random.Random, wanted: tuple[int, ...]) -> tuple[Group, ...]:
    """Now and then one kind of group, as many as the roles have pods for, and then and now further ones beside it."""
    if rng.random() > 0.4:
        return ()
    count = rng.randint(1, max(wanted))
    share = tuple(pods // count for pods in wanted)
    if rng.random() < 0.5:
        return (Group(count, share, tuple(rng.choice([pods, pods + 1]) for pods in share)),)
    base = tuple(rng.randint(0, pods) for pods in share)
    rest = tuple(pods - own for pods, own in zip(share, base, strict=True))
    return Group(count, base, base), Group(count, rest, rest, further=True)


def _waits(rng: random.Random, wanted: tuple[int, ...]) -> tuple[After, ...]:
    """Now and then a role that waits for one of some others."""
    roles = range(len(wanted))
    if rng.random() > 0.3:
        return ()
    role, others = rng.choice(roles), rng.sample(roles, rng.randint(1, len(roles)))
    return (After(role, tuple((other, rng.randint(1, wanted[other])) for other in others)),)


def _begins(rng: random.Random, wanted: tuple[int, ...]) -> tuple[Begin, ...]:
    """Now and then some roles of which so many pods must be there, of others one at most counts."""
    if rng.random() > 0.3:
        return ()
    single = [role for role in range(len(wanted)) if rng.random() < 0.3]
    whole = [role for role in range(len(wanted)) if role not in single]
    most = sum(wanted[role] for role in whole) + len(single)
    return (Begin(rng.randint(1, most), tuple(whole), tuple(single)),)
