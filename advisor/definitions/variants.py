"""A workload as each cluster would make it, where what its pods depend on is looked up in the cluster.

Pure: the objects were read with the snapshots. One cluster may have another runtime than the next, or none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from advisor.cluster import ClusterSnapshot, Looked
from advisor.definitions.references import Held
from advisor.workload import Reference, Workload

Again = Callable[[Mapping[Reference, Held]], Sequence[Workload]]
"""Reads the same workloads again, in their order, with what a cluster holds at hand."""

GENERATIONS = 4
"""How far a reference may lead to another one."""


def sought(workloads: Iterable[Workload]) -> tuple[Reference, ...]:
    """What has to be looked up in clusters, since it is not in the files; sorted."""
    found = {
        reference.within(workload.namespace)
        for one in workloads
        for workload in (one, *one.variants.values())
        for missing in workload.missing
        if not missing.absent
        for reference in missing.alternatives
    }
    return tuple(sorted(found))


def on_clusters(
    workloads: Sequence[Workload], again: Again, clusters: Iterable[ClusterSnapshot]
) -> tuple[Workload, ...]:
    """The workloads with their variants; where nothing has to be looked up they stay as they are."""
    if not sought(workloads):
        return tuple(workloads)
    known: dict[str, Sequence[Workload]] = {}
    made = {cluster.name: _made(workloads, again, cluster, known) for cluster in clusters}
    return tuple(
        replace(workload, variants={name: found[place] for name, found in made.items()})
        if workload.missing
        else workload
        for place, workload in enumerate(workloads)
    )


def _made(
    workloads: Sequence[Workload], again: Again, cluster: ClusterSnapshot, known: dict[str, Sequence[Workload]]
) -> Sequence[Workload]:
    """Clusters that hold the same are read for once (`known`)."""
    held: dict[Reference, Held] = {}
    for _ in range(GENERATIONS):
        new = {one: there for one in sought(workloads) if one not in held and (there := _held(one, cluster))}
        if not new:
            break
        held |= new
        key = repr(sorted(held.items()))
        workloads = known[key] if key in known else known.setdefault(key, again(held))
    return workloads


def _held(wanted: Reference, cluster: ClusterSnapshot) -> Held | None:
    """None where it was not looked up."""
    entries = [one for one in cluster.looked_up if _answers(one, wanted)]
    if not entries:
        return None
    objects = {text: None for one in entries for text in one.objects if _is(_parsed(text), wanted)}
    return Held(tuple(map(_parsed, objects)), any(one.whole for one in entries))


def _answers(looked: Looked, wanted: Reference) -> bool:
    return (
        (looked.group, looked.kind) == (wanted.group, wanted.kind)
        and looked.name in ("", wanted.name)
        and looked.namespace in ("", wanted.namespace)
    )


def _is(found: Any, wanted: Reference) -> bool:
    metadata = found["metadata"]
    return wanted.name in ("", metadata["name"]) and metadata.get("namespace") in (None, "", wanted.namespace)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Any:
    return json.loads(text)
