"""Where it is decided, one thing at a time: the latest snapshots, less what is promised, asked for advice.

A decision and the hold that it makes are one step, so that two reviews never promise the same room. All calls come from
one thread; `reservations` is a value that anybody may look at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from advisor import explain, surgery
from advisor.accelerators import Accelerators
from advisor.advise import decide
from advisor.cluster import ClusterSnapshot
from advisor.definitions import live
from advisor.definitions.catalog import Catalog
from advisor.memo import Judged, Memo
from advisor.question import Limits, Policy, Question
from advisor.server.appeared import Appeared, Marks
from advisor.server.changes import Change, change
from advisor.server.config import Strictness
from advisor.server.holds import Hold, Key, charged, hold, in_place_of, less_those_there, uncounted, waiting
from advisor.server.likeness import Likeness, likeness
from advisor.server.recollection import Recollection
from advisor.server.replanning import planned_anew, promised_first
from advisor.server.request import CREATE, DELETE, UPDATE, Request
from advisor.server.reservations import Reservations
from advisor.server.review import NOWHERE, Advice, Decision, review
from advisor.server.store import Latest, Snapshots
from advisor.server.wanted import Held
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


LINGER = timedelta(seconds=5)
"""For so long after a change was heard, reads still show the pods that it ends as if they were to stay."""

MOST_LEFT = 10_000
"""Objects of which it is remembered that they left pods behind; of more, the first are forgotten."""


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


@dataclass(frozen=True, slots=True)
class _Fewer:
    """So many pods of an object go until then at the latest, and it has `size` at most afterwards."""

    until: datetime
    pods: int
    size: int


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
        self._deleted: dict[Key, datetime] = {}
        self._changes: dict[Key, Change] = {}
        self._borrowed: dict[str, tuple[Latest, Appeared, Latest]] = {}
        self._leaving: dict[Key, tuple[_Fewer, ...]] = {}
        self._lapsed: dict[Key, tuple[datetime, int]] = {}
        self._left: dict[Key, bool | None] = {}  # did it leave pods behind, and does a new one take these over?
        self._pages: dict[str, _Page] = {}

    def look(self) -> datetime:
        """Takes in what has changed: holds whose time is up, and pods that have appeared. Returns the time.

        What is decided next looks at these snapshots, and at none that comes in meanwhile.
        """
        now = self._clock()
        left = self.reservations.at(now)
        kept = {one.key for one in left.holds}
        self._lapsed |= {one.key: (now, one.pods) for one in self.reservations.holds if one.key not in kept}
        found = self._snapshots.latest()
        for latest in found:
            if latest.good and self._seen.get(latest.name) is not latest.good:
                self._seen[latest.name] = latest.good
                left = self._taken_in(latest.good, left, now)
        self._latest = tuple(map(self._newest, found))
        self.reservations = left
        young = now - timedelta(seconds=self._rules.expiry)
        self._deleted = {key: when for key, when in self._deleted.items() if when > young}
        self._changes = {key: one for key, one in self._changes.items() if one.when > young}
        self._leaving = {key: some for key, some in self._leaving.items() if some[-1].until > young}
        self._lapsed = {key: one for key, one in self._lapsed.items() if one[0] > young}
        return now

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

    def _as_stored(self, request: Request, now: datetime) -> Reservations:
        """What is held, less what an update added that was let in and not stored."""
        change = self._changes.get(request.key)
        if change is None or not change.was_not_stored(request):
            return self.reservations
        left = self.reservations.restored(request.key, change.before, self._fleet).at(now)
        if not request.dry_run:
            del self._changes[request.key]
            self._deleted.pop(request.key, None)
            self._left.pop(request.key, None)
            self._leaving.pop(request.key, None)
        return self._borne(left, change.before.cluster, now) if change.before else left

    def review(self, request: Request, enforced: bool, ticket: Ticket) -> Decision:
        """The decision, kept unless somebody else has claimed the ticket by then. A dry run leaves no trace.

        What is deleted is gone however late that is heard. Raises TooLateError.
        """
        now = self.look()
        known = self._as_stored(request, now)
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
            frozenset([own.cluster] if own and changes else []),
            now,
            ticket,
            request.operation == CREATE,
        )
        decision = self._decided(request, asking, held, enforced)
        if not request.dry_run and (ticket.claim() or request.operation == DELETE):
            self.reservations = self._kept(standing, request, decision, now)
            self._note(request, own, decision, now)
        return decision

    def _decided(self, request: Request, asking: _Asking, held: Held, enforced: bool) -> Decision:
        """Nobody is refused for pods of which it cannot be told whose they are."""

        def decided(asking: _Asking, strictness: Strictness | None) -> Decision:
            return review(request, self._rules.catalog, asking.ask, strictness, held, asking.clusters)

        strictness = self._rules.strictness if enforced else None
        decision = decided(asking, strictness)
        if decision.allowed:
            return decision
        sure = asking.standing.without_doubtful()
        doubted = asking.new and request.key in self._left and self._left[request.key] is None
        if doubted or (sure is not asking.standing and decided(replace(asking, standing=sure), strictness).allowed):
            return decided(asking, None)
        return decision

    def _note(self, request: Request, own: Hold | None, decision: Decision, now: datetime) -> None:
        """What an update or a deletion has changed, in case that it is not stored."""
        if request.subresource or not decision.allowed:
            return
        self._changes.pop(request.key, None)
        if request.operation in (UPDATE, DELETE) and self.reservations.of(request.key) is not own:
            self._changes[request.key] = change(request, own, now)

    def holds(self, namespace: str, name: str) -> bool:
        """Is room held for an object of that name, of whatever kind? Anybody may ask."""
        return any((one.key.namespace, one.key.name) == (namespace, name) for one in self.reservations.holds)

    def standing(self) -> tuple[tuple[ClusterSnapshot, ...], datetime]:
        """Every cluster with everything charged that is promised, and the time."""
        now = self.look()
        return self.snapshots(self.reservations, now), now

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

    def making_way(self, key: Key, workload: Workload, cluster: ClusterSnapshot, *, new: bool) -> ClusterSnapshot:
        """The cluster without those of an object's pods that are seen, and go; a `new` one takes over what was left."""
        pods, ended = self._fleet.get(self.cluster(cluster.name)), self._deleted.get(key)
        heard = key in self._deleted or key in self._leaving
        if pods is None or not (new or heard):
            return cluster
        looks = likeness(workload)
        if not (heard or self._takes_over(key, pods, looks)):
            return cluster
        before = ended is not None and pods.taken_at is not None and pods.taken_at <= ended
        adopts = new and self._left.get(key) is True
        most = (
            sum(sum(one.nodes.values()) for one in cluster.pods)
            if before or adopts
            else self._number_leaving(key, pods, looks)
        )
        gone = {}
        for place, one in enumerate(cluster.pods):
            marks = Marks(one.labels, one.owner)
            if one.namespace == key.namespace and looks.roles(marks):
                whole = one.terminating or (new and looks.is_left(marks))
                gone[place] = one.nodes if whole else _first(one.nodes, most)
                most -= 0 if whole else sum(gone[place].values())
        return surgery.pods_left(cluster, gone) if gone else cluster

    def _takes_over(self, key: Key, pods: Appeared, looks: Likeness) -> bool:
        """Are there pods for an object that is created, left behind by another of its name?"""
        return self._left.get(key) is True or any(map(looks.is_left, looks.among(pods.among(key.namespace))))

    def _number_leaving(self, key: Key, pods: Appeared, looks: Likeness) -> int:
        """How many of an object's pods that were seen go, because it was told to have fewer and still has more."""
        taken = pods.taken_at
        fewer = [one for one in self._leaving.get(key, ()) if taken is None or taken <= one.until]
        if not fewer:
            return 0
        there = pods.among(key.namespace)
        own = sum(sum(there.nodes[marks].values()) for marks in looks.among(there))
        return max(0, min(sum(one.pods for one in fewer), own - fewer[-1].size))

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

    def _kept(self, standing: Reservations, request: Request, decision: Decision, now: datetime) -> Reservations:
        """What is held from now on. An object that is only created again, or not at all, keeps what it held.

        Many a creation fails after it was let in, above all that of an object that is there already.
        """
        if request.operation == DELETE:
            if not request.subresource:
                self._end(request, now)
                self._lapsed.pop(request.key, None)
            return standing
        if decision.ended:
            self._deleted[request.key] = now + LINGER
            return self.reservations.without(request.key)
        made, own = self._hold(request, decision, now), self.reservations.of(request.key)
        if made and not own and request.operation == CREATE and self._is_tried_again(request.key, made, now):
            return standing
        if made is None or (request.operation == CREATE and own and made.pods < own.pods):
            kept = self.reservations
            if decision.word == NOWHERE and decision.holds and decision.replaced:
                kept = kept.emptied(request.key, decision.replaced)
            self._let_go(request.key, decision, own, now)
            return kept.resized(request.key, decision.growth)
        return standing.plus(in_place_of(own, made) if own else made)

    def _end(self, request: Request, now: datetime) -> None:
        """An object goes, and its pods with it or not."""
        version = request.old.get("apiVersion") if request.old else None
        found = self._rules.catalog.find(version, request.kind) if isinstance(version, str) else None
        if not (live.leaves_behind(found, request.orphans) if found else request.orphans):
            self._deleted[request.key] = now + LINGER
            return
        self._deleted.pop(request.key, None)
        self._left[request.key] = live.adopts(found) if found else None
        if len(self._left) > MOST_LEFT:
            del self._left[next(iter(self._left))]

    def _let_go(self, key: Key, decision: Decision, own: Hold | None, now: datetime) -> None:
        """Of pods that are there, so many are to go."""
        due = own.due if own else {}
        count = sum(max(0, -more - due.get(role, 0)) for role, more in decision.growth.items())
        if count:
            fewer = _Fewer(now + LINGER, count, decision.size)
            self._leaving[key] = (*self._leaving.get(key, ()), fewer)

    def _is_tried_again(self, key: Key, made: Hold, now: datetime) -> bool:
        """Is it created once more, after the time for its pods to come is up? It exists, or has failed all the time."""
        if key not in self._lapsed or made.pods > self._lapsed[key][1]:
            return False
        self._lapsed[key] = (now, self._lapsed[key][1])
        return True

    def _hold(self, request: Request, decision: Decision, now: datetime) -> Hold | None:
        advice = decision.advice
        if advice is None or advice.chosen is None or advice.answer.choice is None or not decision.holds:
            return None
        trial, ended = advice.chosen, self._deleted.get(request.key)
        pods = self._fleet[self.cluster(trial.cluster.name)]
        looks = likeness(trial.workload)
        leaving = self._number_leaving(request.key, pods, looks)
        last = max([now, *([ended] if ended else []), *(one.until for one in self._leaving.get(request.key, ()))])
        made = hold(
            request.key,
            replace(self._seen[trial.cluster.name], name=self.cluster(trial.cluster.name)),
            advice.answer.choice.placement or Placement({}),
            trial.shapes,
            trial.diagnosis.charges,
            last,
            now + timedelta(seconds=self._rules.expiry),
            looks,
            trial.stages,
            self._fleet,
            ended,
            leaving,
        )
        anew = request.operation == CREATE and not self._left.get(request.key)
        made = waiting(made, trial.workload, timedelta(seconds=self._rules.expiry), anew=anew)
        exists = request.operation == CREATE and self._left.get(request.key, True)
        return less_those_there(made, self._fleet[made.cluster], ended) if exists else made


