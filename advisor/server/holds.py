"""Room that one object is promised, for its pods that are still to come.

Values only: who holds them, what the clock says and which snapshot came in are the caller's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from advisor.assume import Alive, assume
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Charge, PodShape
from advisor.server.appeared import Alike, Appeared, Marks
from advisor.server.likeness import Likeness, Roles
from advisor.verdict import Placement
from advisor.workload import Stages, Workload

Whereabouts = Mapping[tuple[Marks, str], int]
"""Marks and node → pods."""


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
    passed     cluster → roles that pods may be of → the most of them that were ever there, or that earlier holds have
               waited for; those that take the place of others are no arrival
    there      cluster → roles that pods may be of → those that were there when it was last read
    risen      role → pods that have come in the place of others, or were the next ones: nobody can tell
    again      role → of such pods those that exist, and have no node yet
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
    patience   for how long it waits for the next ones to come
    anew       are those that were there before those of another object of its name? No others come in their place
    created    was it made for a creation, of which no update has told yet whether that is what is stored?
    """

    key: Key
    cluster: str
    placement: Mapping[str, Mapping[str, int]]
    shapes: Mapping[str, PodShape]
    charges: tuple[Charge, ...]
    since: datetime
    until: datetime
    likeness: Likeness
    passed: Mapping[str, Mapping[Roles, int]] = field(default_factory=dict)
    there: Mapping[str, Mapping[Roles, Whereabouts]] = field(default_factory=dict)
    risen: Mapping[str, int] = field(default_factory=dict)
    again: Mapping[str, int] = field(default_factory=dict)
    unbound: Mapping[Marks, int] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    begun: bool = False
    strangers: frozenset[str] = frozenset()
    stages: Alive = field(default_factory=dict)
    bound: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    beyond: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    workload: Workload | None = None
    most: int = 0
    patience: timedelta = timedelta(0)
    anew: bool = False
    created: bool = False

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

    @property
    def doubtful(self) -> Counter[str]:
        """Role → pods still to come that may be there already."""
        return (Counter(self.risen) + Counter(self.again)) & Counter(self.due)

    @property
    def is_under_way(self) -> bool:
        """Are pods there that end before others come?"""
        return any(self.ends_before(role, [later]) for role in self.bound for later in self.due)

    @property
    def exists(self) -> bool:
        """Is the object surely there? Some of its pods came, or it was updated."""
        return self.begun or not self.created

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
    leaving: Mapping[Marks, int] | None = None,
    staying: Mapping[str, int] | None = None,
) -> Hold:
    """A hold for all pods of a placement; those that look like them and are there already are not waited for.

    `fleet`: the pods of the cluster and of the others, where they are sorted already. `ended`: when an object of that
    name was deleted; pods of that one, if they were seen before, make way for those that are to come. So do those that
    are `leaving`. `looks`: how to know its pods. `staying`: role → pods that are taken to be there; who is missing of
    them comes back, and is none that is waited for.
    """
    fleet = fleet or {cluster.name: Appeared(cluster)}
    pods, unbound = fleet[cluster.name].among(key.namespace), fleet[cluster.name].unbound(key.namespace)
    new = _is_before(fleet[cluster.name], ended)
    groups = looks.groups(pods)
    there = {roles: whereabouts(pods, some) for roles, some in groups.items()}
    leave = {roles: sum((leaving or {}).get(marks, 0) for marks in some) for roles, some in groups.items()}
    seen = {roles: max(0, on.total() - leave[roles]) for roles, on in there.items()}
    known = _with_missing(seen, staying or {})
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
        passed={} if new else {cluster.name: known},
        there={} if new else {cluster.name: there},
        unbound={} if new else {marks: unbound.nodes[marks][""] for marks in looks.among(unbound)},
        strangers=frozenset(name for name in others if any(looks.groups(fleet[name].among(key.namespace)))),
        stages=stages or {},
        patience=until - since,
    )


def _with_missing(seen: Mapping[Roles, int], staying: Mapping[str, int]) -> dict[Roles, int]:
    """The pods that are seen, and with them those that should be there."""
    left, known = dict(staying), {}
    for roles, pods in seen.items():
        known[roles] = max(pods, sum(left.pop(role, 0) for role in roles))
    return known | {(role,): pods for role, pods in left.items() if pods}


def waiting(made: Hold, workload: Workload, patience: timedelta, *, anew: bool, created: bool) -> Hold:
    """The hold with those of the workload's pods that it has no room for, and what it has to know while it lasts."""
    beyond = Counter(workload.sizes) - Counter(made.sizes)
    most = made.pods + beyond.total()
    known = replace(made, beyond=dict(beyond), workload=workload, most=most, patience=patience)
    return replace(known, anew=anew, created=created)


def _is_before(pods: Appeared, ended: datetime | None) -> bool:
    return ended is not None and (pods.taken_at is None or pods.taken_at <= ended)


