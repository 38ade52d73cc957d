"""kube-scheduler's VolumeRestrictions, VolumeZone and VolumeBinding for claims that the template names.

Bound claims and claims that are not there are judged; what an unbound claim will be bound to is a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.cluster import ClusterSnapshot, Mask, VolumeClaim
from advisor.diagnosis import Doubt, PodShape, Rejection
from advisor.fit.affinity import matching
from advisor.verdict import Reason

ZONE_KEYS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""Topology labels that VolumeZone looks at, and the key that each is called today."""

ONE_POD = "ReadWriteOncePod"
ONE_NODE = "ReadWriteOnce"


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    for name in pod.volume_claims:
        claim = _claim(name, pod.namespace, cluster)
        if claim is None or claim.phase != "Bound":
            continue
        if claim.reach is not None:
            yield Rejection(Reason("pvc-zone", subject=name), ~matching(claim.reach, cluster.nodes))
        for key, zones in claim.zones:
            yield Rejection(Reason("pvc-zone", subject=f"{name} ({key})"), ~_in_zone(key, zones, cluster))


def _in_zone(key: str, zones: tuple[str, ...], cluster: ClusterSnapshot) -> Mask:
    """Zone labels of old volumes: a node without any topology label passes, a beta key is also met by its successor."""
    nodes = cluster.nodes
    unzoned = np.ones(len(nodes), dtype=np.bool_)
    for known in ZONE_KEYS:
        unzoned &= nodes.label(known).where(lambda value: value is None)
    own, successor = nodes.label(key), nodes.label(ZONE_KEYS.get(key, key))
    beside = own.where(lambda value: value is None) & successor.where(zones.__contains__)
    return unzoned | own.where(zones.__contains__) | beside


def _claim(name: str, namespace: str, cluster: ClusterSnapshot) -> VolumeClaim | None:
    return next((c for c in cluster.volume_claims if (c.namespace, c.name) == (namespace, name)), None)


def refusals(pods: list[tuple[PodShape, int]], cluster: ClusterSnapshot) -> Iterator[Reason]:
    """Claims for which no pod that uses them can start; `pods` are shapes with their number."""
    for name, namespace, users in _users(pods):
        claim = _claim(name, namespace, cluster)
        if claim is None:
            if not cluster.gap("persistentvolumeclaims"):
                yield Reason("pvc-missing", subject=name)
        elif claim.deleting or claim.phase == "Lost":
            yield Reason("pvc-missing", subject=f"{name} ({'being deleted' if claim.deleting else 'lost'})")
        elif ONE_POD in claim.access_modes and users > 1:
            yield Reason("pvc-in-use", subject=name, needs=users, has=1)


def doubts(pods: list[tuple[PodShape, int]], cluster: ClusterSnapshot) -> Iterator[Doubt]:
    for name, namespace, users in _users(pods):
        claim = _claim(name, namespace, cluster)
        if claim is None or claim.deleting:
            continue
        if claim.phase not in ("Bound", "Lost"):
            yield Doubt(Reason("unsupported", subject=f"PersistentVolumeClaim {name} is not bound yet"))
        elif ONE_POD in claim.access_modes and users == 1:
            yield Doubt(Reason("unsupported", subject=f"PersistentVolumeClaim {name} serves one pod; who has it?"))
        elif _one_node(claim) and users > 1:
            yield Doubt(
                Reason("unsupported", subject=f"PersistentVolumeClaim {name} serves one node, {users} pods use it")
            )


def _one_node(claim: VolumeClaim) -> bool:
    return bool(claim.access_modes) and set(claim.access_modes) <= {ONE_NODE, ONE_POD}


def _users(pods: list[tuple[PodShape, int]]) -> list[tuple[str, str, int]]:
    """(claim, namespace, number of pods that mount it), by name."""
    users: dict[tuple[str, str], int] = {}
    for pod, count in pods:
        for name in pod.volume_claims:
            users[name, pod.namespace] = users.get((name, pod.namespace), 0) + count
    return [(name, namespace, count) for (name, namespace), count in sorted(users.items())]
