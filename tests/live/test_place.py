"""`wm-place` as a user starts it, on kubeconfigs of real API servers with the read role only."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.live import pods
from tests.servers import judge
from tests.servers.pool import Servers

JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: sft, namespace: team}
spec:
  replicatedJobs:
    - name: worker
      template:
        spec:
          parallelism: 3
          completions: 3
          template:
            spec:
              restartPolicy: Never
              containers: [{name: train, image: example/train, resources: {limits: {example.com/gpu: 4}}}]
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: sft, namespace: team}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{name: train, image: example/train, resources: {limits: {example.com/gpu: 4}}}]
"""


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


class Answer:
    """What the command printed, and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.stderr = done.returncode, done.stderr
        self.report: Mapping[str, Any] = json.loads(done.stdout) if done.stdout else {}

    def cluster(self, name: str) -> Mapping[str, Any]:
        (workload,) = self.report["workloads"]
        (found,) = [one for one in workload["clusters"] if one["name"] == name]
        return dict(found)

    @property
    def choice(self) -> Any:
        (workload,) = self.report["workloads"]
        return workload["choice"]


def place(folder: Path, kubeconfig: Path, manifest: str = JOB, *flags: str) -> Answer:
    path = folder / "manifest.yaml"
    path.write_text(manifest)
    command = [sys.executable, "-m", "advisor", str(path), "--kubeconfig", str(kubeconfig), "--all-contexts"]
    return Answer(
        subprocess.run([*command, "-o", "json", *flags], capture_output=True, text=True, timeout=120, cwd=folder)
    )


def test_a_gang_is_placed_and_the_scheduler_binds_it(servers: Servers, tmp_path: Path) -> None:
    fleet = servers.fleet("east", "west")
    fleet["east"].load([NAMESPACE, pods.node("e1", 8), pods.node("e2", 2)])
    fleet["west"].load([NAMESPACE, pods.node("w1", 8), pods.node("w2", 4)])
    found = place(tmp_path, fleet.kubeconfig)
    assert found.code == 0, found.stderr
    assert found.choice["cluster"] == "west"
    assert found.cluster("east")["verdict"] == "full" or found.cluster("east")["verdict"] == "never"
    nodes = [n for one in found.choice["assignment"] for n, count in one["nodes"].items() for _ in range(count)]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": "team"},
        "spec": {
            "containers": [
                {"name": "train", "image": "example/train", "resources": {"limits": {"example.com/gpu": "4"}}}
            ]
        },
    }
    gang = [{**pod, "metadata": {**pod["metadata"], "name": f"w-{n}"}} for n in range(3)]  # type: ignore[dict-item]
    ruling = judge.rule(fleet["west"], [judge.pin(one, at) for one, at in zip(gang, nodes, strict=True)])
    assert len(ruling.bound) == 3


def test_a_stopped_server_is_a_row(servers: Servers, tmp_path: Path) -> None:
    fleet = servers.fleet("east", "west")
    fleet["east"].load([NAMESPACE, pods.node("e1", 8), pods.node("e2", 8)])
    fleet["west"].load([NAMESPACE, pods.node("w1", 8), pods.node("w2", 8)])
    fleet["west"].stop()
    found = place(tmp_path, fleet.kubeconfig)
    assert (found.code, found.choice["cluster"]) == (0, "east")
    assert found.cluster("west")["verdict"] == "unknown"
    assert [gap["why"] for gap in found.cluster("west")["gaps"]] == ["refused"]


def test_where_only_the_stopped_server_might_take_it_nobody_can_tell(servers: Servers, tmp_path: Path) -> None:
    fleet = servers.fleet("east", "west")
    fleet["east"].load([NAMESPACE, pods.node("e1", 2)])
    fleet["west"].stop()
    found = place(tmp_path, fleet.kubeconfig)
    assert (found.code, found.choice) == (4, None)
    assert found.cluster("east")["verdict"] == "never"
    assert found.cluster("west")["verdict"] == "unknown"


def test_a_server_that_hangs_costs_its_time_and_no_more(servers: Servers, tmp_path: Path) -> None:
    fleet = servers.fleet("east", "west")
    fleet["east"].load([NAMESPACE, pods.node("e1", 8), pods.node("e2", 8)])
    fleet["west"].pause()
    try:
        found = place(tmp_path, fleet.kubeconfig, JOB, "--timeout", "3s")
    finally:
        fleet["west"].resume()
    assert (found.code, found.choice["cluster"]) == (0, "east")
    assert [gap["why"] for gap in found.cluster("west")["gaps"]] == ["timeout"]


@pytest.mark.parametrize("missing", ["pods", "nodes", "resourcequotas", "limitranges", "namespaces"])
def test_a_missing_permission_is_named(servers: Servers, tmp_path: Path, missing: str) -> None:
    server = servers.server("east")
    server.load([NAMESPACE, pods.node("e1", 8), pods.node("e2", 8)])
    blind = server.token_user("blind", without=(missing,))
    found = place(tmp_path, blind.kubeconfig)
    assert (found.code, found.choice) == (4, None)
    (gap,) = found.cluster(server.name)["gaps"]
    assert (gap["what"], gap["why"]) == (missing, "forbidden")
    assert missing in gap["text"]


def test_a_kind_that_is_not_served_is_no_yes(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    server.load([NAMESPACE, pods.node("e1", 8), pods.node("e2", 8)])
    found = place(tmp_path, server.reader_kubeconfig, JOBSET)
    assert (found.code, found.choice) == (3, None)
    assert found.cluster(server.name)["reasons"][0]["code"] == "kind-not-served"


def test_a_missing_namespace_is_no_yes(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("east")
    server.load([pods.node("e1", 8), pods.node("e2", 8)])
    found = place(tmp_path, server.reader_kubeconfig)
    assert (found.code, found.choice) == (3, None)
    (one,) = found.report["workloads"]
    assert one["clusters"][0]["reasons"][0]["code"] == "namespace-missing"
    assert one["clusters"][0]["changes"][0]["kind"] == "create-namespace"
