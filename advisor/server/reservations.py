"""Assumed placements: room that an allowed gang is promised, held until its pods appear in the cluster or time is up.

Values only: who holds them, what the clock says and which snapshot came in are the caller's business. A pod that has
appeared is counted by the snapshot, so the hold lets go of its room in the same step, and nothing is counted twice
while half of a gang is there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from advisor.assume import Alive, assume
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Charge, PodShape
from advisor.server.appeared import Alike, Appeared, Marks
from advisor.server.likeness import Likeness
from advisor.verdict import Placement
from advisor.workload import Stages, Workload

Counts = Mapping[Marks, int]
"""Pods of one namespace that have exactly these marks."""


@dataclass(frozen=True, slots=True)
class Key:
    """Whose room it is. `name` is the uid of the request where the object has no name yet."""

    group: str
    kind: str
    namespace: str
    name: str


Fleet = Mapping[str, Appeared]
"""Cluster → its pods. A cluster that is known by several names is one here."""


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """The pods of one object that a cluster will have, and does not have yet.

    placement  role → node → pods still to come
    shapes     the pods by role; charges: what they take of quotas
    likeness   how to know them
    passed     cluster → marks → pods that were there before, or that earlier holds have waited for
    unbound    marks → pods without a node that were there before
    counted    role → pods still to come that exist without a node, so that quotas count them already
    begun      is the object there: did some of its pods come, or do they exist?
    strangers  other clusters where pods of an object of that name were before: theirs are no sign of this one
    stages     role → stages in which its pods are alive; those of different stages share their room
    bound      role → node → pods that have come and are there, as long as others are to follow them
    beyond     role → pods that the object has besides, and that there was no room for
    lost       of these, those that had been promised room which is there no more
    workload   what was asked about; None: it cannot be planned anew
    most       the most pods that were due since `until` was set, less those that came
    """

    key: Key
    cluster: str
    placement: Mapping[str, Mapping[str, int]]
    shapes: Mapping[str, PodShape]
    charges: tuple[Charge, ...]
    since: datetime
    until: datetime
    likeness: Likeness
    passed: Mapping[str, Counts] = field(default_factory=dict)
    unbound: Counts = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    begun: bool = False
    strangers: frozenset[str] = frozenset()
    stages: Alive = field(default_factory=dict)
    bound: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    beyond: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    workload: Workload | None = None
    most: int = 0

    @property
    def pods(self) -> int:
        return sum(self.sizes.values())

    @property
    def sizes(self) -> dict[str, int]:
        """Role → pods that room is held for."""
        return {role: sum(nodes.values()) for role, nodes in self.placement.items()}

    @property
    def due(self) -> dict[str, int]:
        """Role → pods still to come, with room for them or without."""
        return dict(Counter(self.sizes) + Counter(self.beyond))

    @property
    def bereft(self) -> Counter[str]:
        """Role → pods that have lost their room and are still to come."""
        return Counter(self.lost) & Counter(self.beyond)

    @property
    def before(self) -> dict[str, Mapping[str, int]]:
        """Of the pods that are there, those that will have ended before any comes that is still to come."""
        due = self.due
        return {role: nodes for role, nodes in self.bound.items() if due and self.ends_before(role, due)}

    def alive(self, role: str) -> Stages:
        return self.stages.get(role, (0,))

    def ends_before(self, role: str, others: Iterable[str]) -> bool:
        """Have its pods surely ended before any of the others are made? They share no stage, and its own come first."""
        own = self.alive(role)
        return all(own[0] < later[0] and not {*own} & {*later} for later in map(self.alive, others))

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset(node for nodes in self.placement.values() for node in nodes)


def hold(
    key: Key,
    cluster: ClusterSnapshot,
    placement: Placement,
    shapes: Mapping[str, PodShape],
    charges: tuple[Charge, ...],
    since: datetime,
    until: datetime,
    looks: Likeness,
    stages: Alive | None = None,
    fleet: Fleet | None = None,
    ended: datetime | None = None,
    leaving: Counts | None = None,
) -> Hold:
    """A hold for all pods of a placement; those that look like them and are there already are not waited for.

    `fleet`: the pods of the cluster and of the others, where they are sorted already. `ended`: when an object of that
    name was deleted; pods of that one, if they were seen before, make way for those that are to come. So do those that
    are `leaving`. `looks`: how to know its pods.
    """
    fleet = fleet or {cluster.name: Appeared(cluster)}
    here = fleet[cluster.name]
    others = (name for name, pods in fleet.items() if name != cluster.name and not _is_before(pods, ended))
    return Hold(
        key,
        cluster.name,
        placement.assignment,
        shapes,
        charges,
        since,
        until,
        looks,
        passed={}
        if _is_before(here, ended)
        else {cluster.name: _less(_there(looks, here.among(key.namespace)), leaving or {})},
        unbound={} if _is_before(here, ended) else _there(looks, here.unbound(key.namespace)),
        strangers=frozenset(name for name in others if _there(looks, fleet[name].among(key.namespace))),
        stages=stages or {},
    )


def _is_before(pods: Appeared, ended: datetime | None) -> bool:
    return ended is not None and (pods.taken_at is None or pods.taken_at <= ended)


def _there(looks: Likeness, pods: Alike) -> dict[Marks, int]:
    """How many there are of the pods that are recognised."""
    return {marks: sum(pods.nodes[marks].values()) for marks in looks.among(pods)}


def _less(there: Counts, leaving: Counts) -> dict[Marks, int]:
    return {marks: pods - min(pods, leaving.get(marks, 0)) for marks, pods in there.items()}


def in_place_of(one: Hold, made: Hold) -> Hold:
    """A hold for the same object, planned anew: what is known of the pods that exist stays known."""
    if one.cluster != made.cluster:
        return _no_longer(one, made)
    counted = {role: min(pods, made.sizes.get(role, 0)) for role, pods in one.counted.items()}
    bound = {role: nodes for role, nodes in one.bound.items() if role in made.shapes}
    told = replace(made, unbound=one.unbound, counted=counted, bound=bound)
    told = _no_longer(one, told)
    return _begun(told) if one.begun else told


def _no_longer(one: Hold, made: Hold) -> Hold:
    """Time runs on for pods that were due before; it begins anew for more of them than ever were."""
    due = sum(made.due.values())
    return replace(made, until=one.until, most=one.most) if due <= one.most else replace(made, most=due)


def less_those_there(one: Hold, pods: Appeared, ended: datetime | None) -> Hold:
    """A hold for an object that is created, less those of its pods that are there, so that it exists already.

    The API server finds that out after it was let in. `ended`: as for `hold`.
    """
    if _is_before(pods, ended):
        return one
    there = pods.among(one.key.namespace)
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    for marks in one.likeness.among(there):
        nodes = Counter(there.nodes[marks])
        _release(left, [role for role in one.likeness.roles(marks) if role in left], nodes, nodes.total())
    return replace(one, placement=_without_zeros(left))


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

    def of(self, key: Key) -> Hold | None:
        """What an object holds; it has one hold at most, for all of its pods that are still to come."""
        return next((one for one in self.holds if one.key == key), None)

    def on(self, cluster: str) -> tuple[Hold, ...]:
        return self._by_cluster.get(cluster, ())

    def plus(self, made: Hold) -> Reservations:
        """A hold takes the place of the one that its object had."""
        kept = self.without(made.key)
        return Reservations((*kept.holds, made)) if made.due else kept

    def without(self, key: Key) -> Reservations:
        """What an object held is free again."""
        return Reservations(tuple(one for one in self.holds if one.key != key)) if self.of(key) else self

    def without_doubtful(self) -> Reservations:
        """Less those that may be held though their pods have come, as nobody knows how to tell whose these are."""
        sure = tuple(one for one in self.holds if one.likeness.complete)
        return self if len(sure) == len(self.holds) else Reservations(sure)

    def resized(self, key: Key, growth: Mapping[str, int]) -> Reservations:
        """An object gets so many pods more, by role, without room for them, or fewer: those without room go first."""
        changed = (_resized(one, growth) if one.key == key else one for one in self.holds)
        return Reservations(tuple(one for one in changed if one.due)) if growth else self

    def at(self, now: datetime) -> Reservations:
        """Holds whose time is up are gone."""
        kept = tuple(one for one in self.holds if one.until > now)
        return self if len(kept) == len(self.holds) else Reservations(kept)

    def emptied(self, key: Key, roles: frozenset[str]) -> Reservations:
        """Pods of these roles are still to come, but there is no room for what they are now."""
        return Reservations(tuple(_emptied(one, roles) if one.key == key else one for one in self.holds))

    def restored(self, key: Key, before: Hold | None, fleet: Fleet) -> Reservations:
        """As if the last change of an object had not been: what it held before, less the pods that have come since."""
        kept = self.without(key)
        if before:
            kept = Reservations((*kept.holds, before))
            for cluster, pods in fleet.items():
                kept = kept.arrived(pods, cluster)
        return kept

    def moved(self, cluster: str, holds: Sequence[Hold]) -> Reservations:
        """The holds of a cluster in the place of those that were made for the same objects."""
        if all(new is old for new, old in zip(holds, self.on(cluster), strict=True)):
            return self
        known = {one.key: one for one in holds}
        return Reservations(tuple(known.get(one.key, one) for one in self.holds))

    def seen(self, snapshot: ClusterSnapshot) -> Reservations:
        return self.arrived(Appeared(snapshot), snapshot.name)

    def arrived(self, pods: Appeared, cluster: str) -> Reservations:
        """What is left to wait for once the pods of a snapshot are known; first come, first served.

        Only snapshots that were begun after a hold say anything about it. Those who are promised room there come before
        those whose pods turn up there though they are expected elsewhere. `cluster`: whose pods they are.
        """
        arrivals: dict[str, _Arrivals] = {}
        left = list(self.holds)
        for expected in (True, False):
            for place, one in enumerate(left):
                space, at_home = one.key.namespace, one.cluster == cluster
                if at_home == expected and _is_news(pods, cluster, one):
                    if space not in arrivals:
                        arrivals[space] = _Arrivals(pods.among(space), pods.unbound(space))
                    left[place] = _after(one, arrivals[space], cluster)
        return Reservations(tuple(one for one in left if one.due))


def _is_news(pods: Appeared, cluster: str, one: Hold) -> bool:
    return pods.taken_at is not None and pods.taken_at > one.since and cluster not in one.strangers


def _emptied(one: Hold, roles: frozenset[str]) -> Hold:
    kept = {role: nodes for role, nodes in one.placement.items() if role not in roles}
    counted = {role: pods for role, pods in one.counted.items() if role in kept}
    beyond = Counter(one.due) - Counter({role: sum(nodes.values()) for role, nodes in kept.items()})
    lost = {role: pods for role, pods in one.lost.items() if role not in roles}
    return replace(one, placement=kept, counted=counted, beyond=dict(beyond), lost=lost)


def _resized(one: Hold, growth: Mapping[str, int]) -> Hold:
    beyond = Counter(one.beyond)
    beyond.update(growth)
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    for role, nodes in left.items():
        for node in sorted(nodes, reverse=True):
            gone = max(0, min(nodes[node], -beyond[role]))
            nodes[node] -= gone
            beyond[role] += gone
    kept = _without_zeros(left)
    sizes = {role: sum(nodes.values()) for role, nodes in kept.items()}
    counted = {role: min(pods, sizes.get(role, 0)) for role, pods in one.counted.items()}
    return replace(one, placement=kept, beyond=dict(+beyond), counted=counted)


def _without_zeros(left: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {role: kept for role, nodes in left.items() if (kept := {node: n for node, n in nodes.items() if n})}


def charged(snapshot: ClusterSnapshot, one: Hold) -> ClusterSnapshot:
    """The snapshot with one hold's pods on it; on nodes that are gone nothing can be held."""
    return assume(snapshot, Placement(one.placement), one.shapes, one.charges, one.stages, one.counted, one.bound)


