"""Objects of a cluster in, its `ClusterSnapshot` out. Pure: it reads no file, no server and no clock.

A `Summary` is fed kind by kind, page by page, and keeps sums, not objects: a fleet of any size can stream through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

import msgspec

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Gap, Looked, VolumeClaim, release
from advisor.kube import admission, kinds, wire
from advisor.kube.failure import NOT_FOUND
from advisor.kube.kinds import Kind
from advisor.kube.nodes import NodeFacts, NodeReader, columns
from advisor.kube.pods import Pods
from advisor.kube.volumes import claim

DRA_SERVES_EXTENDED_RESOURCES = (1, 36)
"""The first version in which DRAExtendedResource is on by default (capacity.md 6.8)."""

SYSTEM = "kube-system"
"""The namespace that is as old as its cluster; its uid is what others call the cluster's id."""


def _stored(kind: Kind, found: wire.Stored) -> str:
    """The object as JSON, without what the server keeps beside it."""
    own = {"apiVersion": f"{kind.group}/{kind.version}", "kind": kind.name, "metadata": {"name": found.metadata.name}}
    return msgspec.json.encode({**own, "spec": found.spec}).decode()


_CONVERT: Mapping[Kind, Callable[[Any], Any]] = {
    kinds.RESOURCE_QUOTA: admission.quota,
    kinds.LIMIT_RANGE: admission.limit_range,
    kinds.NAMESPACE: admission.namespace,
    kinds.PRIORITY_CLASS: admission.priority_class,
    kinds.RUNTIME_CLASS: admission.runtime_class,
    kinds.DEVICE_CLASS: lambda found: tuple(admission.extended_resources(found)),
    kinds.LOCAL_QUEUE: admission.local_queue,
    **{kind: partial(_stored, kind) for kind in kinds.DEFINITIONS},
}


