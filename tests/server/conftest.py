"""Servers for the tests of the doors: real processes over TLS, on recorded clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.served import Served
from tests.servers.processes import Processes

DEMO = Path(__file__).parents[2] / "scenarios" / "demo"
CLUSTERS = [{"name": name, "snapshot": str(DEMO / f"{name}.json")} for name in ("eu-h200", "us-h100")]


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    found = Processes(tmp_path_factory.mktemp("served"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def server(processes: Processes) -> Served:
    """One that a module's tests share; recordings do not age for it."""
    return Served(processes, processes.folder / "shared", CLUSTERS, maxAge="100000h")


@pytest.fixture
def serve(processes: Processes, tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts one of a test's own."""
    started: list[Served] = []

    def begin(clusters: list[dict[str, Any]] = CLUSTERS, **config: Any) -> Served:
        folder = tmp_path / f"served-{len(started)}"
        started.append(Served(processes, folder, clusters, **{"maxAge": "100000h", **config}))
        return started[-1]

    yield begin
    for one in started:
        one.stop()
