"""Where clusters come from, and what it takes to look at them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.commands import watch
from tests.cli import fleet, live
from tests.cli.conftest import Run
from tests.kube.stub import Stub, hang, in_turn, listing, reply, serving, status

DEAD = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def train(folder: Path) -> Path:
    return fleet.write(folder / "train.yaml", fleet.jobset())


@pytest.fixture
def eu() -> Iterator[Stub]:
    with serving(live.routes(fleet.room("eu"))) as stub:
        yield stub


@pytest.fixture
def us() -> Iterator[Stub]:
    with serving(live.routes(fleet.full("us"))) as stub:
        yield stub


@pytest.fixture
def config(folder: Path, eu: Stub, us: Stub) -> Path:
    return live.kubeconfig(folder / "config", {"eu": eu.url, "us": us.url})


def clusters_file(path: Path, *entries: dict[str, Any], **more: Any) -> Path:
    return fleet.write(path, {"apiVersion": "wm-place/v1", "kind": "ClusterList", "clusters": [*entries], **more})


class TestRecordings:
    def test_the_name_is_the_files_or_the_one_given(self, run: Run, folder: Path) -> None:
        path = fleet.record(folder, "eu", fleet.room("n"))
        (folder / "packed.json.gz").write_bytes(gzip.compress(path.read_bytes()))
        flags = ["--from-snapshot", "eu.json", "--from-snapshot", "us=eu.json", "--from-snapshot", "packed.json.gz"]
        assert set(run("train.yaml", *flags, "-o", "json").verdicts) == {"eu", "us", "packed"}

    def test_ours_may_hold_several_clusters(self, run: Run, folder: Path) -> None:
        fleet.four(folder)
        flags = [f"--from-snapshot={name}.json" for name in ("eu-h200", "us-h100")]
        assert run("snapshot", *flags, "-o", "fleet.json.gz").code == 0
        assert set(run("train.yaml", "--from-snapshot", "fleet.json.gz", "-o", "json").verdicts) == {
            "eu-h200",
            "us-h100",
        }
        assert set(run("train.yaml", "--from-snapshot", "us-h100=fleet.json.gz", "-o", "json").verdicts) == {"us-h100"}

    def test_from_the_environment(self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fleet.four(folder)
        monkeypatch.setenv("WM_PLACE_FROM_SNAPSHOT", f"eu-h200.json{os.pathsep}us-h100.json")
        monkeypatch.setenv("WM_PLACE_OUTPUT", "json")
        assert len(run("train.yaml").verdicts) == 2
        assert len(run("train.yaml", "--from-snapshot", "us-l4.json").verdicts) == 1


class TestContexts:
    def test_all_by_default(self, run: Run, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert run("train.yaml", "--kubeconfig", config, "-o", "json").verdicts == {"eu": "fits", "us": "full"}
        monkeypatch.setenv("KUBECONFIG", str(config))
        assert len(run("train.yaml", "-o", "json").verdicts) == 2
        assert len(run("train.yaml", "--all-contexts", "-o", "json").verdicts) == 2

    def test_those_that_are_named(self, run: Run, config: Path, eu: Stub) -> None:
        ran = run("train.yaml", "--kubeconfig", config, "--context", "us", "-o", "json")
        assert (ran.code, ran.verdicts) == (1, {"us": "full"})
        assert eu.requests == []

    def test_several_kubeconfigs_are_merged(self, run: Run, folder: Path, eu: Stub, us: Stub) -> None:
        one = live.kubeconfig(folder / "one", {"eu": eu.url})
        two = live.kubeconfig(folder / "two", {"us": us.url})
        assert len(run("train.yaml", "--kubeconfig", one, "--kubeconfig", two, "-o", "json").verdicts) == 2

    def test_beside_recordings(self, run: Run, folder: Path, config: Path) -> None:
        flags = ["--from-snapshot", fleet.record(folder, "old", fleet.full("n")), "--kubeconfig", config]
        ran = run("train.yaml", *flags, "--context", "eu", "-o", "json")
        assert ran.verdicts == {"eu": "fits", "old": "full"}
        assert len(run("train.yaml", *flags, "--all-contexts", "-o", "json").verdicts) == 3

    def test_a_dead_one_is_a_row(self, run: Run, folder: Path, eu: Stub, us: Stub) -> None:
        config = live.kubeconfig(folder / "config", {"eu": eu.url, "us": us.url, "fra": DEAD})
        ran = run("train.yaml", "--kubeconfig", config, "-o", "json")
        assert (ran.code, ran.verdicts) == (0, {"eu": "fits", "fra": "unknown", "us": "full"})
        ran = run("train.yaml", "--kubeconfig", config, "--context", "us", "--context", "fra")
        assert ran.code == 4
        assert "1 of 2 clusters read (not fra)" in ran.out
        assert "connection refused" in ran.out
        assert "Cannot tell: fra may or may not take all of it." in ran.out

    def test_what_may_not_be_read_is_named(self, run: Run, folder: Path) -> None:
        routes = {**live.routes(fleet.room("n")), "/api/v1/pods": status(403, "Forbidden")}
        with serving(routes) as stub:
            ran = run("train.yaml", "--kubeconfig", live.kubeconfig(folder / "config", {"eu": stub.url}), "-o", "json")
        assert (ran.code, ran.verdicts) == (4, {"eu": "unknown"})
        (gap,) = ran.report["workloads"][0]["clusters"][0]["gaps"]
        assert (gap["what"], gap["why"]) == ("pods", "forbidden")

    def test_nothing_secret_is_ever_said(self, run: Run, folder: Path, config: Path) -> None:
        for flags in (["-o", "json"], ["-vv"], ["-o", "wide"]):
            ran = run("train.yaml", "--kubeconfig", config, *flags)
            assert "secret-token" not in ran.out + ran.err

    @pytest.mark.parametrize("flag", ["--timeout", "--request-timeout"])
    def test_patience_has_an_end(self, run: Run, folder: Path, flag: str) -> None:
        with serving({**live.routes([]), "/api/v1/nodes": hang}) as stub:
            config = live.kubeconfig(folder / "config", {"eu": stub.url})
            ran = run("train.yaml", "--kubeconfig", config, flag, "300ms", "-o", "json")
        assert (ran.code, ran.verdicts) == (4, {"eu": "unknown"})
        assert "did not answer in full within 0.3 s" in ran.out

    def test_as_somebody_else(self, run: Run, config: Path, eu: Stub) -> None:
        assert run("train.yaml", "--kubeconfig", config, "--context", "eu", "--as", "jane").code == 0
        assert {headers["Impersonate-User"] for _, _, headers in eu.requests} == {"jane"}

    def test_the_namespace_is_the_contexts(self, run: Run, folder: Path, eu: Stub, us: Stub) -> None:
        namespaces = {"eu": "ml", "us": "research"}
        config = live.kubeconfig(folder / "config", {"eu": eu.url, "us": us.url}, namespaces)

        def namespace(*flags: str) -> str:
            ran = run("train.yaml", "--kubeconfig", config, *flags, "-o", "json")
            return str(ran.report["workloads"][0]["namespace"])

        assert namespace() == "ml"
        assert namespace("--context", "us") == "research"
        assert namespace("--context", "us", "--context", "eu") == "ml"
        assert namespace("-n", "stated") == "stated"

    def test_without_one_it_is_the_default(self, run: Run, config: Path) -> None:
        ran = run("train.yaml", "--kubeconfig", config, "-o", "json")
        assert ran.report["workloads"][0]["namespace"] == "default"


class TestClustersFile:
    def test_in_this_folder_then_from_the_environment(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fleet.record(folder, "one", fleet.room("n"))
        named = clusters_file(folder / "named.yaml", {"name": "named", "snapshot": "one.json"})
        monkeypatch.setenv("WM_PLACE_CLUSTERS", str(named))
        ran = run("train.yaml", "-o", "json", "-v")
        assert set(ran.verdicts) == {"named"}
        assert f"note: clusters are those of {named}\n" in ran.err
        clusters_file(folder / "clusters.yaml", {"name": "usual", "snapshot": "one.json"})
        assert set(run("train.yaml", "-o", "json").verdicts) == {"usual"}
        assert set(run("train.yaml", "-o", "json", "--clusters", named).verdicts) == {"named"}
        assert set(run("train.yaml", "-o", "json", "--from-snapshot", "one.json").verdicts) == {"one"}

    def test_contexts_and_recordings_in_one(self, run: Run, folder: Path, config: Path) -> None:
        fleet.record(folder, "old", fleet.full("n"))
        path = clusters_file(
            folder / "c.yaml",
            {"name": "live", "kubeconfig": "config", "context": "eu"},
            {"name": "old", "snapshot": "old.json"},
        )
        assert run("train.yaml", "--clusters", path, "-o", "json").verdicts == {"live": "fits", "old": "full"}

    def test_a_recording_stands_in_for_a_cluster_of_its_name(self, run: Run, folder: Path) -> None:
        """What the style guide's table advises for a cluster that cannot be reached."""
        live.kubeconfig(folder / "dead", {"eu": DEAD})
        fleet.record(folder, "one", fleet.room("n"))
        path = clusters_file(
            folder / "c.yaml",
            {"name": "eu", "kubeconfig": "nowhere", "labels": {"tier": "reserved"}},
            {"name": "us", "kubeconfig": "dead"},
        )
        flags = ["--clusters", path, "--from-snapshot", "eu=one.json", "--from-snapshot", "one.json"]
        ran = run("train.yaml", *flags, "--prefer", "tier=reserved", "-o", "json")
        assert ran.verdicts == {"eu": "fits", "one": "fits", "us": "unknown"}
        assert ran.choices == ["eu"]

    def test_the_policy_is_the_files_where_no_flag_says_otherwise(self, run: Run, folder: Path) -> None:
        fleet.record(folder, "one", fleet.room("n"))
        wish = [{"label": "tier", "value": "reserved"}]
        path = clusters_file(
            folder / "c.yaml",
            {"name": "a", "snapshot": "one.json", "labels": {"tier": "spot"}},
            {"name": "b", "snapshot": "one.json", "labels": {"tier": "reserved"}},
            policy={"prefer": wish},
        )
        assert run("train.yaml", "--clusters", path, "-o", "name").out == "b\n"
        assert run("train.yaml", "--clusters", path, "--prefer", "tier=spot", "-o", "name").out == "a\n"
        first = ["--prefer", "tier=gold", "--prefer", "tier=reserved", "--prefer", "tier=spot"]
        ran = run("train.yaml", "--clusters", path, *first, "-o", "name")
        assert ran.out == "b\n"
        assert "note: no cluster has the label tier=gold that is preferred" in ran.err

    def test_data_may_be_too_old_for_the_file(self, run: Run, folder: Path) -> None:
        fleet.record(folder, "one", fleet.room("n"))
        path = clusters_file(folder / "c.yaml", {"name": "eu", "snapshot": "one.json"}, defaults={"maxAge": "1h"})
        assert run("train.yaml", "--clusters", path).code == 4
        assert run("train.yaml", "--clusters", path, "--max-age", "1000000h").code == 0

    def test_missing_namespaces_may_be_assumed(self, run: Run, folder: Path) -> None:
        fleet.record(folder, "one", fleet.room("n"))
        entry = {"name": "eu", "snapshot": "one.json"}
        path = clusters_file(folder / "c.yaml", entry)
        assert run("train.yaml", "-n", "new", "--clusters", path).code == 3
        path = clusters_file(folder / "c.yaml", {**entry, "assume": {"namespaces": "create"}})
        assert run("train.yaml", "-n", "new", "--clusters", path).code == 0


