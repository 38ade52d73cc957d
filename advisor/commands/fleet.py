"""Which clusters are looked at: a clusters.yaml, contexts of a kubeconfig, recordings, and what goes together.

Planning reads files and contacts nobody, so that a wrong flag is said before anything takes time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from advisor import files
from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Gap
from advisor.commands.given import Clusters
from advisor.errors import Fault, Faults, InputError, Where
from advisor.kube import clusters, kubeconfig, recorded, schema
from advisor.kube.clusters import ClusterEntry, ClusterFile
from advisor.kube.collect import CLUSTER, Source
from advisor.kube.conversation import Needs
from advisor.kube.kubeconfig import Kubeconfig
from advisor.kube.progress import Progress
from advisor.labels import Labels
from advisor.question import Policy
from advisor.render.ages import duration
from advisor.workload import Reference

DEFAULT_FILE = "clusters.yaml"
VARIABLE = "WM_PLACE_CLUSTERS"
TIMEOUT = 20.0
NAMESPACE = "default"
ADVICE = "name clusters with --clusters FILE, --from-snapshot PATH or --kubeconfig FILE"


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded cluster that is in memory already, as a source."""

    snapshot: ClusterSnapshot
    labels: Labels = ()

    @property
    def name(self) -> str:
        return self.snapshot.name

    def read(self, needs: Needs, accelerators: Accelerators, progress: Progress) -> ClusterSnapshot:
        return replace(self.snapshot, labels=self.labels)


@dataclass(frozen=True, slots=True)
class Fleet:
    """Where the clusters come from. `kubeconfig` is None where no cluster is named by its context alone."""

    given: Clusters
    file: ClusterFile | None = None
    kubeconfig: Kubeconfig | None = None

    @property
    def policy(self) -> Policy:
        return self.file.policy if self.file else Policy()

    @property
    def assume_namespaces(self) -> frozenset[str]:
        return self.file.assume_namespaces if self.file else frozenset()

    @property
    def max_age(self) -> float | None:
        """Only where the file says one: its default is for data that is kept up to date, not for recordings."""
        if self.file and "maxAge" in (self.file.document.data.get("defaults") or {}):
            return self.file.max_age
        return None

    @property
    def origin(self) -> str:
        """Where the clusters come from, in words."""
        if self.file:
            return f"clusters are those of {self.file.document.source.name}"
        if self.kubeconfig:
            return f"clusters are contexts of {', '.join(self.kubeconfig.files)}"
        return "clusters are the recordings named"

    @property
    def namespace(self) -> str:
        """That of the one context in question, else of the current one; without a kubeconfig, the common default."""
        if self.kubeconfig is None:
            return NAMESPACE
        context = self.given.context[0] if len(self.given.context) == 1 else self.kubeconfig.current
        return self.kubeconfig.namespace(context) or NAMESPACE

    def sources(self, accelerators: Accelerators, referred: Sequence[Reference] = ()) -> tuple[Source, ...]:
        """What to read for each cluster; recordings named by a flag are read here. Raises InputError.

        `referred`: objects that workloads depend on.
        """
        recordings = _recordings(self.given.from_snapshot, accelerators, Needs(references=tuple(referred)))
        listed = self._of_file(recordings)
        names = {source.name for source in listed}
        further = [recording for recording in recordings if recording.name not in names]
        return _distinct((*listed, *self._of_contexts(), *further))

    def _of_file(self, recordings: Sequence[Recording]) -> list[Source]:
        """The entries; a recording of the same name stands in for one whose cluster shall not be asked."""
        if self.file is None:
            return []
        instead = {recording.name: recording for recording in recordings}
        entries = tuple(_not_asked(entry) if entry.name in instead else entry for entry in self.file.clusters)
        found = clusters.sources(
            replace(self.file, clusters=entries), impersonate=self.given.impersonate, timeout=self.given.timeout
        )
        return [
            replace(instead[entry.name], labels=entry.labels) if entry.name in instead else source
            for entry, source in zip(entries, found, strict=True)
        ]

    def _of_contexts(self) -> tuple[Source, ...]:
        if self.kubeconfig is None:
            return ()
        found = clusters.of_contexts(
            self.kubeconfig,
            self.given.context,
            impersonate=self.given.impersonate,
            timeout=self.given.timeout or TIMEOUT,
        )
        if not found:
            raise InputError(f"there is no context in {', '.join(self.kubeconfig.files)}", hint=ADVICE)
        return found


