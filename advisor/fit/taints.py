"""kube-scheduler's TaintToleration: every NoSchedule or NoExecute taint must be tolerated.

Differs knowingly in one case: where all that is missing is a toleration for a taint named like a resource that the
pod asks for, the admission plugin ExtendedResourceToleration may add it, and whether it runs cannot be seen: a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import PodShape, Rejection
from advisor.labels import UNSCHEDULABLE, Taint
from advisor.verdict import Reason

PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints that the node lifecycle sets and takes away again."""


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    for code, taints in enumerate(cluster.nodes.taints.values):
        missing = untolerated(pod, taints)
        if missing:
            nodes = cluster.nodes.taints.codes == code
            yield Rejection(_reason(pod, missing), nodes, doubt=_may_be_added(pod, missing))


def untolerated(pod: PodShape, taints: tuple[Taint, ...]) -> list[Taint]:
    return [t for t in taints if t.repels and not any(toleration.tolerates(t) for toleration in pod.tolerations)]


def _reason(pod: PodShape, missing: list[Taint]) -> Reason:
    """Named after the first taint, as the scheduler does; a cordon by taint is called a cordon."""
    taint = missing[0]
    if _may_be_added(pod, missing):
        return Reason("admission-toleration", subject=str(taint))
    if taint.key == UNSCHEDULABLE:
        return Reason("cordoned", lasting=False)
    lasting = not all(other.key.startswith(PASSING) for other in missing)
    return Reason("taint", subject=str(taint), lasting=lasting)


def _may_be_added(pod: PodShape, missing: list[Taint]) -> bool:
    return all(taint.effect == "NoSchedule" and "/" in taint.key and taint.key in pod.requests for taint in missing)
