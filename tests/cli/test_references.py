"""Workloads whose pods depend on another object: `--with FILE`, and what is said where it is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.accelerators import Accelerators
from advisor.kube import recorded
from tests.cli import fleet
from tests.cli.conftest import Run
from tests.kube.objects import Object

MISSING = "its pods depend on Recipe llama, which is not in the files"


def meal(name: str = "dinner") -> Object:
    """Of a kind whose pods are those of its recipe."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "FooJob",
        "metadata": {"name": name},
        "spec": {"recipe": "llama"},
    }


def recipe(gpus: int = 8, pods: int = 2) -> Object:
    spec = {"pods": pods, "template": fleet.pod_template(gpus)}
    return {"apiVersion": "example.com/v1", "kind": "Recipe", "metadata": {"name": "llama"}, "spec": spec}


def profile() -> Object:
    find = '{group: "example.com", kind: "Recipe", name: .spec.recipe, at: ["spec", "recipe"]}'
    role = {"added": "cook", "replicas": "$refs.recipe.spec.pods", "template": "$refs.recipe.spec.template"}
    spec = {
        "for": {"group": "example.com", "kind": "FooJob", "versions": ["v1"]},
        "references": {"recipe": {"find": find}},
        "roles": [role],
    }
    return {"apiVersion": "wm-place/v1", "kind": "PlacementProfile", "metadata": {"name": "foo"}, "spec": spec}


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    fleet.write(folder / "foo.yaml", fleet.definition(), profile())
    fleet.write(folder / "meal.yaml", meal())
    fleet.write(folder / "recipes" / "llama.yaml", recipe())


def test_describe_says_what_is_missing(run: Run) -> None:
    ran = run("describe", "meal.yaml", "--definition", "foo.yaml")
    assert ran.code == 4
    assert ran.out.splitlines()[-1] == "Its pods depend on Recipe llama, which is not in the files."
    assert f"error: meal.yaml:6 spec.recipe: {MISSING}\n    name the file that holds it: --with FILE\n" in ran.err
    ran = run("describe", "meal.yaml", "--definition", "foo.yaml", "-o", "json")
    (workload,) = ran.report["workloads"]
    assert (ran.code, workload["roles"]) == (4, [])
    assert workload["errors"] == [
        {
            "path": "spec.recipe",
            "code": "missing-reference",
            "text": MISSING,
            "hint": "name the file that holds it: --with FILE",
            "line": 6,
        }
    ]


@pytest.mark.parametrize("named", ["recipes", "recipes/llama.yaml"])
def test_describe_with_it(run: Run, named: str) -> None:
    ran = run("describe", "meal.yaml", "--definition", "foo.yaml", "--with", named, "-o", "json")
    (workload,) = ran.report["workloads"]
    assert (ran.code, ran.err, workload["errors"]) == (0, "", [])
    assert (workload["totals"]["nvidia.com/gpu"], ran.report["passedOver"]) == ("16", {})


def test_place_cannot_tell_without_it_and_can_with_it(run: Run, folder: Path) -> None:
    given = ["meal.yaml", "--definition", "foo.yaml", "-o", "json", *fleet.four(folder)]
    ran = run(*given)
    assert (ran.code, ran.choices) == (4, [None])
    assert set(ran.verdicts.values()) == {"unknown"}
    for cluster in ran.report["workloads"][0]["clusters"]:
        first = cluster["reasons"][0]
        assert (first["code"], first["subject"], first["doubt"]) == ("missing-reference", "Recipe llama", True)
        assert "Recipe llama" in cluster["why"] and "--with FILE" in cluster["why"]
    ran = run(*given, "--with", "recipes")
    assert (ran.code, ran.choices) == (0, ["eu-h200"])


def test_beside_it_others_are_answered(run: Run, folder: Path) -> None:
    fleet.write(folder / "train.yaml", fleet.jobset())
    ran = run("meal.yaml", "train.yaml", "--definition", "foo.yaml", "-o", "json", *fleet.four(folder))
    assert (ran.code, ran.choices) == (4, [None, "eu-h200"])