class Summary:
    """Everything that was read of one cluster so far.

    `begin` a kind (in a namespace), then `add` its objects; to begin it again forgets them. What was never begun was
    not read.
    """

    def __init__(self, accelerators: Accelerators) -> None:
        self._reader = NodeReader(accelerators)
        self._nodes: dict[str, NodeFacts] = {}
        self._pods = Pods()
        self._kept: dict[Kind, dict[str, list[Any]]] = {}
        self._first_node: tuple[str, str] | None = None
        self._system_uid = ""

    def begin(self, kind: Kind, namespace: str = "") -> None:
        self._kept.setdefault(kind, {})[namespace] = []
        if kind is kinds.NODE:
            self._nodes = {}
            self._first_node = None
        if kind is kinds.POD:
            self._pods = Pods()

    def add(self, kind: Kind, objects: Iterable[Any], namespace: str = "") -> None:
        """Raises InputError, with kind, object and field, for an amount that is no quantity."""
        if kind is kinds.POD:
            for pod in objects:
                self._pods.add(pod)
        elif kind is kinds.NODE:
            for node in objects:
                self._nodes[node.metadata.name] = self._reader.facts(node)
                self._first_node = min(self._first_node or ("~", ""), (node.metadata.name, node.metadata.uid))
        else:
            objects = tuple(objects)
            if kind is kinds.NAMESPACE:
                self._remember_the_system(objects)
            convert = _CONVERT.get(kind)
            self._kept[kind][namespace].extend(map(convert, objects) if convert else objects)

    def _remember_the_system(self, namespaces: Iterable[wire.Namespace]) -> None:
        for space in namespaces:
            if space.metadata.name == SYSTEM:
                self._system_uid = space.metadata.uid

    def begun(self, kind: Kind) -> bool:
        return kind in self._kept

    def unlisted_nodes(self) -> set[str]:
        """Nodes that pods are on, and that were not among the nodes: younger than their list, or gone."""
        return self._pods.nodes() - self._nodes.keys()

    def snapshot(
        self,
        name: str,
        taken_at: datetime | None,
        *,
        version: str = "",
        api_groups: frozenset[str] | None = None,
        api_versions: frozenset[str] | None = None,
        scope: tuple[str, ...] | None = None,
        looked_up: tuple[Looked, ...] = (),
        gaps: tuple[Gap, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> ClusterSnapshot:
        claims, unknown = self._claims()
        self._pods.settle({name: facts.allocatable for name, facts in self._nodes.items()})
        return ClusterSnapshot(
            name=name,
            taken_at=taken_at,
            nodes=columns(self._nodes.values(), self._pods.requested(), self._pods.requested(standing_only=True)),
            pods=self._pods.sets(self._nodes),
            ports=self._pods.ports(self._nodes),
            nominated=self._pods.nominated(),
            waiting=self._pods.waiting(),
            unbound=self._pods.unbound(),
            quotas=self._sorted(kinds.RESOURCE_QUOTA),
            limit_ranges=self._sorted(kinds.LIMIT_RANGE),
            priority_classes=self._sorted(kinds.PRIORITY_CLASS),
            runtime_classes=self._sorted(kinds.RUNTIME_CLASS),
            namespaces=self._sorted(kinds.NAMESPACE) if self.begun(kinds.NAMESPACE) else None,
            volume_claims=claims,
            served_by_dra=self._served_by_dra(version),
            queues=self._sorted(kinds.LOCAL_QUEUE),
            api_groups=api_groups,
            api_versions=api_versions,
            version=version,
            scope=scope,
            looked_up=looked_up,
            definitions=tuple(sorted(text for kind in kinds.DEFINITIONS for text in self._all(kind))),
            gaps=_with(gaps, unknown),
            notes=notes,
            uids=self._uids(),
        )

    def _uids(self) -> frozenset[str]:
        """Two, since either may not be read: of the system's namespace, and of the first node by name."""
        return frozenset(filter(None, (self._system_uid, self._first_node[1] if self._first_node else "")))

    def _all(self, kind: Kind) -> Iterator[Any]:
        return chain.from_iterable(self._kept.get(kind, {}).values())

    def _sorted(self, kind: Kind) -> tuple[Any, ...]:
        return tuple(sorted(self._all(kind), key=_name))

    def _served_by_dra(self, version: str) -> frozenset[str]:
        known = release(version)
        if known is not None and known < DRA_SERVES_EXTENDED_RESOURCES:
            return frozenset()
        return frozenset(name for names in self._all(kinds.DEVICE_CLASS) for name in names)

    def _claims(self) -> tuple[tuple[VolumeClaim, ...], str]:
        """The claims, and the name of a bound one whose volume was not among the volumes ("" if there is none)."""
        volumes: dict[str, wire.PersistentVolume] = {volume.metadata.name: volume for volume in self._all(kinds.VOLUME)}
        found = [claim(raw, volumes.get(raw.spec.volume_name or "")) for raw in self._all(kinds.CLAIM)]
        found.sort(key=_name)
        lost = (f"{one.namespace}/{one.name}" for one in found if one.phase == "Bound" and one.volume not in volumes)
        return tuple(found), next(lost, "")


def nothing(name: str, gaps: tuple[Gap, ...]) -> ClusterSnapshot:
    """The snapshot of a cluster that could not be read: no nodes, and Gaps that say so."""
    return ClusterSnapshot(name=name, taken_at=None, nodes=columns((), {}, {}), gaps=gaps)


def _with(gaps: tuple[Gap, ...], unknown_volume_of: str) -> tuple[Gap, ...]:
    if not unknown_volume_of or any(gap.what == kinds.VOLUME.plural for gap in gaps):
        return gaps
    text = f"the volume that claim {unknown_volume_of} is bound to was not listed, so its nodes are not known"
    return (*gaps, Gap(kinds.VOLUME.plural, NOT_FOUND, text))


def _name(noun: Any) -> tuple[str, str]:
    return noun if isinstance(noun, tuple) else (getattr(noun, "namespace", ""), noun.name)
