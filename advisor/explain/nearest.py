"""The smallest changes that would make a gang fit, each tried before it is told."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.diagnosis import ANTI_AFFINITY, AS_READ, OWN_TERMS, World
from advisor.explain.counts import Case, eligible, heaviest, nodes_by_first_failure, shortfall, shortfalls
from advisor.resources import PODS
from advisor.verdict import Change, Reason

MOST_CHANGES = 3
MOST_NAMES = 3
MOST_SHAPES = 3
MOST_ADDED = 2_000
"""Nobody adds more nodes than this because of one gang."""

LIFTS = {
    "cordoned": "uncordon",
    "taint": "add-toleration",
    "admission-toleration": "add-toleration",
    "node-affinity": "drop-selector",
    "not-ready": "nodes-ready",
    "shared-gpu": "allow-shared-gpus",
    "host-port": "free-host-port",
    "anti-affinity": "drop-anti-affinity",
}
"""Rule → the change that lifts it."""

INSTALLS = {"namespace-missing": "create-namespace", "kind-not-served": "serve-kind"}
"""Refusal of the cluster as a whole → the change that ends it."""

COME_BACK = ("cordoned", "not-ready")
"""Nodes that are there and only have to be let in again: looked at before anything is freed or added."""


def changes(case: Case, placed: dict[str, int]) -> tuple[Change, ...]:
    """At most three, cheapest first. `placed`: the pods per role that fit now."""
    found: dict[tuple[str, str], Change] = {}
    for change in _all(case, placed):
        found.setdefault((change.kind, change.subject), change)
        if len(found) == MOST_CHANGES:
            break
    return tuple(found.values())


def _all(case: Case, placed: dict[str, int]) -> Iterator[Change]:
    refused = {reason.code for reason in case.diagnosis.refusals}
    if refused:
        yield from _installed(case, refused)
        return
    yield from _quota(case)
    yield from _lifted(case, COME_BACK)
    yield from _freed(case, placed)
    yield from _added(case)
    yield from _lifted(case, tuple(code for code in LIFTS if code not in COME_BACK))


def _installed(case: Case, refused: set[str]) -> Iterator[Change]:
    """What the cluster does not have yet, where the nodes would take the gang and nothing else is against it."""
    if len(refused) == 1 and refused <= INSTALLS.keys() and case.fits(AS_READ):
        subjects = dict.fromkeys(reason.subject.rstrip(",") for reason in case.diagnosis.refusals)
        yield Change(INSTALLS[refused.pop()], ", ".join(subjects))


def _quota(case: Case) -> Iterator[Change]:
    short = list(shortfalls(case.diagnosis))
    if short and case.fits(World(without=frozenset({"resource-quota"}))):
        detail = {
            reason.resource: max(r.needs or 0 for r in short if r.resource == reason.resource) for reason in short
        }
        yield Change("raise-quota", ", ".join(sorted({reason.subject for reason in short})), detail=detail)


def _lifted(case: Case, codes: tuple[str, ...]) -> Iterator[Change]:
    """A rule of one code and subject (a taint, a selector) gone, for every role."""
    found: dict[tuple[str, str], Reason] = {}
    for reason in nodes_by_first_failure(case):
        found.setdefault((reason.code, reason.subject), reason)
    found |= {(rule.code, ""): Reason(rule.code) for rule in case.diagnosis.apart if (rule.code, "") not in found}
    for (code, subject), reason in found.items():
        if code == ANTI_AFFINITY and code in codes:
            if case.fits(World(without=frozenset({OWN_TERMS}))):
                yield Change(LIFTS[code])
            continue
        if code in codes and case.fits(World(without=frozenset({f"{code}={subject}" if subject else code}))):
            yield Change(LIFTS[code], subject or _names(code, case), count=reason.nodes)


def _names(code: str, case: Case) -> str:
    """The nodes that the rule stops, when they are few."""
    masks = [r.nodes for fit in case.diagnosis.roles for r in fit.rejections if r.reason.code == code]
    rows = np.flatnonzero(np.logical_or.reduce(masks)).tolist() if masks else []
    return ", ".join(case.nodes.names[row] for row in rows) if 0 < len(rows) <= MOST_NAMES else ""


def _freed(case: Case, placed: dict[str, int]) -> Iterator[Change]:
    """What ordinary pods would have to give up where the least is missing, on as many nodes as pods are missing."""
    fit = heaviest(case)
    missing = sum(f.role.replicas for f in case.diagnosis.roles) - sum(placed.values())
    if not 0 < missing <= MOST_NAMES:
        return
    now = case.diagnosis.supply.now
    lacks = {name: np.maximum(need - now[name], 0) for name, need in fit.shape.requests.items()}
    possible = eligible(fit, case) & np.logical_or.reduce([lack > 0 for lack in lacks.values()])
    for name, need in fit.shape.requests.items():
        possible &= case.nodes.room(name) >= need
    main = case.accelerators.main(fit.shape.requests)
    keys = [lacks[name] for name in sorted(lacks)] + ([lacks[main]] if main else [])
    rows = [int(row) for row in np.lexsort([np.arange(len(possible)), *keys]) if possible[row]][:missing]
    freed = tuple((row, name, int(lack[row])) for row in rows for name, lack in lacks.items() if lack[row])
    if len(rows) == missing and case.fits(World(freed=freed)):
        detail: dict[str, int] = {}
        nodes: dict[str, dict[str, int]] = {case.nodes.names[row]: {} for row in rows}
        for row, name, lack in freed:
            amount = lack + int(case.diagnosis.supply.overdrawn[name][row])
            detail[name] = detail.get(name, 0) + amount
            nodes[case.nodes.names[row]][name] = amount
        yield Change("free", ", ".join(nodes), count=missing, detail=detail, nodes=nodes)


def _added(case: Case) -> Iterator[Change]:
    """The fewest empty nodes like one that is there."""
    fit = heaviest(case)
    mask = fit.allowed(len(case.nodes), lasting_only=True)
    need = fit.shape.requests
    room = {name: np.maximum(case.nodes.room(name), 0) for name in need}
    holds = np.min([room[name] // amount for name, amount in need.items() if amount], axis=0) * mask
    shapes = {tuple(int(room[name][row]) for name in sorted(need)): int(row) for row in np.flatnonzero(holds)[::-1]}
    rows = sorted(shapes.values(), key=lambda row: (-int(holds[row]), row))[:MOST_SHAPES]
    counts = [(count, row) for row in rows if (count := _fewest(case, row))]
    for count, row in sorted(counts):
        if case.fits_with(case.nodes.names[row], count):
            names = [name for name in need if name != PODS]
            detail = {name: int(case.nodes.offered(name)[row]) for name in names}
            yield Change("add-nodes", case.nodes.names[row], count, detail=detail)
            return


def _fewest(case: Case, row: int) -> int:
    """The smallest number of nodes like `row` with which the gang fits; 0 when no sensible number of them helps."""
    most = min(sum(f.role.replicas for f in case.diagnosis.roles), MOST_ADDED)
    least = _at_least(case, row)
    if least > most:
        return 0
    low, high = least - 1, least
    while not case.fits(World(added=((row, high),))):
        if high >= most:
            return 0
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if case.fits(World(added=((row, middle),))):
            high = middle
        else:
            low = middle
    return high


def _at_least(case: Case, row: int) -> int:
    """No fewer nodes like `row` can help: so many it takes to make up what is short of each resource in total."""
    counts = [1]
    for resource in sorted({name for fit in case.diagnosis.roles for name in fit.shape.requests}):
        short = shortfall(case, resource)
        room = int(case.nodes.room(resource)[row])
        if short > 0:
            counts.append(-(-short // room) if room > 0 else MOST_ADDED + 1)
    return max(counts)
