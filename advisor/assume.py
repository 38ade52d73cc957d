"""A placement charged to a snapshot: the cluster as it will be once those pods are bound.

kube-scheduler calls such pods *assumed*. Used when several workloads are asked about, so that no capacity is promised
twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from advisor.cluster import ClusterSnapshot, Column, PodSet, PortUse, Quota
from advisor.diagnosis import Charge, PodShape
from advisor.resources import PODS
from advisor.verdict import Placement
from advisor.workload import Stage

Pods = Mapping[str, Mapping[str, int]]
"""Role → node → pods."""

Stages = Mapping[str, Stage]
"""Role → first and last stage in which its pods are alive; a role that is left out is alive in the first."""


def assume(
    cluster: ClusterSnapshot,
    placement: Placement,
    shapes: Mapping[str, PodShape],
    charges: Sequence[Charge] = (),
    stages: Stages | None = None,
    counted: Mapping[str, int] | None = None,
    bound: Pods | None = None,
) -> ClusterSnapshot:
    """The snapshot with the pods of `placement` bound: amounts, ports, labels, and the quotas that `charges` name.

    `shapes` are the pods by role; all are of one namespace. Of roles that follow one another, a node and a quota bear
    the most that any stage asks of them. Pods on nodes that the snapshot does not have are left out. `counted`: role →
    pods among them that quotas have counted already, since they exist without a node. `bound`: further pods of these
    roles, which the snapshot has already; what they take is there for those of later stages.
    """
    placed, own = (_on(cluster, pods) for pods in (placement.assignment, bound or {}))
    waves = _waves(_joined(placed, own), stages or {})
    namespaces = {pod.namespace for pod in shapes.values()}
    return replace(
        cluster,
        nodes=replace(cluster.nodes, requested=_requested(cluster, waves, own, shapes)),
        pods=(*cluster.pods, *_pods(placed, shapes)),
        ports=(*cluster.ports, *_ports(placed, shapes)),
        quotas=tuple(
            _charged(q, waves, own, charges, counted or {}) if q.namespace in namespaces else q for q in cluster.quotas
        ),
        assumed=cluster.assumed or any(placed.values()),
    )


def relieved(cluster: ClusterSnapshot, gone: Pods, shapes: Mapping[str, PodShape]) -> ClusterSnapshot:
    """The snapshot with what these pods take free on their nodes, as if they had ended."""
    away = _on(cluster, gone)
    names = {name for role in away for name in shapes[role].requests}
    less = {
        name: cluster.nodes.offered(name) - cluster.nodes.free(name) - _load(name, away, shapes, _rows(cluster))
        for name in names
    }
    return replace(cluster, nodes=replace(cluster.nodes, requested={**cluster.nodes.requested, **less}))


def _on(cluster: ClusterSnapshot, pods: Pods) -> Pods:
    """Without those on nodes that the snapshot does not have."""
    there = frozenset(cluster.nodes.names)
    return {role: {node: count for node, count in nodes.items() if node in there} for role, nodes in pods.items()}


def _joined(one: Pods, other: Pods) -> Pods:
    return {role: Counter(one.get(role, {})) + Counter(other.get(role, {})) for role in {**one, **other}}


def _rows(cluster: ClusterSnapshot) -> dict[str, int]:
    return {name: row for row, name in enumerate(cluster.nodes.names)}


def _waves(placed: Pods, stages: Stages) -> list[Pods]:
    """The pods of each stage."""
    alive = {role: stages.get(role, (0, 0)) for role in placed}
    last = max((end for _, end in alive.values()), default=0)
    return [
        {role: nodes for role, nodes in placed.items() if alive[role][0] <= stage <= alive[role][1]}
        for stage in range(last + 1)
    ]


def _requested(
    cluster: ClusterSnapshot, waves: Sequence[Pods], bound: Pods, shapes: Mapping[str, PodShape]
) -> dict[str, Column]:
    rows, requested = _rows(cluster), dict(cluster.nodes.requested)
    for name in {name for wave in waves for role in wave for name in shapes[role].requests}:
        peak = np.max([_load(name, wave, shapes, rows) for wave in waves], axis=0)
        more = np.maximum(peak - _load(name, bound, shapes, rows), 0)
        requested[name] = cluster.nodes.offered(name) - cluster.nodes.free(name) + more
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


def _charged(
    quota: Quota, waves: Sequence[Pods], bound: Pods, charges: Sequence[Charge], counted: Mapping[str, int]
) -> Quota:
    """What a stage asks at most, less what is counted: the pods that are bound, and those without a node."""
    sizes = [_sizes(wave) for wave in waves]
    known = Counter(_sizes(bound)) + Counter(counted)
    mine = {
        charge.key: max(map(charge.of, sizes)) - (charge.of(known) - charge.fixed)
        for charge in charges
        if charge.quota == quota.name
    }
    if not mine or quota.used is None:
        return quota
    return replace(quota, used={**quota.used, **{key: quota.used.get(key, 0) + n for key, n in mine.items()}})


def _sizes(pods: Pods) -> dict[str, int]:
    return {role: sum(nodes.values()) for role, nodes in pods.items()}