def uncounted(snapshot: ClusterSnapshot, one: Hold) -> ClusterSnapshot:
    """The snapshot as if quotas did not count the pods of a hold that exist without a node: they are planned anew."""
    nowhere: dict[str, dict[str, int]] = {role: {} for role in one.counted}
    return assume(snapshot, Placement(nowhere), one.shapes, one.charges, one.stages, one.counted)


@dataclass
class _Arrival:
    """Pods with the same marks, while the holds go through a snapshot.

    total   all of them
    nodes   those that no hold has taken for its own yet
    passed  how many of them the holds so far leave behind: there before, or taken
    """

    total: int
    nodes: Counter[str]
    passed: int = 0

    def before(self, known: int) -> int:
        """How many a hold leaves behind that has known so many before."""
        return min(max(known, self.passed), self.total)


class _Arrivals:
    """A namespace's pods while the holds go through a snapshot; only what a hold asks for is copied."""

    def __init__(self, bound: Alike, unbound: Alike) -> None:
        self.bound, self.unbound = bound, unbound
        self._found: dict[tuple[bool, Marks], _Arrival] = {}

    def of(self, marks: Marks, *, bound: bool) -> _Arrival:
        if (bound, marks) not in self._found:
            nodes = Counter((self.bound if bound else self.unbound).nodes[marks])
            self._found[bound, marks] = _Arrival(nodes.total(), nodes)
        return self._found[bound, marks]