def test_the_table_names_it(run: Run, folder: Path) -> None:
    ran = run("meal.yaml", "--definition", "foo.yaml", *fleet.four(folder))
    assert ran.code == 4
    assert "Recipe llama" in ran.out
    assert "how many pods is not known" in ran.out


def test_a_namespace_that_is_not_there_is_a_no_all_the_same(run: Run, folder: Path) -> None:
    at = ["--from-snapshot", fleet.record(folder, "eu", fleet.room("eu"))]
    ran = run("meal.yaml", "-n", "nowhere", "--definition", "foo.yaml", "-o", "json", *at)
    assert (ran.code, ran.verdicts) == (3, {"eu": "never"})


def test_scenarios_and_edits(run: Run, folder: Path) -> None:
    given = ["meal.yaml", "--definition", "foo.yaml", "-o", "json", *fleet.four(folder), "--lose-cluster", "us-l4"]
    assert run(*given).code == 4
    assert run(*given, "--with", "recipes").code == 0
    scenario = {
        "apiVersion": "wm-place/v1",
        "kind": "Scenario",
        "base": {"snapshots": [fleet.record(folder, "eu", fleet.room("eu", nodes=2)).name]},
        "workloads": ["meal.yaml"],
        "steps": [{"name": "cordoned", "edits": [{"cordon": {"cluster": "eu", "nodes": ["eu-01"]}}]}],
    }
    fleet.write(folder / "less.yaml", scenario)
    ran = run("whatif", "less.yaml", "--definition", "foo.yaml", "--with", "recipes", "-o", "json")
    assert ran.report["base"]["workloads"][0]["choice"]["cluster"] == "eu"


def test_files_that_cannot_be_read_are_said(run: Run, folder: Path) -> None:
    (folder / "broken.yaml").write_text("a: [")
    ran = run("describe", "meal.yaml", "--definition", "foo.yaml", "--with", "nowhere", "--with", "broken.yaml")
    assert ran.code == 2
    assert "error: nowhere: cannot be read: No such file or directory" in ran.err
    assert "error: broken.yaml:" in ran.err


