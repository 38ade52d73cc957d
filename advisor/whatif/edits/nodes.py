"""Edits of nodes: bought, gone, closed and opened, tainted, labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from advisor import surgery
from advisor.cluster import ClusterSnapshot, Coded, Mask, Nodes, NodeState, coded
from advisor.errors import InputError
from advisor.labels import UNSCHEDULABLE, Taint
from advisor.quantity import Amounts
from advisor.question import Question
from advisor.whatif.edits.target import Which, alike, changed

_CORDON = Taint(UNSCHEDULABLE)


@dataclass(frozen=True, slots=True)
class Shape:
    """A node that a user describes. Amounts in base units."""

    allocatable: Amounts
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True, slots=True)
class AddNodes:
    """Nodes bought: as a node that is there (`like`), with its DaemonSets, or of a shape, with no pod on them."""

    cluster: str
    count: int
    like: str = ""
    shape: Shape | None = None

    def __call__(self, question: Question) -> Question:
        return changed(question, self.cluster, lambda cluster: self._grown(cluster, question))

    def _grown(self, cluster: ClusterSnapshot, question: Question) -> ClusterSnapshot:
        if self.shape:
            return surgery.with_nodes(cluster, _row(self.shape, question), self.count)
        Which(self.cluster, (self.like,)).of(cluster)
        return surgery.with_copies(cluster, self.like, self.count)

    def __str__(self) -> str:
        noun = "node" if self.count == 1 else "nodes"
        return f"add {self.count} {noun} {f'like {self.like}' if self.like else 'of a given shape'} to {self.cluster}"


def _row(shape: Shape, question: Question) -> Nodes:
    marks = question.accelerators.marks(shape.labels, {})
    return Nodes(
        names=("new",),
        allocatable={name: np.array([amount], dtype=np.int64) for name, amount in shape.allocatable.items()},
        requested={},
        standing={},
        labels={key: coded([value]) for key, value in shape.labels.items()},
        taints=coded([tuple(sorted(shape.taints, key=str))]),
        states=coded([NodeState(marks=marks)]),
    )


@dataclass(frozen=True, slots=True)
class RemoveNodes:
    """Nodes that are gone; their pods wait for a place elsewhere."""

    which: Which

    def __call__(self, question: Question) -> Question:
        return changed(question, self.which.cluster, lambda cluster: surgery.without(cluster, self.which.of(cluster)))

    def __str__(self) -> str:
        return f"remove {self.which}"


@dataclass(frozen=True, slots=True)
class Cordon:
    """Nodes that take no new pods."""

    which: Which

    def __call__(self, question: Question) -> Question:
        return changed(question, self.which.cluster, self._cordoned)

    def _cordoned(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        return _closed(cluster, self.which.of(cluster))

    def __str__(self) -> str:
        return f"cordon {self.which}"


@dataclass(frozen=True, slots=True)
class Uncordon:
    """Nodes that take pods again."""

    which: Which

    def __call__(self, question: Question) -> Question:
        return changed(question, self.which.cluster, self._opened)

    def _opened(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        rows = self.which.of(cluster)
        nodes = cluster.nodes
        taints = nodes.taints.changed(lambda found: tuple(t for t in found if t.key != UNSCHEDULABLE), rows)
        states = nodes.states.changed(lambda state: replace(state, unschedulable=False), rows)
        return replace(cluster, nodes=replace(nodes, taints=taints, states=states))

    def __str__(self) -> str:
        return f"uncordon {self.which}"


@dataclass(frozen=True, slots=True)
class Drain:
    """Nodes cordoned and emptied of ordinary pods, which wait for a place elsewhere."""

    which: Which

    def __call__(self, question: Question) -> Question:
        return changed(question, self.which.cluster, self._drained)

    def _drained(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        rows = self.which.of(cluster)
        return surgery.drained(_closed(cluster, rows), rows)

    def __str__(self) -> str:
        return f"drain {self.which}"


def _closed(cluster: ClusterSnapshot, rows: Mask) -> ClusterSnapshot:
    nodes = cluster.nodes
    taints = nodes.taints.changed(lambda found: _sorted({*found, _CORDON}), rows)
    states = nodes.states.changed(lambda state: replace(state, unschedulable=True), rows)
    return replace(cluster, nodes=replace(nodes, taints=taints, states=states))


def _sorted(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    return tuple(sorted(taints, key=str))


@dataclass(frozen=True, slots=True)
class Gone:
    """Taints of a key that shall go: of any effect where that is empty, of any value where that is None.

    kubectl takes a value and does not look at it; here one that is named must be there, like everything that is.
    """

    key: str
    effect: str = ""
    value: str | None = None

    def means(self, taint: Taint) -> bool:
        return taint.key == self.key and self.effect in ("", taint.effect) and self.value in (None, taint.value)

    def __str__(self) -> str:
        value = "" if self.value is None else f"={self.value}"
        return f"{self.key}{value}{f':{self.effect}' if self.effect else ''}"


@dataclass(frozen=True, slots=True)
class TaintNodes:
    """Taints put on nodes, or taken away.

    NoExecute evicts nobody here: tolerations of running pods are not recorded.
    """

    which: Which
    add: tuple[Taint, ...] = ()
    remove: tuple[Gone, ...] = ()

    def __call__(self, question: Question) -> Question:
        return changed(question, self.which.cluster, self._tainted)

    def _tainted(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        rows = self.which.of(cluster)
        nodes = cluster.nodes
        there = {taint for row in np.flatnonzero(rows).tolist() for taint in nodes.taints.of(row)}
        for gone in self.remove:
            if not any(map(gone.means, there)):
                known = f"taints there are {', '.join(map(str, _sorted(there)))}" if there else "they have no taint"
                raise InputError(f'{self.which} do not have the taint "{gone}"', hint=known)
        return replace(cluster, nodes=replace(nodes, taints=nodes.taints.changed(self._changed, rows)))

    def _changed(self, taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
        """A taint takes the place of one with its key and effect, as with kubectl."""
        gone = (*self.remove, *(Gone(taint.key, taint.effect) for taint in self.add))
        kept = (taint for taint in taints if not any(one.means(taint) for one in gone))
        return _sorted((*kept, *self.add))

    def __str__(self) -> str:
        taints = [*map(str, self.add), *(f"{gone}-" for gone in self.remove)]
        return f"taint {self.which}: {', '.join(taints)}"


@dataclass(frozen=True, slots=True)
class LabelNodes:
    """Labels put on nodes; a value of None takes one away."""

    which: Which
    labels: Mapping[str, str | None]

    def __call__(self, question: Question) -> Question:
        return changed(question, self.which.cluster, lambda cluster: self._labelled(cluster, question))

    def _labelled(self, cluster: ClusterSnapshot, question: Question) -> ClusterSnapshot:
        rows = self.which.of(cluster)
        nodes = cluster.nodes
        chosen = nodes.take(np.flatnonzero(rows))
        for key, value in self.labels.items():
            if value is None and not chosen.label(key).where(lambda found: found is not None).any():
                raise InputError(f'{self.which} have no label "{key}"', hint=alike(key, nodes))
        changed = {key: nodes.label(key).changed(_always(value), rows) for key, value in self.labels.items()}
        labelled = replace(nodes, labels=dict(sorted({**nodes.labels, **changed}.items())))
        states = _marked(nodes, labelled, rows, question)
        return replace(cluster, nodes=replace(labelled, states=states))

    def __str__(self) -> str:
        pairs = (f"{key}-" if value is None else f"{key}={value}" for key, value in self.labels.items())
        return f"label {self.which}: {', '.join(pairs)}"


def _always(value: str | None) -> Callable[[str | None], str | None]:
    return lambda _: value


def _marked(before: Nodes, after: Nodes, rows: Mask, question: Question) -> Coded[NodeState]:
    """What labels say about accelerators changes with them; what annotations say stays."""
    signs = question.accelerators
    by_annotation = {sign.mark for sign in signs.signs if sign.annotation}
    states = [before.states.of(row) for row in range(len(before))]
    for row in np.flatnonzero(rows).tolist():
        said = signs.marks(before.labels_of(row), {}) - by_annotation
        states[row] = replace(states[row], marks=(states[row].marks - said) | signs.marks(after.labels_of(row), {}))
    return coded(states)
