"""Which Kubernetes release a cluster runs, where a rule changed from one to the next."""

from __future__ import annotations

from advisor.cluster import ClusterSnapshot

Minor = tuple[int, int]

POD_LEVEL_RESOURCES: Minor = (1, 34)
"""On by default from here on (KEP-2837); an older API server drops the field."""

POD_LEVEL_DEFAULTS_LAST: Minor = (1, 37)
"""From here on pod-level defaults come after admission and not before it (`PodLevelResourcesFixDefaulting`)."""

EXTENDED_RESOURCES_BY_DRA: Minor = (1, 36)
"""On by default from here on (KEP-5004)."""


def before(cluster: ClusterSnapshot, minor: Minor) -> bool:
    """Is the cluster known to be older? One whose version was not recorded is taken to be new."""
    return cluster.release is not None and cluster.release < minor
