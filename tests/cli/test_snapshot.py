"""`wm-place snapshot`: what it records, every other command accepts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli import fleet, live
from tests.cli.conftest import Run
from tests.kube.stub import serving

DEAD = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def train(folder: Path) -> Path:
    return fleet.write(folder / "train.yaml", fleet.jobset())


def test_answers_are_the_same_as_live(run: Run, folder: Path) -> None:
    with serving(live.routes(fleet.room("n"))) as stub:
        config = live.kubeconfig(folder / "config", {"eu": stub.url})
        ran = run("snapshot", "--kubeconfig", config, "-o", "eu.json.gz")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.endswith("note: 1 of 1 clusters read\n")
        alive = run("train.yaml", "--kubeconfig", config, "-o", "json").report["workloads"][0]
    recorded = run("train.yaml", "--from-snapshot", "eu.json.gz", "-o", "json").report["workloads"][0]
    assert recorded["choice"] == alive["choice"]
    assert (folder / "eu.json.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_to_stdout(run: Run, folder: Path) -> None:
    fleet.record(folder, "eu", fleet.room("n"))
    for target in ([], ["-o", "-"]):
        ran = run("snapshot", "--from-snapshot", "eu.json", *target)
        assert ran.code == 0
        assert json.loads(ran.out)["kind"] == "ClusterSnapshot"


def test_namespaces(run: Run, folder: Path) -> None:
    with serving(live.routes(fleet.room("n"), "team")) as stub:
        config = live.kubeconfig(folder / "config", {"eu": stub.url})
        for flags, path in ((["-n", "team"], "namespaces/team/"), (["-A"], ""), ([], "")):
            stub.requests.clear()
            run("snapshot", "--kubeconfig", config, *flags)
            assert stub.asked(f"/api/v1/{path}resourcequotas")
    ran = run("snapshot", "-A", "-n", "team")
    assert (ran.code, ran.out) == (2, "")
    assert "--namespace and --all-namespaces contradict each other" in ran.err


def test_a_dead_cluster_is_recorded_as_such(run: Run, folder: Path) -> None:
    with serving(live.routes(fleet.room("n"))) as stub:
        config = live.kubeconfig(folder / "config", {"eu": stub.url, "fra": DEAD})
        ran = run("snapshot", "--kubeconfig", config, "-o", "all.json")
    assert ran.code == 4
    assert "warning: fra, cluster: 127.0.0.1:9 cannot be reached" in ran.err
    assert "note: 1 of 2 clusters read" in ran.err
    verdicts = run("train.yaml", "--from-snapshot", "all.json", "-o", "json").verdicts
    assert verdicts == {"eu": "fits", "fra": "unknown"}


def test_nothing_read_is_nothing_written(run: Run, folder: Path) -> None:
    config = live.kubeconfig(folder / "config", {"fra": DEAD})
    (folder / "good.json").write_text("{}")
    ran = run("snapshot", "--kubeconfig", config, "-o", "good.json")
    assert (ran.code, ran.out) == (4, "")
    assert (folder / "good.json").read_text() == "{}"


def test_a_file_of_somebody_else_is_not_overwritten(run: Run, folder: Path) -> None:
    fleet.record(folder, "eu", fleet.room("n"))
    ran = run("snapshot", "--from-snapshot", "eu.json", "-o", "train.yaml")
    assert ran.code == 2
    assert "train.yaml: exists and is not a snapshot of ours" in ran.err
    ran = run("snapshot", "--from-snapshot", "eu.json", "-o", "nowhere/x.json")
    assert (ran.code, "Traceback" in ran.err) == (2, False)


def test_the_format_of_other_commands_does_not_reach_it(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.record(folder, "eu", fleet.room("n"))
    monkeypatch.setenv("WM_PLACE_OUTPUT", "json")
    assert run("snapshot", "--from-snapshot", "eu.json").code == 0
    assert not (folder / "json").exists()


def test_packed_is_packed_the_same_way_each_time(run: Run, folder: Path) -> None:
    fleet.record(folder, "eu", fleet.room("n"))
    for name in ("one.json.gz", "two.json.gz"):
        run("snapshot", "--from-snapshot", "eu.json", "-o", name)
    assert (folder / "one.json.gz").read_bytes() == (folder / "two.json.gz").read_bytes()
    assert json.loads(gzip.decompress((folder / "one.json.gz").read_bytes()))["name"] == "eu"
