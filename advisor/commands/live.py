"""TYPE/NAME, as kubectl has it: objects of one live cluster, with the pods that came of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from advisor.cluster import ClusterSnapshot, Gap, Looked
from advisor.commands import definitions, fleet, manifests, stored
from advisor.commands.given import Clusters, Manifests
from advisor.commands.stored import Settled
from advisor.definitions import observed, reading, variants
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Layer
from advisor.definitions.plain import group_and_kind
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster
from advisor.errors import Fault, Faults, InputError, Where
from advisor.files import Document, Source
from advisor.kube import kinds, kubeconfig, lookup, owned, resources
from advisor.kube.client import Access, Api
from advisor.kube.collect import through
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


@dataclass(frozen=True, slots=True)
class Seen:
    """The objects named, with their state, and what to know of the definitions that read them.

    `faults`: all of those of all of the objects, which are then none.
    """

    workloads: tuple[Workload, ...]
    warnings: tuple[Fault, ...] = ()
    faults: tuple[Fault, ...] = ()


def seen(given: Manifests, looking: Clusters) -> Seen:
    """Raises InputError for objects that cannot be had."""
    own = definitions.own(given.definition)
    with door(looking) as (api, usual, name):
        namespace = given.namespace or usual
        served = resources.served(api)
        found = _all(api, served, given.sources, namespace)
        further = manifests.documents(given.beside) if given.beside else ()
        return _seen(found, namespace, _Door(api, name, own, _definitions(api, name, served), further))


def _definitions(api: Api, name: str, served: Sequence[Resource]) -> ClusterSnapshot:
    """The cluster with its definitions, if it has the kinds for that. Raises ApiError."""
    if not any((one.group, one.plural) == (kind.group, kind.plural) for one in served for kind in kinds.DEFINITIONS):
        return nothing(name, ())
    return through(api, name, stored.NEEDS, definitions.accelerators())


def _seen(found: Sequence[Found], namespace: str, door: _Door) -> Seen:
    faults = Faults()
    read: list[Workload] = []
    warnings = list(stored.unread([door.cluster]))
    for one in found:
        with faults.collect(), one.document.faults():
            settled = door.settled(one.document, namespace)
            warnings += [*definitions.warnings(settled.catalog), *settled.warnings]
            read.append(_workload(one, namespace, replace(door, catalog=settled.catalog)))
    return Seen(() if faults.found else tuple(read), tuple(dict.fromkeys(warnings)), tuple(faults.found))


@dataclass(frozen=True, slots=True)
class _Door:
    """The cluster and its name, to look up what an object refers to, and where else that may stand.

    `own`: definitions that come before those of the cluster; `catalog`: what reads an object, once that is settled.
    """

    api: Api
    name: str
    own: tuple[Layer, ...]
    cluster: ClusterSnapshot
    further: Sequence[Document] = ()
    catalog: Catalog = field(default_factory=Catalog)

    def settled(self, document: Document, namespace: str) -> Settled:
        """Which definition reads the object: the user's, the cluster's or ours. Raises InputError."""

        def read(catalog: Catalog) -> reading.Reading:
            return reading.read([document], catalog, namespace, self.further)

        return stored.settled(self.own, [self.cluster], {group_and_kind(document.data)}, read)

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


@contextmanager
def door(looking: Clusters) -> Iterator[tuple[Api, str, str]]:
    """The one cluster, the namespace that is meant there, and its name. Raises InputError for what it does not tell."""
    cluster, namespace = context(looking)
    try:
        with Access(cluster, looking.impersonate).open(Deadline(looking.timeout or fleet.TIMEOUT)) as api:
            yield api, namespace or fleet.NAMESPACE, cluster.name
    except ApiError as error:
        raise InputError(f"cluster {cluster.name}: {error.text}") from None


def context(looking: Clusters) -> tuple[kubeconfig.Context, str]:
    """The context and its namespace."""
    if len(looking.context) > 1:
        raise InputError("an object is of one cluster", hint="name one --context")
    loaded = kubeconfig.load(looking.kubeconfig)
    found = loaded.context(looking.context[0] if looking.context else "")
    return found, loaded.namespace(found.name)


def _all(api: Api, served: Sequence[Resource], words: Sequence[str], namespace: str) -> list[Found]:
    """Raises ApiError, and InputError for types that the server does not have."""
    faults = Faults()
    found = []
    for word in words:
        with faults.collect():
            found.append(find(api, served, word, namespace))
    faults.raise_if_any()
    return found


def find(api: Api, served: Sequence[Resource], word: str, namespace: str) -> Found:
    """One object with its pods. Raises ApiError, and InputError for what is not there."""
    named = _NAMED.fullmatch(word)
    if not named:
        raise InputError(f'"{word}" is not TYPE/NAME', hint="such as jobset/train")
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
    if workload.faults:
        return workload
    state = observed.state(found.document, workload, door.catalog, found.pods.pods)
    return replace(workload, state=replace(state, unread=found.pods.unread))
