"""From what `fit` found to a prepared `Problem`: everything numbered, nothing left to look up.

The same builder serves the verdict and every "what would change that": a `World` says which facts hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from advisor.cluster import Nodes
from advisor.company import Start, starts
from advisor.diagnosis import (
    ANTI_AFFINITY,
    AS_READ,
    EMPTIED,
    HOPEFUL,
    OWN_TERMS,
    SURE,
    Charge,
    Diagnosis,
    KeepApart,
    World,
)
from advisor.labels import HOSTNAME
from advisor.problem import After, Apart, Begin, Budget, Flags, Group, Ints, Problem
from advisor.workload import GangGroup, Wait, Workload


def build(
    diagnosis: Diagnosis, workload: Workload, nodes: Nodes, accelerators: Collection[str], world: World = AS_READ
) -> Problem:
    """The problem of one cluster in one world. Bins are the nodes' rows, then the added nodes in order."""
    names = [fit.role.name for fit in diagnosis.roles]
    rows = _rows(nodes, world)
    resources = sorted(diagnosis.supply.now)
    free = _free(diagnosis, resources, world, rows, nodes)
    wanted = {fit.role.name: fit.role.replicas for fit in diagnosis.roles} | dict(world.sizes)
    return Problem(
        wanted=tuple(wanted[name] for name in names),
        need=_need(diagnosis, resources),
        free=free,
        allowed=_allowed(diagnosis, world, rows, len(nodes)),
        stages=tuple(fit.role.stages for fit in diagnosis.roles),
        fresh=_fresh(nodes, accelerators, rows),
        slack=_slack(nodes, accelerators, rows, world),
        apart=tuple(_apart(diagnosis.apart, names, nodes, rows, world)),
        budgets=tuple(_budget(charge, names, world) for charge in diagnosis.charges if _counts(charge, world)),
        least=tuple(min(fit.role.minimum, wanted[fit.role.name]) for fit in diagnosis.roles),
        least_total=workload.min_available or 0,
        groups=tuple(_group(group, names) for group in workload.groups if not group.partly),
        blocks=tuple(fit.role.block for fit in diagnosis.roles),
        waits=tuple(_waits(workload.order, wanted, names)),
        begins=tuple(_begins(starts(workload), names)),
    )


def together(diagnoses: Sequence[Diagnosis], nodes: Nodes) -> Problem | None:
    """The pods of several workloads as one gang; None where rules between pods or stages make that more than a sum.

    Quotas are left out: they ask how many pods there are, not in which order they come.
    """
    fits = [fit for diagnosis in diagnoses for fit in diagnosis.roles]
    tied = any(
        fit.shape.affinity or fit.shape.anti_affinity or fit.shape.ports or fit.role.stages != (0,) for fit in fits
    )
    if tied or any(diagnosis.apart for diagnosis in diagnoses):
        return None
    now = {name: column for diagnosis in diagnoses for name, column in diagnosis.supply.now.items()}
    resources = sorted(now)
    need = [[fit.shape.requests.get(name, 0) for name in resources] for fit in fits]
    return Problem(
        wanted=tuple(fit.role.replicas for fit in fits),
        need=np.array(need, dtype=np.int64).reshape(len(fits), len(resources)),
        free=np.stack([now[name] for name in resources], axis=1),
        allowed=np.stack([fit.allowed(len(nodes)) for fit in fits]),
        stages=((0,),) * len(fits),
        fresh=np.zeros(len(nodes), dtype=np.bool_),
        slack=np.arange(len(nodes), dtype=np.int64),
    )


def _group(group: GangGroup, names: list[str]) -> Group:
    members = tuple(group.members.get(name, 0) for name in names)
    most = tuple(max(pods, group.most.get(name, 0)) for name, pods in zip(names, members, strict=True))
    return Group(group.count, members, most, group.further)


def _waits(order: Sequence[Wait], wanted: Mapping[str, int], names: list[str]) -> Iterator[After]:
    """Roles that are not among these pods are there already, and with them what waits for them alone."""
    for wait in order:
        if wait.role in wanted and {*wait.one_of} <= {*wanted}:
            most = {name: wanted[name] if pods is None else pods for name, pods in wait.one_of.items()}
            one_of = tuple((names.index(name), min(pods, wanted[name])) for name, pods in most.items())
            yield After(names.index(wait.role), one_of)


def _begins(gangs: Iterable[Start], names: list[str]) -> Iterator[Begin]:
    for start in gangs:
        whole, single = (tuple(names.index(role) for role in each) for each in (start.whole, start.single))
        yield Begin(start.least, whole, single)


def _rows(nodes: Nodes, world: World) -> Ints:
    """For each bin the row of the node that it is, or is like."""
    added = [np.full(count, row, dtype=np.int64) for row, count in world.added]
    return np.concatenate([np.arange(len(nodes), dtype=np.int64), *added])


