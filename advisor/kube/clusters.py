"""The entries of clusters.yaml, and the sources that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from advisor.errors import Fault, Faults, InputError
from advisor.files import Document
from advisor.kube.client import Access
from advisor.kube.collect import Live, Source
from advisor.kube.kubeconfig import Kubeconfig, load
from advisor.kube.recorded import Recorded
from advisor.labels import Labels
from advisor.question import Policy

Loader = Callable[[tuple[str, ...]], Kubeconfig]


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """One cluster: behind a kubeconfig (`kubeconfig`, `context`, or both), `in_cluster`, or in a `snapshot`.

    price       cost of an accelerator-hour by product
    creates_namespaces   is a namespace that is missing there taken to be created on submission?
    """

    name: str
    kubeconfig: Path | None = None
    context: str = ""
    in_cluster: bool = False
    snapshot: Path | None = None
    labels: Labels = ()
    price: Mapping[str, float] = field(default_factory=dict)
    creates_namespaces: bool = False


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A whole clusters.yaml; `document` is what it was read from, to say on which line something is wrong."""

    document: Document = field(repr=False)
    clusters: tuple[ClusterEntry, ...]
    timeout: float = 20.0
    max_age: float = 30.0
    policy: Policy = field(default_factory=Policy)

    @property
    def assume_namespaces(self) -> frozenset[str]:
        """The clusters where a missing namespace is no obstacle."""
        return frozenset(entry.name for entry in self.clusters if entry.creates_namespaces)


def sources(file: ClusterFile, *, impersonate: str = "", timeout: float | None = None) -> tuple[Source, ...]:
    """What to read for each entry. Raises InputError for kubeconfigs and contexts that are not there, all at once."""
    faults = Faults()
    found: list[Source] = []
    loaded = cache(load)
    with file.document.faults():
        for position, entry in enumerate(file.clusters):
            with faults.collect("clusters", position):
                found.append(_source(entry, loaded, impersonate, timeout or file.timeout))
        faults.raise_if_any()
    return tuple(found)


def _source(entry: ClusterEntry, loaded: Loader, impersonate: str, timeout: float) -> Source:
    if entry.snapshot:
        return Recorded(entry.name, entry.snapshot, entry.labels)
    return Live(entry.name, access(entry, loaded, impersonate), timeout, entry.labels)


def access(entry: ClusterEntry, loaded: Loader = load, impersonate: str = "") -> Access:
    """The way to a live cluster. Raises InputError for a kubeconfig or a context that is not there."""
    if entry.in_cluster:
        return Access(None, impersonate)
    with _said_of("kubeconfig" if entry.kubeconfig else "context"):
        kubeconfig = loaded((str(entry.kubeconfig),) if entry.kubeconfig else ())
    with _said_of("context" if entry.context else "kubeconfig"):
        return Access(kubeconfig.context(entry.context), impersonate)


@contextmanager
def _said_of(step: str) -> Iterator[None]:
    """Faults of a kubeconfig have a place of their own; here they are said of the line that names it."""
    try:
        yield
    except InputError as error:
        faults = [Fault(str(replace(fault, hint="")), (step,), hint=fault.hint) for fault in error.faults]
        raise InputError.of(faults) from None


def of_contexts(
    kubeconfig: Kubeconfig, contexts: Sequence[str] = (), *, impersonate: str = "", timeout: float = 20.0
) -> tuple[Source, ...]:
    """Live sources named after contexts: the given ones, or all of the kubeconfig. Raises InputError."""
    faults = Faults()
    found: list[Source] = []
    for name in dict.fromkeys(contexts or kubeconfig.contexts):
        with faults.collect():
            found.append(Live(name, Access(kubeconfig.context(name), impersonate), timeout))
    faults.raise_if_any()
    return tuple(found)
