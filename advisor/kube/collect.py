"""Clusters to snapshots, all at once; one that cannot be read is a snapshot with a `Gap`, never an exception."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Gap, Looked
from advisor.errors import InputError
from advisor.kube import decode, kinds
from advisor.kube.ahead import ahead
from advisor.kube.client import Access, Api
from advisor.kube.conversation import (
    Done,
    Event,
    Found,
    Groups,
    Missed,
    Needs,
    Part,
    Version,
    conversation,
    is_served,
    nodes_again,
)
from advisor.kube.deadline import Deadline
from advisor.kube.failure import INVALID, ApiError
from advisor.kube.kinds import Kind
from advisor.kube.progress import Progress, silent
from advisor.kube.summarise import Summary, nothing
from advisor.labels import Labels

AT_ONCE = 16
"""Clusters read at the same time; each has two threads, and decoding shares one core anyway."""

CLUSTER = "cluster"
ESSENTIAL = (kinds.NODE, kinds.POD)


class Source(Protocol):
    """Where a snapshot comes from: a live cluster, a recorded one, or a test's own."""

    @property
    def name(self) -> str: ...

    def read(self, needs: Needs, accelerators: Accelerators, progress: Progress) -> ClusterSnapshot: ...


@dataclass(frozen=True, slots=True)
class Live:
    """A cluster behind an API server. `timeout`: seconds for everything together, the login included."""

    name: str
    access: Access
    timeout: float = 20.0
    labels: Labels = ()

    def read(self, needs: Needs, accelerators: Accelerators, progress: Progress) -> ClusterSnapshot:
        reading = _Reading(self.name, needs, accelerators, progress)
        try:
            reading.converse(self.access, Deadline(self.timeout))
        except ApiError as error:
            reading.break_off(error)
        return replace(reading.snapshot(), labels=self.labels)


def through(api: Api, name: str, needs: Needs, accelerators: Accelerators) -> ClusterSnapshot:
    """A cluster whose door is open already."""
    reading = _Reading(name, needs, accelerators, silent)
    reading.listen(conversation(api, needs))
    return reading.snapshot()


class _Reading:
    """What one conversation has told so far."""

    def __init__(self, name: str, needs: Needs, accelerators: Accelerators, progress: Progress) -> None:
        self._name, self._needs, self._progress = name, needs, progress
        self._summary = Summary(accelerators)
        self._began = datetime.now(UTC)
        self._version = ""
        self._groups: Groups | None = None
        self._gaps: dict[str, Gap] = {}
        self._done: set[Kind] = set()
        self._counts: dict[Kind, int] = {}
        self._looked_up: list[Looked] = []

    def converse(self, access: Access, deadline: Deadline) -> None:
        """Raises ApiError when the server, or the time, gives out."""
        (api,) = ahead(_opened(access, deadline), deadline)
        with api:
            for event in ahead(conversation(api, self._needs), deadline):
                self._take(event)
            if self._done.issuperset(ESSENTIAL) and self._summary.unlisted_nodes():
                self._done.remove(kinds.NODE)
                for event in ahead(nodes_again(api), deadline):
                    self._take(event)
                self._done.add(kinds.NODE)

    def listen(self, events: Iterable[Event]) -> None:
        """To all of them, until the server gives out."""
        try:
            for event in events:
                self._take(event)
        except ApiError as error:
            self.break_off(error)

    def _take(self, event: Event) -> None:
        match event:
            case Version(text):
                self._version = text
            case Groups():
                self._groups = event
            case Part():
                self._fold(event)
            case Missed(gap):
                self._gaps[gap.what] = gap
            case Done(kind):
                self._done.add(kind)
            case Found(looked):
                self._looked_up.append(looked)

    def _fold(self, part: Part) -> None:
        kind, page = part.kind, part.page
        if page.first:
            self._summary.begin(kind, part.namespace)
            self._counts[kind] = 0
        try:
            objects = decode.objects(kind, page.body)
            self._summary.add(kind, objects, part.namespace)
        except InputError as error:
            text = f"the API server's list cannot be understood: {'; '.join(str(fault) for fault in error.faults)}"
            self._gaps[kind.plural] = Gap(kind.plural, INVALID, text)
            return
        self._counts[kind] += len(objects)
        self._progress(self._name, kind.plural, self._counts[kind])

    def break_off(self, error: ApiError) -> None:
        """Nothing more will come. Without nodes and pods nothing of the cluster is known."""
        for kind in self._needs.kinds:
            expected = not kind.optional or self._needs.alone or is_served(kind, self._groups)
            if kind not in self._done and expected:
                self._gaps.setdefault(kind.plural, Gap(kind.plural, error.cause, error.text))
        for reference in self._needs.references[len(self._looked_up) :]:
            self._gaps.setdefault(reference.type, Gap(reference.type, error.cause, error.text))
        if not self._needs.alone and not self._done.issuperset(ESSENTIAL):
            self._gaps = {CLUSTER: Gap(CLUSTER, error.cause, error.text)}

    def snapshot(self) -> ClusterSnapshot:
        gaps = tuple(self._gaps[what] for what in sorted(self._gaps))
        if any(what in self._gaps for what in (CLUSTER, *(kind.plural for kind in ESSENTIAL))):
            return replace(nothing(self._name, gaps), taken_at=self._began, version=self._version)
        return self._summary.snapshot(
            self._name,
            self._began,
            version=self._version,
            api_groups=frozenset(self._groups.preferred) if self._groups else None,
            api_versions=self._groups.versions if self._groups else None,
            scope=self._needs.namespaces,
            looked_up=tuple(self._looked_up),
            gaps=gaps,
        )


def supplemented(cluster: ClusterSnapshot, more: ClusterSnapshot) -> ClusterSnapshot:
    """With what was looked up of it later."""
    known = {gap.what for gap in cluster.gaps}
    return replace(
        cluster,
        looked_up=tuple(dict.fromkeys((*cluster.looked_up, *more.looked_up))),
        gaps=(*cluster.gaps, *(gap for gap in more.gaps if gap.what not in known)),
    )


def _opened(access: Access, deadline: Deadline) -> Iterator[Api]:
    yield access.open(deadline)


def collect(
    sources: Sequence[Source], needs: Needs, accelerators: Accelerators, progress: Progress = silent
) -> tuple[ClusterSnapshot, ...]:
    """The snapshots, in the order of their sources. Raises InputError for a recorded file that cannot be used."""
    jobs = queue.SimpleQueue[tuple[int, Source]]()
    results = queue.SimpleQueue[tuple[int, ClusterSnapshot | BaseException]]()
    for job in enumerate(sources):
        jobs.put(job)

    def work() -> None:
        while True:
            try:
                position, source = jobs.get_nowait()
            except queue.Empty:
                return
            try:
                results.put((position, source.read(needs, accelerators, progress)))
            except BaseException as error:  # noqa: BLE001 - it crosses to the thread that asked, which raises it
                results.put((position, error))

    for _ in range(min(AT_ONCE, len(sources))):
        threading.Thread(target=work, daemon=True).start()
    found: dict[int, ClusterSnapshot] = {}
    for _ in sources:
        position, result = results.get()
        if isinstance(result, BaseException):
            raise result
        found[position] = result
    return tuple(found[position] for position in sorted(found))
