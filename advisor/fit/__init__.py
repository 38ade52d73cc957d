"""May a pod of this shape run on these nodes, and if not, why? One file per filter of kube-scheduler.

A filter yields, for one pod shape, the nodes that it turns down with the reason. What depends on where the other pods
of the gang land is a constraint (`model`), not a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Diagnosis, KeepApart, PodShape, Rejection, RoleFit
from advisor.fit import (
    admission,
    affinity,
    devices,
    gangs,
    health,
    interpod,
    limits,
    platform,
    ports,
    quota,
    references,
    resources,
    taints,
    unmodelled,
    volumes,
)
from advisor.fit.nominated import precedes
from advisor.workload import Role, Workload

Filter = Callable[[PodShape, ClusterSnapshot], Iterator[Rejection]]

FILTERS: Mapping[str, Filter] = {
    "NodeUnschedulable": health.examine,
    "NodeName": affinity.examine_name,
    "TaintToleration": taints.examine,
    "NodeAffinity": affinity.examine,
    "NodePorts": ports.examine,
    "NodeResourcesFit": resources.examine,
    "VolumeBinding": volumes.examine,
    "InterPodAffinity": interpod.examine,
    "Devices": devices.examine,
    "Platform": platform.examine,
}
"""In the order in which kube-scheduler runs them, ours behind; a node is counted where it fails first."""


def examine(
    workload: Workload, cluster: ClusterSnapshot, accelerators: Accelerators, assume: bool = False
) -> Diagnosis:
    """Every role against every node. `assume`: the namespace will be created where it is missing."""
    admitted = {role.name: admission.admit(role.template, workload.namespace, cluster) for role in workload.roles}
    shapes = _with_company(workload, {name: pod for name, (pod, _) in admitted.items()}, accelerators)
    created = [role for role in workload.roles if role.replicas]
    present = {role.name: shapes[role.name] for role in created}
    pods = [(shapes[role.name], role.replicas) for role in created]
    fits = tuple(RoleFit(role, shapes[role.name], tuple(rejections(shapes[role.name], cluster))) for role in created)
    elsewhere = {asked.resource for asked in workload.unmodelled if asked.resource}
    return Diagnosis(
        roles=fits,
        supply=resources.supply(list(present.values()), cluster, elsewhere),
        apart=tuple(_apart(created, shapes, cluster)),
        charges=tuple(quota.charges(workload, present, cluster)),
        refusals=(
            *unmodelled.refusals(workload, cluster, assume),
            *references.refusals(workload),
            *gangs.refusals(workload, cluster),
            *(replace(reason, role=role.name) for role in created for reason in admitted[role.name][1]),
            *quota.refusals(workload, present, cluster),
            *volumes.refusals(pods, cluster),
        ),
        doubts=(
            *references.doubts(workload, cluster),
            *unmodelled.doubts(workload, cluster, assume),
            *gangs.doubts(workload, shapes, cluster),
            *limits.doubts(workload, cluster),
            *quota.doubts(workload, present, cluster),
            *volumes.doubts(pods, cluster),
            *interpod.doubts([(shapes[one.name], shapes[other.name]) for one, other in _pairs(created)], cluster),
        ),
        notes=(
            *unmodelled.notes(workload, present, cluster, assume),
            *(note for fit in fits for note in platform.notes(fit, cluster)),
        ),
    )


def held_for_some(diagnosis: Diagnosis, cluster: ClusterSnapshot) -> bool:
    """Is room held for a nominated pod against some of the gang's pods, while the others may use it?"""
    shapes = [fit.shape for fit in diagnosis.roles]
    return any(len({precedes(pending, pod, cluster) for pod in shapes}) > 1 for pending in cluster.nominated)


def rejections(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    """All that turns the pod down anywhere, in filter order; rejections of no node are left out."""
    for name, examined in FILTERS.items():
        for rejection in examined(pod, cluster):
            if rejection.nodes.any():
                yield replace(rejection, reason=replace(rejection.reason, filter=name))


def _apart(created: Sequence[Role], shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[KeepApart]:
    """Which pods of the gang may not share a node or a domain, and by which rule."""
    for one, other in _pairs(created):
        pair = (one.name, other.name)
        if ports.share(shapes[one.name], shapes[other.name]):
            yield KeepApart(pair, "", "host-port")
        for key in sorted(set(interpod.apart(shapes[one.name], shapes[other.name], cluster))):
            yield KeepApart(pair, key, "anti-affinity")


def _pairs(created: Sequence[Role]) -> Iterator[tuple[Role, Role]]:
    """The roles of any two pods of the gang; a role with itself where it has two pods."""
    for one, other in combinations_with_replacement(created, 2):
        if one is not other or one.replicas > 1:
            yield one, other


def _with_company(workload: Workload, shapes: Mapping[str, PodShape], known: Accelerators) -> dict[str, PodShape]:
    """Mark pods that share their gang with other holders of an accelerator."""
    together = {role for group in workload.groups for role in group.members}
    holders = [role for role in workload.roles if role.name in together and known.main(shapes[role.name].requests)]
    many = sum(_at_once(role, workload) for role in holders) > 1
    names = {role.name for role in holders} if many else set()
    return {name: replace(pod, one_of_many=name in names) for name, pod in shapes.items()}


def _at_once(role: Role, workload: Workload) -> int:
    return max(group.members.get(role.name, 0) for group in workload.groups)
