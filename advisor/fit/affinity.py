"""kube-scheduler's NodeName and NodeAffinity: `spec.nodeName`, `spec.nodeSelector`, required node affinity.

Preferred terms only score and are not looked at; a scheduler profile's `addedAffinity` cannot be seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import eq, ne

import numpy as np

from advisor.cluster import ClusterSnapshot, Mask, Nodes
from advisor.diagnosis import PodShape, Rejection
from advisor.labels import NodeSelector, NodeTerm, Requirement
from advisor.verdict import Reason


def examine_name(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    if pod.node_name:
        others = np.array([name != pod.node_name for name in cluster.nodes.names], dtype=np.bool_)
        yield Rejection(Reason("node-name", subject=pod.node_name, enough=int(not others.all())), others)


def examine(pod: PodShape, cluster: ClusterSnapshot) -> Iterator[Rejection]:
    for key, value in pod.nodes.pairs:
        differs = cluster.nodes.label(key).where(partial(ne, value))
        yield Rejection(Reason("node-affinity", subject=f"{key}={value}"), differs)
    if pod.nodes.terms is not None:
        subject = " or ".join(map(str, pod.nodes.terms)) or "nothing (no terms)"
        yield Rejection(Reason("node-affinity", subject=subject), ~_one_term(pod.nodes.terms, cluster.nodes))


def matching(selector: NodeSelector, nodes: Nodes) -> Mask:
    """The nodes that a node selector accepts (component-helpers `nodeaffinity.RequiredNodeAffinity`)."""
    accepted = np.ones(len(nodes), dtype=np.bool_)
    for key, value in selector.pairs:
        accepted &= nodes.label(key).where(partial(eq, value))
    return accepted if selector.terms is None else accepted & _one_term(selector.terms, nodes)


def _one_term(terms: tuple[NodeTerm, ...], nodes: Nodes) -> Mask:
    """Terms are alternatives; a term without expressions matches nothing."""
    some = np.zeros(len(nodes), dtype=np.bool_)
    for term in terms:
        if not term.empty:
            some |= _all_hold(term, nodes)
    return some


def _all_hold(term: NodeTerm, nodes: Nodes) -> Mask:
    held = np.ones(len(nodes), dtype=np.bool_)
    for requirement in term.labels:
        held &= nodes.label(requirement.key).where(requirement.accepts)
    for requirement in term.fields:
        held &= _by_name(requirement, nodes)
    return held


def _by_name(requirement: Requirement, nodes: Nodes) -> Mask:
    """A field expression knows one field, In and NotIn, and one value; any other matches nothing."""
    known = requirement.key == "metadata.name" and requirement.operator in ("In", "NotIn")
    if not known or len(requirement.values) != 1:
        return np.zeros(len(nodes), dtype=np.bool_)
    return np.array([requirement.accepts(name) for name in nodes.names], dtype=np.bool_)
