"""TYPE/NAME, as kubectl has it: objects of one live cluster, with the pods that came of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from advisor.cluster import Gap, Looked
from advisor.commands import definitions, fleet, manifests
from advisor.commands.given import Clusters, Manifests
from advisor.definitions import observed, reading, variants
from advisor.definitions.catalog import Catalog
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster
from advisor.errors import Fault, Faults, InputError, Where
from advisor.files import Document, Source
from advisor.kube import kubeconfig, lookup, owned, resources
from advisor.kube.client import Access, Api
from advisor.kube.deadline import Deadline
from advisor.kube.failure import NOT_FOUND, ApiError
from advisor.kube.resources import Resource
from advisor.kube.summarise import nothing
from advisor.workload import Note, Reference, Workload

_NAMED = re.compile(r"(?P<type>[A-Za-z][A-Za-z0-9.-]*)/(?P<name>[A-Za-z0-9][A-Za-z0-9.-]*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Found:
    """An object of the cluster, as a document and with its pods."""

    document: Document
    pods: owned.Pods


def are_meant(given: Manifests) -> bool:
    """Are these names of objects? A word that is a path of something is a manifest."""
    words = given.sources
    return bool(words) and all(_NAMED.fullmatch(word) and not Path(word).exists() for word in words)


def workloads(given: Manifests, looking: Clusters) -> tuple[Workload, ...]:
    """The objects named, with their state. Raises InputError: all faults of all of them at once."""
    context, usual = _context(looking)
    namespace = given.namespace or usual or fleet.NAMESPACE
    catalog = definitions.catalog(given.definition)
    try:
        with Access(context, looking.impersonate).open(Deadline(looking.timeout or fleet.TIMEOUT)) as api:
            found = _all(api, given.sources, namespace)
            further = manifests.documents(given.beside) if given.beside else ()
            return _workloads(found, namespace, _Door(api, context.name, catalog, further))
    except ApiError as error:
        raise InputError(f"cluster {context.name}: {error.text}") from None


def _workloads(found: Sequence[Found], namespace: str, door: _Door) -> tuple[Workload, ...]:
    faults = Faults()
    read: list[Workload] = []
    for one in found:
        with faults.collect(), one.document.faults():
            read.append(_workload(one, namespace, door))
    faults.raise_if_any()
    return tuple(read)


@dataclass(frozen=True, slots=True)
class _Door:
    """The cluster and its name, to look up what an object refers to, and where else that may stand."""

    api: Api
    name: str
    catalog: Catalog
    further: Sequence[Document] = ()

    def read(self, document: Document, namespace: str, held: InCluster = NOTHING_LOOKED_UP) -> reading.Reading:
        return reading.read([document], self.catalog, namespace, self.further, held)

    def referring(self, document: Document, namespace: str, first: Workload) -> Workload:
        """The workload with the objects that it depends on, as far as the cluster has them. Raises ApiError."""
        workload, asked = first, set[Reference]()
        looked: list[Looked | Gap] = []
        while further := [one for one in variants.sought([workload]) if one not in asked]:
            asked |= {*further}
            looked += lookup.looked_up(self.api, further)
            there = replace(nothing(self.name, ()), looked_up=tuple(one for one in looked if isinstance(one, Looked)))
            again = partial(self._again, document, namespace)
            (workload,) = variants.on_clusters([first], again, [there])
        notes = tuple(Note("missing-reference", one.text, warns=True) for one in looked if isinstance(one, Gap))
        workload = workload.on(self.name)
        return replace(workload, notes=(*workload.notes, *notes))

    def _again(self, document: Document, namespace: str, held: InCluster) -> Sequence[Workload]:
        return self.read(document, namespace, held).workloads


def _context(looking: Clusters) -> tuple[kubeconfig.Context, str]:
    """The context and its namespace."""
    if len(looking.context) > 1:
        raise InputError("an object is of one cluster", hint="name one --context")
    loaded = kubeconfig.load(looking.kubeconfig)
    context = loaded.context(looking.context[0] if looking.context else "")
    return context, loaded.namespace(context.name)


def _all(api: Api, words: Sequence[str], namespace: str) -> list[Found]:
    """Raises ApiError, and InputError for types that the server does not have."""
    served = resources.served(api)
    faults = Faults()
    found = []
    for word in words:
        with faults.collect():
            found.append(_one(api, served, word, namespace))
    faults.raise_if_any()
    return found


def _one(api: Api, served: Sequence[Resource], word: str, namespace: str) -> Found:
    named = _NAMED.fullmatch(word)
    assert named
    resource = resources.called(served, named["type"])
    if not resource.namespaced:
        raise InputError(f"{resource.kind} is no kind that pods come of")
    try:
        data = owned.read(api, resource, namespace, named["name"])
    except ApiError as error:
        if error.cause != NOT_FOUND:
            raise
        raise InputError(f'there is no {resource.title} "{named["name"]}" in namespace {namespace}') from None
    pods = owned.pods_of(api, served, data)
    title = f"{resource.title}/{named['name']}"
    return Found(Document(data, Source(title, ""), 0, Where(title)), pods)


def _workload(found: Found, namespace: str, door: _Door) -> Workload:
    read = door.read(found.document, namespace)
    if read.missing:
        raise InputError.of(read.missing)
    if not read.workloads:
        kind = found.document.data.get("kind")
        fault = Fault(f"there is no definition for {kind}", hint=reading.HINT, code="no-definition")
        raise InputError.of([fault])
    (workload,) = read.workloads
    workload = door.referring(found.document, namespace, workload)
    if workload.faults or workload.is_open:
        return workload
    state = observed.state(found.document, workload, door.catalog, found.pods.pods)
    return replace(workload, state=replace(state, unread=found.pods.unread))
