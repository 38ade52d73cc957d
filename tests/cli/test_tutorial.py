"""The tutorial does what it says: its files, its commands, and what they print, on a real API server too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli import fleet, tutorial
from tests.cli.conftest import Ran, Run
from tests.servers import build
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

BIN = Path(sys.executable).parent
LIMIT = 60
ROOT = Path(__file__).parents[2]
FOLDER = ".config/wm-place/definitions"


@pytest.fixture
def files(folder: Path) -> dict[str, Path]:
    return tutorial.files(folder)


def test_every_command_does_what_the_page_says(servers: Servers, files: dict[str, Path], home: Path) -> None:
    """In the order of the page, in an empty home, on a cluster that knows nothing of the kind."""
    environment = {
        "HOME": str(home),
        "PATH": f"{BIN}:{build.program('kubernetes', 'kubectl').parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "KUBECONFIG": str(servers.server("eu").admin_kubeconfig),
    }
    for command, printed in tutorial.transcripts():
        done = subprocess.run(
            ["bash", "-c", command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        assert (command, done.stdout.decode().replace(str(home), "/home/you")) == (command, printed)


def test_one_file_in_a_folder_is_enough(run: Run, files: dict[str, Path], home: Path, folder: Path) -> None:
    recorded = fleet.record(folder, "eu", [*fleet.room("h200"), {**yaml.safe_load(files["crd.yaml"].read_text())}])
    assert run("gridjob.yaml", "--from-snapshot", recorded).code == 5
    (home / FOLDER).mkdir(parents=True)
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


def make_ready(server: ApiServer) -> None:
    for pod in server.list("pods", "team"):
        server.patch(pod, {"status": {"phase": "Running", "conditions": [READY]}}, "status")


READY = {"type": "Ready", "status": "True", "lastTransitionTime": None}


def drafted(run: Run, server: ApiServer) -> Ran:
    return run(
        *("definitions", "init", "--from", "gridjob/weather", "-n", "team", "-o", "found.yaml"),
        *("--kubeconfig", server.admin_kubeconfig),
    )


def test_a_live_object_and_its_pods_give_paths_that_pass(run: Run, server: ApiServer, folder: Path) -> None:
    kubeconfig = ["--kubeconfig", server.admin_kubeconfig]
    make_ready(server)
    ran = drafted(run, server)
    assert ran.code == 1
    assert "note: coordinator: 1 of 1 pod as they are\nnote: cells: 6 of 6 pods as they are\n" in ran.err
    (only,) = [line for line in ran.err.split("\n") if line.startswith("warning")]
    assert only.startswith(
        "warning: cells: the number of its pods is not proven. 6 pods of it were there. The field is far"
    )
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


def test_a_number_that_the_pods_prove(run: Run, server: ApiServer, files: dict[str, Path]) -> None:
    """Beside the pods, of a usual name, and no other field comes to it."""
    job = fleet.job("train", pods=3)
    job["metadata"]["namespace"], job["spec"]["completions"] = "team", 6
    server.create(job)
    server.start_controller_manager()
    limit = time.monotonic() + LIMIT
    while len(mine := [one for one in server.list("pods", "team") if "train" in one["metadata"]["name"]]) < 3:
        assert time.monotonic() < limit
        time.sleep(0.1)
    make_ready(server)
    asked = ("definitions", "init", "--from", "job/train", "-n", "team", "--kubeconfig", server.admin_kubeconfig)
    ran = run(*asked)
    assert (ran.code, ran.err) == (0, "note: job: 3 of 3 pods as they are\n")
    assert "replicasPath: '(.spec.parallelism // 1)'" in ran.out
    server.stop_controllers()
    for one in mine[1:]:
        server.patch(one, {"status": {"phase": "Succeeded"}}, "status")
    ended = run(*asked)
    assert ended.code == 1 and "unmodelled" in ended.out
    assert "note: 2 pods of the object ended or must end, and are left out\n" in ended.err
    assert "6 of 6" not in ended.err


def test_a_cell_that_is_replaced_is_no_cell_more(run: Run, server: ApiServer) -> None:
    make_ready(server)
    (first, *_) = [one for one in server.list("pods", "team") if "cells" in one["metadata"]["name"]]
    server.patch(first, {"status": {"phase": "Failed"}}, "status")
    metadata = {key: first["metadata"][key] for key in ("namespace", "labels", "ownerReferences")}
    new = {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "name": "again"}, "spec": {**first["spec"]}}
    server.create(new)
    ran = drafted(run, server)
    assert "note: cells: 6 of 6 pods as they are\n" in ran.err


def test_half_of_the_cells_prove_nothing(run: Run, server: ApiServer) -> None:
    make_ready(server)
    for one in [one for one in server.list("pods", "team") if "cells" in one["metadata"]["name"]][:3]:
        server.delete(one, grace=0)
    ran = drafted(run, server)
    assert ran.code == 1 and "cells: the number of its pods is not proven. 3 pods of it were there." in ran.err


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
