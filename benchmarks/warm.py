"""The decide step alone, with snapshots in memory (bars P4 and P5)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from advisor import files
from advisor.advise import advise
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.definitions.shipped import builtin_folder
from advisor.kube import schema
from advisor.question import Policy, Question
from benchmarks import fleets, manifests


def question(manifest: dict[str, Any], clusters: int, nodes: int) -> Question:
    (document,) = files.documents(files.Source("gang.json", json.dumps(manifest)))
    (catalogue,) = files.documents(files.read(str(builtin_folder() / "accelerators.yaml")))
    workloads = reading.read([document], Catalog()).workloads
    fleet = tuple(fleets.cluster(f"c{number:03}", nodes, number) for number in range(clusters))
    return Question(workloads, fleet, Policy(), fleets.TAKEN, schema.accelerators(catalogue))


def seconds(asked: Question) -> tuple[float, str]:
    """The better of two runs, and what was answered."""
    best, told = float("inf"), ""
    for _ in range(2):
        began = time.perf_counter()
        (answer,) = advise(asked).answers
        best = min(best, time.perf_counter() - began)
        told = answer.choice.cluster if answer.choice else "none"
    return best, told


def verdicts() -> Iterator[tuple[str, str]]:
    seconds(question(manifests.FOUR_ROLES, 1, 100))
    for clusters, nodes in ((20, 1_000), (100, 5_000)):
        taken, told = seconds(question(manifests.FOUR_ROLES, clusters, nodes))
        yield f"four roles, {clusters} clusters of {nodes:,} nodes: choice {told}", f"{taken:6.2f} s"


def growth() -> Iterator[tuple[str, str]]:
    base = 0.0
    for nodes in (1_000, 10_000, 100_000):
        taken, _ = seconds(question(manifests.FOUR_ROLES, 1, nodes))
        base = base or taken
        yield f"four roles, 1 cluster of {nodes:,} nodes", f"{taken:6.3f} s  {taken / base:5.1f} ×"
