"""A placement charged to a snapshot: the cluster as it will be once those pods are bound.

kube-scheduler calls such pods *assumed*. Used when several workloads are asked about, so that no capacity is promised
twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from advisor.cluster import ClusterSnapshot, Column, PodSet, PortUse, Quota
from advisor.diagnosis import Charge, PodShape
from advisor.resources import PODS
from advisor.verdict import Placement


def assume(
    cluster: ClusterSnapshot, placement: Placement, shapes: Mapping[str, PodShape], charges: Sequence[Charge] = ()
) -> ClusterSnapshot:
    """The snapshot with the pods of `placement` bound: amounts, ports, labels, and the quotas that `charges` name.

    `shapes` are the pods by role; all are of one namespace.
    """
    namespaces = {pod.namespace for pod in shapes.values()}
    return replace(
        cluster,
        nodes=replace(cluster.nodes, requested=_requested(cluster, placement, shapes)),
        pods=(*cluster.pods, *_pods(placement, shapes)),
        ports=(*cluster.ports, *_ports(placement, shapes)),
        quotas=tuple(_charged(q, placement, charges) if q.namespace in namespaces else q for q in cluster.quotas),
    )


def _requested(cluster: ClusterSnapshot, placement: Placement, shapes: Mapping[str, PodShape]) -> dict[str, Column]:
    rows = {name: row for row, name in enumerate(cluster.nodes.names)}
    requested = dict(cluster.nodes.requested)
    for name in {name for role in placement.assignment for name in shapes[role].requests}:
        column = cluster.nodes.requested.get(name)
        requested[name] = cluster.nodes.free(name) * 0 if column is None else column.copy()
    for role, nodes in placement.assignment.items():
        for node, count in nodes.items():
            for name, amount in shapes[role].requests.items():
                requested[name][rows[node]] += amount * count
    return requested


def _pods(placement: Placement, shapes: Mapping[str, PodShape]) -> list[PodSet]:
    return [_pod_set(shapes[role], nodes) for role, nodes in placement.assignment.items()]


def _pod_set(shape: PodShape, nodes: Mapping[str, int]) -> PodSet:
    requests = {name: amount for name, amount in shape.requests.items() if name != PODS}
    return PodSet(
        namespace=shape.namespace,
        labels=shape.labels,
        nodes=nodes,
        anti_affinity=shape.anti_affinity,
        requests=requests,
        priority=shape.priority,
        made=shape.made,
    )


def _ports(placement: Placement, shapes: Mapping[str, PodShape]) -> list[PortUse]:
    return [
        PortUse(node, port, namespace=shapes[role].namespace)
        for role, nodes in placement.assignment.items()
        for node in nodes
        for port in shapes[role].ports
    ]


def _charged(quota: Quota, placement: Placement, charges: Sequence[Charge]) -> Quota:
    mine = {charge.key: charge.of(placement.size) for charge in charges if charge.quota == quota.name}
    if not mine or quota.used is None:
        return quota
    return replace(quota, used={**quota.used, **{key: quota.used.get(key, 0) + n for key, n in mine.items()}})
