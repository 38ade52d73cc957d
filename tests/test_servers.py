"""The test servers themselves: real, ready, loaded as recorded, judged by the real scheduler, and gone afterwards."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import kubernetes
import pytest
import urllib3

from tests.servers import build, judge
from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.load import LoadError
from tests.servers.objects import SET_BY_SERVER, Object, Objects
from tests.servers.pool import Servers
from tests.servers.processes import StartError

pytestmark = pytest.mark.servers

ROOT = Path(__file__).parent.parent


def node(name: str, gpus: int = 8) -> Object:
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    labels = {"kubernetes.io/hostname": name}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def pod(name: str, gpus: int = 8, **fields: Any) -> Object:
    """`metadata` and `status` are the pod's own; every other field belongs to its spec."""
    container = {
        "name": "main",
        "image": "registry.example.com/app:1",
        "resources": {"limits": {"nvidia.com/gpu": gpus}},
    }
    metadata = {"name": name, "namespace": "team", **fields.pop("metadata", {})}
    status = fields.pop("status", {})
    spec = {"containers": [container], **fields}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def fleet_of_three() -> Objects:
    """Three nodes of 8 GPUs, of which one is full."""
    return [*map(node, ("n1", "n2", "n3")), pod("busy", nodeName="n3", status={"phase": "Running"})]


def names(objects: Objects) -> list[str]:
    return sorted(obj["metadata"]["name"] for obj in objects)


def eventually(ready: Callable[[], bool], limit: float = 30) -> None:
    deadline = time.monotonic() + limit
    while not ready():
        assert time.monotonic() < deadline, f"not so after {limit} s"
        time.sleep(0.1)


# -- servers


def test_two_servers_are_ready_and_strangers_to_each_other(servers: Servers) -> None:
    started = time.monotonic()
    eu, us = servers.fleet("eu", "us")
    print(f"two API servers after {time.monotonic() - started:.1f} s")
    assert eu.api.request("GET", "/version")["gitVersion"] == "v1.37.2"
    assert eu.url != us.url
    assert eu.ca.read_text() != us.ca.read_text()
    eu.load([node("n1")])
    assert (names(eu.list("nodes")), us.list("nodes")) == (["n1"], [])


def test_a_server_that_cannot_start_shows_the_end_of_its_log(servers: Servers) -> None:
    with pytest.raises(StartError, match="unrecognized feature gate: Nonsense"):
        servers.server(feature_gates="Nonsense=true")


def test_a_paused_server_hangs_and_comes_back(servers: Servers) -> None:
    server = servers.server()
    impatient = server.connect(timeout=0.5)
    impatient.list("nodes")
    server.pause()
    with pytest.raises(urllib3.exceptions.TimeoutError):
        impatient.list("nodes")
    server.resume()
    assert impatient.list("nodes") == []
    impatient.close()


def test_a_stopped_server_refuses_connections_and_keeps_its_objects(servers: Servers) -> None:
    server = servers.server()
    server.load([node("n1")])
    server.stop()
    with pytest.raises(urllib3.exceptions.NewConnectionError):
        server.list("nodes")
    server.start()
    server.wait_ready()
    assert names(server.list("nodes")) == ["n1"]


def test_a_reset_leaves_nothing_behind(servers: Servers) -> None:
    server = servers.server()
    before = {plural: server.list(plural) for plural in ("namespaces", "clusterroles", "priorityclasses")}
    server.load([*fleet_of_three(), pod("held", metadata={"finalizers": ["example.com/never"]}, priority=5)])
    server.delete(server.get("clusterroles", "view"))
    server.token_user("blind", without=("pods",))
    server.reset()
    assert {plural: named(server, plural) for plural in before} == {p: names(objects) for p, objects in before.items()}
    assert (server.list("nodes"), server.list("pods")) == ([], [])


def named(server: ApiServer, plural: str) -> list[str]:
    return names(server.list(plural))


TRAINS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trains.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: trains, singular: train, kind: Train, listKind: TrainList}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1'}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def test_custom_resources_are_served_once_installed_and_gone_after_a_reset(servers: Servers, tmp_path: Path) -> None:
    server = servers.server()
    file = tmp_path / "crd.yaml"
    file.write_text(TRAINS)
    server.install(file)
    server.load([{"apiVersion": "example.com/v1", "kind": "Train", "metadata": {"name": "t", "namespace": "team"}}])
    assert named(server, "trains") == ["t"]
    server.reset()
    with pytest.raises(LookupError, match="trains"):
        server.list("trains")


