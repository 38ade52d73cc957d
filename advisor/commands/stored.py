"""Definitions that clusters hold (`kartas.run.ai`): they come before ours, and are read with the snapshots.

A definition is chosen once for all clusters, from the first that has one. Where it cannot read a manifest, that of the
next cluster is used, else ours: all describe one controller, and what cannot be read helps nobody. That, and all other
disagreements, are said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.definitions import layers
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Layer
from advisor.definitions.reading import Reading
from advisor.errors import Fault
from advisor.kube import kinds
from advisor.kube.collect import Source, collect
from advisor.kube.conversation import Needs
from advisor.quantity import canonical
from advisor.render.totals import total
from advisor.workload import Workload

NEEDS = Needs(namespaces=(), alone=True)
"""Definitions, and nothing else."""

CLUSTER = "cluster "
"""How the origin of a cluster's definition begins."""

Read = Callable[[Catalog], Reading]
GroupKind = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Settled:
    """The definitions to use, what they make of the files, and where clusters and we do not agree."""

    catalog: Catalog
    reading: Reading
    warnings: tuple[Fault, ...] = ()


def settled(
    own: Sequence[Layer], clusters: Sequence[ClusterSnapshot], targets: Collection[GroupKind], read: Read
) -> Settled:
    """`own`: definitions that come before those of clusters; `targets`: kinds that are in the files.

    Raises InputError as `read` does, and where a cluster has two definitions for a kind in question.
    """
    catalog = Catalog(own)
    first = read(catalog)
    held = of_clusters(clusters, targets, check=False)
    if not any(layer.entries or layer.faults for layer in held):
        return Settled(catalog, first)
    useless: list[Workload] = []
    while True:
        catalog = Catalog([*own, *held])
        found = read(catalog)
        worse = list(_worse(found, first, held))
        if not worse:
            return Settled(catalog, found, (*_not_used(useless, found), *_disagreements(found, first, held)))
        useless += worse
        held = tuple(_without(layer, worse) for layer in held)


def read(sources: Sequence[Source], accelerators: Accelerators) -> tuple[ClusterSnapshot, ...]:
    """The clusters with nothing but their definitions; recordings as they are. Raises InputError as `collect` does."""
    return collect(sources, NEEDS, accelerators)


def unread(clusters: Sequence[ClusterSnapshot]) -> Iterator[Fault]:
    """Clusters whose definitions are not known, each with the reason, said once."""
    plurals = {kind.plural for kind in kinds.DEFINITIONS}
    for cluster in clusters:
        texts = dict.fromkeys(gap.text for gap in cluster.gaps if gap.what in plurals)
        yield from (Fault(f"definitions of cluster {cluster.name} are not known: {text}") for text in texts)


def without(clusters: Sequence[ClusterSnapshot]) -> Iterator[Fault]:
    """Clusters that hold no definitions, which is as usual as that they do."""
    silent = {cluster.name for cluster in clusters if not cluster.definitions and not list(unread([cluster]))}
    yield from (Fault(f"cluster {name} has no definitions (kartas.run.ai)") for name in sorted(silent))


def of_clusters(
    clusters: Sequence[ClusterSnapshot], targets: Collection[GroupKind] | None = None, *, check: bool
) -> tuple[Layer, ...]:
    """A layer for each cluster that has definitions (of these kinds)."""
    found = ((cluster.name, list(_held(cluster, targets))) for cluster in clusters)
    return tuple(layers.from_cluster(name, objects, check=check) for name, objects in found if objects)


def _held(cluster: ClusterSnapshot, targets: Collection[GroupKind] | None) -> Iterator[Any]:
    for text in cluster.definitions:
        data = json.loads(text)
        if targets is None or _target(data) in targets:
            yield data


def _target(data: Any) -> GroupKind:
    """Whose definition it is, as far as it can be told before it is looked at."""
    for step in ("spec", "structureDefinition", "rootComponent", "kind"):
        data = data.get(step) if isinstance(data, dict) else None
    return (str(data.get("group", "")), str(data.get("kind", ""))) if isinstance(data, dict) else ("", "")


