"""10,000 small random questions, asked of the product and of a naive scheduler that shares no code with it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from advisor import files
from advisor.advise import advise
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.question import Policy, Question
from advisor.verdict import Verdict
from tests.kube import objects
from tests.oracle import naive, worlds

CHUNK = 200
CATALOG = Catalog()
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": worlds.NAMESPACE}}


def verdict(asked: worlds.Asked) -> Verdict:
    source = files.Source("gang.yaml", json.dumps(asked.manifest))
    read = reading.read(files.documents(source), CATALOG)
    assert not read.workloads[0].faults
    cluster = objects.snapshot(NAMESPACE, *asked.nodes, *asked.pods, *asked.quotas)
    report = advise(Question(read.workloads, (cluster,), Policy(), datetime(2026, 1, 1, tzinfo=UTC), objects.shipped()))
    return report.answers[0].verdicts[0]


@pytest.mark.parametrize("first", range(0, 10_000, CHUNK))
def test_the_verdict_is_the_naive_schedulers(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = worlds.asked(seed)
        found = verdict(asked)
        placed = naive.bound(asked.pods, asked.nodes)
        expected = naive.fits(asked.gang, asked.nodes, placed, asked.quotas)
        assert (found.verdict == "fits") == expected, f"seed {seed}: {found.verdict} {found.reasons}"
        assert found.verdict in ("fits", "full", "never"), f"seed {seed}: {found.verdict} {found.doubts}"
        if found.verdict == "never":
            emptied = naive.fits(asked.gang, asked.nodes, [], [])
            assert not emptied or asked.quotas or _unusable(asked), f"seed {seed}"


def _unusable(asked: worlds.Asked) -> bool:
    return any(node["spec"]["unschedulable"] for node in asked.nodes)


@pytest.mark.parametrize("first", range(0, 10_000, CHUNK * 5))
def test_the_placement_holds_pod_by_pod(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = worlds.asked(seed)
        found = verdict(asked)
        if found.placement:
            placed = naive.bound(asked.pods, asked.nodes)
            nodes = {node["metadata"]["name"]: node for node in asked.nodes}
            waiting = {role: [p for p in asked.gang if p["metadata"]["labels"]["app"] == role] for role in asked.counts}
            for role, there in found.placement.assignment.items():
                for name, count in there.items():
                    for _ in range(count):
                        pod = waiting[role].pop()
                        assert naive.allowed(pod, nodes[name], asked.nodes, placed), f"seed {seed}: {pod} on {name}"
                        placed.append((name, pod))
            assert not any(waiting.values()), f"seed {seed}"