class TestClusters:
    """Each with its own, as it was recorded."""

    def recorded(self, folder: Path) -> list[str]:
        eu = fleet.record(folder, "eu", [*fleet.room("h200"), recipe(pods=3)])
        us = fleet.record(folder, "us", [*fleet.room("h100"), recipe(pods=4)])
        ap = fleet.record(folder, "ap", fleet.room("a100"))
        return [flag for path in (eu, us, ap) for flag in ("--from-snapshot", str(path))]

    def test_every_cluster_is_judged_by_its_own(self, run: Run, folder: Path) -> None:
        ran = run("meal.yaml", "--definition", "foo.yaml", "-o", "json", *self.recorded(folder))
        assert (ran.code, ran.choices) == (0, ["eu"])
        assert ran.verdicts == {"eu": "fits", "us": "never", "ap": "unknown"}
        (workload,) = ran.report["workloads"]
        assert [(role["name"], role["replicas"]) for role in workload["roles"]] == [("cook", 3)]
        assert (workload["errors"], workload["accelerator"]) == ([], "nvidia.com/gpu")
        assert "these are its pods in eu; in us they are others" in [note["text"] for note in workload["notes"]]
        reasons = {one["name"]: one["reasons"][0]["code"] for one in workload["clusters"] if one["reasons"]}
        assert reasons["ap"] == "missing-reference"

    def test_files_come_first(self, run: Run, folder: Path) -> None:
        given = ["meal.yaml", "--definition", "foo.yaml", "-o", "json", *self.recorded(folder)]
        ran = run(*given, "--with", "recipes")
        assert ran.verdicts == {"eu": "fits", "us": "fits", "ap": "fits"}
        assert ran.report["workloads"][0]["roles"][0]["replicas"] == 2

    def test_equal_input_gives_equal_bytes(self, run: Run, folder: Path) -> None:
        given = ["meal.yaml", "--definition", "foo.yaml", "-o", "json", *self.recorded(folder)]
        assert run(*given).out == run(*given).out

    def test_what_was_recorded_anew_is_still_there(self, run: Run, folder: Path) -> None:
        """In our own recordings, of kinds to which the catalogue refers."""
        runtime = trainer_runtime(nodes=2)
        eu = fleet.record(folder, "eu", [*fleet.room("h200"), runtime])
        assert run("snapshot", "--from-snapshot", eu, "-o", "ours.json").code == 0
        assert "hunter2" not in (folder / "ours.json").read_text()
        fleet.write(folder / "train.yaml", trainjob())
        for path in (eu, "ours.json"):
            ran = run("train.yaml", "--from-snapshot", path, "-o", "json")
            assert (ran.code, ran.report["workloads"][0]["roles"][0]["replicas"]) == (0, 2)

    def test_warnings_say_of_which_cluster_they_are(self, run: Run, folder: Path) -> None:
        eu = fleet.record(folder, "eu", [*fleet.room("h200"), trainer_runtime(nodes=2, labelled=False)])
        us = fleet.record(folder, "us", [*fleet.room("h100"), trainer_runtime(nodes=2)])
        fleet.write(folder / "train.yaml", trainjob(numNodes=3))
        ran = run("train.yaml", "--from-snapshot", eu, "--from-snapshot", us, "-o", "json")
        assert "warning: train.yaml:1: eu: TrainJob default/tune, spec.trainer.numNodes: is ignored" in ran.err
        assert set(ran.verdicts.values()) == {"fits"}

    def test_edits_see_what_each_cluster_makes_of_it(self, run: Run, folder: Path) -> None:
        given = ["meal.yaml", "--definition", "foo.yaml", "-o", "json", *self.recorded(folder)]
        ran = run(*given, "--replicas", "cook=2")
        assert ran.out, ran.err
        (step,) = ran.report["steps"]
        verdicts = {one["name"]: one["verdict"] for one in step["workloads"][0]["clusters"]}
        assert verdicts == {"eu": "fits", "us": "fits", "ap": "unknown"}


SERVING = "serving.kserve.io"


def service(**model: Any) -> Object:
    model = {"modelFormat": {"name": "rare"}, "storageUri": "s3://models/it", **model}
    spec = {"predictor": {"model": model}}
    return {"apiVersion": f"{SERVING}/v1beta1", "kind": "InferenceService", "metadata": {"name": "chat"}, "spec": spec}


