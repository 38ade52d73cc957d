"""Pending pods for which kube-scheduler holds a place on a node (`status.nominatedNodeName`).

Mirrors `addGENominatedPods` of its framework: the filters must pass on that node also with such a pod there, its
requests, ports and anti-affinity. It holds places of its own pods only, and against pods of no higher priority.
"""

from __future__ import annotations

from advisor.cluster import ClusterSnapshot, Nominated
from advisor.diagnosis import PodShape


def precedes(pending: Nominated, pod: PodShape, cluster: ClusterSnapshot) -> bool:
    """Is the place held against this pod, or may it be because priorities are not known?"""
    return pending.scheduler == pod.scheduler and (pending.priority >= pod.priority or unsure(cluster))


def unsure(cluster: ClusterSnapshot) -> bool:
    """Could the priorities of new pods not be read?"""
    return cluster.gap("priorityclasses") is not None