def plan(given: Clusters) -> Fleet:
    """Raises InputError for flags that contradict each other, and for files that cannot be used."""
    contradictions = list(_contradictions(given))
    if contradictions:
        raise InputError.of(contradictions)
    path = _file(given)
    if path:
        return Fleet(given, file=_cluster_file(path))
    if given.from_snapshot and not (given.context or given.all_contexts):
        return Fleet(given)
    return Fleet(given, kubeconfig=_kubeconfig(given))


def _contradictions(given: Clusters) -> Iterator[Fault]:
    own = "each entry of the file says where its cluster is: take one of the two"
    exclusive = (
        ("--clusters", given.clusters, "--context", given.context, own),
        ("--clusters", given.clusters, "--all-contexts", given.all_contexts, own),
        ("--clusters", given.clusters, "--kubeconfig", given.kubeconfig, own),
        ("--context", given.context, "--all-contexts", given.all_contexts, "take one of the two"),
    )
    for one, is_one, other, is_other, hint in exclusive:
        if is_one and is_other:
            yield Fault(f"{_named(one)} and {_named(other)} contradict each other", hint=hint)
    if given.from_snapshot and given.kubeconfig and not (given.context or given.all_contexts or given.clusters):
        hint = "to look at live clusters beside the recordings, add --context NAME or --all-contexts"
        yield Fault(f"{_named('--kubeconfig')} has no effect beside --from-snapshot alone", hint=hint)


def _named(option: str) -> str:
    """The option, and the variable by which it may have been given instead; the file's own is only a default."""
    variable = f"WM_PLACE_{option.removeprefix('--').replace('-', '_').upper()}"
    return f"{option} (${variable})" if variable != VARIABLE and os.environ.get(variable) else option


def _file(given: Clusters) -> str:
    """The clusters.yaml that applies: the one named, else the usual ones where nothing else names clusters."""
    if given.clusters:
        return given.clusters
    if given.from_snapshot or given.context or given.all_contexts or given.kubeconfig:
        return ""
    stated = os.environ.get(VARIABLE, "")
    return DEFAULT_FILE if Path(DEFAULT_FILE).exists() else stated and str(Path(stated).expanduser())


def _cluster_file(path: str) -> ClusterFile:
    found = files.documents(files.read(path))
    if len(found) != 1:
        raise InputError.of([Fault(f"holds {len(found)} documents, a ClusterList is one", where=Where(path))])
    (document,) = found
    return schema.cluster_file(document)


def _kubeconfig(given: Clusters) -> Kubeconfig:
    try:
        return kubeconfig.load(given.kubeconfig)
    except InputError as error:
        if given.kubeconfig or given.context or given.all_contexts:
            raise
        raise InputError.of([replace(fault, hint=fault.hint and ADVICE) for fault in error.faults]) from None


def _not_asked(entry: ClusterEntry) -> ClusterEntry:
    return replace(entry, kubeconfig=None, context="", in_cluster=False, snapshot=Path(entry.name))


def _recordings(arguments: Sequence[str], accelerators: Accelerators, needs: Needs) -> list[Recording]:
    """The clusters of `[NAME=]PATH`, all of a file that holds several."""
    faults = Faults()
    found: list[Recording] = []
    for argument in arguments:
        name, path = recorded.named(argument)
        with faults.collect():
            if name:
                source = recorded.Recorded(name, path)
                found.append(Recording(source.read(needs, accelerators, lambda *_: None)))
            else:
                found += map(Recording, recorded.read(path, accelerators, needs.types))
    faults.raise_if_any()
    return found


def _distinct(sources: tuple[Source, ...]) -> tuple[Source, ...]:
    names = [source.name for source in sources]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        hint = "give one of them another: --from-snapshot NAME=PATH"
        raise InputError(f"several clusters have the name {', '.join(twice)}", hint=hint)
    return sources


def with_stale_as_unknown(snapshot: ClusterSnapshot, now: datetime, limit: float) -> ClusterSnapshot:
    """Data that is too old says nothing of the cluster as it is."""
    if snapshot.gap(CLUSTER) or (snapshot.taken_at and (now - snapshot.taken_at).total_seconds() <= limit):
        return snapshot
    age = f"is {duration((now - snapshot.taken_at).total_seconds())} old" if snapshot.taken_at else "has no known age"
    gap = Gap(CLUSTER, "stale", f"what was read of it {age}, no more than {duration(limit)} is allowed")
    return replace(snapshot, gaps=(gap, *snapshot.gaps))
