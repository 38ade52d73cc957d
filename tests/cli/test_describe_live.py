"""`describe TYPE/NAME` on objects that real controllers and the real scheduler work on."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli import fleet
from tests.cli.conftest import Run
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

LIMIT = 60
CONTAINERS = [{"name": "main", "image": "example/web", "env": [{"name": "TOKEN", "value": "geheim"}]}]
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}


def workload(kind: str, version: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "team"}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"template": TEMPLATE, **spec}}


DEPLOYMENT = workload("Deployment", "apps/v1", replicas=3, selector={"matchLabels": LABELS})
STATEFUL = workload(
    "StatefulSet",
    "apps/v1",
    replicas=2,
    selector={"matchLabels": LABELS},
    podManagementPolicy="Parallel",
    serviceName="web",
)
JOB_POD = {"metadata": {}, "spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
JOB = workload("Job", "batch/v1", parallelism=2, template=JOB_POD)


@pytest.fixture
def server(servers: Servers) -> ApiServer:
    """Two nodes, the namespace team, a scheduler and the controllers of the built-in kinds."""
    found = servers.server("eu")
    found.load([*fleet.room("h200", 2), fleet.namespace("team")])
    found.start_controller_manager()
    found.start_scheduler()
    return found


def settled(server: ApiServer, pods: int) -> list[Any]:
    """The pods, once there are as many and each has a node."""
    limit = time.monotonic() + LIMIT
    while time.monotonic() < limit:
        found: list[Any] = server.list("pods", "team")
        if len(found) == pods and all("nodeName" in pod["spec"] for pod in found):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{pods} pods with nodes were awaited, there are {[pod['spec'] for pod in found]}")


def make_ready(server: ApiServer, pod: Any) -> None:
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": None}
    server.patch(pod, {"status": {"phase": "Running", "conditions": [condition]}}, "status")


def described(run: Run, server: ApiServer, *words: str) -> Any:
    ran = run("describe", *words, "-n", "team", "--kubeconfig", server.admin_kubeconfig, "-o", "json")
    assert ran.code == 0, ran.err
    assert "geheim" not in ran.out + ran.err
    return ran.report["workloads"]


@pytest.mark.parametrize(
    ("obj", "words", "pods"),
    [
        (DEPLOYMENT, ("deploy/web", "deployments/web", "Deployment.apps/web", "deployment.v1.apps/web"), 3),
        (STATEFUL, ("sts/web",), 2),
        (JOB, ("job/web", "jobs.batch/web"), 2),
    ],
    ids=["Deployment", "StatefulSet", "Job"],
)
def test_pods_nodes_and_status(run: Run, server: ApiServer, obj: Any, words: tuple[str, ...], pods: int) -> None:
    server.create(obj)
    found = settled(server, pods)
    make_ready(server, found[0])
    nodes: dict[str, int] = {}
    for pod in found:
        nodes[pod["spec"]["nodeName"]] = nodes.get(pod["spec"]["nodeName"], 0) + 1
    for word in words:
        (one,) = described(run, server, word)
        (role,) = one["roles"]
        assert role["replicas"] == pods
        assert role["live"] == {"pods": pods, "ready": 1, "finished": 0, "failed": 0, "nodes": nodes}
        assert one["status"]["podsWithoutRole"] == 0
        assert one["status"]["matched"]


def test_pods_that_failed_are_not_called_finished(run: Run, server: ApiServer) -> None:
    server.create(JOB)
    first, _ = settled(server, 2)
    server.patch(first, {"status": {"phase": "Failed"}}, "status")
    limit = time.monotonic() + LIMIT
    while len(server.list("pods", "team")) < 3:
        assert time.monotonic() < limit
        time.sleep(0.1)
    (one,) = described(run, server, "job/web")
    live = one["roles"][0]["live"]
    assert (live["finished"], live["failed"]) == (1, 1)
    asked = ("describe", "job/web", "-n", "team", "--kubeconfig", server.admin_kubeconfig)
    assert "1 failed" in run(*asked).out and "finished" not in run(*asked).out


def test_the_core_has_a_name_without_a_group(run: Run, server: ApiServer) -> None:
    server.create(JOB)
    first, _ = settled(server, 2)
    for word in ("pod", "pod.v1.", "pods.v1", "pods."):
        (one,) = described(run, server, f"{word}/{first['metadata']['name']}")
        assert one["kind"] == "Pod"
    ran = run("describe", "deployments.v1./web", "-n", "team", "--kubeconfig", server.admin_kubeconfig)
    assert ran.code == 2 and 'the server has no resource "deployments.v1."' in ran.err


def test_owners_that_may_not_be_listed_are_said_once(run: Run, server: ApiServer) -> None:
    server.create(DEPLOYMENT)
    server.create({**STATEFUL, "metadata": {"name": "db", "namespace": "team"}})
    server.create({**JOB, "metadata": {"name": "run", "namespace": "team"}})
    settled(server, 7)
    user = server.token_user("one")
    rights = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]}
    api, named = "rbac.authorization.k8s.io", {"metadata": {"name": "one"}}
    server.create({"apiVersion": f"{api}/v1", "kind": "ClusterRole", **named, "rules": [rights]})
    subjects = [{"apiGroup": api, "kind": "User", "name": "reader-0"}]
    role = {"apiGroup": api, "kind": "ClusterRole", "name": "one"}
    server.create(
        {"apiVersion": f"{api}/v1", "kind": "ClusterRoleBinding", **named, "roleRef": role, "subjects": subjects}
    )
    limit = time.monotonic() + LIMIT
    while (ran := run("describe", "job/run", "-n", "team", "--kubeconfig", user.kubeconfig)).code:
        assert time.monotonic() < limit, ran.err
    (line,) = [line for line in ran.out.split("\n") if "pods may be missing" in line]
    assert "may not list replicasets.apps, statefulsets.apps in namespace team (403)" in line


def test_other_objects_pods_are_not_its_own(run: Run, server: ApiServer) -> None:
    server.create(DEPLOYMENT)
    server.create({**STATEFUL, "metadata": {"name": "db", "namespace": "team"}})
    settled(server, 5)
    web, db = described(run, server, "deploy/web", "sts/db")
    assert [web["roles"][0]["live"]["pods"], db["roles"][0]["live"]["pods"]] == [3, 2]


def test_the_text(run: Run, server: ApiServer) -> None:
    server.create(JOB)
    settled(server, 2)
    ran = run("describe", "job/web", "-n", "team", "--kubeconfig", server.admin_kubeconfig)
    assert "Job team/web (jobs.batch/web)" in ran.out
    assert "0/2 ready" in ran.out
    assert "h200-" in ran.out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("jbo/web", 'the server has no resource "jbo"'),
        ("job/other", 'there is no jobs.batch "other" in namespace team'),
        ("node/h200-01", "Node is no kind that pods come of"),
        ("configmap/kube-root-ca.crt", "there is no definition for ConfigMap"),
    ],
)
def test_what_cannot_be_described(run: Run, server: ApiServer, word: str, said: str) -> None:
    server.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt", "namespace": "team"}}
    )
    ran = run("describe", word, "-n", "team", "--kubeconfig", server.admin_kubeconfig)
    assert ran.code == 2
    assert said in ran.err


def test_an_object_that_may_not_be_read(run: Run, server: ApiServer) -> None:
    server.create(DEPLOYMENT)
    ran = run("describe", "deploy/web", "-n", "team", "--kubeconfig", server.reader_kubeconfig)
    assert ran.code == 2
    assert "may not get deployments.apps web (403)" in ran.err


def test_a_file_of_that_name_is_a_manifest(run: Run, folder: Path) -> None:
    (folder / "job").mkdir()
    fleet.write(folder / "job" / "web", fleet.job())
    assert "Job" in run("describe", "job/web").out