@dataclass(frozen=True, slots=True)
class _Asking:
    """One review's way to advice. `own`: what is held for its object; `home`: where that is still expected; `new`: it
    is created.
    """

    desk: Desk
    key: Key
    standing: Reservations
    own: Hold | None
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

    def ask(self, workload: Workload, additional: bool) -> Advice:
        """What joins an object that is, or is expected, somewhere has to go there too."""
        there = self.desk.whereabouts(workload) if additional else frozenset()
        home = there & self.home or there or self.home
        clusters = tuple(one for one in self.clusters() if not home or self.desk.cluster(one.name) in home)
        clusters = tuple(self.desk.making_way(self.key, workload.on(one.name), one, new=self.new) for one in clusters)
        others, plan = self.standing.without(self.key), partial(self.desk.plan, self.now)
        clusters = tuple(promised_first(others.on(self.desk.cluster(one.name)), one, plan) for one in clusters)
        question = self.desk.question((workload,), clusters, self.now, thorough=False)
        tie = RUNS if there else EXPECTED if self.home else ""
        return replace(self.desk.advice(workload, question, self.ticket), tie=tie)


def _are_among(pods: Appeared, workload: Workload, *, bound: bool) -> bool:
    there = pods.among(workload.namespace) if bound else pods.unbound(workload.namespace)
    return any(True for _ in likeness(workload).among(there))


def _first(nodes: Mapping[str, int], most: int) -> dict[str, int]:
    """So many of some pods at most, by node."""
    found = {}
    for node in sorted(nodes):
        taken = min(nodes[node], most)
        most -= taken
        if taken:
            found[node] = taken
    return found
