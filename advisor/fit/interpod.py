"""kube-scheduler's InterPodAffinity, required anti-affinity against pods that are bound: both directions.

The pod's own terms forbid the domains of bound pods that they match; the terms of bound pods forbid their domains to
the pod. A node without the topology key is in no domain. `apart` says the same of two pods of one gang, for `model`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set

from advisor.cluster import ClusterSnapshot, Mask
from advisor.diagnosis import PodShape, Rejection
from advisor.fit.ports import named
from advisor.labels import Labels, PodAffinityTerm
from advisor.verdict import Reason


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    spaces = {space.name: space.labels for space in cluster.namespaces or ()}
    holders: defaultdict[tuple[PodAffinityTerm, bool, bool], set[str]] = defaultdict(set)
    for there in cluster.pods:
        for term in pod.anti_affinity:
            if _covers(term, there.labels, there.namespace, spaces):
                holders[term, there.standing, _unread(term, there.namespace, spaces)].update(there.nodes)
        for term in there.anti_affinity:
            if _covers(term, pod.labels, pod.namespace, spaces):
                holders[term, there.standing, _unread(term, pod.namespace, spaces)].update(there.nodes)
    for (term, standing, doubt), names in holders.items():
        reason = Reason("anti-affinity", subject=str(term), lasting=standing)
        yield Rejection(reason, domains_of(names, term.topology_key, cluster), doubt)


def _covers(term: PodAffinityTerm, labels: Labels, namespace: str, spaces: Mapping[str, Labels]) -> bool:
    """Where a namespace's labels are not known, a selector over namespaces is taken to match (`_unread` says so)."""
    if namespace in spaces or term.namespace_selector is None:
        return term.covers(labels, namespace, spaces.get(namespace, ()))
    return term.selector is not None and term.selector.matches(labels)


def _unread(term: PodAffinityTerm, namespace: str, spaces: Mapping[str, Labels]) -> bool:
    """Does it hang on labels of a namespace that were not read?"""
    selector = term.namespace_selector
    needed = namespace not in term.namespaces and selector is not None and bool(selector.requirements)
    return needed and namespace not in spaces


def domains_of(names: Set[str], key: str, cluster: ClusterSnapshot) -> Mask:
    """All nodes in a domain of `key` that holds one of the named nodes."""
    column = cluster.nodes.label(key)
    taken = {column.values[int(code)] for code in set(column.codes[named(names, cluster.nodes)])} - {None}
    return column.where(taken.__contains__)


def apart(one: PodShape, other: PodShape, cluster: ClusterSnapshot) -> Iterator[str]:
    """The topology keys whose domains two pods of the gang may not share, by the terms of either."""
    spaces = {space.name: space.labels for space in cluster.namespaces or ()}
    for pod, against in ((one, other), (other, one)):
        for term in pod.anti_affinity:
            if _covers(term, against.labels, against.namespace, spaces):
                yield term.topology_key
