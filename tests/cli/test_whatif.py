"""`wm-place whatif`, and edits on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli import fleet
from tests.cli.conftest import Run

SCENARIOS = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
RUNS = {"job": {"verdict": "fits", "cluster": "eu"}}


@pytest.fixture
def scene(folder: Path) -> Path:
    """One job of 16 GPUs, a cluster with two nodes for it and one without."""
    fleet.write(folder / "in/job.yaml", fleet.job("job", pods=2, gpus=8))
    (folder / "in/fleet").mkdir()
    fleet.record(folder / "in/fleet", "eu", fleet.room("h200", nodes=2))
    fleet.record(folder / "in/fleet", "us", fleet.small("l4", nodes=2))
    return folder / "in"


def scenario(scene: Path, *steps: Any, **more: Any) -> Path:
    base = {"snapshots": ["fleet/eu.json", "fleet/us.json"]}
    body = {"apiVersion": "wm-place/v1", "kind": "Scenario", "base": base, "workloads": ["job.yaml"], **more}
    path = scene / "scenario.yaml"
    path.write_text(yaml.safe_dump({**body, **({"steps": list(steps)} if steps else {})}, sort_keys=False))
    return path


def drained(node: str = "h200-01", **more: Any) -> dict[str, Any]:
    return {"name": "drained", "edits": [{"drain": {"cluster": "eu", "nodes": [node]}}], **more}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_scenarios_that_come_with_us_are_true(run: Run, path: Path) -> None:
    ran = run("whatif", path, "-o", "json")
    assert ran.code == 0, ran.out
    assert all(step["unmet"] == [] for step in ran.report["steps"])


class TestWithoutEdits:
    @pytest.mark.parametrize("form", ["json", "yaml", "table", "wide", "name"])
    def test_a_scenario_without_steps_is_the_plain_answer(self, run: Run, scene: Path, form: str) -> None:
        plain = run(
            "in/job.yaml", "--from-snapshot", "in/fleet/eu.json", "--from-snapshot", "in/fleet/us.json", "-o", form
        )
        asked = run("whatif", scenario(scene).relative_to(scene.parent), "-o", form)
        assert (asked.code, asked.out) == (plain.code, plain.out)

    def test_a_step_without_edits_changes_nothing(self, run: Run, scene: Path) -> None:
        plain = run(
            "in/job.yaml", "--from-snapshot", "in/fleet/eu.json", "--from-snapshot", "in/fleet/us.json", "-o", "json"
        )
        path = scenario(scene, {"name": "nothing"}).relative_to(scene.parent)
        found = run("whatif", path, "-o", "json").report
        assert found["base"] == plain.report
        (step,) = found["steps"]
        assert (step["workloads"], step["changed"], step["edits"]) == (plain.report["workloads"], [], [])


class TestSteps:
    def test_follow_one_another(self, run: Run, scene: Path) -> None:
        bought = {"edits": [{"addNodes": {"cluster": "eu", "like": "h200-02", "count": 1}}]}
        found = run("whatif", scenario(scene, drained(), bought), "-o", "json")
        steps = found.report["steps"]
        assert [step["name"] for step in steps] == ["drained", "step 2"]
        assert [[(one["cluster"], one["before"], one["after"]) for one in step["changed"]] for step in steps] == [
            [("eu", "fits", "full")],
            [("eu", "full", "fits")],
        ]
        assert found.code == 0

    def test_the_last_answer_gives_the_exit_code(self, run: Run, scene: Path) -> None:
        assert run("whatif", scenario(scene, drained())).code == 1

    def test_before_and_after_stand_side_by_side(self, run: Run, scene: Path) -> None:
        shown = run("whatif", scenario(scene, drained())).out
        assert "drained: drain h200-01 of eu" in shown
        assert "eu       fits    full   16 → 8  all → 1 of 2  1 node cordoned" in shown
        assert "To make it fit: uncordon h200-01." in shown

    def test_only_rows(self, run: Run, scene: Path) -> None:
        rows = run("whatif", scenario(scene, drained()), "--no-headers").out.splitlines()
        assert [row.split()[:3] for row in rows] == [["eu", "fits", "full"], ["us", "never", "never"]]

    def test_wide_and_names(self, run: Run, scene: Path) -> None:
        lost = {"edits": [{"loseCluster": {"cluster": "us"}}]}
        assert "h200-[01-02]" in run("whatif", scenario(scene, lost), "-o", "wide").out
        assert run("whatif", scenario(scene, lost), "-o", "name").out == "eu\n"
        assert (
            "us       never   -      -     -             the cluster is gone"
            in run("whatif", scenario(scene, lost)).out
        )

    def test_copies_of_a_file(self, run: Run, scene: Path) -> None:
        found = run("whatif", scenario(scene, {}, workloads=[{"file": "job.yaml", "copies": 2}]), "-o", "json").report
        assert [one["name"] for one in found["base"]["workloads"]] == ["job-1", "job-2"]
        assert [one["choice"] is None for one in found["base"]["workloads"]] == [False, True]

    def test_copies_of_a_folder(self, run: Run, scene: Path) -> None:
        fleet.write(scene / "all/a.yaml", fleet.job("a"))
        found = run("whatif", scenario(scene, {}, workloads=[{"file": "all", "copies": 3}]), "-o", "json").report
        assert [one["name"] for one in found["base"]["workloads"]] == ["a-1", "a-2", "a-3"]

    def test_other_clusters_than_the_base(self, run: Run, scene: Path) -> None:
        ran = run("whatif", scenario(scene), "--from-snapshot", "in/fleet/us.json", "-o", "json")
        assert ran.verdicts == {"us": "never"}


class TestExpect:
    @pytest.mark.parametrize(
        ("expect", "unmet"),
        [
            ({"job": {"verdict": "full"}}, []),
            ({"job": {"verdict": "full", "cluster": None}}, []),
            ({"job": {"reason": "cordoned"}}, []),
            ({"job": {"clusters": {"us": {"verdict": "never", "reason": "insufficient-gpu"}}}}, []),
            ({"job": {"verdict": "fits"}}, [("the verdict", "fits", "full")]),
            ({"job": {"cluster": "eu"}}, [("the cluster", "eu", "none")]),
            ({"job": {"reason": "taint"}}, [("the reason", "taint", "cordoned")]),
            ({"job": {"clusters": {"eu": {"verdict": "never"}}}}, [("eu verdict", "never", "full")]),
        ],
    )
    def test_what_comes_is_held_against_it(self, run: Run, scene: Path, expect: Any, unmet: list[Any]) -> None:
        ran = run("whatif", scenario(scene, drained(expect=expect)), "-o", "json")
        (step,) = ran.report["steps"]
        assert [(one["what"], one["expected"], one["found"]) for one in step["unmet"]] == unmet
        assert ran.code == (1 if unmet else 0)

    def test_the_difference_is_shown(self, run: Run, scene: Path) -> None:
        ran = run("whatif", scenario(scene, drained(expect={"job": {"verdict": "fits", "cluster": "eu"}})))
        assert ran.code == 1
        assert "Not as expected:\n  Job default/job: the cluster\n    - eu\n    + none\n" in ran.out


def adding(allocatable: dict[str, Any]) -> dict[str, Any]:
    return {"edits": [{"addNodes": {"cluster": "eu", "count": 1, "shape": {"allocatable": allocatable}}}]}


class TestFaults:
    @pytest.mark.parametrize(
        ("steps", "messages"),
        [
            ([drained("gone")], ['scenario.yaml:12 steps[0].edits[0]: eu has no node "gone"']),
            (
                [drained(expect={"jib": {"verdict": "fits"}})],
                ['steps[0].expect.jib: there is no workload "jib"', "did you mean job?"],
            ),
            ([{"edit": []}], ["steps[0].edit: is not known here", "did you mean edits?"]),
            ([{"edits": [{"drian": {}}]}], ["steps[0].edits[0].drian: is not known here", "did you mean drain?"]),
            ([{"edits": [{"drain": {"cluster": "eu"}}]}], ["needs nodes or a selector, and not both"]),
            ([{"edits": [{}]}], ["should be one edit, of addNodes, "]),
            ([{"edits": [{"addNodes": {"cluster": "eu", "like": "x", "count": -1}}]}], [".addNodes.count: "]),
            (
                [{"edits": [{"addNodes": {"cluster": "eu", "count": 1}}]}],
                ["needs like (a node that is there) or a shape"],
            ),
            (
                [{"edits": [{"addNodes": {"cluster": "eu", "count": 1, "shape": {"allocatable": {"cpu": "8Gb"}}}}]}],
                ['.addNodes.shape.allocatable.cpu: "8Gb" is not a quantity'],
            ),
            (
                [{"edits": [{"taint": {"cluster": "eu", "nodes": ["h200-01"], "taints": ["a:Never"]}}]}],
                ['.taint.taints[0]: "a:Never" is not a taint'],
            ),
            (
                [{"edits": [{"taint": {"cluster": "eu", "nodes": ["h200-01"], "taints": ["a=b-"]}}]}],
                ['.taint.taints[0]: "a=b-" is not a taint to take away'],
            ),
            (
                [
                    {
                        "edits": [
                            {"taint": {"cluster": "eu", "nodes": ["h200-01"], "taints": ["-a:NoSchedule", "a:Nev-"]}}
                        ]
                    }
                ],
                ['.taint.taints[0]: "-a:NoSchedule" is not a taint'],
            ),
            (
                [{"edits": [{"taint": {"cluster": "eu", "nodes": ["h200-01"], "taints": ["a=b c:NoSchedule"]}}]}],
                ['.taint.taints[0]: "a=b c:NoSchedule" is not a taint'],
            ),
            (
                [{"edits": [{"label": {"cluster": "eu", "nodes": ["h200-01"], "labels": {"a b": "c", "d": "e f"}}}]}],
                [".label.labels.", "is no label key", '"e f" is no label value'],
            ),
            (
                [{"edits": [{"drain": {"cluster": "eu", "selector": {"a/b/c": "d"}}}]}],
                ['.drain.selector["a/b/c"]: is no label key'],
            ),
            (
                [
                    {
                        "edits": [
                            {
                                "addNodes": {
                                    "cluster": "eu",
                                    "count": 1,
                                    "shape": {"allocatable": {"cpu": 8}, "labels": {"a": "-"}},
                                }
                            }
                        ]
                    }
                ],
                [".addNodes.shape.labels.a: ", '"-" is no label value'],
            ),
            (
                [adding({"cpu": [8], "nvidia.com/gpu": "0.5", "memory": -1.5})],
                [
                    ".allocatable.cpu: list is not a quantity",
                    '.allocatable["nvidia.com/gpu"]: must be a whole number',
                    ".allocatable.memory: -1.5 is less than nothing",
                ],
            ),
            ([{"expect": {"job": {}}}], [".expect.job: expects nothing"]),
            ([{"expect": {"job": {"verdict": None, "clusters": {}}}}], [".expect.job: expects nothing"]),
            ([{"expect": {"job": {"clusters": {"eu": {}}}}}], [".expect.job.clusters.eu: expects nothing"]),
            ([{"expect": {"job": {"verdict": "fit"}}}], [".verdict: ", "did you mean fits"]),
            ([{"expect": {"job": {"reason": "tired"}}}], ['.job.reason: "tired" is no reason code']),
        ],
    )
    def test_are_told_with_their_line(self, run: Run, scene: Path, steps: list[Any], messages: list[str]) -> None:
        ran = run("whatif", scenario(scene, *steps))
        assert (ran.code, ran.out) == (2, "")
        for message in messages:
            assert message in ran.err

    def test_are_told_all_at_once_in_the_order_of_the_file(self, run: Run, scene: Path) -> None:
        """Whatever kind of fault they are; none hides another."""
        on_one = {"cluster": "eu", "nodes": ["x"]}
        wrong = [
            {"drain": on_one, "cordon": {"cluster": "eu"}},
            {"addNodes": {"cluster": "eu", "count": -1, "like": "x", "shape": {"allocatable": {"cpu": "8Gb"}}}},
            {"label": {**on_one, "labels": {}, "lables": {}}},
            {"taint": {**on_one, "taints": ["a=b:Foo", 5]}},
            {"quota": {"cluster": "eu", "namespace": "x", "hard": {"pods": "abc"}}},
            {"removePods": None},
        ]
        steps = [
            {
                "edits": wrong,
                "expect": {"job": {"verdict": "fit", "reason": "tired", "clusters": {"eu": {"reason": "x"}}}},
            }
        ]
        ran = run("whatif", scenario(scene, *steps))
        assert [line.split("steps[0].")[1].split(": ")[0] for line in ran.err.splitlines() if "steps[0]" in line] == [
            "edits[0]",
            "edits[0].cordon",
            "edits[1].addNodes",
            "edits[1].addNodes.count",
            "edits[1].addNodes.shape.allocatable.cpu",
            "edits[2].label.labels",
            "edits[2].label.lables",
            "edits[3].taint.taints[0]",
            "edits[3].taint.taints[1]",
            "edits[4].quota.hard.pods",
            "edits[5].removePods",
            "expect.job.verdict",
            "expect.job.reason",
            "expect.job.clusters.eu.reason",
        ]
        assert "should be one edit, of addNodes" in ran.err
        assert "labels: should not be empty" in ran.err

    def test_what_is_not_read_yet(self, run: Run, scene: Path) -> None:
        ran = run("whatif", scenario(scene, sweep={"addNodes": {}}))
        assert (ran.code, "sweep: not read yet by this version" in ran.err) == (2, True)

    def test_a_file_that_is_named_twice(self, run: Run, scene: Path) -> None:
        ran = run("whatif", scenario(scene, workloads=[{"file": "job.yaml", "copies": 3}, "job.yaml"]))
        assert (ran.code, "workloads[1]: " in ran.err, "is named already" in ran.err) == (2, True, True)

    def test_absurd_amounts_are_cut_off(self, run: Run, scene: Path) -> None:
        shape = {"allocatable": {"cpu": 9999999999999999999.5, "nvidia.com/gpu": 8, "memory": "1Ti"}}
        bought = {"edits": [{"addNodes": {"cluster": "us", "count": 2, "shape": shape}}]}
        assert run("whatif", scenario(scene, bought), "-o", "name").out == "eu\n"

    def test_there_is_nothing_to_wait_for(self, run: Run, scene: Path) -> None:
        assert run("whatif", scenario(scene), "--wait", "1m").code == 2

    def test_a_file_that_is_no_scenario(self, run: Run, scene: Path) -> None:
        ran = run("whatif", "in/job.yaml")
        assert (ran.code, "apiVersion" in ran.err) == (2, True)

    def test_a_scenario_from_stdin(self, run: Run, scene: Path) -> None:
        """Its paths start from the folder where one is."""
        text = scenario(scene, drained()).read_text().replace("fleet/", "in/fleet/").replace("job.yaml", "in/job.yaml")
        (step,) = run("whatif", "-", "-o", "json", stdin=text).report["steps"]
        assert step["workloads"][0]["clusters"][0]["verdict"] == "full"
        ran = run("whatif", "-", stdin=text.replace("h200-01", "gone"))
        assert (ran.code, '<stdin>:12 steps[0].edits[0]: eu has no node "gone"' in ran.err) == (2, True), ran.err

    def test_a_base_of_both_kinds(self, run: Run, scene: Path) -> None:
        ran = run("whatif", scenario(scene, base={"clusters": "a", "snapshots": ["b"]}))
        assert (ran.code, "base: needs clusters or snapshots, and not both" in ran.err) == (2, True)


class TestOptions:
    """The same edits for a moment's question."""

    @pytest.mark.parametrize(
        ("edits", "verdicts"),
        [
            (["--drain", "eu=h200-01"], {"eu": "full", "us": "never"}),
            (["--cordon", "eu=kubernetes.io/hostname=h200-01"], {"eu": "full", "us": "never"}),
            (["--cordon", "eu=h200-01", "--add-nodes", "eu=1xh200-02"], {"eu": "fits", "us": "never"}),
            (["--replicas", "job=3"], {"eu": "never", "us": "never"}),
            (["--replicas", "job=3", "--add-nodes", "eu=1xh200-02"], {"eu": "fits", "us": "never"}),
            (["--lose-cluster", "eu"], {"us": "never"}),
        ],
    )
    def test_edit_the_question(self, run: Run, scene: Path, edits: list[str], verdicts: dict[str, str]) -> None:
        recorded = ["--from-snapshot", "in/fleet/eu.json", "--from-snapshot", "in/fleet/us.json"]
        (step,) = run("in/job.yaml", *recorded, *edits, "-o", "json").report["steps"]
        assert {one["name"]: one["verdict"] for one in step["workloads"][0]["clusters"]} == verdicts

    @pytest.mark.parametrize(
        ("stated", "verdict"),
        [
            ("eu=kubernetes.io/hostname in (h200-01, h200-02)", "full"),
            ("eu=h200-01\neu=kubernetes.io/hostname in (h200-02)\n", "full"),
            ("", "fits"),
        ],
    )
    def test_a_variable_has_a_selector_a_line(
        self, run: Run, scene: Path, monkeypatch: pytest.MonkeyPatch, stated: str, verdict: str
    ) -> None:
        monkeypatch.setenv("WM_PLACE_CORDON", stated)
        report = run("in/job.yaml", "--from-snapshot", "in/fleet/eu.json", "-o", "json").report
        (found,) = report.get("steps", [report])
        assert found["workloads"][0]["clusters"][0]["verdict"] == verdict

    def test_pods_and_quotas(self, run: Run, scene: Path) -> None:
        fleet.record(scene, "busy", fleet.full("h200", nodes=2))
        shown = run("in/job.yaml", "--from-snapshot", "in/busy.json", "--without", "busy=team").out
        assert "busy     full    fits   0 → 16" in shown

    @pytest.mark.parametrize(
        ("edit", "message"),
        [
            (["--drain", "eu"], '--drain: "eu" is not CLUSTER=NODE or CLUSTER=SELECTOR'),
            (["--add-nodes", "eu=h200-01"], '"h200-01" is not COUNTxNODE'),
            (["--replicas", "job=many"], '"many" is not a number of pods'),
            (["--quota", "eu=team"], '"team" is not NAMESPACE/KEY=VALUE'),
            (["--quota", "eu=team/pods=lots"], '"lots" is not a quantity'),
            (["--drain", "eu=rack in r7"], "is not a label selector"),
            (["--lose-cluster", "ue"], '--lose-cluster: there is no cluster "ue"'),
            (["--lose-cluster", "us", "--drain", "eu=gone"], '--drain: eu has no node "gone"'),
            (["--drain", "eu=a/b/c=d"], "a/b/c is no label key"),
            (["--drain", f"eu=rack={'r' * 64}"], "is no label value"),
            (["--without", "eu=team"], 'eu has no pod in namespace "team"'),
            (["--lose-cluster", "us", "--wait", "1m"], "--wait has nothing to wait for"),
        ],
    )
    def test_that_cannot_be_used(self, run: Run, scene: Path, edit: list[str], message: str) -> None:
        ran = run("in/job.yaml", "--from-snapshot", "in/fleet/eu.json", "--from-snapshot", "in/fleet/us.json", *edit)
        assert (ran.code, message in ran.err) == (2, True), ran.err
