"""Assumed placements: room that an allowed gang is promised, held until its pods appear in the cluster or time is up.

Values only: who holds them, what the clock says and which snapshot came in are the caller's business. A pod that has
appeared is counted by the snapshot, so the hold lets go of its room in the same step, and nothing is counted twice
while half of a gang is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from advisor.assume import Stages, assume
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Charge, PodShape
from advisor.labels import Labels
from advisor.server.appeared import Alike, Appeared
from advisor.verdict import Placement

Counts = Mapping[Labels, int]
"""Label set → pods of one namespace that have exactly these labels."""


@dataclass(frozen=True, slots=True)
class Key:
    """Whose room it is. `name` is the uid of the request where the object has no name yet."""

    group: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """The pods of one object that a cluster will have, and does not have yet.

    placement  role → node → pods still to come
    shapes     the pods by role; charges: what they take of quotas
    passed     label set → pods that were there before, or that earlier holds have waited for
    stages     role → stages in which its pods are alive; those of different stages share their room
    begun      have some of the pods come?
    beyond     role → pods that the object has besides, and that there was no room for
    """

    key: Key
    cluster: str
    placement: Mapping[str, Mapping[str, int]]
    shapes: Mapping[str, PodShape]
    charges: tuple[Charge, ...]
    since: datetime
    until: datetime
    passed: Counts
    stages: Stages = field(default_factory=dict)
    begun: bool = False
    beyond: Mapping[str, int] = field(default_factory=dict)

    @property
    def pods(self) -> int:
        return sum(sum(nodes.values()) for nodes in self.placement.values())

    def roles(self, labels: Labels) -> tuple[str, ...]:
        """The roles whose pods may have these labels; where a label names a role, that one alone.

        Controllers add labels to those of the template. A template without any is known by a label that begins with the
        name of the object, as controllers give them.
        """
        values = {value for _, value in labels}
        able = [role for role, shape in self.shapes.items() if self._may_have(shape, labels)]
        return tuple(role for role in able if role in values) or tuple(able)

    def _may_have(self, shape: PodShape, labels: Labels) -> bool:
        """May a pod of this shape have exactly these labels, with those that its controller makes among them?"""
        pairs, name = dict(labels), self.key.name
        if not set(shape.labels) <= set(labels):
            return False
        if name in dict(shape.labels).values():
            return True
        if any(made.sure and made.key not in pairs for made in shape.made):
            return False
        owners = [made.key for made in shape.made if made.of == "workload"]
        if owners or not shape.labels:
            return any(pairs[key].startswith(name) for key in (owners or pairs) if key in pairs)
        return True

    def among(self, pods: Alike) -> Iterator[Labels]:
        """The label sets that its pods may have, of those that are there."""
        wanted = (shape.labels for shape in self.shapes.values())
        return (labels for labels in pods.having(wanted, self.key.name) if self.roles(labels))


def hold(
    key: Key,
    cluster: ClusterSnapshot,
    placement: Placement,
    shapes: Mapping[str, PodShape],
    charges: tuple[Charge, ...],
    since: datetime,
    until: datetime,
    stages: Stages | None = None,
    appeared: Appeared | None = None,
) -> Hold:
    """A hold for all pods of a placement; those that look like them and are there already are not waited for.

    `appeared`: the pods of the cluster, where they are sorted already.
    """
    made = Hold(key, cluster.name, placement.assignment, shapes, charges, since, until, {}, stages or {})
    there = (appeared or Appeared(cluster)).among(key.namespace)
    return replace(made, passed={labels: sum(there.nodes[labels].values()) for labels in made.among(there)})


@dataclass(frozen=True)
class Reservations:
    """All holds, in the order in which they were made."""

    holds: tuple[Hold, ...] = ()

    @cached_property
    def _by_cluster(self) -> Mapping[str, tuple[Hold, ...]]:
        found: dict[str, list[Hold]] = {}
        for one in self.holds:
            found.setdefault(one.cluster, []).append(one)
        return {name: tuple(holds) for name, holds in found.items()}

    def of(self, key: Key) -> tuple[Hold, ...]:
        return tuple(one for one in self.holds if one.key == key)

    def on(self, cluster: str) -> tuple[Hold, ...]:
        return self._by_cluster.get(cluster, ())

    def plus(self, made: Hold) -> Reservations:
        return Reservations((*self.holds, made)) if made.pods else self

    def without(self, key: Key) -> Reservations:
        """What an object held is free again."""
        return Reservations(tuple(one for one in self.holds if one.key != key)) if self.of(key) else self

    def resized(self, key: Key, growth: Mapping[str, int]) -> Reservations:
        """An object gets so many pods more, by role, without room for them, or fewer: those that came last go first."""
        own = self.of(key)
        if not own or not growth:
            return self
        beyond = Counter(own[-1].beyond)
        beyond.update(growth)
        fewer = Counter({role: -pods for role, pods in beyond.items() if pods < 0})
        cut = [_cut(one, fewer) if one.key == key else one for one in reversed(self.holds)]
        left = {role: pods for role, pods in beyond.items() if pods > 0}
        changed = (replace(one, beyond=left) if one.key == key else one for one in reversed(cut))
        return Reservations(tuple(one for one in changed if one.pods))

    def at(self, now: datetime) -> Reservations:
        """Holds whose time is up are gone."""
        kept = tuple(one for one in self.holds if one.until > now)
        return self if len(kept) == len(self.holds) else Reservations(kept)

    def seen(self, snapshot: ClusterSnapshot, appeared: Appeared | None = None) -> Reservations:
        """What is left to wait for once the pods of a snapshot are known; first come, first served.

        Only snapshots that were begun after a hold say anything about it. `appeared`: its pods, where they are sorted
        already.
        """
        pods = appeared or Appeared(snapshot)
        arrivals: dict[str, _Arrivals] = {}
        left: list[Hold] = []
        for one in self.holds:
            if one.cluster == snapshot.name and snapshot.taken_at and snapshot.taken_at > one.since:
                space = one.key.namespace
                left.append(_after(one, arrivals.setdefault(space, _Arrivals(pods.among(space)))))
            else:
                left.append(one)
        return Reservations(tuple(one for one in left if one.pods))


def _cut(one: Hold, fewer: Counter[str]) -> Hold:
    """The hold less these pods, as far as it has them; they are taken out of `fewer`."""
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    for role, nodes in left.items():
        for node in sorted(nodes, reverse=True):
            gone = min(nodes[node], fewer[role])
            nodes[node] -= gone
            fewer[role] -= gone
    return replace(one, placement=_without_zeros(left))


def _without_zeros(left: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {role: kept for role, nodes in left.items() if (kept := {node: n for node, n in nodes.items() if n})}


def charged(snapshot: ClusterSnapshot, one: Hold) -> ClusterSnapshot:
    """The snapshot with one hold's pods on it; on nodes that are gone nothing can be held."""
    return assume(snapshot, Placement(one.placement), one.shapes, one.charges, one.stages)