# -- users


def test_the_reader_lists_what_advice_needs_and_nothing_else(servers: Servers) -> None:
    server = servers.server()
    server.load(fleet_of_three())
    reader = server.connect(server.token)
    assert names(reader.list("nodes")) == ["n1", "n2", "n3"]
    assert names(reader.list("pods")) == ["busy"]
    for forbidden in (lambda: reader.list("secrets"), lambda: reader.create(pod("mine"))):
        with pytest.raises(RefusedError) as refused:
            forbidden()
        assert refused.value.status == 403
    reader.close()


def test_a_user_may_lack_a_right(servers: Servers) -> None:
    blind = servers.server().token_user("blind", without=("pods",))
    assert blind.api.list("nodes") == []
    with pytest.raises(RefusedError, match="cannot list resource"):
        blind.api.list("pods")


@pytest.mark.parametrize("user", ["admin", "reader"])
@pytest.mark.parametrize("inline", [True, False])
def test_kubeconfigs_lead_the_python_client_to_each_context(servers: Servers, user: str, inline: bool) -> None:
    fleet = servers.fleet("eu", "us")
    for server in fleet:
        server.load([node(f"{server.name}-1")])
    file = fleet.write_kubeconfig(user, inline=inline)
    assert names_by_python_client(file, "eu") == ["eu-1"]
    assert names_by_python_client(file, "us") == ["us-1"]
    assert names_by_python_client(fleet["us"].kubeconfig(user, inline=inline)) == ["us-1"]


def names_by_python_client(file: Path, context: str | None = None) -> list[str]:
    with kubernetes.config.new_client_from_config(str(file), context) as client:  # type: ignore[no-untyped-call]
        nodes = kubernetes.client.CoreV1Api(client).list_node(_request_timeout=10).to_dict()
        return [node["metadata"]["name"] for node in nodes["items"]]


# -- objects


def test_objects_arrive_as_recorded(servers: Servers) -> None:
    server = servers.server()
    server.load([{"apiVersion": "v1", "kind": "List", "items": fleet_of_three()}])
    busy = server.get("pods", "busy", "team")
    assert (busy["spec"]["nodeName"], busy["status"]["phase"]) == ("n3", "Running")
    assert server.get("nodes", "n1")["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert "taints" not in server.get("nodes", "n1")["spec"]


def test_loading_twice_changes_nothing(servers: Servers) -> None:
    server = servers.server()
    uids = [server.load([node("n1") | {"metadata": {"name": "n1", "uid": "old"}}]) for _ in range(2)]
    assert uids[0] == uids[1] == {"old": server.get("nodes", "n1")["metadata"]["uid"]}


def test_references_follow_the_new_uids(servers: Servers) -> None:
    """Also to an owner of a kind that is created later: a claim is made before the pod that owns it."""
    server = servers.server()
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gpu", "namespace": "team", "ownerReferences": [reference("v1", "Pod", "w-0", "old-pod")]},
        "spec": {},
        "status": {"allocation": {}, "reservedFor": [{"resource": "pods", "name": "w-0", "uid": "old-pod"}]},
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "w", "namespace": "team", "uid": "old-job"},
        "spec": {
            "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "old-job"}},
            "template": {
                "metadata": {"labels": {"batch.kubernetes.io/controller-uid": "old-job", "job-name": "w"}},
                "spec": pod("w")["spec"] | {"restartPolicy": "Never"},
            },
        },
    }
    owned = {
        "uid": "old-pod",
        "labels": {"batch.kubernetes.io/controller-uid": "old-job"},
        "ownerReferences": [reference("batch/v1", "Job", "w", "old-job")],
    }
    uids = server.load([pod("w-0", metadata=owned), claim, job])
    worker, made = server.get("pods", "w-0", "team"), server.get("jobs", "w", "team")
    assert made["metadata"]["uid"] == uids["old-job"]
    assert made["spec"]["selector"]["matchLabels"].items() <= worker["metadata"]["labels"].items()
    assert worker["metadata"]["ownerReferences"][0]["uid"] == uids["old-job"]
    owner, reserved = claim_owners(server.get("resourceclaims", "gpu", "team"))
    assert owner == reserved == worker["metadata"]["uid"] == uids["old-pod"]


def reference(api_version: str, kind: str, name: str, uid: str) -> Object:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid}


