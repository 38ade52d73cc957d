"""What an edit speaks of: a cluster, and nodes of it. Whatever is named must be there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from advisor.cluster import ClusterSnapshot, Mask, Nodes
from advisor.errors import InputError, likely, unknown
from advisor.labels import Selector
from advisor.question import Question

MOST = 5
"""Values of a label that a hint names."""


@dataclass(frozen=True, slots=True)
class Which:
    """Nodes of a cluster: those with these names, or those that a selector matches."""

    cluster: str
    names: tuple[str, ...] = ()
    selector: Selector | None = None

    def of(self, cluster: ClusterSnapshot) -> Mask:
        """Raises InputError for a name that is not there, and where no node is matched."""
        nodes = cluster.nodes
        for name in self.names:
            if name not in nodes.names:
                raise InputError(f'{self.cluster} has no node "{name}"', hint=likely(name, nodes.names))
        if self.selector is None:
            return np.isin(np.array(nodes.names), self.names)
        found = np.ones(len(nodes), dtype=np.bool_)
        for requirement in self.selector.requirements:
            found &= nodes.label(requirement.key).where(requirement.accepts)
        if not found.any():
            raise InputError(f"{self.cluster} has no node with {self.selector}", hint=self._seen(nodes))
        return found

    def _seen(self, nodes: Nodes) -> str:
        """Which labels there are, where the key or the value is unknown."""
        for requirement in self.selector.requirements if self.selector else ():
            column = nodes.label(requirement.key)
            if column.where(requirement.accepts).any():
                continue
            values = sorted({column.of(row) or "" for row in range(len(nodes)) if column.of(row) is not None})
            if not values:
                return alike(requirement.key, nodes) or f"no node there has the label {requirement.key}"
            more = f" and {len(values) - MOST} more" if len(values) > MOST else ""
            return f"values of {requirement.key} there are {', '.join(values[:MOST])}{more}"
        return "each of these is true of some node, all of them together of none" if len(nodes) else "it has no node"

    def __str__(self) -> str:
        nodes = ", ".join(self.names) if self.selector is None else f"nodes with {self.selector}"
        return f"{nodes} of {self.cluster}"


def alike(key: str, nodes: Nodes) -> str:
    """Other labels that are spelt much like it, as a question; "" where there is none."""
    return likely(key, [other for other in nodes.labels if other != key])


def changed(
    question: Question, name: str, change: Callable[[ClusterSnapshot], ClusterSnapshot], *reads: str
) -> Question:
    """The question with one cluster changed, whatever names it has. `reads`: what is looked at besides nodes and pods.

    Under a name by which it could not be read nothing is known of it, and nothing is changed.
    """
    chosen = cluster_of(question, name)
    missing = _missing(chosen, reads)
    if missing:
        raise InputError(f"{', '.join(missing)} of {name} could not be read, so there is nothing to change in it")

    def other(one: ClusterSnapshot) -> ClusterSnapshot:
        return change(one) if one.is_the_same_as(chosen) and not _missing(one, reads) else one

    return replace(question, clusters=tuple(map(other, question.clusters)))


def _missing(cluster: ClusterSnapshot, reads: Iterable[str]) -> list[str]:
    return [what for what in ("cluster", "nodes", "pods", *reads) if cluster.gap(what)]


def cluster_of(question: Question, name: str) -> ClusterSnapshot:
    found = {cluster.name: cluster for cluster in question.clusters}
    if name not in found:
        raise unknown("cluster", name, found)
    return found[name]
