"""kube-scheduler's TaintToleration: every NoSchedule or NoExecute taint must be tolerated.

Each taint is told by itself, because tolerating one of two does not open a node. Differs knowingly in two cases. A
taint named like a resource that the pod asks for may be tolerated by the admission plugin ExtendedResourceToleration,
and whether that runs cannot be seen: a doubt. The tolerations that DefaultTolerationSeconds adds are left out: they
open nodes only for the moment in which a node that is ready again still bears its NoExecute taint.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import PodShape, Rejection
from advisor.labels import NOT_READY, PASSING, UNSCHEDULABLE, Taint
from advisor.resources import is_extended
from advisor.verdict import Reason


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    found = {taint for taints in cluster.nodes.taints.values for taint in untolerated(pod, taints)}
    for taint in sorted(found, key=lambda one: (_may_be_added(pod, one), str(one))):
        nodes = cluster.nodes.taints.where(partial(_bears, taint))
        yield Rejection(_reason(pod, taint), nodes, doubt=_may_be_added(pod, taint))


def untolerated(pod: PodShape, taints: tuple[Taint, ...]) -> list[Taint]:
    return [t for t in taints if t.repels and not any(toleration.tolerates(t) for toleration in pod.tolerations)]


def _bears(taint: Taint, taints: tuple[Taint, ...]) -> bool:
    return taint in taints


def _reason(pod: PodShape, taint: Taint) -> Reason:
    """The taints of the node lifecycle are called by what they say: a cordon, a node that is not ready."""
    if _may_be_added(pod, taint):
        return Reason("admission-toleration", subject=str(taint))
    if taint.key == UNSCHEDULABLE:
        return Reason("cordoned", lasting=False)
    if taint.key in NOT_READY:
        return Reason("not-ready", subject=str(taint), lasting=False)
    return Reason("taint", subject=str(taint), lasting=not taint.key.startswith(PASSING))


def _may_be_added(pod: PodShape, taint: Taint) -> bool:
    return taint.effect == "NoSchedule" and is_extended(taint.key) and taint.key in pod.requests
