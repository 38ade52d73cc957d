"""Workloads whose pods depend on another object: `--with FILE`, and what is said where it is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

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
