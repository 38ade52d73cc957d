"""Selectors and affinity terms of objects that exist, as the nouns of `labels.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from advisor.kube import wire
from advisor.labels import NodeSelector, NodeTerm, PodAffinityTerm, Requirement, Selector

NAME = "metadata.name"


def anti_affinity(
    terms: wire.PodAntiAffinity, namespace: str, labels: Mapping[str, str]
) -> tuple[PodAffinityTerm, ...]:
    """The required terms of a pod in `namespace` with these labels, sorted."""
    return tuple(sorted((_term(term, namespace, labels) for term in terms.required or ()), key=repr))


def _term(term: wire.PodTerm, namespace: str, labels: Mapping[str, str]) -> PodAffinityTerm:
    """No namespaces and no selector of them means the pod's own."""
    by_label = _selector(term.namespace_selector)
    named = tuple(sorted(term.namespaces or ())) or (() if by_label else (namespace,))
    return PodAffinityTerm(term.topology_key, _own_selector(term, labels), named, by_label)


def _own_selector(term: wire.PodTerm, labels: Mapping[str, str]) -> Selector | None:
    """With (mis)matchLabelKeys folded in. API servers since 1.31 do so at creation: then it is there already."""
    selector = _selector(term.label_selector)
    if selector is None:
        return None
    folded = [
        Requirement(key, operator, (labels[key],))
        for operator, keys in (("In", term.match_label_keys), ("NotIn", term.mismatch_label_keys))
        for key in keys or ()
        if key in labels
    ]
    return _of((*selector.requirements, *folded))


def _selector(found: wire.LabelSelector | None) -> Selector | None:
    if found is None:
        return None
    pairs = [Requirement(key, "In", (value,)) for key, value in (found.match_labels or {}).items()]
    return _of((*pairs, *map(_requirement, found.match_expressions or ())))


def _of(requirements: Iterable[Requirement]) -> Selector:
    return Selector(tuple(sorted(set(requirements), key=repr)))


def _requirement(found: wire.Expression | wire.NodeExpression) -> Requirement:
    return Requirement(found.key, found.operator, tuple(sorted(found.values or ())))


def node_selector(found: wire.RequiredNodes | None) -> NodeSelector | None:
    """Required node affinity, such as a PersistentVolume's; None where there is none."""
    if found is None:
        return None
    return NodeSelector(terms=tuple(map(_node_term, found.node_selector_terms or ())))


def _node_term(term: wire.NodeSelectorTerm) -> NodeTerm:
    labels, fields = term.match_expressions or (), term.match_fields or ()
    return NodeTerm(tuple(map(_requirement, labels)), tuple(map(_requirement, fields)))


def pinned_node(affinity: wire.Affinity | None) -> str | None:
    """The one node that every term of required node affinity names by field, as the DaemonSet controller writes it."""
    if affinity is None or affinity.node_affinity is None or affinity.node_affinity.required is None:
        return None
    named = {_named_node(term) for term in affinity.node_affinity.required.node_selector_terms or ()}
    return named.pop() if len(named) == 1 else None


def _named_node(term: wire.NodeSelectorTerm) -> str | None:
    for field in term.match_fields or ():
        if (field.key, field.operator) == (NAME, "In") and field.values and len(field.values) == 1:
            return field.values[0]
    return None