def claim_owners(claim: Object) -> tuple[str, str]:
    return claim["metadata"]["ownerReferences"][0]["uid"], claim["status"]["reservedFor"][0]["uid"]


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({"nodeName": "n1"}, "Running"),
        ({"nodeName": "n1"}, "Succeeded"),  # would be gone at once if it were deleted after it had finished
        ({}, "Pending"),  # would be gone at once without a finalizer
    ],
)
def test_a_terminating_pod_stays_terminating(servers: Servers, fields: Object, phase: str) -> None:
    server = servers.server()
    leaving = {"deletionTimestamp": "2026-11-30T09:58:00Z", "deletionGracePeriodSeconds": 45}
    server.load([node("n1"), pod("late", metadata=leaving, status={"phase": phase}, **fields)])
    found = server.get("pods", "late", "team")
    assert "deletionTimestamp" in found["metadata"]
    assert found["status"]["phase"] == phase


def test_a_quota_counts_as_recorded_and_is_enforced(servers: Servers) -> None:
    server = servers.server()
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": "team"},
        "spec": {"hard": {"requests.nvidia.com/gpu": "12"}},
        "status": {"hard": {"requests.nvidia.com/gpu": "12"}, "used": {"requests.nvidia.com/gpu": "6"}},
    }
    server.load([quota, node("n1"), pod("busy", 4, nodeName="n1", status={"phase": "Running"})])
    assert server.get("resourcequotas", "gpus", "team")["status"]["used"] == {"requests.nvidia.com/gpu": "6"}
    with pytest.raises(RefusedError, match=r"exceeded quota: gpus, requested: .*gpu=8, used: .*gpu=6"):
        server.create(pod("too-much", 8))


@pytest.mark.parametrize("fields", [{"priority": -7}, {"priority": 7}, {"priority": 7, "priorityClassName": "urgent"}])
def test_a_pod_finds_the_priority_class_that_it_needs(servers: Servers, fields: Object) -> None:
    server = servers.server()
    server.load([pod("w-0", **fields)])
    assert server.get("pods", "w-0", "team")["spec"]["priority"] == fields["priority"]


def test_all_refusals_come_at_once(servers: Servers) -> None:
    with pytest.raises(LoadError, match=r"2 of 3 objects refused(.|\n)*Pod team/A(.|\n)*Pod team/B"):
        servers.server().load([pod("A"), pod("B"), pod("c")])


# -- controllers and the judge


def test_the_scheduler_binds_a_pinned_gang_and_refuses_what_is_too_much(servers: Servers) -> None:
    server = servers.server()
    server.load([*fleet_of_three(), node("n4")])
    gang = [judge.pin(pod(f"w-{n}"), f"n{n}") for n in (1, 2, 4)]
    ruling = judge.rule(server, [*gang, judge.pin(pod("w-3"), "n3")])
    assert ruling.bound == {"team/w-1": "n1", "team/w-2": "n2", "team/w-4": "n4"}
    assert "1 Insufficient nvidia.com/gpu" in ruling.refused["team/w-3"]
    assert named(server, "pods") == ["busy"]


def test_the_judge_undoes_what_the_scheduler_did_by_the_way(servers: Servers) -> None:
    server = servers.server()
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 9}
    server.load([node("n1"), urgent, pod("victim", nodeName="n1", status={"phase": "Running"}), pod("waiting", 0)])
    before = {name: server.get("pods", name, "team")["spec"] for name in ("victim", "waiting")}
    ruling = judge.rule(server, [pod("vip", priorityClassName="urgent")])
    assert "Insufficient nvidia.com/gpu" in ruling.refused["team/vip"]  # its victim never leaves: there is no kubelet
    after = {p["metadata"]["name"]: p for p in server.list("pods")}
    assert {name: p["spec"] for name, p in after.items()} == before
    assert "deletionTimestamp" not in after["victim"]["metadata"]


@pytest.mark.parametrize(("nodes", "bound"), [(2, 0), (3, 3)])
def test_a_native_gang_is_bound_whole_or_not_at_all(servers: Servers, nodes: int, bound: int) -> None:
    server = servers.server()
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "gang", "namespace": "team"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
    }
    server.load([*(node(f"n{n}") for n in range(nodes)), group])
    gang = [pod(f"w-{n}", schedulingGroup={"podGroupName": "gang"}) for n in range(3)]
    ruling = judge.rule(server, gang)
    assert (len(ruling.bound), len(ruling.refused)) == (bound, 3 - bound)


