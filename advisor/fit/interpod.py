"""kube-scheduler's InterPodAffinity, required anti-affinity against pods that are bound: both directions.

The pod's own terms forbid the domains of bound pods that they match; the terms of bound pods forbid their domains to
the pod. A node without the topology key is in no domain. A nominated pod forbids its node only, since that is where the
scheduler tries it. `apart` says the same of two pods of one gang, for `model`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from itertools import combinations_with_replacement

from advisor.cluster import ClusterSnapshot, Mask, Nominated, PodSet
from advisor.diagnosis import Doubt, PodShape, Rejection
from advisor.fit.nominated import precedes, unsure
from advisor.fit.ports import named
from advisor.labels import Labels, PodAffinityTerm
from advisor.verdict import Reason


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    spaces = _labels_by_name(cluster)
    holders: defaultdict[tuple[PodAffinityTerm, bool, bool], set[str]] = defaultdict(set)
    for there in cluster.pods:
        for term, doubt in _forbidden(pod, there, spaces):
            holders[term, there.standing, doubt].update(there.nodes)
    for (term, standing, doubt), names in holders.items():
        reason = Reason("anti-affinity", subject=str(term), lasting=standing)
        yield Rejection(reason, domains_of(names, term.topology_key, cluster), doubt)
    for pending in cluster.nominated:
        if precedes(pending, pod, cluster):
            for term, doubt in _forbidden(pod, pending, spaces):
                nodes = named({pending.node}, cluster.nodes) & domains_of({pending.node}, term.topology_key, cluster)
                reason = Reason("anti-affinity", subject=str(term), lasting=False)
                yield Rejection(reason, nodes, doubt or unsure(cluster))


def _labels_by_name(cluster: ClusterSnapshot) -> Mapping[str, Labels]:
    return {space.name: space.labels for space in cluster.namespaces or ()}


def _forbidden(
    pod: PodShape, there: PodSet | Nominated, spaces: Mapping[str, Labels]
) -> Iterator[tuple[PodAffinityTerm, bool]]:
    """The terms of either that keep the two apart, and whether that hangs on labels that were not read."""
    for terms, other in ((pod.anti_affinity, there), (there.anti_affinity, pod)):
        for term in terms:
            if _covers(term, other.labels, other.namespace, spaces):
                yield term, _unread(term, other.namespace, spaces)


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
    """The topology keys whose domains two pods of the gang may not share, by the terms of either.

    A term that hangs on labels which were not read is left out here: `doubts` says so, and it could only forbid more.
    """
    spaces = _labels_by_name(cluster)
    for term, against in _mutual(one, other):
        if _covers(term, against.labels, against.namespace, spaces) and not _unread(term, against.namespace, spaces):
            yield term.topology_key


def doubts(shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Doubt]:
    """Terms between pods of the gang (of the roles that have any) that hang on labels of their namespace."""
    spaces = _labels_by_name(cluster)
    found = {
        term
        for one, other in combinations_with_replacement(shapes.values(), 2)
        for term, against in _mutual(one, other)
        if _covers(term, against.labels, against.namespace, spaces) and _unread(term, against.namespace, spaces)
    }
    for namespace in sorted({pod.namespace for pod in shapes.values()}):
        if found:
            yield Doubt(Reason("unreadable", subject=f"labels of namespace {namespace}"))


def _mutual(one: PodShape, other: PodShape) -> Iterator[tuple[PodAffinityTerm, PodShape]]:
    """Each anti-affinity term of one with the other pod."""
    yield from ((term, other) for term in one.anti_affinity)
    yield from ((term, one) for term in other.anti_affinity)