def _need(diagnosis: Diagnosis, resources: list[str]) -> Ints:
    need = [[fit.shape.requests.get(name, 0) for name in resources] for fit in diagnosis.roles]
    return np.array(need, dtype=np.int64).reshape(len(diagnosis.roles), len(resources))


def _free(diagnosis: Diagnosis, resources: list[str], world: World, rows: Ints, nodes: Nodes) -> Ints:
    """B×K; added nodes are empty but for what belongs to a node itself."""
    supply = {SURE: diagnosis.supply.now, HOPEFUL: diagnosis.supply.hopeful, EMPTIED: diagnosis.supply.emptied}
    free = np.stack([supply[world.supply][name] for name in resources], axis=1)
    for row, resource, amount in world.freed:
        free[row, resources.index(resource)] += amount
    empty = np.stack([np.maximum(nodes.room(name), 0) for name in resources], axis=1)
    return np.concatenate([free, empty[rows[len(nodes) :]]])


def _allowed(diagnosis: Diagnosis, world: World, rows: Ints, nodes: int) -> Flags:
    hopeful = world.supply in (HOPEFUL, EMPTIED)

    def masks(lasting_only: bool) -> Flags:
        return np.stack(
            [
                fit.allowed(nodes, without=world.without, lasting_only=lasting_only, hopeful=hopeful)
                for fit in diagnosis.roles
            ]
        )

    there = masks(world.supply == EMPTIED) & _object_can_be_made(diagnosis, world)
    return np.concatenate([there, masks(True)[:, rows[nodes:]]], axis=1) if world.added else there


def _fresh(nodes: Nodes, accelerators: Collection[str], rows: Ints) -> Flags:
    """Nodes that offer an accelerator none of which is in use."""
    whole = np.zeros(len(nodes), dtype=np.bool_)
    broken = np.zeros(len(nodes), dtype=np.bool_)
    for name in accelerators:
        offered = nodes.offered(name)
        whole |= offered > 0
        broken |= nodes.free(name) < offered
    return (whole & ~broken)[rows]


def _slack(nodes: Nodes, accelerators: Collection[str], rows: Ints, world: World) -> Ints:
    """Rank by free accelerators, then by free cpu: equal nodes are used tightest first, added ones last."""
    free = np.zeros(len(nodes), dtype=np.int64)
    for name in sorted(accelerators):
        free += np.maximum(nodes.free(name), 0)
    order = np.lexsort((nodes.free("cpu"), free))
    rank = np.empty(len(nodes), dtype=np.int64)
    rank[order] = np.arange(len(nodes))
    slack = rank[rows]
    slack[len(nodes) :] += len(nodes)
    return slack


def _apart(rules: Collection[KeepApart], names: list[str], nodes: Nodes, rows: Ints, world: World) -> list[Apart]:
    pairs: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for rule in rules:
        if rule.code not in world.without and not (rule.code == ANTI_AFFINITY and OWN_TERMS in world.without):
            one, other = sorted(names.index(role) for role in rule.roles)
            pairs[rule.key].add((one, other))
    return [Apart(frozenset(found), _domain(key, nodes, rows)) for key, found in sorted(pairs.items())]


def _domain(key: str, nodes: Nodes, rows: Ints) -> Ints:
    """Per bin the number of its domain of `key`, -1 without the label. A label that names the node is new with it."""
    new = np.arange(len(nodes), len(rows), dtype=np.int64)
    if not key:
        return np.concatenate([np.arange(len(nodes), dtype=np.int64), new])
    column = nodes.label(key)
    numbers = np.array([-1 if value is None else n for n, value in enumerate(column.values)], dtype=np.int64)
    there = numbers[column.codes]
    like = there[rows[len(nodes) :]]
    return np.concatenate([there, np.where(like >= 0, new + len(column.values), -1) if key == HOSTNAME else like])


def _object_can_be_made(diagnosis: Diagnosis, world: World) -> bool:
    """Has every quota room for the workload's object itself? Without it there are no pods."""
    counted = (charge for charge in diagnosis.charges if charge.fixed and _counts(charge, world))
    return all(charge.fixed <= _limit(charge, world) for charge in counted)


def _counts(charge: Charge, world: World) -> bool:
    return "resource-quota" not in world.without and (charge.left is not None or world.supply == EMPTIED)


def _budget(charge: Charge, names: list[str], world: World) -> Budget:
    return Budget(tuple(charge.per_pod.get(name, 0) for name in names), _limit(charge, world) - charge.fixed)


def _limit(charge: Charge, world: World) -> int:
    return charge.hard if world.supply == EMPTIED else charge.left or 0
