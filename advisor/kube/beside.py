"""Objects that a manifest brings along beside its workloads, laid over a cluster that does not have them yet.

A file that creates its own Namespace, PriorityClass or claim must not be told that these are missing. What the cluster
has already counts; only what it lacks is added, as it will be right after creation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Quota
from advisor.errors import InputError
from advisor.files import Document
from advisor.kube import decode, kinds
from advisor.kube.kinds import Kind
from advisor.kube.summarise import Summary

T = TypeVar("T")

BROUGHT = (
    kinds.NAMESPACE,
    kinds.RESOURCE_QUOTA,
    kinds.LIMIT_RANGE,
    kinds.PRIORITY_CLASS,
    kinds.RUNTIME_CLASS,
    kinds.CLAIM,
)


def brought(documents: Iterable[Document], namespace: str) -> ClusterSnapshot:
    """The files' own objects as the snapshot of a cluster without nodes; `namespace` is for those that name none.

    Raises InputError for one that cannot be understood, with its file and line.
    """
    summary = Summary(Accelerators())
    for document in documents:
        kind = _kind(document)
        if kind:
            with document.faults(), _without_name(kind):
                _add(summary, kind, document, namespace)
    return summary.snapshot("the manifests", None)


def _kind(document: Document) -> Kind | None:
    data = document.data
    if not isinstance(data, dict):
        return None
    group = str(data.get("apiVersion", "")).rpartition("/")[0]
    found = kinds.known(group, str(data.get("kind", "")))
    return found if found in BROUGHT else None


def _add(summary: Summary, kind: Kind, document: Document, namespace: str) -> None:
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise InputError("is required", path=("metadata", "name"))
    own = {"namespace": namespace} if kind.namespaced and not metadata.get("namespace") else {}
    body = json.dumps({**document.data, "metadata": {**metadata, **own}, "status": {}}).encode()
    if not summary.begun(kind):
        summary.begin(kind)
    summary.add(kind, (decode.one(kind, body),))


@contextmanager
def _without_name(kind: Kind) -> Iterator[None]:
    """Faults in a cluster's objects begin with kind and name; here the document is the object."""
    try:
        yield
    except InputError as error:
        error.faults = tuple(
            replace(fault, path=fault.path[2:]) if fault.path[:1] == (kind.name,) else fault for fault in error.faults
        )
        raise


def laid_over(cluster: ClusterSnapshot, new: ClusterSnapshot) -> ClusterSnapshot:
    """The cluster with what it lacks of the manifest's own objects."""
    known = {space.name for space in cluster.namespaces or ()}
    spaces = tuple(space for space in new.namespaces or () if space.name not in known)
    fresh = {space.name for space in spaces}
    return replace(
        cluster,
        namespaces=None if cluster.namespaces is None else (*cluster.namespaces, *spaces),
        quotas=(*cluster.quotas, *(_created(one, fresh) for one in _missing(cluster.quotas, new.quotas))),
        limit_ranges=(*cluster.limit_ranges, *_missing(cluster.limit_ranges, new.limit_ranges)),
        priority_classes=(*cluster.priority_classes, *_missing(cluster.priority_classes, new.priority_classes)),
        runtime_classes=(*cluster.runtime_classes, *_missing(cluster.runtime_classes, new.runtime_classes)),
        volume_claims=(*cluster.volume_claims, *_missing(cluster.volume_claims, new.volume_claims)),
    )


def _created(quota: Quota, fresh: set[str]) -> Quota:
    """In a namespace that is made with it a quota starts unused; elsewhere its use is worked out by the cluster."""
    return replace(quota, used={}) if quota.namespace in fresh else quota


def _missing(there: Sequence[T], new: Sequence[T]) -> list[T]:
    names = {_name(one) for one in there}
    return [one for one in new if _name(one) not in names]


def _name(one: object) -> tuple[str, str]:
    return getattr(one, "namespace", ""), str(getattr(one, "name", ""))