def _after(one: Hold, arrivals: _Arrivals, cluster: str) -> Hold:
    """The hold less the pods that are new to it."""
    changed = _arrived(one, arrivals, cluster)
    came = sum(one.due.values()) - sum(changed.due.values())
    changed = replace(changed, most=changed.most - came) if came else changed
    if cluster == one.cluster:
        changed = _staying(_created(changed, arrivals), arrivals)
    return changed if changed.due == one.due and not changed.counted else _begun(changed)


def _begun(one: Hold) -> Hold:
    """Once some of the pods are there, so is the object, which quotas count too."""
    if one.begun:
        return one
    return replace(one, begun=True, charges=tuple(replace(charge, fixed=0) for charge in one.charges))


def _arrived(one: Hold, arrivals: _Arrivals, cluster: str) -> Hold:
    """What there was no room for may come as well, once others have gone."""
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    beyond = Counter(one.beyond)
    earlier, passed = one.passed.get(cluster, {}), {}
    for marks in one.likeness.among(arrivals.bound):
        roles = [role for role in one.likeness.roles(marks) if role in one.due]
        if roles:
            there = arrivals.of(marks, bound=True)
            before = there.before(earlier.get(marks, 0))
            taken = _release(left, roles, there.nodes, there.total - before)
            taken += _let_go(beyond, roles, there.total - before - taken)
            passed[marks] = there.passed = before + taken
    if passed == earlier:
        return one
    kept = _without_zeros(left)
    return replace(one, placement=kept, beyond=dict(+beyond), passed={**one.passed, cluster: passed})


