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
    passed     cluster → label set → pods that were there before, or that earlier holds have waited for
    strangers  other clusters where pods bear the object's name that were there before: theirs are no sign of it
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
    passed: Mapping[str, Counts]
    strangers: frozenset[str] = frozenset()
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

    def bears_the_name(self, labels: Labels) -> bool:
        """Are such pods its own in whatever cluster they are: is it named by a label, and not only alike?"""
        owners, name = self._owners(), self.key.name
        return any(value == name or (key in owners and value.startswith(name)) for key, value in labels)

    def may_be_among(self, pods: Appeared) -> bool:
        """Does any label of the namespace's pods bear its name?"""
        values, name = pods.values(self.key.namespace), self.key.name
        return name in values or (bool(self._owners()) and any(value.startswith(name) for value in values))

    def _owners(self) -> set[str]:
        """Labels whose values are made of its name."""
        return {made.key for shape in self.shapes.values() for made in shape.made if made.of == "workload"}

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
    appeared: Mapping[str, Appeared] | None = None,
) -> Hold:
    """A hold for all pods of a placement; those that look like them and are there already are not waited for.

    `appeared`: the pods of the cluster and of the others, where they are sorted already.
    """
    made = Hold(key, cluster.name, placement.assignment, shapes, charges, since, until, {}, stages=stages or {})
    fleet = appeared or {cluster.name: Appeared(cluster)}
    there = fleet[cluster.name].among(key.namespace)
    before = {labels: sum(there.nodes[labels].values()) for labels in made.among(there)}
    others = ((name, pods) for name, pods in fleet.items() if name != cluster.name)
    strangers = frozenset(name for name, pods in others if made.may_be_among(pods))
    return replace(made, passed={cluster.name: before}, strangers=strangers)


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

        Only snapshots that were begun after a hold say anything about it. Those who are promised room there come before
        those whose pods turn up there though they are expected elsewhere. `appeared`: its pods, where they are sorted
        already.
        """
        pods = appeared or Appeared(snapshot)
        arrivals: dict[str, _Arrivals] = {}
        left = list(self.holds)
        for expected in (True, False):
            for place, one in enumerate(left):
                at_home = one.cluster == snapshot.name
                if at_home == expected and _is_news(snapshot, one) and (at_home or one.may_be_among(pods)):
                    space = one.key.namespace
                    if space not in arrivals:
                        arrivals[space] = _Arrivals(pods.among(space))
                    left[place] = _after(one, arrivals[space], snapshot.name)
        return Reservations(tuple(one for one in left if one.pods))


def _is_news(snapshot: ClusterSnapshot, one: Hold) -> bool:
    younger = snapshot.taken_at is not None and snapshot.taken_at > one.since
    return younger and snapshot.name not in one.strangers


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


def _after(one: Hold, arrivals: _Arrivals, cluster: str) -> Hold:
    """The hold less the pods that are new to it. Once some are there, so is the object, which quotas count too."""
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    earlier, passed = one.passed.get(cluster, {}), {}
    for labels in one.among(arrivals.pods):
        roles = [role for role in one.roles(labels) if role in left]
        if roles and (cluster == one.cluster or one.bears_the_name(labels)):
            there = arrivals.of(labels)
            before = min(max(earlier.get(labels, 0), there.passed), there.total)
            taken = _release(left, roles, there.nodes, there.total - before)
            passed[labels] = there.passed = before + taken
    if passed == earlier:
        return one
    shrunk = replace(one, placement=_without_zeros(left), passed={**one.passed, cluster: passed})
    if shrunk.pods == one.pods:
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
