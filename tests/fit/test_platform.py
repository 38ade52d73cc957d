"""Operating system and architecture of nodes (capacity.md 2.5)."""

from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot
from advisor.fit import examine, platform
from tests.builders import cluster, gpus, node, on_nodes, role, shape, workload
from tests.fit.asking import told

OS, ARCH = platform.SYSTEM, platform.ARCHITECTURE


@pytest.mark.parametrize(
    ("fields", "refused"),
    [
        ({}, ["windows"]),
        ({"operating_system": "linux"}, ["windows"]),
        ({"operating_system": "windows"}, ["linux"]),
        ({"nodes": on_nodes(pairs={OS: "windows"})}, []),  # the selector says it, NodeAffinity sees to it
        ({"nodes": on_nodes(pairs={OS: "linux"}), "operating_system": "linux"}, ["windows"]),
    ],
)
def test_2_5_a_pod_runs_on_the_system_it_is_made_for(fields: dict[str, Any], refused: list[str]) -> None:
    here = cluster([node("l", labels={OS: "linux"}), node("w", labels={OS: "windows"}), node("unlabelled")])
    found = told(platform.examine, shape(fields=fields), here)
    assert found == {f"wrong-system! {system}": [system[0]] for system in refused}


def mixed() -> ClusterSnapshot:
    return cluster(
        [
            node("x86", gpu=8, labels={ARCH: "amd64"}),
            node("grace", gpu=4, labels={ARCH: "arm64"}),
            node("small", labels={ARCH: "riscv64"}),
        ]
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"gpu": 4}, ["amd64, arm64"]),
        ({"gpu": 8}, []),
        ({"gpu": 4, "nodes": on_nodes(pairs={ARCH: "arm64"})}, []),
        ({}, ["amd64, arm64, riscv64"]),
    ],
)
def test_2_5_several_architectures_that_would_do_are_a_note(asked: dict[str, Any], said: list[str]) -> None:
    notes = examine(workload(role("worker", **asked)), mixed(), gpus()).notes
    assert [note.subject for note in notes if note.code == "mixed-architectures"] == said
