"""Node objects to the columns of `cluster.Nodes` (capacity.md 2).

`allocatable` counts, never `capacity`, which keeps devices that failed. Whether a node may be used is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from advisor.accelerators import Accelerators
from advisor.cluster import Coded, Column, Nodes, NodeState, coded
from advisor.errors import at
from advisor.kube import decode, wire
from advisor.labels import Taint
from advisor.quantity import Amounts, base_units

T = TypeVar("T")
MOST = 1 << 60
"""Larger amounts are taken as this many, so that sums of a few of them stay within 64 bits."""

Uses = Mapping[str, Amounts]
"""Node → what pods on it ask for, in base units."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node, before the nodes become columns."""

    name: str
    allocatable: Amounts
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    state: NodeState


class NodeReader:
    """Turns node objects into facts. Equal texts become one object: there are few labels and many nodes."""

    def __init__(self, accelerators: Accelerators) -> None:
        self._accelerators = accelerators
        self._texts: dict[str, str] = {}

    def facts(self, node: wire.Node) -> NodeFacts:
        """Raises InputError when an amount is no quantity."""
        with at("Node", node.metadata.name, "status", "allocatable"):
            found = decode.thousandths(node.status.allocatable)
        intern = self._texts.setdefault
        return NodeFacts(
            name=node.metadata.name,
            allocatable={name: base_units(name, amount) for name, amount in found.items()},
            labels={intern(key, key): intern(value, value) for key, value in (node.metadata.labels or {}).items()},
            taints=tuple(sorted(map(_taint, node.spec.taints or ()), key=str)),
            state=self._state(node),
        )

    def _state(self, node: wire.Node) -> NodeState:
        ready = any(c.type == "Ready" and c.status == "True" for c in node.status.conditions or ())
        return NodeState(
            ready=ready,
            unschedulable=bool(node.spec.unschedulable),
            deleting=node.metadata.deletion_timestamp is not None,
            marks=self._accelerators.marks(node.metadata.labels or {}, node.metadata.annotations or {}),
        )


def _taint(taint: wire.Taint) -> Taint:
    return Taint(taint.key, taint.value or "", taint.effect)


def columns(facts: Iterable[NodeFacts], requested: Uses, standing: Uses) -> Nodes:
    """The nodes sorted by name, and what the pods on them ask for; uses on other nodes are left out."""
    rows = sorted(facts, key=lambda node: node.name)
    names = tuple(node.name for node in rows)
    return Nodes(
        names=names,
        allocatable=_amounts([node.allocatable for node in rows]),
        requested=_amounts([requested.get(name, {}) for name in names]),
        standing=_amounts([standing.get(name, {}) for name in names]),
        labels=_labels([node.labels for node in rows]),
        taints=coded([node.taints for node in rows]),
        states=coded([node.state for node in rows]),
    )


def _amounts(rows: Sequence[Amounts]) -> dict[str, Column]:
    names = sorted({name for row in rows for name in row})
    return {name: np.array([min(row.get(name, 0), MOST) for row in rows], dtype=np.int64) for name in names}


def _labels(rows: Sequence[Mapping[str, str]]) -> dict[str, Coded[str | None]]:
    keys = sorted({key for row in rows for key in row})
    return {key: coded([row.get(key) for row in rows]) for key in keys}
