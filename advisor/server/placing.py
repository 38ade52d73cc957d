"""The manifest in, the PlacementReport out: what the command line prints as JSON, over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from advisor import files
from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.commands import exits
from advisor.commands.watch import exit_code
from advisor.definitions import reading, variants
from advisor.definitions.catalog import Catalog
from advisor.definitions.reading import Reading
from advisor.definitions.references import InCluster
from advisor.definitions.variants import Again
from advisor.errors import Fault, InputError
from advisor.kube import beside
from advisor.question import Question
from advisor.render import json
from advisor.server import size
from advisor.workload import Workload

MOST = 100
"""Workloads of one request; more would keep others waiting."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a body holds, and the objects that it brings along beside its workloads."""

    reading: Reading
    brought: ClusterSnapshot
    again: Again


def manifest(body: bytes, catalog: Catalog, namespace: str) -> Manifest:
    """Raises InputError with every fault of every document, also for a body without any workload."""
    documents = files.documents(files.decode(body, "body"))
    for document in reading.members(documents):
        with document.faults():
            size.check(document.data)
    found = reading.read(documents, catalog, namespace)
    faults = [*found.missing, *(fault for workload in found.workloads for fault in workload.faults)]
    if not found.workloads and not faults:
        faults = [Fault("holds no workload: there is no definition for what is in it", code="no-definition")]
    if len(found.workloads) > MOST:
        faults = [Fault(f"holds {len(found.workloads)} workloads, {MOST} at most are answered at once")]
    if faults:
        raise InputError.of(faults)

    def again(held: InCluster) -> Sequence[Workload]:
        return reading.read(documents, catalog, namespace, in_cluster=held).workloads

    return Manifest(found, beside.brought(reading.members(documents), namespace), again)


def report(asked: Manifest, question: Question) -> json.Tree:
    """`question`: that of the manifest's workloads, on clusters that know nothing of what it brings along."""
    clusters = tuple(beside.laid_over(cluster, asked.brought) for cluster in question.clusters)
    workloads = variants.on_clusters(question.workloads, asked.again, clusters)
    found = advise(replace(question, workloads=workloads, clusters=clusters))
    code = exits.worst(map(exit_code, found.answers))
    return json.placement_report(found, code, asked.reading.passed_over, _notes(clusters))


def _notes(clusters: Iterable[ClusterSnapshot]) -> dict[str, tuple[str, ...]]:
    return {cluster.name: cluster.notes for cluster in clusters}
