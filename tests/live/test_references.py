"""TrainJobs on real API servers whose runtimes differ, with the definitions of their kinds that Trainer brings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import corpus
from tests.live import pods
from tests.live.pods import node
from tests.live.test_place import NAMESPACE, Answer, place
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

pytestmark = [pytest.mark.corpus, corpus.needed]

CRDS = ("trainjob", "trainingruntime", "clustertrainingruntime", "jobset")
TRAINJOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: tune, namespace: team}
spec:
  runtimeRef: {name: torch}
  trainer: {env: [{name: TOKEN, value: hunter2}]}
"""
OWN = TRAINJOB.replace("{name: torch}", "{name: torch, kind: TrainingRuntime}")


def runtime(nodes: int, kind: str = "ClusterTrainingRuntime", namespace: str = "", gpus: int = 4) -> pods.Object:
    container = {
        "name": "node",
        "image": "example/train",
        "env": [{"name": "TOKEN", "value": "hunter2"}],
        "resources": {"limits": {"example.com/gpu": str(gpus)}},
    }
    step = {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    template = {"spec": {"replicatedJobs": [{"name": "node", "template": step}]}}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": kind,
        "metadata": {"name": "torch", **({"namespace": namespace} if namespace else {})},
        "spec": {"mlPolicy": {"numNodes": nodes, "torch": {}}, "template": template},
    }


def furnish(server: ApiServer, *objects: pods.Object) -> None:
    server.install(*(corpus.FOLDER / "crds" / f"{name}.yaml" for name in CRDS))
    server.load([NAMESPACE, node("n1", 8), node("n2", 8), *objects])


def roles(found: Answer) -> dict[str, int]:
    (workload,) = found.report["workloads"]
    return {role["name"]: role["replicas"] for role in workload["roles"]}


def first(found: Answer, name: str) -> Any:
    return found.cluster(name)["reasons"][0]


def test_every_cluster_makes_its_own_of_it(servers: Servers, tmp_path: Path) -> None:
    fleet = servers.fleet("east", "west", "north")
    furnish(fleet["east"], runtime(5))
    furnish(fleet["west"], runtime(3))
    furnish(fleet["north"])
    found = place(tmp_path, fleet.kubeconfig, TRAINJOB)
    assert (found.code, found.choice["cluster"], roles(found)) == (0, "west", {"node": 3}), found.stderr
    assert {name: found.cluster(name)["verdict"] for name in ("east", "west", "north")} == {
        "east": "never",
        "west": "fits",
        "north": "never",
    }
    assert first(found, "north")["text"] == "there is no ClusterTrainingRuntime torch, on which its pods depend"
    assert "hunter2" not in json.dumps(found.report) + found.stderr


def test_one_of_the_namespace(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
    furnish(server, runtime(1), other, runtime(4, "TrainingRuntime", "other"))
    found = place(tmp_path, server.reader_kubeconfig, OWN)
    assert (found.code, first(found, server.name)["code"]) == (3, "missing-reference")
    server.load([runtime(2, "TrainingRuntime", "team")])
    assert roles(place(tmp_path, server.reader_kubeconfig, OWN)) == {"node": 2}


def test_the_file_comes_before_the_cluster(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    furnish(server, runtime(5))
    (tmp_path / "runtime.json").write_text(json.dumps(runtime(1)))
    found = place(tmp_path, server.reader_kubeconfig, TRAINJOB, "--with", "runtime.json")
    assert (found.code, roles(found)) == (0, {"node": 1})


def test_a_permission_that_is_missing_is_named(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    furnish(server, runtime(1))
    blind = server.token_user("blind", without=("clustertrainingruntimes",))
    found = place(tmp_path, blind.kubeconfig, TRAINJOB)
    assert (found.code, found.choice) == (4, None)
    (gap,) = found.cluster(server.name)["gaps"]
    assert (gap["what"], gap["why"]) == ("ClusterTrainingRuntime.trainer.kubeflow.org", "forbidden")
    assert first(found, server.name)["text"] == gap["text"]
    assert "may not get clustertrainingruntimes.trainer.kubeflow.org torch (403)" in gap["text"]


def test_a_server_that_knows_no_such_kind_has_none(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    server.load([NAMESPACE, node("n1", 8)])
    found = place(tmp_path, server.reader_kubeconfig, TRAINJOB)
    assert (found.code, found.cluster(server.name)["verdict"]) == (3, "never")


def test_a_recording_has_them_without_what_containers_are_told(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    furnish(server, runtime(3))
    command = [sys.executable, "-m", "advisor"]
    config = ["--kubeconfig", str(server.reader_kubeconfig)]
    subprocess.run([*command, "snapshot", *config, "-o", "east.json"], check=True, cwd=tmp_path, timeout=120)
    assert "hunter2" not in (tmp_path / "east.json").read_text()
    (tmp_path / "manifest.yaml").write_text(TRAINJOB)
    asked = [*command, "manifest.yaml", "--from-snapshot", "east.json", "-o", "json"]
    found = Answer(subprocess.run(asked, capture_output=True, text=True, timeout=120, cwd=tmp_path))
    assert (found.code, roles(found)) == (0, {"node": 3})
    (tmp_path / "manifest.yaml").write_text(TRAINJOB.replace("name: torch", "name: jax"))
    found = Answer(subprocess.run(asked, capture_output=True, text=True, timeout=120, cwd=tmp_path))
    assert found.code == 3


def test_a_live_object_is_described_with_what_its_cluster_has(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    furnish(server, runtime(3))
    server.create(yaml.safe_load(TRAINJOB))
    command = [sys.executable, "-m", "advisor", "describe", "trainjob/tune", "-n", "team"]
    asked = [*command, "--kubeconfig", str(server.admin_kubeconfig), "-o", "json"]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (workload,) = json.loads(done.stdout)["workloads"]
    assert [(role["name"], role["replicas"]) for role in workload["roles"]] == [("node", 3)]


def test_what_the_cluster_lacks_is_no_matter_of_files(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    furnish(server)
    server.create(yaml.safe_load(TRAINJOB))
    command = [sys.executable, "-m", "advisor", "describe", "trainjob/tune", "-n", "team"]
    asked = [*command, "--kubeconfig", str(server.admin_kubeconfig)]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    lacked = "pods depend on ClusterTrainingRuntime torch, which is not in the cluster"
    assert (done.returncode, lacked in done.stdout, lacked in done.stderr) == (4, True, True), done.stderr
    assert "create it there, or name the file that holds it: --with FILE" in done.stderr
