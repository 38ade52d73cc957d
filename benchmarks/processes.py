"""Whole processes, as a user starts them (bars P6 and P7, the demo, a recorded fleet)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from advisor.kube.recorded import write
from benchmarks import fleets, manifests
from benchmarks.measure import PYTHON, process, wm_place

DEMO = Path(__file__).parents[1] / "scenarios" / "demo"


def start() -> Iterator[tuple[str, str]]:
    bare = process([PYTHON, "-c", "pass"])
    yield "an empty Python process", str(bare)
    for word in ("--help", "--version"):
        run = process(wm_place(word))
        yield f"wm-place {word}", f"{run}  {run.wall / bare.wall:4.1f} ×"


def demo() -> Iterator[tuple[str, str]]:
    run = process(wm_place("--clusters", str(DEMO / "clusters.yaml"), str(DEMO / "train.yaml")))
    yield "the demo", str(run)


def recorded_fleet(folder: Path, clusters: int, nodes: int, *, free: bool) -> list[str]:
    """Writes the recordings; the flags that name them."""
    flags = []
    for number in range(clusters):
        path = folder / f"c{number:02}.json"
        snapshot = fleets.cluster(path.stem, nodes, number, free=free)
        write(path, [replace(snapshot, scope=None)])
        flags += ["--from-snapshot", str(path)]
    return flags


def asked(folder: Path, manifest: dict[str, Any], flags: list[str]) -> list[str]:
    path = folder / "gang.json"
    path.write_text(json.dumps(manifest))
    return wm_place(str(path), *flags)


def recorded() -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as name:
        flags = recorded_fleet(Path(name), 1, 5_000, free=True)
        yield "four roles, a recording of 5,000 nodes", str(process(asked(Path(name), manifests.FOUR_ROLES, flags)))


def proven_no() -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as name:
        flags = recorded_fleet(Path(name), 10, 500, free=False)
        yield (
            "a no with reasons, 10 recordings of 500 nodes",
            str(process(asked(Path(name), manifests.FOUR_GPUS, flags))),
        )
