"""kube-scheduler's NodeResourcesFit: what a pod asks for, its slot included, against what is left on a node.

A pod that asks for none of a resource is not hindered where more of it is held than the node still offers. Room that
the scheduler holds for nominated pods of at least the pod's priority is not there for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from advisor.cluster import ClusterSnapshot, Column, Mask, Nodes, Nominated
from advisor.diagnosis import PodShape, Rejection, Supply
from advisor.fit.nominated import precedes, unsure
from advisor.fit.versions import EXTENDED_RESOURCES_BY_DRA, before
from advisor.resources import PODS, is_extended
from advisor.verdict import Reason

CLASSES = "deviceclasses"

PLENTY = 1 << 60
"""More of anything than a cluster has: stands for an amount that is not known to be limited."""


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    nodes = cluster.nodes
    held = _held(cluster, lambda pending: precedes(pending, pod, cluster))
    for resource, need in pod.requests.items():
        by_dra = served_by_dra(resource, cluster)
        yield Rejection(_by_dra(resource, cluster), by_dra, doubt=True)
        too_small = (nodes.room(resource) < need) & ~by_dra
        busy = (nodes.free(resource) < need) & ~too_small & ~by_dra
        spoken_for = (nodes.free(resource) - held.get(resource, 0) < need) & ~too_small & ~busy & ~by_dra
        yield Rejection(_short(resource, need, nodes, lasting=True), too_small)
        yield Rejection(_short(resource, need, nodes, lasting=False), busy)
        reason = Reason("nominated", resource=resource, needs=need, lasting=False)
        yield Rejection(reason, spoken_for, doubt=unsure(cluster))


def _short(resource: str, need: int, nodes: Nodes, *, lasting: bool) -> Reason:
    nowhere = not (nodes.offered(resource) > 0).any()
    code = "no-such-resource" if nowhere else f"insufficient-{resource.rpartition('/')[2]}"
    return Reason(code, resource=resource, needs=need, lasting=lasting)


def served_by_dra(resource: str, cluster: ClusterSnapshot) -> Mask:
    """Nodes without a device plugin's count of a resource that a DeviceClass offers (KEP-5004): not "0 devices".

    Where the DeviceClasses could not be read, any extended resource may be offered by one.
    """
    offered = cluster.nodes.offered(resource)
    served = resource in cluster.served_by_dra or (_classes_unread(cluster) and is_extended(resource))
    return offered <= 0 if served else np.zeros(len(offered), dtype=np.bool_)


def _classes_unread(cluster: ClusterSnapshot) -> bool:
    return cluster.gap(CLASSES) is not None and not before(cluster, EXTENDED_RESOURCES_BY_DRA)


def _by_dra(resource: str, cluster: ClusterSnapshot) -> Reason:
    if resource in cluster.served_by_dra:
        return Reason("dra-served", resource=resource)
    return Reason("unreadable", resource=resource, subject=CLASSES)


def supply(pods: Sequence[PodShape], cluster: ClusterSnapshot, elsewhere: Collection[str] = ()) -> Supply:
    """What each node has for the gang, by resource that some pod of it asks for.

    Where the pods differ in priority, room held for a pod in between is not counted in `now` and is in `hopeful`.
    `elsewhere`: resources that another system may count; what no node offers of them says nothing.
    """
    nodes = cluster.nodes
    held = _held(cluster, lambda pending: any(precedes(pending, pod, cluster) for pod in pods))
    surely_held = _held(cluster, lambda pending: all(precedes(pending, pod, cluster) for pod in pods))
    if unsure(cluster):
        surely_held = {}
    now, hopeful, emptied, overdrawn = {}, {}, {}, {}
    for name in sorted({name for pod in pods for name in pod.requests}):
        now[name] = np.maximum(nodes.free(name) - held.get(name, 0), 0)
        overdrawn[name] = np.maximum(held.get(name, 0) - nodes.free(name), 0)
        left = np.maximum(nodes.free(name) - surely_held.get(name, 0), 0)
        unknown = served_by_dra(name, cluster) | (name in elsewhere and not (nodes.offered(name) > 0).any())
        hopeful[name] = np.where(unknown, PLENTY, left)
        emptied[name] = np.where(unknown, PLENTY, np.maximum(nodes.room(name), 0))
    return Supply(now, hopeful, emptied, overdrawn)


def _held(cluster: ClusterSnapshot, counts: Callable[[Nominated], bool]) -> Mapping[str, Column]:
    """Room held on each node for the nominated pods that count."""
    held: dict[str, Column] = {}
    rows = {name: row for row, name in enumerate(cluster.nodes.names)} if cluster.nominated else {}
    for pending in cluster.nominated:
        if pending.node in rows and counts(pending):
            for name, amount in {**pending.requests, PODS: 1}.items():
                held.setdefault(name, np.zeros(len(cluster.nodes), dtype=np.int64))[rows[pending.node]] += amount
    return held