def _let_go(beyond: Counter[str], roles: Sequence[str], new: int) -> int:
    """Up to `new` pods that there was no room for; how many those were."""
    taken = 0
    for role in roles:
        gone = min(new - taken, beyond[role])
        beyond[role] -= gone
        taken += gone
    return taken


def _staying(one: Hold, arrivals: _Arrivals) -> Hold:
    """Where those pods are that have come: once they end, their room is there for those of later stages."""
    if one.workload is None or len(set(one.stages.values())) < 2:
        return one
    came = Counter({role.name: role.replicas for role in one.workload.roles}) - Counter(one.due)
    there: dict[str, Counter[str]] = {role: Counter() for role in came}
    for labels in one.likeness.among(arrivals.bound):
        nodes = Counter(arrivals.bound.nodes[labels])
        for role in filter(there.__contains__, one.likeness.roles(labels)):
            for node in sorted(nodes):
                taken = min(nodes[node], came[role])
                came[role] -= taken
                nodes[node] -= taken
                there[role][node] += taken
    bound = {role: dict(+nodes) for role, nodes in there.items() if +nodes}
    return one if bound == one.bound else replace(one, bound=bound)


def _created(one: Hold, arrivals: _Arrivals) -> Hold:
    """Which of its pods exist by now, and have no node yet? Quotas count them from that moment on."""
    left, counted, unbound = one.sizes, Counter[str](), {}
    for marks in one.likeness.among(arrivals.unbound):
        there = arrivals.of(marks, bound=False)
        unbound[marks] = there.before(one.unbound.get(marks, 0))
        new = there.total - unbound[marks]
        for role in one.likeness.roles(marks):
            taken = min(new, left.get(role, 0) - counted[role])
            counted[role] += taken
            new -= taken
        there.passed = there.total - new
    if (unbound, dict(+counted)) == (one.unbound, one.counted):
        return one
    return replace(one, unbound=unbound, counted=dict(+counted))


def _release(left: dict[str, dict[str, int]], roles: Sequence[str], nodes: Counter[str], new: int) -> int:
    """Let go of up to `new` pods, first on the nodes where they are, then anywhere; how many those were."""
    places = [(role, node) for role in roles for node in sorted(left.get(role, ()))]
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
