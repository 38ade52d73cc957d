"""Claims joined with the volumes that they are bound to: from which nodes can each be used (capacity.md 4.6)."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.cluster import VolumeClaim
from advisor.kube import wire
from advisor.kube.affinity import node_selector
from advisor.labels import NodeSelector

ZONE_KEYS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
SEPARATOR = "__"
"""A volume that several zones can use has their names joined by this in its label."""

Zones = tuple[tuple[str, tuple[str, ...]], ...]


def claim(found: wire.PersistentVolumeClaim, volume: wire.PersistentVolume | None) -> VolumeClaim:
    """`volume` is the one that the claim names, if it was read."""
    return VolumeClaim(
        namespace=found.metadata.namespace or "",
        name=found.metadata.name,
        phase=found.status.phase or "Pending",
        access_modes=tuple(found.spec.access_modes or ()),
        deleting=found.metadata.deletion_timestamp is not None,
        volume=found.spec.volume_name or "",
        reach=_reach(volume) if volume else None,
        zones=_zones(volume.metadata.labels or {}) if volume else (),
    )


def _reach(volume: wire.PersistentVolume) -> NodeSelector | None:
    affinity = volume.spec.node_affinity
    return node_selector(affinity.required) if affinity else None


def _zones(labels: Mapping[str, str]) -> Zones:
    return tuple((key, tuple(sorted(labels[key].split(SEPARATOR)))) for key in ZONE_KEYS if key in labels)
