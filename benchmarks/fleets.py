"""Synthetic clusters of any size as snapshots: some hardware shapes, use of every degree, deterministic."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from advisor.cluster import ClusterSnapshot, Coded, Column, Namespace, Nodes, NodeState
from advisor.labels import Taint

GIB = 1 << 30
TAKEN = datetime(2026, 11, 30, 9, tzinfo=UTC)


def cluster(name: str, nodes: int, seed: int, *, free: bool = True) -> ClusterSnapshot:
    """Nodes of 4 or 8 GPUs, each used to a random degree; `free=False`: no node has more than three GPUs left."""
    rng = np.random.default_rng(seed)
    gpus = rng.choice([4, 8, 8, 8], nodes).astype(np.int64)
    held = rng.integers(0, gpus + 1) if free else np.maximum(gpus - rng.integers(0, 4, nodes), 0)
    offered = {
        "cpu": gpus * 24_000,
        "memory": gpus * 256 * GIB,
        "nvidia.com/gpu": gpus,
        "pods": np.full(nodes, 110, dtype=np.int64),
    }
    requested: dict[str, Column] = {
        "cpu": held * 12_000 + rng.integers(0, 4_000, nodes),
        "memory": held * 128 * GIB + rng.integers(0, 4 * GIB, nodes),
        "nvidia.com/gpu": held.astype(np.int64),
        "pods": held + 5,
    }
    return ClusterSnapshot(
        name, TAKEN, _nodes(name, nodes, offered, requested, rng), namespaces=(Namespace("default"),)
    )


def _nodes(
    name: str, nodes: int, offered: dict[str, Column], requested: dict[str, Column], rng: np.random.Generator
) -> Nodes:
    zeros = np.zeros(nodes, dtype=np.int32)
    names = tuple(f"{name}-{number:05}" for number in range(nodes))
    labels: dict[str, Coded[str | None]] = {
        "kubernetes.io/hostname": Coded(names, np.arange(nodes, dtype=np.int32)),
        "topology.kubernetes.io/zone": Coded(("a", "b", "c"), rng.integers(0, 3, nodes).astype(np.int32)),
    }
    repelling = (Taint("maintenance", "true"),)
    taints = Coded(((), repelling), (rng.random(nodes) < 0.02).astype(np.int32))
    return Nodes(names, offered, requested, {}, labels, taints, Coded((NodeState(),), zeros))
