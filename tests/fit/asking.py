"""What a filter says, as names of nodes."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import PodShape, Rejection, RoleFit
from advisor.fit import Filter


def named(rejection: Rejection, cluster: ClusterSnapshot) -> list[str]:
    return [name for name, turned_down in zip(cluster.nodes.names, rejection.nodes, strict=True) if turned_down]


def refused(examine: Filter, pod: PodShape, cluster: ClusterSnapshot) -> list[str]:
    """The nodes that the filter turns down for sure."""
    return _union(cluster, (r for r in examine(pod, cluster) if not r.doubt))


def doubted(examine: Filter, pod: PodShape, cluster: ClusterSnapshot) -> list[str]:
    """The nodes of which the filter is not sure."""
    return _union(cluster, (r for r in examine(pod, cluster) if r.doubt))


def _union(cluster: ClusterSnapshot, rejections: Iterator[Rejection]) -> list[str]:
    return sorted({name for rejection in rejections for name in named(rejection, cluster)})


def left(fit: RoleFit, cluster: ClusterSnapshot) -> list[str]:
    """The nodes that no filter turns down for a role, capacity and doubts included."""
    closed = {name for rejection in fit.rejections for name in named(rejection, cluster)}
    return [name for name in cluster.nodes.names if name not in closed]


def told(examine: Filter, pod: PodShape, cluster: ClusterSnapshot) -> dict[str, list[str]]:
    """Code (with `!` where it lasts, `?` where it is a doubt) and subject or resource → the nodes turned down."""
    found = {}
    for rejection in examine(pod, cluster):
        nodes, reason = named(rejection, cluster), rejection.reason
        if nodes:
            mark = "?" if rejection.doubt else "!" if reason.lasting else ""
            found[f"{reason.code}{mark} {reason.subject or reason.resource}".strip()] = nodes
    return found
