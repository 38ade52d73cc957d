"""kube-scheduler's NodePorts: no host port of the pod is taken on the node, nor held there for a nominated pod.

Two pods of one gang are kept off one node by `model`; this file looks at pods that are there already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from advisor.cluster import ClusterSnapshot, Mask, Nodes
from advisor.diagnosis import PodShape, Rejection
from advisor.fit.nominated import precedes, unsure
from advisor.verdict import Reason


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    for wanted in pod.ports:
        for standing in (True, False):
            taken = (use.node for use in cluster.ports if use.standing == standing and use.port.clashes(wanted))
            reason = Reason("host-port", subject=str(wanted), lasting=standing)
            yield Rejection(reason, named(taken, cluster.nodes))
        ahead = (pending for pending in cluster.nominated if precedes(pending, pod, cluster))
        held = (pending.node for pending in ahead if any(port.clashes(wanted) for port in pending.ports))
        reason = Reason("host-port", subject=str(wanted), lasting=False)
        yield Rejection(reason, named(held, cluster.nodes), doubt=unsure(cluster))


def named(names: Iterable[str], nodes: Nodes) -> Mask:
    """The nodes of these names."""
    wanted = set(names)
    if not wanted:
        return np.zeros(len(nodes), dtype=np.bool_)
    return np.array([name in wanted for name in nodes.names], dtype=np.bool_)


def share(one: PodShape, other: PodShape) -> bool:
    """Do two pods clash when they are on one node?"""
    return any(mine.clashes(theirs) for mine in one.ports for theirs in other.ports)