def serving_runtime(name: str, *formats: str, kind: str = "ClusterServingRuntime", gpus: int = 4) -> Object:
    container = {"name": "kserve-container", "image": "x", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    supported = [{"name": one, "autoSelect": True} for one in formats]
    metadata = {"name": name} if kind.startswith("Cluster") else {"name": name, "namespace": "default"}
    spec = {"supportedModelFormats": supported, "containers": [container]}
    return {"apiVersion": f"{SERVING}/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


class TestRuntimesOfModels:
    """Which of them is missing, taken for another, or found: never zero accelerators."""

    @pytest.mark.parametrize("model", [{"runtime": "big"}, {}], ids=["named", "any"])
    @pytest.mark.parametrize("beside", [[], [serving_runtime("other", "another", kind="ServingRuntime")]])
    def test_without_it_the_answer_is_open(
        self, run: Run, folder: Path, model: dict[str, str], beside: list[Object]
    ) -> None:
        fleet.write(folder / "chat.yaml", service(**model), *beside)
        ran = run("describe", "chat.yaml", "-o", "json")
        (workload,) = ran.report["workloads"]
        assert (ran.code, workload["roles"]) == (4, [])
        assert [error["code"] for error in workload["errors"]] == ["missing-reference"]
        assert "usual" not in ran.err
        ran = run("chat.yaml", "--from-snapshot", fleet.record(folder, "eu", fleet.room("eu")), "-o", "json")
        assert (ran.code, ran.verdicts) == (4, {"eu": "unknown"})

    @pytest.mark.parametrize("model", [{"runtime": "big"}, {}], ids=["named", "any"])
    @pytest.mark.parametrize("more", [[], [serving_runtime("small", "another", kind="ServingRuntime")]])
    def test_what_kubectl_recorded_is_found(
        self, run: Run, folder: Path, model: dict[str, str], more: list[Object]
    ) -> None:
        fleet.write(folder / "chat.yaml", service(**model))
        eu = fleet.record(folder, "eu", [*fleet.room("eu"), serving_runtime("big", "rare"), *more])
        ran = run("chat.yaml", "--from-snapshot", eu, "-o", "json")
        (workload,) = ran.report["workloads"]
        assert (ran.code, ran.verdicts) == (0, {"eu": "fits"})
        assert [role["requests"]["nvidia.com/gpu"] for role in workload["roles"]] == ["4"]
        assert "was not found" not in ran.err
        taken = "ServingRuntime.serving.kserve.io"
        assert (f", {taken}\n" in ran.err) == (not more)  # taken as none, and said

    def test_one_of_the_same_file_is_enough(self, run: Run, folder: Path) -> None:
        fleet.write(folder / "chat.yaml", service(), serving_runtime("mine", "rare", kind="ServingRuntime"))
        eu = fleet.record(folder, "eu", [*fleet.room("eu"), serving_runtime("z", "another")])
        ran = run("chat.yaml", "--from-snapshot", eu, "-o", "json")
        assert (ran.code, ran.verdicts) == (0, {"eu": "fits"})

    @pytest.mark.parametrize("model", [{"runtime": "gone"}, {"modelFormat": {"name": "gone"}}], ids=["named", "any"])
    def test_where_the_cluster_was_asked_and_has_none_it_never_fits(
        self, run: Run, folder: Path, model: dict[str, Any]
    ) -> None:
        fleet.write(folder / "chat.yaml", service(**model))
        asked(folder, serving_runtime("big", "rare"))
        ran = run("chat.yaml", "--from-snapshot", "asked.json", "-o", "json")
        assert (ran.code, ran.verdicts) == (3, {"eu": "never"})
        (cluster,) = ran.report["workloads"][0]["clusters"]
        assert cluster["reasons"][0]["code"] == "missing-reference"

    def test_what_the_cluster_has_is_not_said_to_be_missing(self, run: Run, folder: Path) -> None:
        fleet.write(folder / "chat.yaml", service(runtime="kserve-sklearnserver", modelFormat={"name": "sklearn"}))
        eu = fleet.record(folder, "eu", [*fleet.room("eu"), serving_runtime("kserve-sklearnserver", "sklearn")])
        ran = run("chat.yaml", "--from-snapshot", eu, "-o", "json")
        assert (ran.code, "usual" in ran.err, "0.15.2" in ran.err) == (0, False, False)
        us = fleet.record(folder, "us", fleet.room("us"))
        ran = run("chat.yaml", "--from-snapshot", us, "-o", "json")
        assert ran.code == 4
        assert "warning: chat.yaml:1: InferenceService default/chat" in ran.err
        ran = run("chat.yaml", "--from-snapshot", eu, "--from-snapshot", us, "-o", "json")
        assert "warning: chat.yaml:1: us: InferenceService default/chat" in ran.err


def asked(folder: Path, *objects: Object) -> None:
    """A snapshot of a cluster that was asked for all of its runtimes and has these."""
    path = fleet.record(folder, "eu", [*fleet.room("eu"), *objects])
    kinds = {(SERVING, kind) for kind in ("ServingRuntime", "ClusterServingRuntime")}
    (found,) = recorded.read(path, Accelerators(), kinds)
    whole = tuple(replace(one, whole=True) for one in found.looked_up)
    recorded.write(folder / "asked.json", [replace(found, looked_up=whole)])


def trainjob(**trainer: Any) -> Object:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "tune"},
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": trainer},
    }


def trainer_runtime(nodes: int, *, labelled: bool = True) -> Object:
    pods = fleet.pod_template(8, container="node")
    pods["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "hunter2"}]
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"} if labelled else {}
    job = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": pods}}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"mlPolicy": {"numNodes": nodes, "torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}},
    }
