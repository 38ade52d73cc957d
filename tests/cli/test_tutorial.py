"""The tutorial does what it says: its files, its commands, and what they print, on a real API server too."""

from __future__ import annotations

import shutil
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli import fleet, tutorial
from tests.cli.conftest import Run
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

FOLDER = ".config/wm-place/definitions"


@pytest.fixture
def files(folder: Path, home: Path) -> dict[str, Path]:
    (home / FOLDER).mkdir(parents=True)
    return tutorial.files(folder)


def told(words: list[str], run: Run, home: Path) -> str:
    """What a command of the page prints; the user's home is ~ there."""
    if words[0] == "cp":
        shutil.copy(words[1], words[2].replace("~", str(home)))
        return ""
    ran = run(*words[1:])
    return (ran.out + ran.err).replace(str(home), "~")


def test_every_command_prints_what_the_page_says(run: Run, files: dict[str, Path], home: Path) -> None:
    for words, printed in tutorial.transcripts():
        if "--from" not in words:
            assert (words, told(words, run, home)) == (words, printed)


def test_one_file_in_a_folder_is_enough(run: Run, files: dict[str, Path], home: Path, folder: Path) -> None:
    recorded = fleet.record(folder, "eu", [*fleet.room("h200"), {**yaml.safe_load(files["crd.yaml"].read_text())}])
    assert run("gridjob.yaml", "--from-snapshot", recorded).code == 5
    shutil.copy(files["definition.yaml"], home / FOLDER)
    ran = run("gridjob.yaml", "--from-snapshot", recorded, "-o", "json")
    assert (ran.code, ran.choices) == (0, ["eu"])
    (workload,) = ran.report["workloads"]
    assert [(role["name"], role["replicas"]) for role in workload["roles"]] == [("coordinator", 1), ("cells", 6)]


def test_a_shape_that_makes_no_sense_is_a_fault_with_its_line(run: Run, files: dict[str, Path]) -> None:
    text = files["gridjob.yaml"].read_text()
    files["gridjob.yaml"].write_text(text.replace("shape: 2x3", "shape: 2 by 3"))
    ran = run("describe", "gridjob.yaml", "--definition", "definition.yaml")
    line = text.split("\n").index("    shape: 2x3") + 1
    assert ran.code == 2
    assert f"gridjob.yaml:{line} spec.grid.shape: must be sizes with an x between them" in ran.err


def control(server: ApiServer, gridjob: Any) -> list[Any]:
    """The controller of the kind: a pod for the coordinator, and one for each cell."""
    spec, metadata = gridjob["spec"], gridjob["metadata"]
    cells = prod(map(int, spec["grid"]["shape"].split("x")))
    owner = {"apiVersion": gridjob["apiVersion"], "kind": "GridJob", "name": metadata["name"], "uid": metadata["uid"]}
    templates = [
        ("coordinator", spec["coordinator"]["template"], 1),
        ("cells", spec["grid"]["cells"]["template"], cells),
    ]
    made = []
    for role, template, count in templates:
        for number in range(count):
            labels = {"grid.example.com/role": role, "grid.example.com/job": metadata["name"]}
            own = {
                "name": f"{metadata['name']}-{role}-{number}",
                "namespace": metadata["namespace"],
                "labels": labels,
                "ownerReferences": [{**owner, "controller": True}],
            }
            made.append(server.create({"apiVersion": "v1", "kind": "Pod", "metadata": own, "spec": template["spec"]}))
    return made


@pytest.fixture
def server(servers: Servers, files: dict[str, Path]) -> ApiServer:
    """The tutorial's cluster: its CRD, its object, its pods."""
    found = servers.server("eu")
    found.install(files["crd.yaml"])
    found.load([*fleet.room("h200"), fleet.namespace("team")])
    created = found.create(yaml.safe_load(files["gridjob.yaml"].read_text()))
    control(found, created)
    return found


def test_a_live_object_and_its_pods_give_paths_that_pass(run: Run, server: ApiServer, home: Path, folder: Path) -> None:
    kubeconfig = ["--kubeconfig", server.admin_kubeconfig]
    for words, printed in tutorial.transcripts():
        if "--from" in words:
            ran = run(*words[1:], *kubeconfig)
            assert (ran.code, ran.out + ran.err) == (0, printed)
    assert run("definitions", "validate", "found.yaml", "-o", "json").report["exitCode"] == 0
    assert run("definitions", "test", "found.yaml").code == 0
    described = run(
        "describe", "gridjob/weather", "-n", "team", "--definition", "found.yaml", *kubeconfig, "-o", "json"
    )
    (workload,) = described.report["workloads"]
    assert {role["name"]: (role["replicas"], role["live"]["pods"]) for role in workload["roles"]} == {
        "coordinator": (1, 1),
        "cells": (6, 6),
    }
    assert workload["status"]["podsWithoutRole"] == 0
    other = yaml.safe_load((folder / "gridjob.yaml").read_text())
    other["spec"]["grid"]["shape"] = "3x5"
    fleet.write(folder / "other.yaml", other)
    found = run("describe", "other.yaml", "--definition", "found.yaml", "-o", "json").report["workloads"][0]
    assert [role["replicas"] for role in found["roles"]] == [1, 15], "the path, not the number, was found"


def test_the_live_schema_gives_the_same_draft_as_the_file(run: Run, server: ApiServer, folder: Path) -> None:
    kubeconfig = ["--kubeconfig", server.admin_kubeconfig]
    of_file = run("definitions", "init", "crd.yaml").out
    for words in (("--crd", "gridjobs.grid.example.com"), ("grid.example.com/GridJob",)):
        live = run("definitions", "init", *words, *kubeconfig)
        assert live.code == 0
        assert live.out.split("\n")[1:] == of_file.split("\n")[1:]


def test_the_definition_of_the_page_reads_what_runs(run: Run, server: ApiServer) -> None:
    asked = ["describe", "gridjob/weather", "-n", "team", "--kubeconfig", server.admin_kubeconfig]
    assert run(*asked).code == 2
    ran = run(*asked, "--definition", "definition.yaml", "-o", "json")
    assert [role["live"]["pods"] for role in ran.report["workloads"][0]["roles"]] == [1, 6]
