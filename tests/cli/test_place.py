"""`wm-place MANIFEST`: what is read, what is answered, and with which exit code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli import fleet
from tests.cli.conftest import Run
from tests.kube.objects import Object

SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
UNKNOWN = {
    "apiVersion": "example.com/v1",
    "kind": "FooJob",
    "metadata": {"name": "foo"},
    "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}},
}


@pytest.fixture
def train(folder: Path) -> Path:
    return fleet.write(folder / "train.yaml", fleet.jobset())


@pytest.fixture
def four(folder: Path) -> list[str]:
    return fleet.four(folder)


class TestManifests:
    def test_a_first_argument_that_is_no_command_is_a_manifest(self, run: Run, train: Path, four: list[str]) -> None:
        short, long = run(train, *four, "-o", "json"), run("place", train, *four, "-o", "json")
        assert short.choices == ["eu-h200"]
        assert (short.code, short.out) == (long.code, long.out)

    @pytest.mark.parametrize("before", [["-o", "json"], ["-ojson"], ["--output=json", "-v"], ["-vo", "json"]])
    def test_options_may_stand_before_the_manifest(
        self, run: Run, train: Path, four: list[str], before: list[str]
    ) -> None:
        assert run(*before, train, *four).choices == ["eu-h200"]

    @pytest.mark.parametrize("before", [["-o", "json"], ["-ojson"], ["--output=json", "--no-color"], ["-n", "team"]])
    def test_options_may_stand_before_the_command(self, run: Run, train: Path, before: list[str]) -> None:
        ran = run(*before, "describe", train)
        assert ran.code == 0
        assert "leader" in ran.out

    def test_a_file_with_the_name_of_a_command(self, run: Run, folder: Path, four: list[str]) -> None:
        fleet.write(folder / "describe", fleet.jobset())
        assert run("./describe", *four).code == 0
        assert run("--", "describe", *four).code == 2

    def test_f_is_kubectls(self, run: Run, train: Path, folder: Path, four: list[str]) -> None:
        other = fleet.write(folder / "other.yaml", fleet.jobset("other"))
        assert run("-f", train, "-f", other, *four, "-o", "name").out == "eu-h200\neu-h200\n"
        assert run("--filename", train, other, *four, "-o", "name").code == 0

    def test_stdin(self, run: Run, train: Path, four: list[str]) -> None:
        ran = run("-", *four, "-o", "json", stdin=train.read_text())
        assert ran.choices == ["eu-h200"]
        assert ran.report["workloads"][0]["source"] == {"file": "<stdin>", "line": 1}

    def test_folders_are_read_with_all_folders_in_them(self, run: Run, folder: Path, four: list[str]) -> None:
        fleet.write(folder / "all/b/two.yml", fleet.jobset("two"))
        fleet.write(folder / "all/a.yaml", fleet.jobset("one"))
        (folder / "all/z.json").write_text(json.dumps(fleet.jobset("three", gpus=1)))
        (folder / "all/notes.txt").write_text("no: [yaml")
        fleet.write(folder / "all/.git/hidden.yaml", fleet.jobset("hidden"))
        ran = run("all", *four, "-o", "json")
        assert [workload["name"] for workload in ran.report["workloads"]] == ["one", "two", "three"]

    def test_documents_and_lists(self, run: Run, folder: Path, four: list[str]) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": [CONFIG, fleet.jobset("second")]}
        fleet.write(folder / "all.yaml", fleet.jobset("first"), SERVICE, listed, SERVICE)
        ran = run("all.yaml", *four, "-o", "json")
        found = [(workload["name"], workload["source"]["line"]) for workload in ran.report["workloads"]]
        lines = (folder / "all.yaml").read_text().splitlines()
        assert [name for name, _ in found] == ["first", "second"]
        assert "jobset" in lines[found[1][1] - 1]
        assert ran.report["passedOver"] == {"ConfigMap": 1, "Service": 2}
        assert "note: no pods come of these by themselves: 1 ConfigMap, 2 Service" in ran.err

    def test_json_documents_one_after_the_other(self, run: Run, folder: Path, four: list[str]) -> None:
        texts = [json.dumps(fleet.jobset(name)) for name in ("first", "second")]
        (folder / "all.json").write_text("\n".join(texts))
        ran = run("all.json", *four, "-o", "json")
        found = [(workload["name"], workload["source"]["line"]) for workload in ran.report["workloads"]]
        assert found == [("first", 1), ("second", 2)]

    def test_one_object_given_twice_is_one(self, run: Run, train: Path, folder: Path, four: list[str]) -> None:
        """As with kubectl apply the last one counts; a generated name is another one each time."""
        larger = fleet.write(folder / "larger.yaml", fleet.jobset(workers=3))
        ran = run(train, larger, *four, "-o", "json")
        (only,) = ran.report["workloads"]
        assert (only["source"]["file"], only["roles"][1]["replicas"]) == (str(larger), 3)
        assert "note: JobSet default/llama is given again in " in ran.err
        generated = fleet.jobset(gpus=1)
        generated["metadata"] = {"generateName": "run-"}
        twice = fleet.write(folder / "twice.yaml", generated, generated)
        assert len(run(twice, *four, "-o", "json").report["workloads"]) == 2

    def test_a_selector_chooses_workloads(self, run: Run, folder: Path, four: list[str]) -> None:
        ours = fleet.jobset("ours", {"metadata": {"labels": {"team": "ml"}}})
        fleet.write(folder / "all.yaml", ours, fleet.jobset("theirs"))
        ran = run("all.yaml", "-l", "team=ml", *four, "-o", "json")
        assert [workload["name"] for workload in ran.report["workloads"]] == ["ours"]
        ran = run("all.yaml", "-l", "team=none", *four)
        assert (ran.code, ran.err) == (2, "error: none of the workloads (2) has the labels team=none\n")

    def test_namespaces(self, run: Run, folder: Path, four: list[str]) -> None:
        stated = fleet.jobset("stated", {"metadata": {"namespace": "team"}})
        fleet.write(folder / "all.yaml", stated, fleet.jobset("open"))
        for arguments, expected in (([], "default"), (["-n", "other"], "other")):
            ran = run("all.yaml", *arguments, *four, "-o", "json")
            assert [workload["namespace"] for workload in ran.report["workloads"]] == ["team", expected]

    def test_a_definition_of_the_users_own(self, run: Run, folder: Path, four: list[str]) -> None:
        fleet.write(folder / "foo.yaml", UNKNOWN)
        fleet.write(folder / "definition.yaml", fleet.definition())
        ran = run("foo.yaml", "--definition", "definition.yaml", *four, "-o", "json")
        assert ran.report["workloads"][0]["definition"] == {"name": "foo", "from": "file definition.yaml"}
        assert run("foo.yaml", *four).code == 5

    def test_the_users_folder_of_definitions(
        self, run: Run, folder: Path, home: Path, four: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fleet.write(folder / "foo.yaml", UNKNOWN)
        own = home / ".config/wm-place/definitions"
        fleet.write(own / "foo.yaml", fleet.definition())
        assert run("foo.yaml", *four).code == 0
        fleet.write(own / "broken.yaml", fleet.definition(path=".spec.["))
        ran = run("foo.yaml", *four)
        assert ran.code == 0
        assert f"warning: {own / 'broken.yaml'}:" in ran.err
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        assert run("foo.yaml", *four).code == 5


class TestAnswers:
    def test_several_workloads_never_share_a_gpu(self, run: Run, folder: Path, four: list[str]) -> None:
        paths = [fleet.write(folder / f"{n}.yaml", fleet.jobset(f"job{n}")) for n in range(3)]
        ran = run(*paths, *four, "-o", "json")
        assert ran.choices == ["eu-h200", "eu-h200", None]
        assert (ran.code, ran.report["exitCode"]) == (1, 1)

    def test_name(self, run: Run, folder: Path, train: Path, four: list[str]) -> None:
        big = fleet.write(folder / "big.yaml", fleet.jobset("big", gpus=16))
        assert run(big, train, *four, "-o", "name").out == "\neu-h200\n"

    def test_yaml_is_the_same_tree(self, run: Run, train: Path, four: list[str]) -> None:
        import yaml

        tree = yaml.safe_load(run(train, *four, "-o", "yaml").out)
        assert tree == run(train, *four, "-o", "json").report

    def test_equal_input_gives_equal_bytes(self, run: Run, train: Path, four: list[str]) -> None:
        for form in ("json", "yaml", "wide", "table", "name"):
            one = run(train, *four, "-o", form)
            other = run(train, *four, "-o", form, "--solver-workers", "7")
            assert one == other

    def test_wide_says_more(self, run: Run, train: Path, four: list[str]) -> None:
        out = run(train, *four, "-o", "wide").out
        assert "\n  worker  h200-[01-02]\n" in out
        assert "6 nodes with too few nvidia.com/gpu" in out

    def test_a_smaller_size(self, run: Run, folder: Path) -> None:
        elastic = {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": {"name": "elastic"},
            "spec": {
                "elasticPolicy": {"minReplicas": 2, "maxReplicas": 8},
                "pytorchReplicaSpecs": {"Worker": {"replicas": 5, "template": fleet.pod_template(8, "pytorch")}},
            },
        }
        path = fleet.write(folder / "elastic.yaml", elastic)
        flags = ["--from-snapshot", fleet.record(folder, "eu", fleet.room("n"))]
        ran = run(path, *flags)
        assert ran.code == 1
        assert "Smaller: eu takes 3 Worker with --allow-reduced." in ran.out
        ran = run(path, *flags, "--allow-reduced", "-o", "json")
        assert ran.code == 0
        assert ran.report["workloads"][0]["choice"]["verdict"] == "fits-reduced"

    def test_strategies(self, run: Run, train: Path, folder: Path) -> None:
        flags = [
            *("--from-snapshot", fleet.record(folder, "large", fleet.room("l", 6))),
            *("--from-snapshot", fleet.record(folder, "small", fleet.room("s", 2))),
        ]
        assert run(train, *flags, "-o", "name").out == "small\n"
        assert run(train, *flags, "--strategy", "pack", "-o", "name").out == "small\n"
        assert run(train, *flags, "--strategy", "spread", "-o", "name").out == "large\n"

    def test_what_is_odd_about_recordings_is_said_once(self, run: Run, train: Path, four: list[str]) -> None:
        ran = run(train, *four, "-o", "json")
        notes = [line for line in ran.err.splitlines() if "recorded by kubectl" in line]
        assert len(notes) == 1
        assert notes[0].startswith("note: eu-h200, us-h100, ap-a100, us-l4: ")
        recording = ran.report["workloads"][0]["clusters"][0]["recording"]
        assert any("THE RECORDING HOLDS NO PODS" in text for text in recording)

    def test_verbose_says_where_things_come_from(self, run: Run, train: Path, four: list[str]) -> None:
        quiet, ran = run(train, *four), run(train, *four, "-v")
        assert ran.out == quiet.out
        assert "note: JobSet default/llama is read by jobset-x-k8s-io-jobset-v1alpha2 (builtin)" in ran.err
        assert "note: clusters are the recordings named" in ran.err


class TestExitCodes:
    def test_placed(self, run: Run, train: Path, four: list[str]) -> None:
        assert run(train, *four).code == 0

    def test_not_now(self, run: Run, train: Path, folder: Path) -> None:
        flags = [
            *("--from-snapshot", fleet.record(folder, "busy", fleet.full("a"))),
            *("--from-snapshot", fleet.record(folder, "tiny", fleet.small("b"))),
        ]
        assert run(train, *flags).code == 1

    def test_never(self, run: Run, train: Path, folder: Path) -> None:
        assert run(train, "--from-snapshot", fleet.record(folder, "tiny", fleet.small("b"))).code == 3

    def test_cannot_tell(self, run: Run, train: Path, folder: Path) -> None:
        ran = run(train, "--from-snapshot", fleet.record(folder, "eu", fleet.room("n")), "--max-age", "1s")
        assert ran.code == 4

    def test_no_definition(self, run: Run, folder: Path, four: list[str]) -> None:
        ran = run(fleet.write(folder / "foo.yaml", UNKNOWN), *four)
        assert (ran.code, ran.out) == (5, "")
        assert ran.err.startswith("error: ")
        assert "foo.yaml:2 kind: no definition for FooJob (example.com/v1), which has pods inside\n" in ran.err
        assert "--definition FILE" in ran.err

    def test_only_other_kinds(self, run: Run, folder: Path, four: list[str]) -> None:
        ran = run(fleet.write(folder / "web.yaml", SERVICE, CONFIG), *four)
        assert (ran.code, ran.out) == (5, "")
        assert "there is no definition for what it holds (1 ConfigMap, 1 Service)" in ran.err

    @pytest.mark.parametrize(
        ("others", "code"),
        [
            ([fleet.jobset("small", gpus=1)], 0),
            ([fleet.jobset("busy", workers=7)], 1),
            ([fleet.jobset("never", gpus=16)], 3),
            ([fleet.jobset("never", gpus=16), fleet.jobset("busy", workers=7)], 3),
            ([UNKNOWN], 5),
            ([UNKNOWN, fleet.jobset("never", gpus=16)], 5),
            ([UNKNOWN, fleet.jobset("faulty", workers=-1)], 2),
            ([fleet.jobset("never", gpus=16), fleet.jobset("faulty", workers=-1)], 2),
        ],
    )
    def test_the_worst_of_several_wins(
        self, run: Run, train: Path, folder: Path, others: list[Object], code: int
    ) -> None:
        flags = [
            *("--from-snapshot", fleet.record(folder, "eu", fleet.room("n"))),
            *("--from-snapshot", fleet.record(folder, "busy", fleet.full("b", 9))),
        ]
        ran = run(train, fleet.write(folder / "others.yaml", *others), *flags, "-o", "json")
        assert (ran.code, ran.report["exitCode"]) == (code, code)
        assert ran.choices[0] is not None

    def test_a_faulty_workload_does_not_hide_the_answer_to_the_others(
        self, run: Run, train: Path, folder: Path, four: list[str]
    ) -> None:
        faulty = fleet.write(folder / "faulty.yaml", fleet.jobset("faulty", workers=-1))
        ran = run(faulty, train, *four, "-o", "json")
        bad, good = ran.report["workloads"]
        assert (bad["choice"], bad["clusters"], bool(bad["errors"])) == (None, [], True)
        assert good["choice"]["cluster"] == "eu-h200"
        assert "error: " in ran.err

    def test_faulty_workloads_alone_ask_no_cluster(self, run: Run, folder: Path) -> None:
        faulty = fleet.write(folder / "faulty.yaml", fleet.jobset("faulty", workers=-1))
        ran = run(faulty, "--from-snapshot", "nowhere.json")
        assert (ran.code, ran.out) == (2, "")
        assert "must not be negative: -1" in ran.err
        assert "nowhere" not in ran.err

    def test_faulty_workloads_alone_are_in_the_report(self, run: Run, folder: Path) -> None:
        faulty = fleet.write(folder / "faulty.yaml", fleet.jobset("faulty", workers=-1))
        (found,) = run(faulty, "--from-snapshot", "nowhere.json", "-o", "json").report["workloads"]
        assert (found["choice"], found["clusters"]) == (None, [])
        assert "must not be negative" in found["errors"][0]["text"]


class TestAges:
    def test_recordings_are_judged_as_of_their_own_time(self, run: Run, train: Path, folder: Path) -> None:
        flags = [
            *("--from-snapshot", fleet.record(folder, "old", fleet.full("a"), at=fleet.NOON - 3600)),
            *("--from-snapshot", fleet.record(folder, "new", fleet.room("n"))),
        ]
        ran = run(train, *flags, "-o", "json")
        assert (ran.report["asOf"], ran.report["askedAt"]) == ("2025-11-30T11:00:00Z", "2025-11-30T12:00:00Z")
        assert "as of 2025-11-30 12:00:00 UTC; the oldest data is 60m older." in run(train, *flags).out

    def test_a_limit_is_counted_from_now(self, run: Run, train: Path, folder: Path) -> None:
        old = fleet.record(folder, "old", fleet.room("a"))
        new = fleet.record(folder, "new", fleet.room("n"))
        os.utime(new)
        os.utime(old, (1, 1))
        ran = run(train, "--from-snapshot", old, "--from-snapshot", new, "--max-age", "1h", "-o", "json")
        assert ran.verdicts == {"new": "fits", "old": "unknown"}
        gap = ran.report["workloads"][0]["clusters"][1]["gaps"][0]
        assert (gap["what"], gap["why"]) == ("cluster", "stale")
        assert gap["text"].endswith("old, no more than 60m is allowed")
