"""A placement charged to a snapshot: the cluster as it will be once those pods are bound.

kube-scheduler calls such pods *assumed*. Used when several workloads are asked about, so that no capacity is promised
twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from advisor.cluster import ClusterSnapshot, Column, PodSet, PortUse, Quota
from advisor.diagnosis import Charge, PodShape
from advisor.resources import PODS
from advisor.verdict import Placement
from advisor.workload import Stages

Pods = Mapping[str, Mapping[str, int]]
"""Role → node → pods."""

Alive = Mapping[str, Stages]
"""Role → the stages at which its pods are alive; a role that is left out is alive at stage 0."""


def assume(
    cluster: ClusterSnapshot,
    placement: Placement,
    shapes: Mapping[str, PodShape],
    charges: Sequence[Charge] = (),
    stages: Alive | None = None,
    counted: Mapping[str, int] | None = None,
) -> ClusterSnapshot:
    """The snapshot with the pods of `placement` bound: amounts, ports, labels, and the quotas that `charges` name.

    `shapes` are the pods by role; all are of one namespace. Of roles that follow one another, a node and a quota bear
    the most that any stage asks of them. Pods on nodes that the snapshot does not have are left out. `counted`: role →
    pods among them that quotas have counted already, since they exist without a node.
    """
    there = frozenset(cluster.nodes.names)
    placed = {
        role: {n: count for n, count in nodes.items() if n in there} for role, nodes in placement.assignment.items()
    }
    waves = _waves(placed, stages or {})
    namespaces = {pod.namespace for pod in shapes.values()}
    return replace(
        cluster,
        nodes=replace(cluster.nodes, requested=_requested(cluster, waves, shapes)),
        pods=(*cluster.pods, *_pods(placed, shapes)),
        ports=(*cluster.ports, *_ports(placed, shapes)),
        quotas=tuple(
            _charged(q, waves, charges, counted or {}) if q.namespace in namespaces else q for q in cluster.quotas
        ),
        assumed=cluster.assumed or any(placed.values()),
    )


def _waves(placed: Pods, stages: Alive) -> list[Pods]:
    """The pods of each stage."""
    alive = {role: stages.get(role, (0,)) for role in placed}
    numbers = sorted({stage for each in alive.values() for stage in each}) or [0]
    return [{role: nodes for role, nodes in placed.items() if stage in alive[role]} for stage in numbers]


def _requested(cluster: ClusterSnapshot, waves: Sequence[Pods], shapes: Mapping[str, PodShape]) -> dict[str, Column]:
    rows = {name: row for row, name in enumerate(cluster.nodes.names)}
    requested = dict(cluster.nodes.requested)
    for name in {name for wave in waves for role in wave for name in shapes[role].requests}:
        peak = np.max([_load(name, wave, shapes, rows) for wave in waves], axis=0)
        requested[name] = cluster.nodes.offered(name) - cluster.nodes.free(name) + peak
    return requested


def _load(name: str, wave: Pods, shapes: Mapping[str, PodShape], rows: Mapping[str, int]) -> Column:
    load = np.zeros(len(rows), dtype=np.int64)
    for role, nodes in wave.items():
        for node, count in nodes.items():
            load[rows[node]] += shapes[role].requests.get(name, 0) * count
    return load


def _pods(placed: Pods, shapes: Mapping[str, PodShape]) -> list[PodSet]:
    return [_pod_set(shapes[role], nodes) for role, nodes in placed.items() if nodes]


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


def _ports(placed: Pods, shapes: Mapping[str, PodShape]) -> list[PortUse]:
    return [
        PortUse(node, port, namespace=shapes[role].namespace)
        for role, nodes in placed.items()
        for node in nodes
        for port in shapes[role].ports
    ]


def _charged(quota: Quota, waves: Sequence[Pods], charges: Sequence[Charge], counted: Mapping[str, int]) -> Quota:
    sizes = [{role: sum(nodes.values()) - counted.get(role, 0) for role, nodes in wave.items()} for wave in waves]
    mine = {charge.key: max(map(charge.of, sizes)) for charge in charges if charge.quota == quota.name}
    if not mine or quota.used is None:
        return quota
    return replace(quota, used={**quota.used, **{key: quota.used.get(key, 0) + n for key, n in mine.items()}})
