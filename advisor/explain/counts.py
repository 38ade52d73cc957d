"""Why a gang does not fit a cluster, as codes and numbers: nodes by the rule that stops them first, the decisive rule.

Decisive is the rule without which the gang would fit, tried one at a time; where lifting no single rule helps, it is
the resource that runs short, in total or by fragmentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.accelerators import Accelerators
from advisor.cluster import Mask, Nodes
from advisor.diagnosis import CAPACITY, Charge, Diagnosis, Rejection, RoleFit, World
from advisor.resources import PODS
from advisor.verdict import Reason

LIFTED_FIRST = (
    "cordoned",
    "not-ready",
    "gpu-reconfiguring",
    "nominated",
    "host-port",
    "anti-affinity",
    "taint",
    "shared-gpu",
    "gpu-sharing-limit",
    "pvc-zone",
    "node-name",
    "wrong-system",
    "node-going-away",
)
"""Rules that are tried one by one as the decisive one, those that pass by themselves first."""

Fits = Callable[[World], bool]


@dataclass(frozen=True, slots=True)
class Case:
    """What explanations look at: the diagnosis, the nodes, and two ways to try the gang again.

    fits       in another world
    fits_with  on the same cluster with so many new nodes like the one named
    """

    diagnosis: Diagnosis
    nodes: Nodes
    accelerators: Accelerators
    fits: Fits
    fits_with: Callable[[str, int], bool]


def reasons(case: Case) -> tuple[Reason, ...]:
    """All reasons of a no, the decisive one first, then by number of nodes."""
    found = [*case.diagnosis.refusals, *shortfalls(case.diagnosis), *nodes_by_first_failure(case)]
    first = decisive(case)
    rest = [reason for reason in found if not same(first, reason)]
    return (first, *sorted(rest, key=lambda reason: -reason.nodes))


def same(one: Reason, other: Reason) -> bool:
    return (one.code, one.role, one.subject, one.resource) == (other.code, other.role, other.subject, other.resource)


def decisive(case: Case) -> Reason:
    """The one reason to name when there is room for one."""
    if case.diagnosis.refusals:
        return case.diagnosis.refusals[0]
    present = {reason.code: reason for reason in nodes_by_first_failure(case)}
    present |= {rule.code: Reason(rule.code, subject=rule.key or "one per node") for rule in case.diagnosis.apart}
    short = sorted(shortfalls(case.diagnosis), key=lambda charge: not charge.lasting)
    if short and case.fits(World(without=frozenset({"resource-quota"}))):
        return short[0]
    if present.get("node-name", Reason("")).enough:
        del present["node-name"]  # the node that is named is there: what it lacks is the reason
    for code in LIFTED_FIRST:
        if code in present and case.fits(World(without=frozenset({code}))):
            return present[code]
    return _capacity(case)


def shortfalls(diagnosis: Diagnosis) -> Iterator[Reason]:
    """Quotas that the whole gang would overdraw."""
    sizes = {fit.role.name: fit.role.replicas for fit in diagnosis.roles}
    for charge in diagnosis.charges:
        needs = charge.of(_busiest(charge, diagnosis, sizes))
        if charge.left is not None and needs > charge.left:
            lasting = needs > charge.hard
            yield Reason(
                "resource-quota",
                subject=charge.quota,
                resource=charge.key,
                needs=needs,
                has=charge.hard if lasting else max(0, charge.left),
                lasting=lasting,
            )


def _busiest(charge: Charge, diagnosis: Diagnosis, sizes: Mapping[str, int]) -> Mapping[str, int]:
    """The sizes of the roles alive at the stage at which the charge is highest."""
    stages = [{fit.role.name: sizes[fit.role.name] for fit in stage} for stage in _stages(diagnosis.roles)]
    return max(stages, key=charge.of, default={})


def nodes_by_first_failure(case: Case) -> Iterator[Reason]:
    """Per role, the nodes that no pod of it may use, counted where they fail first, as kube-scheduler counts them.

    `has` is the most that any of these nodes has left of the resource that is short.
    """
    for fit in case.diagnosis.roles:
        left = np.ones(len(case.nodes), dtype=np.bool_)
        counted: dict[tuple[str, str, str], Reason] = {}
        for rejection in fit.rejections:
            here = rejection.nodes & left
            left &= ~rejection.nodes
            if here.any():
                reason = _counted(rejection.reason, here, fit, case)
                key = (reason.code, reason.subject, reason.resource)
                counted[key] = _joined(counted[key], reason) if key in counted else reason
        yield from counted.values()


def _counted(reason: Reason, nodes: Mask, fit: RoleFit, case: Case) -> Reason:
    has = None
    if reason.resource and reason.filter == CAPACITY:
        has = int(case.diagnosis.supply.now[reason.resource][nodes].max())
    return replace(reason, role=fit.role.name, nodes=int(nodes.sum()), has=has)


def _joined(one: Reason, other: Reason) -> Reason:
    """Nodes that are too small and nodes that are too busy count together for one resource."""
    has = None if one.has is None or other.has is None else max(one.has, other.has)
    return replace(one, nodes=one.nodes + other.nodes, has=has, lasting=one.lasting and other.lasting)


def _capacity(case: Case) -> Reason:
    """The resource that is short on the nodes that may be used, or the rule that leaves no node to use."""
    barred = [fit for fit in case.diagnosis.roles if not eligible(fit, case).any()]
    if barred:
        return _bar(barred[0], case)
    too_small = next((reason for fit in case.diagnosis.roles for reason in _no_node_is_large_enough(fit, case)), None)
    return too_small or _short_in_total(case) or _fragmented(case)


def eligible(fit: RoleFit, case: Case) -> Mask:
    """Nodes that every rule but capacity lets the role use, or may let it use."""
    return fit.allowed(len(case.nodes), hopeful=True)


def _bar(fit: RoleFit, case: Case) -> Reason:
    """Of the rules that together leave no node, the one that stops most by itself; of equal ones the last."""
    masks: dict[tuple[str, str], Rejection] = {}
    for rejection in fit.rejections:
        if rejection.reason.filter != CAPACITY:
            key = (rejection.reason.code, rejection.reason.subject)
            before = masks.get(key)
            masks[key] = replace(rejection, nodes=before.nodes | rejection.nodes) if before else rejection
    stops = [replace(one.reason, role=fit.role.name, nodes=int(one.nodes.sum()), enough=0) for one in masks.values()]
    return max(reversed(stops), key=lambda reason: reason.nodes, default=Reason("no-nodes"))


def _no_node_is_large_enough(fit: RoleFit, case: Case) -> Iterator[Reason]:
    nodes = eligible(fit, case)
    for resource in _telling(fit.shape.requests, case.accelerators):
        need = fit.shape.requests[resource]
        room = case.diagnosis.supply.emptied[resource][nodes]
        if (room < need).all():
            nowhere = not (case.nodes.offered(resource) > 0).any()
            code = "no-such-resource" if nowhere else f"insufficient-{resource.rpartition('/')[2]}"
            yield Reason(
                code,
                CAPACITY,
                resource=resource,
                needs=need,
                has=int(room.max()),
                role=fit.role.name,
                nodes=int(nodes.sum()),
                enough=0,
            )


def _short_in_total(case: Case) -> Reason | None:
    """A resource of which the usable nodes together have less than the gang needs; accelerators are looked at first."""
    names = {name for fit in case.diagnosis.roles for name in fit.shape.requests}
    for resource in _telling(names, case.accelerators):
        users, nodes, needs, has = _in_total(case, resource)
        if has < needs:
            code = f"insufficient-{resource.rpartition('/')[2]}"
            return Reason(
                code,
                CAPACITY,
                lasting=False,
                resource=resource,
                needs=needs,
                has=has,
                role=users[0].role.name if len(users) == 1 else "",
                nodes=int(nodes.sum()),
                total=has,
            )
    return None


def shortfall(case: Case, resource: str) -> int:
    """By how much the usable nodes together have too little of a resource; negative where they have enough."""
    _, _, needs, has = _in_total(case, resource)
    return needs - has


def _in_total(case: Case, resource: str) -> tuple[list[RoleFit], Mask, int, int]:
    """Who asks for it, the nodes that they may use, what they need at the busiest stage, what these nodes have."""
    users = [fit for fit in case.diagnosis.roles if fit.shape.requests.get(resource)]
    needs = max(
        (sum(f.role.replicas * f.shape.requests[resource] for f in stage) for stage in _stages(users)), default=0
    )
    nodes = np.logical_or.reduce([np.zeros(len(case.nodes), dtype=np.bool_), *(eligible(fit, case) for fit in users)])
    return users, nodes, needs, sum(case.diagnosis.supply.now[resource][nodes].tolist())


def _stages(fits: Sequence[RoleFit]) -> list[list[RoleFit]]:
    numbers = sorted({stage for fit in fits for stage in fit.role.stages})
    return [[fit for fit in fits if stage in fit.role.stages] for stage in numbers]


def _fragmented(case: Case) -> Reason:
    """The totals suffice, no packing does. Named after the heaviest role and its accelerator or first resource."""
    fit = heaviest(case)
    resource = next(iter(_telling(fit.shape.requests, case.accelerators)), PODS)
    nodes = eligible(fit, case)
    left = case.diagnosis.supply.now[resource]
    need = fit.shape.requests.get(resource, 0)
    short = nodes & (left < need)
    return Reason(
        "fragmentation",
        CAPACITY,
        lasting=False,
        resource=resource,
        needs=need,
        has=int(left[short].max()) if short.any() else None,
        role=fit.role.name,
        nodes=int(short.sum()),
        enough=int((nodes & ~short).sum()),
        total=sum(left[nodes].tolist()),
    )


def heaviest(case: Case) -> RoleFit:
    """The role whose pods ask for most of their accelerator; of equal ones the one with more pods."""
    return max(case.diagnosis.roles, key=lambda fit: _weight(fit, case))


def _weight(fit: RoleFit, case: Case) -> tuple[int, int]:
    accelerator = case.accelerators.main(fit.shape.requests)
    return fit.shape.requests.get(accelerator, 0), fit.role.replicas


def _telling(names: Iterable[str], accelerators: Accelerators) -> list[str]:
    """Resources in the order in which a shortage is worth telling: accelerators, then by name, pod slots last."""
    first = accelerators.among(names)
    rest = sorted(set(names) - set(first) - {PODS})
    return [*first, *rest, PODS]
