"""One manifest before its controller: created, watched until nothing comes any more, compared."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.workload import Workload
from tests.judges import compare, described, manifests, pods, surroundings
from tests.judges.manifests import Kind, Manifest
from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.objects import Object, Objects

QUIET = 8.0
"""Seconds without a change after which no more pods are expected: operators look again every 2 to 5 s."""
PATIENCE = 4
"""How many times longer it waits while there are not as many pods as we say: what was refused is tried ever later."""
LIMIT = 150.0
EVERY = 0.7
HEARD = 5
"""How often what a webhook refused is tried again."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the controller made of one object of a kind.

    `differences`: where it disagrees with us; `argued`: where it does and its source says why.
    """

    kind: Kind
    name: str
    pods: int
    differences: tuple[str, ...]
    argued: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a manifest. `refused`: why there is nothing to compare, or nothing to argue any more."""

    manifest: Manifest
    findings: tuple[Finding, ...] = ()
    refused: tuple[str, ...] = ()
    events: tuple[str, ...] = field(default=(), compare=False)

    @property
    def differences(self) -> list[str]:
        unread = () if self.findings or self.refused else (f"we read no {self.manifest.kind} in it",)
        return [*self.refused, *unread, *(text for one in self.findings for text in one.differences)]


class Trial:
    def __init__(self, server: ApiServer, manifest: Manifest, namespace: str) -> None:
        self._server, self._manifest = server, manifest
        self._documents = manifests.placed(manifest.documents(), namespace)
        self._read = reading.read(self._documents, Catalog()).workloads
        self._argued = manifests.argued().get(manifest.key, [])
        self._refused: list[str] = []
        self._made: dict[int, Object] = {}

    def held(self) -> Verdict:
        objects = [document.data for document in self._documents]
        for obj in surroundings.needed(objects):
            self._create(obj)
        for number, obj in enumerate(objects):
            made = self._create(obj)
            if made:
                self._made[number] = made
        if not self._refused:
            self._settle()
        findings, events = tuple(self._findings()), tuple(self._events())
        return Verdict(self._manifest, findings, (*self._refused, *self._stale(findings)), events)

    def _create(self, obj: Object) -> Object | None:
        """What no controller here serves is left out: queues, monitors, what belongs to a cloud."""
        try:
            return self._admitted(obj)
        except LookupError:
            if self._manifest.kind.fits(obj):
                raise
        except RefusedError as refused:
            if refused.reason == "AlreadyExists":
                return self._again(obj)
            self._refused.append(f"refused: {refused}")
        return None

    def _admitted(self, obj: Object) -> Object:
        """Webhooks may not have heard yet of what was created a moment ago: what they refuse is tried again."""
        for _ in range(HEARD):
            try:
                return self._server.create(obj)
            except RefusedError as refused:
                if "admission webhook" not in str(refused):
                    raise
            time.sleep(EVERY)
        return self._server.create(obj)

    def _again(self, obj: Object) -> Object:
        """The same object twice: what kubectl apply would do. Of a cluster's own objects the first one stays."""
        if self._server.api.resource_of(obj).namespaced:
            return self._server.patch(obj, {key: value for key, value in obj.items() if key != "metadata"})
        return obj

    # -- until nothing changes any more

    def _settle(self) -> None:
        started = since = time.monotonic()
        announced = sum(workload.pods for number, workload in self._workloads() if number in self._made)
        before: list[tuple[str, str]] | None = None
        while time.monotonic() - started < LIMIT:
            time.sleep(EVERY)
            now = self._state()
            if now != before or not self._started():
                before, since = now, time.monotonic()
            patience = 1 if len(now) == announced else PATIENCE
            if time.monotonic() - since > QUIET * patience:
                return

    def _state(self) -> list[tuple[str, str]]:
        found = ((pod["metadata"]["uid"], pod["status"].get("phase")) for pod in self._pods())
        return sorted((uid, str(phase)) for uid, phase in found)

    def _started(self) -> bool:
        """Whether everything has begun: a schedule comes once a minute, and once is enough."""
        waiting = [obj for obj in self._made.values() if _scheduled(obj)]
        owners = pods.Owners(self._server)
        found = self._pods() if waiting else []
        for obj in waiting:
            if not pods.of(obj, found, owners):
                return False
            self._server.patch(obj, {"spec": {"suspend": True}})
        return True

    def _pods(self) -> Objects:
        return [pod for space in self._namespaces() for pod in self._server.list("pods", space)]

    def _namespaces(self) -> list[str]:
        return sorted({document.data["metadata"].get("namespace") for document in self._documents} - {None})

    # -- what came of it

    def _findings(self) -> Iterator[Finding]:
        catalog, kind = Catalog(), self._manifest.kind
        for number, workload in self._workloads():
            data, entry = self._documents[number].data, catalog.find(workload.api_version, workload.kind)
            if number in self._made and entry and kind.fits(data):
                made = self._made[number]
                own = self._own(made)
                said = compare.differences(workload, entry, own)
                said += described.differences(self._server, made, partial(self._own, made), workload)
                yield self._finding(workload.name, len(own), said)

    def _own(self, made: Object) -> Objects:
        return pods.of(made, self._pods(), pods.Owners(self._server))

    def _workloads(self) -> Iterator[tuple[int, Workload]]:
        """What we read, with the place of its object among the documents."""
        places = {document.where: number for number, document in enumerate(self._documents)}
        return ((places[workload.source], workload) for workload in self._read)

    def _finding(self, name: str, found: int, said: list[str]) -> Finding:
        known = {text: one for one in self._argued for text in said if text.startswith(one["text"])}
        argued = (f"{one['text']} {one['source']}: {one['why']}" for one in known.values())
        differences = tuple(text for text in said if text not in known)
        return Finding(self._manifest.kind, name, found, differences, tuple(dict.fromkeys(argued)))

    def _stale(self, findings: Iterable[Finding]) -> Iterator[str]:
        """Arguments for differences that are no more."""
        used = " ".join(text for finding in findings for text in finding.argued)
        for one in self._argued:
            if one["text"] not in used:
                yield f"argued.yaml: nothing begins with {one['text']!r} any more"

    def _events(self) -> Iterator[str]:
        """What went wrong on the way, for whoever reads a difference."""
        for space in self._namespaces():
            for event in self._server.list("events", space):
                if event.get("type") == "Warning":
                    yield f"{event['involvedObject']['kind']} {event['reason']}: {event.get('message', '')}"


def _scheduled(obj: Object) -> bool:
    return isinstance(obj.get("spec"), dict) and "schedule" in obj["spec"]