def _without(layer: Layer, useless: Sequence[Workload]) -> Layer:
    """Less the definitions by which these were read."""
    read_by = {_group_kind(workload) for workload in useless if workload.definition.origin == str(layer.origin)}
    kept = (entry for entry in layer.entries if (entry.kind.group, entry.kind.kind) not in read_by)
    return replace(layer, entries=tuple(kept))


def _group_kind(workload: Workload) -> GroupKind:
    return workload.api_group, workload.kind


def _pairs(found: Reading, first: Reading) -> Iterator[tuple[Workload, Workload]]:
    """Workloads that a cluster's definition reads, each with what it is without that."""
    before = {_key(workload): workload for workload in first.workloads}
    for workload in found.workloads:
        if workload.definition.origin.startswith(CLUSTER) and _key(workload) in before:
            yield workload, before[_key(workload)]


def _key(workload: Workload) -> tuple[str, str, str, str, str]:
    return (workload.api_version, workload.kind, workload.namespace, workload.name, str(workload.source))


def _worse(found: Reading, first: Reading, held: Sequence[Layer]) -> Iterator[Workload]:
    """Workloads that a cluster's definition cannot read, where ours can, or that of another cluster might."""
    sound = {_key(workload) for workload in first.workloads if not workload.faults}
    for workload in found.workloads:
        origin = workload.definition.origin
        if workload.faults and origin.startswith(CLUSTER):
            others = (layer for layer in held if str(layer.origin) != origin)
            if _key(workload) in sound or any(layer.of(*_group_kind(workload)) for layer in others):
                yield workload


def _not_used(useless: Sequence[Workload], found: Reading) -> Iterator[Fault]:
    """Which definitions could not read what another one does; where none does, its faults say it all."""
    now = {_key(workload): workload for workload in found.workloads if not workload.faults}
    for workload in useless:
        if _key(workload) in now:
            origin, other = workload.definition.origin, now[_key(workload)].definition.origin
            whose = f"that of {other}" if other.startswith(CLUSTER) else "ours"
            message = f"the definition of {origin} cannot read {workload.title}, so {whose} does"
            yield Fault(f"{message}: {workload.faults[0].message}", where=workload.source)


def _disagreements(found: Reading, first: Reading, held: Sequence[Layer]) -> Iterator[Fault]:
    for after, before in _pairs(found, first):
        if _shape(after) != _shape(before):
            origin = after.definition.origin
            message = f"{after.title} is {_summed(after)} by the definition of {origin}, {_summed(before)} by ours"
            hint = "to settle it, name one of them with --definition FILE (wm-place definitions show prints them)"
            yield Fault(message, where=after.source, hint=hint)
    by_clusters = (one for one in found.workloads if one.definition.origin.startswith(CLUSTER))
    for workload in {(one.api_group, one.kind): one for one in by_clusters}.values():
        others = _others(workload, held)
        if others:
            message = f"{workload.kind} has another definition in cluster {', '.join(others)} than in"
            yield Fault(f"{message} {workload.definition.origin.removeprefix(CLUSTER)}, which is used for all of them")


def _shape(workload: Workload) -> Any:
    roles = [(role.name, role.replicas, role.minimum, role.template.as_pod().requests()) for role in workload.roles]
    return roles, workload.groups, workload.min_available


def _summed(workload: Workload) -> str:
    amounts = ", ".join(f"{name} {canonical(name, amount)}" for name, amount in sorted(total(workload).items()))
    groups = sum(group.count for group in workload.groups)
    gangs = f" in {groups} gang{'' if groups == 1 else 's'}" if groups else ""
    return f"{workload.pods} pod{'' if workload.pods == 1 else 's'}{gangs}{f' ({amounts})' if amounts else ''}"


def _others(workload: Workload, held: Sequence[Layer]) -> list[str]:
    """Clusters that say something else of the kind than the one whose definition is used."""
    same = [entry for layer in held for entry in layer.of(workload.api_group, workload.kind)]
    used = next(entry for entry in same if str(entry.origin) == workload.definition.origin)
    differing = (entry for entry in same if entry.kind == used.kind and entry.definition.spec != used.definition.spec)
    return list(dict.fromkeys(entry.origin.name for entry in differing))