def test_the_controller_manager_makes_the_pods_of_a_job(servers: Servers) -> None:
    server = servers.server()
    server.create(job_of_two())
    server.start_controller_manager(["job-controller"])
    eventually(lambda: len(server.list("pods")) == 2)
    assert [name[:4] for name in named(server, "pods")] == ["w-0-", "w-1-"]


def job_of_two() -> Object:
    template = {"spec": pod("w")["spec"] | {"restartPolicy": "Never"}}
    spec = {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "w"}, "spec": spec}


def test_what_one_server_prints_another_loads(servers: Servers) -> None:
    """All that controllers and the scheduler have written: labels by uid, finalizers, conditions."""
    eu, us = servers.fleet("eu", "us")
    eu.load([*fleet_of_three(), {"apiVersion": "v1", "kind": "LimitRange", **tight_limits()}])
    eu.create(job_of_two())
    eu.start_controller_manager()
    eu.start_scheduler()
    eventually(lambda: all(p["spec"].get("nodeName") for p in eu.list("pods")) and len(eu.list("pods")) == 3)
    eu.stop_controllers()
    kinds = ("pods", "nodes", "namespaces", "jobs", "limitranges", "priorityclasses")
    us.load(obj for kind in kinds for obj in eu.list(kind))
    for kind in kinds:
        assert [without_uids(obj) for obj in us.list(kind)] == [without_uids(obj) for obj in eu.list(kind)]


def tight_limits() -> Object:
    """Limits that the recorded pods would not pass today."""
    limit = {"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}
    return {"metadata": {"name": "tight", "namespace": "team"}, "spec": {"limits": [limit]}}


def without_uids(value: Any) -> Any:
    """The object without what only its own server can know."""
    if isinstance(value, dict):
        kept = {key: item for key, item in value.items() if key not in SET_BY_SERVER and not key.endswith("uid")}
        return {key: without_uids(item) for key, item in kept.items()}
    return [without_uids(item) for item in value] if isinstance(value, list) else value


def test_the_judge_reports_what_admission_turns_away(servers: Servers) -> None:
    server = servers.server()
    server.load([node("n1"), {"apiVersion": "v1", "kind": "LimitRange", **tight_limits()}])
    greedy = pod("greedy")
    greedy["spec"]["containers"][0]["resources"]["limits"] |= {"cpu": "2"}
    ruling = judge.rule(server, [pod("modest"), greedy])
    assert ruling.bound == {"team/modest": "n1"}
    assert "maximum cpu usage per Container is 1, but limit is 2" in ruling.refused["team/greedy"]


# -- programs and processes


def test_without_go_and_assets_it_says_what_would_help(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("PATH", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    with pytest.raises(build.UnavailableError, match="install Go, or set KUBEBUILDER_ASSETS"):
        build.program("kubernetes", "etcd")
    (tmp_path / "etcd").touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert build.program("kubernetes", "etcd") == tmp_path / "etcd"


SESSION = """\
    import pathlib, signal, time

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits that it is ignored

    def test_that_ends_badly(servers, server_pool):
        servers.server().start_scheduler()
        pathlib.Path("{notes}").write_text(" ".join(map(str, server_pool.processes.pids())))
        time.sleep({patience})
        assert False
"""


@pytest.mark.parametrize("end", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_server_outlives_its_session(tmp_path: Path, end: signal.Signals | None) -> None:
    for name in ("etcd", "kube-apiserver", "kube-scheduler"):
        build.program("kubernetes", name)  # skips here if the inner session would
    notes, test = tmp_path / "pids", tmp_path / "test_bad.py"
    test.write_text(dedent(SESSION).format(notes=notes, patience=60 if end else 0))
    options = (
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "--config-file=pyproject.toml",
        f"--basetemp={tmp_path}/b",
    )
    command = [sys.executable, "-m", "pytest", *options, str(test)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as session:
        eventually(lambda: written(notes) or session.poll() is not None, limit=60)
        pids = [int(pid) for pid in notes.read_text().split()]
        if end:
            assert len(pids) == sum(map(lives, pids)) == 3
            session.send_signal(end)
        output, _ = session.communicate(timeout=60)
    eventually(lambda: not any(map(lives, pids)), limit=10)
    shutil.rmtree(tmp_path / "b")  # an etcd that was killed leaves 128 MB
    assert (("1 failed" in output) or ("KeyboardInterrupt" in output)) == (end in (None, signal.SIGINT))


def written(file: Path) -> bool:
    return file.exists() and file.read_text() != ""


def lives(pid: int) -> bool:
    """Whether the process runs; a zombie whose parent was killed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
