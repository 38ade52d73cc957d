"""The latest snapshot of every cluster, kept by reading them again and again, each in a thread of its own.

A cluster that hangs or refuses delays nobody else. What was read last stays in use while it is young enough; after that
the cluster is unknown, with the cause. Snapshots are replaced whole, under one lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Gap
from advisor.errors import InputError
from advisor.kube.collect import CLUSTER, Source
from advisor.kube.conversation import Needs
from advisor.kube.progress import silent
from advisor.kube.summarise import nothing
from advisor.render.ages import ESSENTIAL, duration
from advisor.workload import Reference

STALE = "stale"


@dataclass(frozen=True, slots=True)
class Latest:
    """What is known of one cluster: the last good snapshot, and the last attempt where that came to nothing.

    Both are None until the first attempt has ended.
    """

    name: str
    good: ClusterSnapshot | None = None
    failed: ClusterSnapshot | None = None

    @property
    def tried(self) -> bool:
        return bool(self.good or self.failed)

    @property
    def failure(self) -> Gap | None:
        """Why the last attempt failed; None while it did not."""
        return next((gap for gap in self.failed.gaps if gap.what in ESSENTIAL), None) if self.failed else None

    def age(self, now: datetime) -> float | None:
        """Seconds since the good snapshot was begun; None where there is none, or nobody knows when it was."""
        taken = self.good.taken_at if self.good else None
        return (now - taken).total_seconds() if taken else None

    def stale(self, now: datetime, max_age: float) -> bool:
        age = self.age(now)
        return self.good is not None and (age is None or age > max_age)

    def usable(self, now: datetime, max_age: float) -> ClusterSnapshot:
        """The snapshot to judge by; where it says nothing any more, or never did, with the gap that says why."""
        if self.good is None:
            return self.failed or nothing(self.name, (Gap(CLUSTER, "unread", "was not read yet"),))
        if not self.stale(now, max_age):
            return self.good
        return replace(self.good, gaps=(self._staleness(now), *self.good.gaps))

    def _staleness(self, now: datetime) -> Gap:
        age = self.age(now)
        read = "at an unknown time" if age is None else f"{duration(age)} ago"
        since = f"; since then: {self.failure.text}" if self.failure else ""
        return Gap(CLUSTER, STALE, f"was last read {read}{since}")


class Snapshots(Protocol):
    """Where the latest snapshots come from, however they are kept up to date."""

    def latest(self) -> tuple[Latest, ...]: ...


class Store:
    """Reads every source every `refresh` seconds. `changed` is called from the reading threads after every attempt.

    `referred`: kinds of objects to which workloads refer, which are read, too.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        accelerators: Accelerators,
        refresh: float,
        changed: Callable[[], object] = lambda: None,
        referred: Sequence[Reference] = (),
    ) -> None:
        self._sources = tuple(sources)
        self._accelerators = accelerators
        self._needs = Needs(references=tuple(referred))
        self._refresh = refresh
        self._changed = changed
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._latest = {source.name: Latest(source.name) for source in sources}

    def latest(self) -> tuple[Latest, ...]:
        with self._lock:
            return tuple(self._latest.values())

    def start(self) -> None:
        for place, source in enumerate(self._sources, start=1):
            first = self._refresh * place / len(self._sources)
            threading.Thread(target=self._keep, args=(source, first), name=source.name, daemon=True).start()

    def stop(self) -> None:
        """No further read is begun; one that hangs is left behind with its thread."""
        self._ended.set()

    def _keep(self, source: Source, pause: float) -> None:
        """The first pauses differ, so that not all clusters are read in the same moment."""
        self._put(self._read(source))
        while not self._ended.wait(pause):
            self._put(self._read(source))
            pause = self._refresh

    def _read(self, source: Source) -> ClusterSnapshot:
        try:
            return source.read(self._needs, self._accelerators, silent)
        except InputError as error:
            return nothing(source.name, (Gap(CLUSTER, "invalid", str(error.faults[0])),))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the thread without a word
            return nothing(source.name, (Gap(CLUSTER, "fault", f"a fault of wm-place: {type(error).__name__}"),))

    def _put(self, read: ClusterSnapshot) -> None:
        missed = any(read.gap(what) for what in ESSENTIAL)
        with self._lock:
            before = self._latest[read.name]
            self._latest[read.name] = replace(before, failed=read) if missed else Latest(read.name, read)
        if not self._ended.is_set():
            self._changed()