def whereabouts(pods: Alike, some: Iterable[Marks]) -> Counter[tuple[Marks, str]]:
    return Counter({(marks, node): count for marks in some for node, count in pods.nodes[marks].items()})


def in_place_of(one: Hold, made: Hold) -> Hold:
    """A hold for the same object, planned anew: what is known of the pods that exist stays known."""
    if one.cluster != made.cluster:
        return _no_longer(one, made)
    counted = {role: min(pods, made.sizes.get(role, 0)) for role, pods in one.counted.items()}
    bound = {role: nodes for role, nodes in one.bound.items() if role in made.shapes}
    known = one.passed.get(one.cluster, {})
    most = Counter({roles: pods for roles, pods in known.items() if {*roles} & {*one.due}})
    passed = {**one.passed, **{name: dict(Counter(there) | most) for name, there in made.passed.items()}}
    risen = Counter(one.risen) & Counter(one.due)
    told = replace(made, unbound=one.unbound, counted=counted, bound=bound, passed=passed, risen=risen)
    told = _no_longer(one, told)
    return begun(told) if one.begun else told


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
        release(left, [role for role in one.likeness.roles(marks) if role in left], nodes, nodes.total())
    return replace(one, placement=without_zeros(left))


def emptied(one: Hold, roles: frozenset[str]) -> Hold:
    kept = {role: nodes for role, nodes in one.placement.items() if role not in roles}
    counted = {role: pods for role, pods in one.counted.items() if role in kept}
    beyond = Counter(one.due) - Counter({role: sum(nodes.values()) for role, nodes in kept.items()})
    lost = {role: pods for role, pods in one.lost.items() if role not in roles}
    return replace(one, placement=kept, counted=counted, beyond=dict(beyond), lost=lost)


def resized(one: Hold, growth: Mapping[str, int]) -> Hold:
    beyond = Counter(one.beyond)
    beyond.update(growth)
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    for role, nodes in left.items():
        for node in sorted(nodes, reverse=True):
            gone = max(0, min(nodes[node], -beyond[role]))
            nodes[node] -= gone
            beyond[role] += gone
    kept, fewer = without_zeros(left), -beyond
    sizes = {role: sum(nodes.values()) for role, nodes in kept.items()}
    counted = {role: min(pods, sizes.get(role, 0)) for role, pods in one.counted.items()}
    passed = {name: _fewer(known, fewer) for name, known in one.passed.items()}
    return replace(one, placement=kept, beyond=dict(+beyond), counted=counted, passed=passed)


def as_stored(one: Hold, stored: Mapping[str, int]) -> Hold:
    """The hold of an object of which a creation wanted more pods by role than those that it has: that one failed."""
    wanted = one.workload.sizes if one.workload else {}
    growth = {role: stored[role] - pods for role, pods in wanted.items() if stored.get(role, pods) < pods}
    return replace(resized(one, growth), created=False)


def _fewer(passed: Mapping[Roles, int], gone: Counter[str]) -> dict[Roles, int]:
    """Once pods that were there go for good, those that come later take the place of none."""
    return {roles: max(0, pods - sum(gone[role] for role in roles)) for roles, pods in passed.items()}


def without_zeros(left: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {role: kept for role, nodes in left.items() if (kept := {node: n for node, n in nodes.items() if n})}


def charged(snapshot: ClusterSnapshot, one: Hold) -> ClusterSnapshot:
    """The snapshot with one hold's pods on it; on nodes that are gone nothing can be held."""
    return assume(snapshot, Placement(one.placement), one.shapes, one.charges, one.stages, one.counted, one.bound)


def uncounted(snapshot: ClusterSnapshot, one: Hold) -> ClusterSnapshot:
    """The snapshot as if quotas did not count the pods of a hold that exist without a node: they are planned anew."""
    nowhere: dict[str, dict[str, int]] = {role: {} for role in one.counted}
    return assume(snapshot, Placement(nowhere), one.shapes, one.charges, one.stages, one.counted)


def begun(one: Hold) -> Hold:
    """Once some of the pods are there, so is the object, which quotas count too."""
    if one.begun:
        return one
    return replace(one, begun=True, charges=tuple(replace(charge, fixed=0) for charge in one.charges))


def release(
    left: dict[str, dict[str, int]], roles: Sequence[str], nodes: Counter[str], new: int, *, elsewhere: bool = True
) -> int:
    """Let go of up to `new` pods, first on the nodes where they are, then anywhere; how many those were."""
    places = [(role, node) for role in roles for node in sorted(left.get(role, ()))]
    taken = 0
    for role, node in places:
        there = max(0, min(new - taken, left[role][node], nodes[node]))
        left[role][node] -= there
        nodes[node] -= there
        taken += there
    for role, node in places if elsewhere else ():
        away = max(0, min(new - taken, left[role][node]))
        left[role][node] -= away
        taken += away
    return taken