@dataclass
class _Arrival:
    """Pods with one label set, while the holds go through a snapshot.

    total   all of them
    nodes   those that no hold has taken for its own yet
    passed  how many of them the holds so far leave behind: there before, or taken
    """

    total: int
    nodes: Counter[str]
    passed: int = 0


class _Arrivals:
    """A namespace's pods while the holds go through a snapshot; only what a hold asks for is copied."""

    def __init__(self, pods: Alike) -> None:
        self.pods = pods
        self._found: dict[Labels, _Arrival] = {}

    def of(self, labels: Labels) -> _Arrival:
        if labels not in self._found:
            nodes = Counter(self.pods.nodes[labels])
            self._found[labels] = _Arrival(nodes.total(), nodes)
        return self._found[labels]


def _after(one: Hold, arrivals: _Arrivals) -> Hold:
    """The hold less the pods that are new to it. Once some are there, so is the object, which quotas count too."""
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    passed: dict[Labels, int] = {}
    for labels in one.among(arrivals.pods):
        roles = [role for role in one.roles(labels) if role in left]
        if roles:
            there = arrivals.of(labels)
            before = min(max(one.passed.get(labels, 0), there.passed), there.total)
            taken = _release(left, roles, there.nodes, there.total - before)
            passed[labels] = there.passed = before + taken
    shrunk = replace(one, placement=_without_zeros(left), passed=passed)
    begun = shrunk.pods < one.pods
    if not begun:
        return shrunk
    return replace(shrunk, begun=True, charges=tuple(replace(charge, fixed=0) for charge in one.charges))


def _release(left: dict[str, dict[str, int]], roles: Sequence[str], nodes: Counter[str], new: int) -> int:
    """Let go of up to `new` pods, first on the nodes where they are, then anywhere; how many those were."""
    places = [(role, node) for role in roles for node in sorted(left[role])]
    taken = 0
    for role, node in places:
        there = min(new - taken, left[role][node], nodes[node])
        left[role][node] -= there
        nodes[node] -= there
        taken += there
    for role, node in places:
        elsewhere = min(new - taken, left[role][node])
        left[role][node] -= elsewhere
        taken += elsewhere
    return taken