class TestWaiting:
    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(watch, "PAUSE", 0.02)

    def config(self, folder: Path, stub: Stub) -> Path:
        return live.kubeconfig(folder / "config", {"eu": stub.url})

    def test_until_there_is_room(self, run: Run, folder: Path) -> None:
        nodes = [obj for obj in fleet.full("n") if obj["kind"] == "Node"]
        pods = [obj for obj in fleet.full("n") if obj["kind"] == "Pod"]
        busy, empty = reply(listing("Pod", *pods)), reply(listing("Pod"))
        with serving({**live.routes(nodes), "/api/v1/pods": in_turn(busy, busy, busy, empty)}) as stub:
            ran = run("train.yaml", "--kubeconfig", self.config(folder, stub), "--wait", "20s", "-o", "name")
        assert (ran.code, ran.out) == (0, "eu\n")
        assert ran.err == "note: waiting: JobSet default/llama eu full\n"

    def test_until_the_time_is_over(self, run: Run, folder: Path, us: Stub) -> None:
        ran = run("train.yaml", "--kubeconfig", self.config(folder, us), "--wait", "1s", "-o", "json")
        assert (ran.code, ran.verdicts) == (1, {"eu": "full"})
        assert len(us.asked("/api/v1/nodes")) >= 2

    def test_not_when_everything_is_placed(self, run: Run, folder: Path, eu: Stub) -> None:
        assert run("train.yaml", "--kubeconfig", self.config(folder, eu), "--wait", "20s").code == 0
        assert len(eu.asked("/api/v1/nodes")) == 1

    def test_not_for_recordings(self, run: Run, folder: Path) -> None:
        fleet.record(folder, "one", fleet.full("n"))
        path = clusters_file(folder / "c.yaml", {"name": "eu", "snapshot": "one.json"})
        ran = run("train.yaml", "--clusters", path, "--wait", "1h")
        assert (ran.code, ran.out) == (2, "")
        assert "there is nothing to wait for" in ran.err
