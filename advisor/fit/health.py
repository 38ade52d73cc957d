"""Nodes that take no pods at all: cordoned, not ready, on their way out, virtual.

Mirrors kube-scheduler's NodeUnschedulable and goes further on purpose: the scheduler learns of an unready node through
a taint that comes a moment later, and trusts a blanket toleration on a node that an autoscaler is removing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import eq

from advisor.cluster import ClusterSnapshot, NodeState
from advisor.diagnosis import PodShape, Rejection
from advisor.labels import LEAVING, UNSCHEDULABLE, Taint
from advisor.verdict import Reason

VIRTUAL_LABELS = (("type", "virtual-kubelet"), ("liqo.io/type", "virtual-node"))
VIRTUAL_TAINT = "virtual-kubelet.io/provider"

_CORDON = Taint(UNSCHEDULABLE)


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    nodes = cluster.nodes
    yield Rejection(
        Reason("node-going-away", subject="being deleted"), nodes.states.where(lambda state: state.deleting)
    )
    yield Rejection(Reason("not-ready", lasting=False), nodes.states.where(lambda state: not state.ready))
    if not any(toleration.tolerates(_CORDON) for toleration in pod.tolerations):
        yield Rejection(Reason("cordoned", lasting=False), nodes.states.where(_unschedulable))
    for key in LEAVING:  # only a toleration by name opens them
        if not any(toleration.key == key for toleration in pod.tolerations):
            yield Rejection(Reason("node-going-away", subject=key), nodes.taints.where(_repelled_by(key)))
    virtual = nodes.taints.where(lambda taints: any(taint.key == VIRTUAL_TAINT for taint in taints))
    for key, value in VIRTUAL_LABELS:
        virtual |= nodes.label(key).where(partial(eq, value))
    yield Rejection(Reason("virtual-node"), virtual)


def _repelled_by(key: str) -> Callable[[tuple[Taint, ...]], bool]:
    return lambda taints: any(taint.repels and taint.key == key for taint in taints)


def _unschedulable(state: NodeState) -> bool:
    return state.unschedulable
