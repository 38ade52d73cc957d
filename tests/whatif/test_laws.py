"""Laws that every edit keeps, over random small clusters and gangs, and what an edited snapshot must be equal to."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

import pytest

from advisor import files
from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.question import Policy, Question
from advisor.verdict import FITS
from advisor.whatif.edits import AddNodes, Edit, RemoveNodes, RemovePods, Replicas, SetQuota, Uncordon, Which
from tests.kube import objects
from tests.oracle import worlds

CATALOG = Catalog()
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": worlds.NAMESPACE}}
CHUNK = 50


def question(asked: worlds.Asked) -> Question:
    found = reading.read(files.documents(files.Source("gang.yaml", json.dumps(asked.manifest))), CATALOG)
    return Question(found.workloads, (snapshot(asked),), Policy(), datetime(2026, 1, 1, tzinfo=UTC), objects.shipped())


def snapshot(asked: worlds.Asked) -> ClusterSnapshot:
    return objects.snapshot(NAMESPACE, *asked.nodes, *asked.pods, *asked.quotas)


def fits(asked: Question) -> bool:
    return all(answer.choice is not None and answer.choice.verdict == FITS for answer in advise(asked).answers)


def kinder(rng: random.Random, asked: worlds.Asked, cluster: ClusterSnapshot) -> Edit:
    """A random edit that can only make room: nodes more, pods or a role's replicas less, quota up, a cordon lifted."""
    name, node = cluster.name, rng.choice(cluster.nodes.names)
    edits: list[Edit] = [AddNodes(name, rng.randint(1, 3), node), Uncordon(Which(name, (node,)))]
    role, count = rng.choice(sorted(asked.counts.items()))
    edits.append(Replicas(role, rng.randint(0, count)))
    if cluster.pods:
        edits.append(RemovePods(name, cluster.pods[0].namespace))
    edits += [SetQuota(name, one.namespace, {key: 2 * n + 1 for key, n in one.hard.items()}) for one in cluster.quotas]
    return rng.choice(edits)


@pytest.mark.parametrize("first", range(0, 1_000, CHUNK))
def test_room_more_or_pods_less_never_loses_a_placement(first: int) -> None:
    """Exceptions of model.md 5 are not in these worlds: topology spread, slices of several hosts, pod affinity."""
    for seed in range(first, first + CHUNK):
        asked = worlds.asked(seed)
        plain = question(asked)
        edited = kinder(random.Random(seed), asked, plain.clusters[0])(plain)
        assert fits(edited) or not fits(plain), f"seed {seed}"


@pytest.mark.parametrize("first", range(0, 1_000, CHUNK))
def test_an_edited_snapshot_is_the_one_that_would_have_been_read(first: int) -> None:
    for seed in range(first, first + CHUNK):
        asked = worlds.asked(seed)
        gone = random.Random(seed).choice(asked.nodes)
        name = gone["metadata"]["name"]
        plain = question(asked)
        there = plain.clusters[0]
        left = [node for node in asked.nodes if node is not gone]
        if left:
            edited = RemoveNodes(Which(there.name, (name,)))(plain).clusters[0]
            pods = [pod for pod in asked.pods if pod["spec"].get("nodeName") != name]
            read = objects.snapshot(NAMESPACE, *left, *pods, *asked.quotas)
            assert facts(edited) == facts(read), f"seed {seed}"
        if there.pods and not asked.quotas:
            edited = RemovePods(there.name, worlds.NAMESPACE)(plain).clusters[0]
            pods = [pod for pod in asked.pods if pod["metadata"]["namespace"] != worlds.NAMESPACE]
            assert facts(edited) == facts(objects.snapshot(NAMESPACE, *asked.nodes, *pods)), f"seed {seed}"


def facts(cluster: ClusterSnapshot) -> Any:
    """What the filters see of the nodes and the pods on them; resources and labels that no node has say nothing."""
    nodes = cluster.nodes
    amounts = {
        (table, resource): column.tolist()
        for table in ("allocatable", "requested", "standing")
        for resource, column in getattr(nodes, table).items()
        if column.any()
    }
    rows = range(len(nodes))
    labels = [nodes.labels_of(row) for row in rows]
    pods = sorted(map(repr, cluster.pods))
    return (
        nodes.names,
        amounts,
        labels,
        [(nodes.taints.of(row), nodes.states.of(row)) for row in rows],
        pods,
        cluster.ports,
    )
