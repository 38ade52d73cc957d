"""The whole way, from a manifest to an exit code, against real API servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import fleet
from tests.cli.conftest import Run
from tests.servers.pool import Servers

pytestmark = pytest.mark.servers


@pytest.fixture(autouse=True)
def train(folder: Path) -> Path:
    """A gang of three pods of a kind that every server knows."""
    return fleet.write(folder / "train.yaml", fleet.job(pods=3, gpus=4))


def test_a_gang_is_placed_and_then_one_server_stops(run: Run, servers: Servers) -> None:
    clusters = servers.fleet("eu", "us")
    clusters["eu"].load(fleet.room("h200"))
    clusters["us"].load(fleet.fragmented("h100"))
    asked = ["train.yaml", "--kubeconfig", clusters.kubeconfig, "-o", "json"]
    ran = run(*asked)
    assert (ran.code, ran.choices, ran.verdicts) == (0, ["eu"], {"eu": "fits", "us": "full"})
    (entry,) = ran.report["workloads"][0]["choice"]["assignment"]
    assert entry["nodes"] == {"h200-01": 2, "h200-02": 1}

    clusters["us"].stop()
    ran = run(*asked)
    assert (ran.code, ran.choices, ran.verdicts) == (0, ["eu"], {"eu": "fits", "us": "unknown"})
    assert ran.report["workloads"][0]["clusters"][1]["gaps"][0]["why"] == "refused"

    clusters["eu"].stop()
    ran = run(*asked)
    assert (ran.code, ran.choices, ran.verdicts) == (4, [None], {"eu": "unknown", "us": "unknown"})


def test_a_token_that_may_not_list_pods(run: Run, servers: Servers) -> None:
    server = servers.server("eu")
    server.load(fleet.room("h200"))
    blind = server.token_user("blind", without=("pods",)).kubeconfig
    ran = run("train.yaml", "--kubeconfig", blind)
    assert ran.code == 4
    assert "may not list pods at cluster scope (403)" in ran.out
    assert "0 of 1 cluster read (not eu)" in ran.out


def test_what_was_recorded_gives_the_same_answer(run: Run, folder: Path, servers: Servers) -> None:
    server = servers.server("eu")
    server.load(fleet.room("h200"))
    assert run("snapshot", "--kubeconfig", server.reader_kubeconfig, "-o", "eu.json.gz").code == 0
    alive = run("train.yaml", "--kubeconfig", server.reader_kubeconfig, "-o", "json")
    taped = run("train.yaml", "--from-snapshot", "eu.json.gz", "-o", "json")
    assert taped.report["workloads"][0]["choice"] == alive.report["workloads"][0]["choice"]
