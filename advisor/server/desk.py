"""Where it is decided, one thing at a time: the latest snapshots, less what is promised, asked for advice.

A decision and the hold that it makes are one step, so that two reviews never promise the same room. All calls come from
one thread; `reservations` is a value that anybody may look at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from advisor import explain
from advisor.accelerators import Accelerators
from advisor.advise import decide
from advisor.cluster import ClusterSnapshot
from advisor.definitions import live
from advisor.definitions.catalog import Catalog
from advisor.memo import Judged, Memo
from advisor.question import Limits, Policy, Question
from advisor.server import coming
from advisor.server.appeared import Appeared
from advisor.server.config import Strictness
from advisor.server.holds import Hold, Key, charged, hold, in_place_of, less_those_there, uncounted, waiting
from advisor.server.leaving import (
    LINGER,
    NOTHING_HEARD,
    Heard,
    Leaving,
    Left,
    Staying,
    making_way,
    may_make_way,
)
from advisor.server.likeness import Likeness, likeness
from advisor.server.memory import Memory
from advisor.server.recollection import Recollection
from advisor.server.replanning import planned_anew, promised_first
from advisor.server.request import CREATE, DELETE, UPDATE, Request
from advisor.server.reservations import Reservations
from advisor.server.review import NOWHERE, Advice, Decision, review
from advisor.server.store import Latest, Snapshots
from advisor.server.wanted import Held, Wanted, before, tells_nothing
from advisor.server.wording import EXPECTED, RUNS
from advisor.trial import Trial
from advisor.verdict import Placement
from advisor.workload import Reference, Workload


@dataclass(frozen=True, slots=True)
class Rules:
    """What stays the same from one decision to the next; times are seconds.

    `referred`: kinds of objects to which workloads refer, read with every snapshot.
    """

    catalog: Catalog
    accelerators: Accelerators
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    strictness: Strictness = field(default_factory=Strictness)
    assume_namespaces: frozenset[str] = frozenset()
    max_age: float = 60.0
    expiry: float = 300.0
    referred: tuple[Reference, ...] = ()


class Ticket:
    """Who comes first: the decision that is about to be kept, or the caller who has waited long enough."""

    def __init__(self) -> None:
        self._taken = threading.Lock()

    def claim(self) -> bool:
        """True for the first that asks."""
        return self._taken.acquire(blocking=False)

    @property
    def claimed(self) -> bool:
        return self._taken.locked()


class TooLateError(Exception):
    """Nobody waits for the decision any more, and others wait for the desk."""


class _Awaited:
    """A memo for as long as the caller waits: the cluster that is being judged is finished, those to come are left."""

    def __init__(self, memo: Memo, ticket: Ticket) -> None:
        self._memo, self._ticket, self._begun = memo, ticket, False

    def recall(self, trial: Trial, find: Callable[[Trial], Judged]) -> Judged:
        if self._begun and self._ticket.claimed:
            raise TooLateError
        self._begun = True
        return self._memo.recall(trial, find)


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    """A cluster as it is judged: the latest of it, with these holds charged."""

    latest: Latest
    stale: bool
    holds: tuple[Hold, ...]
    snapshot: ClusterSnapshot


class Desk:
    """`clock` tells the time of day; nothing else here does."""

    def __init__(self, snapshots: Snapshots, rules: Rules, clock: Callable[[], datetime]) -> None:
        self.reservations = Reservations()
        self._snapshots, self._rules, self._clock = snapshots, rules, clock
        self._memo = Recollection()
        self._latest: tuple[Latest, ...] = ()
        self._seen: dict[str, ClusterSnapshot] = {}
        self._names: dict[str, str] = {}
        self._fleet: dict[str, Appeared] = {}
        self._heard = Memory(rules.catalog)
        self._borrowed: dict[str, tuple[Latest, Appeared, Latest]] = {}
        self._lapsed: dict[Key, tuple[datetime, int]] = {}
        self._pages: dict[str, _Page] = {}

    def look(self) -> datetime:
        """Takes in what has changed: pods that have appeared, and then holds whose time is up. Returns the time.

        What is decided next looks at these snapshots, and at none that comes in meanwhile. Pods may have come long
        before anybody asked.
        """
        now = self._clock()
        found = self._snapshots.latest()
        before, left, news = self.reservations, self.reservations, False
        for latest in found:
            if latest.good and self._seen.get(latest.name) is not latest.good:
                news = True
                self._seen[latest.name] = latest.good
                left = self._taken_in(latest.good, left, now)
        self._latest = tuple(map(self._newest, found))
        self.reservations = left.at(now)
        kept = {one.key for one in self.reservations.holds}
        self._lapsed |= {one.key: (now, one.pods) for one in left.holds if one.key not in kept}
        young = now - timedelta(seconds=self._rules.expiry)
        self._heard.forget(before, left, young, lambda one: news and self._has_gone(one))
        self._lapsed = {key: one for key, one in self._lapsed.items() if one[0] > young}
        return now

    def _has_gone(self, left: Left) -> bool:
        """Do all clusters show nothing any more of what a deletion has left behind?"""
        if not all(pods.taken_at and pods.taken_at > left.since for pods in self._fleet.values()):
            return False
        return not self._shows(left.workload)

    def _newest(self, latest: Latest) -> Latest:
        """A cluster that is known by several names is judged under each of them by what was read last under any."""
        pods = self._fleet.get(self.cluster(latest.name))
        if latest.good is None or pods is None or self._seen[pods.name] is latest.good:
            return latest
        known = self._borrowed.get(latest.name)
        if known is None or known[0] is not latest or known[1] is not pods:
            good = replace(self._seen[pods.name], name=latest.name, labels=latest.good.labels)
            known = self._borrowed[latest.name] = (latest, pods, replace(latest, good=good))
        return known[2]

    def _taken_in(self, good: ClusterSnapshot, left: Reservations, now: datetime) -> Reservations:
        """A cluster that is known by several names goes by the first, and what was read earlier is no news of it."""
        same = (name for name, one in self._seen.items() if name != good.name and one.is_the_same_as(good))
        cluster = self._names[good.name] = next((self._names[name] for name in same), good.name)
        known, pods = self._fleet.get(cluster), Appeared(good)
        if known and known.name != good.name and not pods.is_younger_than(known):
            return left
        self._fleet[cluster] = pods
        return self._borne(left.arrived(pods, cluster), cluster, now)

    def _borne(self, left: Reservations, cluster: str, now: datetime) -> Reservations:
        """With new nodes for what a cluster has promised on nodes that cannot bear it any more."""
        seen = self._seen[self._fleet[cluster].name]
        return left.moved(cluster, planned_anew(left.on(cluster), seen, partial(self.plan, now)))

    def plan(self, now: datetime, workload: Workload, there: ClusterSnapshot) -> Placement:
        """Nodes for all of its pods, or for as many as find room."""
        trial = Trial(workload, there, self.question((workload,), (there,), now, thorough=False))
        found = trial.place()
        return trial.placement(found if found.complete else trial.most)

    def _as_stored(self, request: Request, now: datetime) -> tuple[Reservations, Heard]:
        """What is held, and was heard of the object, as if its last change had not been where that was not stored."""
        change = self._heard.not_stored(request)
        if change is None:
            return self.reservations, self._heard.of(request.key)
        if not request.dry_run:
            self._heard.undo(request.key)
        if change.before is self.reservations.of(request.key):
            return self.reservations, change.heard
        left = self.reservations.restored(request.key, change.before, self._fleet).at(now)
        return self._borne(left, change.before.cluster, now) if change.before else left, change.heard

    def _as_created(self, request: Request, known: Reservations, now: datetime) -> Reservations:
        """The first update that says what the object was tells which of its creations was stored."""
        own, catalog = known.of(request.key), self._rules.catalog
        if own is None or not own.created or request.operation != UPDATE or request.subresource:
            return known
        if tells_nothing(request, catalog):
            return known
        old = before(request, catalog, partial(self.snapshots, known, now))
        return known.as_stored(own.key, old.on(own.cluster).sizes if old else {})

    def review(self, request: Request, enforced: bool, ticket: Ticket) -> Decision:
        """The decision, kept unless somebody else has claimed the ticket by then. A dry run leaves no trace.

        What is deleted is gone however late that is heard. Raises TooLateError.
        """
        now = self.look()
        known, heard = self._as_stored(request, now)
        known = self._as_created(request, known, now)
        own, changes = known.of(request.key), request.operation == UPDATE
        if not request.dry_run:
            self.reservations = known
        held = Held(own.due, own.begun, own.cluster) if own and changes else Held()
        held = replace(held, is_seen=self.is_seen)
        standing = known if request.subresource else known.without(request.key)
        asking = _Asking(
            self,
            request.key,
            standing,
            own,
            heard,
            frozenset([own.cluster] if own and changes else []),
            now,
            ticket,
            request.operation == CREATE,
        )
        decision = self._decided(request, asking, held, enforced)
        if not request.dry_run and (ticket.claim() or request.operation == DELETE):
            self.reservations = self._kept(asking, request, decision, now)
            if decision.allowed and not request.subresource:
                self._heard.note(request, own, self.reservations.of(request.key), heard, now)
        return decision

    def _decided(self, request: Request, asking: _Asking, held: Held, enforced: bool) -> Decision:
        """Nobody is refused for pods of which it cannot be told whose they are, or what seems to exist already."""

        def decided(asking: _Asking, strictness: Strictness | None) -> Decision:
            return review(request, self._rules.catalog, asking.ask, strictness, held, asking.clusters)

        strictness = self._rules.strictness if enforced else None
        decision = decided(asking, strictness)
        if decision.allowed:
            return decision
        sure = asking.standing.without_doubtful()
        left, exists = asking.heard.left, decision.advice is not None and decision.advice.lives
        doubted = exists or (asking.new and left is not None and left.adopts is None)
        if doubted or (sure is not asking.standing and decided(replace(asking, standing=sure), strictness).allowed):
            return decided(asking, None)
        return decision

    def standing(self) -> tuple[tuple[ClusterSnapshot, ...], datetime]:
        """Every cluster with everything charged that is promised or owed, and the time."""
        now = self.look()
        found = self.snapshots(self.reservations, now)
        return tuple(self.owed_first(self.reservations, one, now) for one in found), now

    def owed_first(self, standing: Reservations, cluster: ClusterSnapshot, now: datetime) -> ClusterSnapshot:
        """With those pods on it that have lost their room and find some there: nobody else has it."""
        return promised_first(standing.on(self.cluster(cluster.name)), cluster, partial(self.plan, now))

    def question(
        self, workloads: Iterable[Workload], clusters: tuple[ClusterSnapshot, ...], now: datetime, *, thorough: bool
    ) -> Question:
        rules = self._rules
        return Question(
            workloads=tuple(workloads),
            clusters=clusters,
            policy=rules.policy,
            as_of=now,
            accelerators=rules.accelerators,
            limits=rules.limits,
            assume_namespaces=rules.assume_namespaces,
            thorough=thorough,
        )

    def advice(self, workload: Workload, question: Question, ticket: Ticket) -> Advice:
        trials = {one.name: Trial(workload.on(one.name), one, question) for one in question.clusters}
        answer = explain.tell(decide(workload, trials, question, _Awaited(self._memo, ticket)))
        return Advice(answer, trials[answer.choice.cluster] if answer.choice else None)

    def snapshots(self, standing: Reservations, now: datetime) -> tuple[ClusterSnapshot, ...]:
        """Every cluster with these holds charged; the same object for as long as nothing has changed."""
        return tuple(self._charged(latest, standing.on(self.cluster(latest.name)), now) for latest in self._latest)

    def cluster(self, name: str) -> str:
        """The first of the names that a cluster is known by."""
        return self._names.get(name, name)

    def whereabouts(self, workload: Workload) -> frozenset[str]:
        """Clusters where its pods are."""
        return frozenset(name for name, pods in self._fleet.items() if _are_among(pods, workload.on(name), bound=True))

    def is_seen(self, workload: Workload) -> bool:
        """May any pod that exists in some cluster be one of the workload's? Where a cluster was not read, it may, and
        where nobody knows how to tell whose its pods are.
        """
        now = self._clock()
        if any(one.good is None or one.stale(now, self._rules.max_age) for one in self._latest):
            return True
        if not all(likeness(workload.on(name)).complete for name in self._fleet):
            return True
        return self._shows(workload)

    def lives(self, workload: Workload) -> frozenset[str]:
        """Clusters with pods of the workload that something looks after, so that it exists."""

        def living(pods: Appeared, looks: Likeness) -> bool:
            alike = (pods.among(workload.namespace), pods.unbound(workload.namespace))
            return any(not looks.is_left(marks) for some in alike for marks in looks.among(some))

        return frozenset(name for name, pods in self._fleet.items() if living(pods, likeness(workload.on(name))))

    def _shows(self, workload: Workload) -> bool:
        """Are any of its pods in some cluster, with a node or without?"""
        unbound = (_are_among(pods, workload.on(name), bound=False) for name, pods in self._fleet.items())
        return bool(self.whereabouts(workload)) or any(unbound)

    def _charged(self, latest: Latest, holds: tuple[Hold, ...], now: datetime) -> ClusterSnapshot:
        stale = latest.stale(now, self._rules.max_age)
        page = self._pages.get(latest.name)
        if page is None or page.latest is not latest or page.stale != stale or page.holds != holds[: len(page.holds)]:
            page = _Page(latest, stale, (), latest.usable(now, self._rules.max_age))
        snapshot = page.snapshot
        for one in holds[len(page.holds) :]:
            snapshot = charged(snapshot, one)
        self._pages[latest.name] = _Page(latest, stale, holds, snapshot)
        return snapshot

    def _kept(self, asking: _Asking, request: Request, decision: Decision, now: datetime) -> Reservations:
        """What is held from now on. An object that is only created again, or not at all, keeps what it held.

        Many a creation fails after it was let in, above all that of an object that is there already.
        """
        key, own, heard = request.key, self.reservations.of(request.key), asking.heard
        if request.operation == DELETE:
            if not request.subresource:
                self._heard.keep(key, self._ended(request, asking, now))
                self._lapsed.pop(key, None)
            return asking.standing
        if decision.ended:
            self._heard.keep(key, replace(heard, gone=now + LINGER))
            return self.reservations.without(key)
        made, created = self._hold(request, decision, now), request.operation == CREATE
        lives = decision.advice.lives if decision.advice else frozenset()
        if made and created and made.cluster in lives:
            return self.reservations
        if made and created and not own and self._is_tried_again(key, made):
            made = replace(made, risen=made.due)
        if fewer := {role: -more for role, more in decision.growth.items() if more < 0}:
            self._heard.keep(key, heard.with_fewer(fewer, now))
        if made is None or (created and own and made.pods < own.pods):
            kept = self.reservations
            if decision.word == NOWHERE and decision.holds and decision.replaced:
                kept = kept.emptied(key, decision.replaced)
            return kept.resized(key, decision.growth)
        return asking.standing.plus(in_place_of(own, made) if own else made)

    def _ended(self, request: Request, asking: _Asking, now: datetime) -> Heard:
        """An object goes, and its pods with it or not."""
        version, since = request.old.get("apiVersion") if request.old else None, now + LINGER
        found = self._rules.catalog.find(version, request.kind) if isinstance(version, str) else None
        if not (live.leaves_behind(found, request.orphans) if found else request.orphans):
            return asking.heard.all_gone(since)
        old = before(request, self._rules.catalog, asking.clusters) if found else None
        return Heard(left=Left(old, since, live.adopts(found))) if found and old else NOTHING_HEARD

    def _is_tried_again(self, key: Key, made: Hold) -> bool:
        """Is it created once more, after the time for its pods to come is up? It may exist, or fail all the time."""
        return key in self._lapsed and made.pods <= self._lapsed[key][1]

    def _hold(self, request: Request, decision: Decision, now: datetime) -> Hold | None:
        advice = decision.advice
        if advice is None or advice.chosen is None or advice.answer.choice is None or not decision.holds:
            return None
        trial, heard = advice.chosen, self._heard.of(request.key)
        made = hold(
            request.key,
            replace(self._seen[trial.cluster.name], name=self.cluster(trial.cluster.name)),
            advice.answer.choice.placement or Placement({}),
            trial.shapes,
            trial.diagnosis.charges,
            max(now, heard.last or now),
            now + timedelta(seconds=self._rules.expiry),
            advice.looks or likeness(trial.workload),
            trial.stages,
            self._fleet,
            heard.gone,
            advice.leaving,
            advice.staying,
        )
        created, own = request.operation == CREATE, self.reservations.of(request.key)
        exists = heard.takes_over or (own is not None and own.exists and heard.is_alive)
        patience = timedelta(seconds=self._rules.expiry)
        made = waiting(made, trial.workload, patience, anew=created and not exists, created=created)
        has_them = created and (heard.left is None or heard.takes_over)
        return less_those_there(made, self._fleet[made.cluster], heard.gone) if has_them else made


@dataclass(frozen=True, slots=True)
class _Asking:
    """One review's way to advice. `own`: what is held for its object, and `heard` of it; `home`: where it is still
    expected; `new`: it is created.
    """

    desk: Desk
    key: Key
    standing: Reservations
    own: Hold | None
    heard: Heard
    home: frozenset[str]
    now: datetime
    ticket: Ticket
    new: bool = False

    def clusters(self) -> tuple[ClusterSnapshot, ...]:
        """As they would be without the pods of the object that are still to come."""
        return tuple(map(self._without_own, self.desk.snapshots(self.standing, self.now)))

    def _without_own(self, cluster: ClusterSnapshot) -> ClusterSnapshot:
        own = self.own
        counted = own and own.counted and own.cluster == self.desk.cluster(cluster.name)
        return uncounted(cluster, own) if own and counted else cluster

    def ask(self, workload: Workload, asked: Wanted) -> Advice:
        """What joins an object that is, or is expected, somewhere has to go there too."""
        there = self.desk.whereabouts(workload) if asked.additional else frozenset()
        home = there & self.home or there or self.home
        clusters = (one for one in self.clusters() if not home or self.desk.cluster(one.name) in home)
        ways = {one.name: self._way(workload.on(one.name), asked.old, one) for one in clusters}
        others = self.standing.without(self.key)
        free = tuple(self.desk.owed_first(others, one, self.now) for one, _ in ways.values())
        question = self.desk.question((workload,), free, self.now, thorough=False)
        advice = self.desk.advice(workload, question, self.ticket)
        chosen = advice.chosen.cluster.name if advice.chosen else ""
        old = asked.old.on(chosen) if chosen and asked.old else None
        return replace(
            advice,
            tie=RUNS if there else EXPECTED if self.home else "",
            lives=self.desk.lives(workload) if self.new and self.heard.is_alive else frozenset(),
            leaving=ways[chosen][1] if chosen else {},
            looks=_looks(workload.on(chosen), old) if chosen else None,
            staying=self._staying(old) if old and there else {},
        )

    def _staying(self, old: Workload) -> dict[str, int]:
        return coming.there(old, self.own.due if self.own else {})

    def _way(
        self, workload: Workload, old: Workload | None, cluster: ClusterSnapshot
    ) -> tuple[ClusterSnapshot, Leaving]:
        """The cluster without those of the object's pods that go."""
        if not may_make_way(cluster, self.key.namespace, self.heard, new=self.new):
            return cluster, {}
        old = old.on(cluster.name) if old else None
        staying = Staying(
            self._staying(old) if old else {},
            self.own.counted if self.own and self.own.cluster == self.desk.cluster(cluster.name) else {},
            self.new,
        )
        return making_way(cluster, self.key.namespace, _looks(old or workload, workload), self.heard, staying)


def _looks(workload: Workload, other: Workload | None) -> Likeness:
    """How to know its pods, and from those of what it was or is to be besides."""
    own = likeness(workload)
    return replace(own, looks={**likeness(other).looks, **own.looks}) if other else own


def _are_among(pods: Appeared, workload: Workload, *, bound: bool) -> bool:
    there = pods.among(workload.namespace) if bound else pods.unbound(workload.namespace)
    return any(True for _ in likeness(workload).among(there))
