"""Where it is decided, one thing at a time: the latest snapshots, less what is promised, asked for advice.

A decision and the hold that it makes are one step, so that two reviews never promise the same room. All calls come from
one thread; `reservations` is a value that anybody may look at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from advisor import explain
from advisor.accelerators import Accelerators
from advisor.advise import decide
from advisor.cluster import ClusterSnapshot
from advisor.definitions.catalog import Catalog
from advisor.memo import Judged, Memo
from advisor.question import Limits, Policy, Question
from advisor.server.appeared import Appeared
from advisor.server.config import Strictness
from advisor.server.recollection import Recollection
from advisor.server.request import CREATE, DELETE, UPDATE, Request
from advisor.server.reservations import Hold, Reservations, charged, hold
from advisor.server.review import Advice, Decision, review
from advisor.server.store import Latest, Snapshots
from advisor.server.wanted import NOTHING_HELD, Held
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
        self._appeared: dict[str, Appeared] = {}
        self._pages: dict[str, _Page] = {}

    def look(self) -> datetime:
        """Takes in what has changed: holds whose time is up, and pods that have appeared. Returns the time.

        What is decided next looks at these snapshots, and at none that comes in meanwhile.
        """
        now = self._clock()
        left = self.reservations.at(now)
        self._latest = self._snapshots.latest()
        for latest in self._latest:
            if latest.good and self._seen.get(latest.name) is not latest.good:
                self._seen[latest.name] = latest.good
                self._appeared[latest.name] = Appeared(latest.good)
                left = left.seen(latest.good, self._appeared[latest.name])
        self.reservations = left
        return now

    def review(self, request: Request, enforced: bool, ticket: Ticket) -> Decision:
        """The decision, kept unless somebody else has claimed the ticket by then. A dry run leaves no trace.

        What is deleted is gone however late that is heard. Raises TooLateError.
        """
        now = self.look()
        own = self.reservations.of(request.key)
        held = NOTHING_HELD
        if own and request.operation == UPDATE:
            held = Held(room=True, begun=any(one.begun for one in own), cluster=own[-1].cluster)
        pending = held.room and not held.begun
        standing = self.reservations
        if (request.operation in (CREATE, DELETE) or pending) and not request.subresource:
            standing = standing.without(request.key)
        strictness = self._rules.strictness if enforced else None
        home = frozenset(one.cluster for one in own) if request.operation == UPDATE else frozenset()
        asking = _Asking(self, standing, home, now, ticket)
        decision = review(request, self._rules.catalog, asking.ask, strictness, held, asking.clusters)
        if not request.dry_run and (ticket.claim() or request.operation == DELETE):
            self.reservations = self._kept(standing, request, decision, now)
        return decision

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
        return tuple(self._charged(latest, standing.on(latest.name), now) for latest in self._latest)

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
            return standing
        if decision.ended:
            return self.reservations.without(request.key)
        made = self._hold(request, decision, now)
        before = sum(one.pods for one in self.reservations.of(request.key))
        if before and (made is None or (request.operation == CREATE and made.pods < before)):
            return self.reservations.resized(request.key, decision.growth)
        fewer = {role: pods for role, pods in decision.growth.items() if pods < 0}
        return standing if made is None else standing.resized(request.key, fewer).plus(made)

    def _hold(self, request: Request, decision: Decision, now: datetime) -> Hold | None:
        advice = decision.advice
        if advice is None or advice.chosen is None or advice.answer.choice is None or not decision.holds:
            return None
        trial = advice.chosen
        return hold(
            request.key,
            self._seen[trial.cluster.name],
            advice.answer.choice.placement or Placement({}),
            trial.shapes,
            trial.diagnosis.charges,
            now,
            now + timedelta(seconds=self._rules.expiry),
            trial.stages,
            self._appeared,
        )


def _homes(workload: Workload, clusters: tuple[ClusterSnapshot, ...]) -> frozenset[str]:
    """Clusters where pods are that look like those of the workload."""
    return frozenset(cluster.name for cluster in clusters if _is_home(workload.on(cluster.name), cluster))


def _is_home(workload: Workload, cluster: ClusterSnapshot) -> bool:
    wanted = [set(role.template.labels) for role in workload.roles if role.template.labels]
    return any(
        pods.namespace == workload.namespace and any(labels <= set(pods.labels) for labels in wanted)
        for pods in cluster.pods
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """One review's way to advice."""

    desk: Desk
    standing: Reservations
    home: frozenset[str]
    now: datetime
    ticket: Ticket

    def clusters(self) -> tuple[ClusterSnapshot, ...]:
        return self.desk.snapshots(self.standing, self.now)

    def ask(self, workload: Workload, additional: bool) -> Advice:
        """What joins an object that is, or is expected, somewhere has to go there too."""
        clusters = self.clusters()
        home = self.home or (_homes(workload, clusters) if additional else frozenset())
        clusters = tuple(one for one in clusters if not home or one.name in home)
        question = self.desk.question((workload,), clusters, self.now, thorough=False)
        return self.desk.advice(workload, question, self.ticket)
