"""kube-scheduler's InterPodAffinity, required anti-affinity against pods that are bound: both directions.

The pod's own terms forbid the domains of bound pods that they match; the terms of bound pods forbid their domains to
the pod. A node without the topology key is in no domain. A nominated pod forbids its node only, since that is where the
scheduler tries it. `apart` says the same of two pods of one gang, for `model`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

from advisor.cluster import ClusterSnapshot, Mask, Nominated, PodSet
from advisor.diagnosis import Doubt, PodShape, Rejection
from advisor.fit.nominated import precedes, unsure
from advisor.fit.ports import named
from advisor.labels import ALIKE, KIN, STRANGERS, Bearer, Labels, PodAffinityTerm
from advisor.verdict import Reason

Pod = PodShape | PodSet | Nominated
Spaces = Mapping[str, Labels]


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A term that keeps two pods apart, and what that hangs on.

    labels  keys of labels that a controller makes, with values that are not known
    space   the namespace whose labels were not read; "" where they are not needed
    own     the term is that of the pod in question, not of the one that is there
    """

    term: PodAffinityTerm
    labels: tuple[str, ...] = ()
    space: str = ""
    own: bool = False

    @property
    def sure(self) -> bool:
        return not self.labels and not self.space

    def reason(self, lasting: bool) -> Reason:
        if self.labels:
            subject = f"anti-affinity {self.term}: values of {', '.join(self.labels)}"
            return Reason("unsupported", subject=subject, lasting=lasting)
        return Reason("anti-affinity", subject=str(self.term), lasting=lasting)


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    spaces = _labels_by_name(cluster)
    holders: defaultdict[tuple[Forbidden, bool], set[str]] = defaultdict(set)
    for there in cluster.pods:
        for found in _forbidden(pod, there, spaces, STRANGERS):
            holders[found, there.standing].update(there.nodes)
    for (found, standing), names in holders.items():
        nodes = domains_of(names, found.term.topology_key, cluster)
        yield Rejection(found.reason(standing), nodes, not found.sure, found.own)
    for pending in cluster.nominated:
        if precedes(pending, pod, cluster):
            for found in _forbidden(pod, pending, spaces, STRANGERS):
                held = domains_of({pending.node}, found.term.topology_key, cluster)
                nodes = named({pending.node}, cluster.nodes) & held
                yield Rejection(found.reason(False), nodes, not found.sure or unsure(cluster), found.own)


def _labels_by_name(cluster: ClusterSnapshot) -> Spaces:
    return {space.name: space.labels for space in cluster.namespaces or ()}


def _forbidden(one: Pod, other: Pod, spaces: Spaces, kinship: str) -> Iterator[Forbidden]:
    """The terms of either that keep the two apart; of two pods of one role those of one of them are enough."""
    for owner, against in ((one, other),) if kinship == ALIKE else ((one, other), (other, one)):
        for term in owner.anti_affinity:
            found = _matched(term, owner, against, spaces, kinship)
            if found:
                yield replace(found, own=owner is one)


def _matched(term: PodAffinityTerm, owner: Pod, other: Pod, spaces: Spaces, kinship: str) -> Forbidden | None:
    """Where a namespace's labels are not known, a selector over namespaces is taken to match."""
    match = term.selector and term.selector.match(_bearer(owner), _bearer(other), kinship)
    if not match:
        return None
    space, wanted = other.namespace, term.namespace_selector
    if space in term.namespaces or (wanted and not wanted.requirements):
        return Forbidden(term, match.hangs_on)
    if wanted is None or (space in spaces and not wanted.matches(spaces[space])):
        return None
    return Forbidden(term, match.hangs_on, "" if space in spaces else space)


def _bearer(pod: Pod) -> Bearer:
    """Of a pod that is there every label is known; of one that is only assumed to be there not."""
    return Bearer(pod.labels, () if isinstance(pod, Nominated) else pod.made)


def domains_of(names: Set[str], key: str, cluster: ClusterSnapshot) -> Mask:
    """All nodes in a domain of `key` that holds one of the named nodes."""
    column = cluster.nodes.label(key)
    taken = {column.values[int(code)] for code in set(column.codes[named(names, cluster.nodes)])} - {None}
    return column.where(taken.__contains__)


def apart(one: PodShape, other: PodShape, cluster: ClusterSnapshot) -> Iterator[str]:
    """The topology keys whose domains two pods of the gang may not share, by the terms of either.

    `one` and `other` are the same for two pods of one role. A term that hangs on something unknown is left out here:
    `doubts` says so, and it could only forbid more.
    """
    for found in _forbidden(one, other, _labels_by_name(cluster), _kinship(one, other)):
        if found.sure:
            yield found.term.topology_key


def doubts(pairs: Iterable[tuple[PodShape, PodShape]], cluster: ClusterSnapshot) -> Iterator[Doubt]:
    """Terms between two pods of the gang that hang on something unknown."""
    spaces = _labels_by_name(cluster)
    found = [forbidden for one, other in pairs for forbidden in _forbidden(one, other, spaces, _kinship(one, other))]
    for space in sorted({forbidden.space for forbidden in found} - {""}):
        yield Doubt(Reason("unreadable", subject=f"labels of namespace {space}"))
    for key in sorted({key for forbidden in found for key in forbidden.labels}):
        yield Doubt(Reason("unsupported", subject=f"spec.affinity.podAntiAffinity over the values of {key}"))


def _kinship(one: PodShape, other: PodShape) -> str:
    return ALIKE if one is other else KIN
