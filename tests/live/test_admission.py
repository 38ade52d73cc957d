"""A real API server that calls our hook over TLS, kubectl in front of it, and real member clusters behind it."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.live.pods import node
from tests.live.test_place import NAMESPACE
from tests.server.served import Served
from tests.servers.apiserver import ApiServer
from tests.servers.build import program
from tests.servers.pool import Fleet, Pool, Servers

Object = dict[str, Any]
MANIFESTS = Path(__file__).parents[2] / "deploy" / "manifests"
ENFORCED = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "strict", "labels": {"wm-place.io/enforce": "true"}},
}
LWS = "leaderworkerset.x-k8s.io"


def defined(group: str, version: str, kind: str, subresources: Object) -> Object:
    """A CustomResourceDefinition that takes everything."""
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower(), "listKind": f"{kind}List"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = {"name": version, "served": True, "storage": True, "schema": schema, "subresources": subresources}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


JOBSETS = defined("jobset.x-k8s.io", "v1alpha2", "JobSet", {})
SIZES = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
GROUPS = defined(LWS, "v1", "LeaderWorkerSet", {"status": {}, "scale": SIZES})


def job(name: str, pods: int, namespace: str = "team", gpus: int = 4) -> Object:
    limits = {"example.com/gpu": gpus}
    container = {"name": "train", "image": "example/train", "resources": {"limits": limits}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {"parallelism": pods, "completions": pods, "template": template}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def deployment(name: str, pods: int, namespace: str = "team") -> Object:
    pod = job(name, 1)["spec"]["template"]["spec"]
    template = {"metadata": {"labels": {"app": name}}, "spec": {**pod, "restartPolicy": "Always"}}
    spec = {"replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": template}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def groups(name: str, replicas: int, namespace: str = "strict") -> Object:
    """A LeaderWorkerSet with two pods a group."""
    template = {"spec": {"containers": job(name, 1)["spec"]["template"]["spec"]["containers"]}}
    spec = {"replicas": replicas, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": f"{LWS}/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


def jobset(name: str, pods: int) -> Object:
    replicated = {"name": "worker", "template": {"spec": job(name, pods)["spec"]}}
    metadata = {"name": name, "namespace": "team"}
    spec = {"replicatedJobs": [replicated]}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def pod(owner: str, number: int, on: str, namespace: str = "team", hashed: str = "") -> Object:
    """A pod of a Job, or of a Deployment's ReplicaSet, as its controller would have made it in a member cluster.

    `on`: the node that it is bound to; "" for none. `hashed`: what the ReplicaSet's name ends in.
    """
    (container,) = job(owner, 1)["spec"]["template"]["spec"]["containers"]
    controller: Object = {"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": "1", "controller": True}
    labels = {"batch.kubernetes.io/job-name": owner, "job-name": owner}
    if hashed:
        controller |= {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{owner}-{hashed}"}
        labels = {"app": owner, "pod-template-hash": hashed}
    metadata = {"name": f"{owner}-{number}", "namespace": namespace, "labels": labels, "ownerReferences": [controller]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **({"nodeName": on} if on else {})},
    }


class Kubectl:
    """kubectl on the hub, as admin."""

    def __init__(self, hub: ApiServer, home: Path) -> None:
        self._command = [str(program("kubernetes", "kubectl")), "--kubeconfig", str(hub.admin_kubeconfig)]
        self._environment = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def __call__(self, *words: str, given: Object | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._command, *words],
            input=json.dumps(given) if given else None,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def create(self, obj: Object, *flags: str) -> subprocess.CompletedProcess[str]:
        return self("create", "-f", "-", *flags, given=obj)


class Federation:
    """A hub whose API server asks our hook, and two member clusters that it knows."""

    def __init__(self, pool: Pool, servers: Servers, folder: Path) -> None:
        self._pool, self._folder = pool, folder
        self.hub = servers.server("hub")
        self.members: Fleet = servers.fleet("east", "west")
        for server in (self.hub, *self.members):
            server.load([JOBSETS, GROUPS, NAMESPACE, ENFORCED])
        self.kubectl = Kubectl(self.hub, folder)

    def serve(self, clusters: list[Object] | None = None, **config: Any) -> Served:
        entries = clusters or [self.entry(name) for name in ("east", "west")]
        hub = {"kubeconfig": str(self.looker())}
        settings = {"hub": hub, "refresh": "200ms", "maxAge": "60s", "deadline": "3s", **config}
        served = Served(self._pool.processes, self._folder / "served", entries, **settings)
        self.register(served)
        return served

    def entry(self, name: str) -> Object:
        return {"name": name, "kubeconfig": str(self.members[name].reader_kubeconfig)}

    def looker(self) -> Path:
        """The way to the hub for our account there, with the role that we install."""
        user = self.hub.token_user("looker", without=("pods",))
        role, binding = documents("hub.yaml")
        role["metadata"]["name"] += "-tried"
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.kubeconfig.stem}
        binding |= {"roleRef": {**binding["roleRef"], "name": role["metadata"]["name"]}, "subjects": [subject]}
        self.hub.load([role, binding])
        return user.kubeconfig

    def register(self, served: Served) -> None:
        """Our own manifest, with the way to a process of this machine; then until the API server goes that way."""
        (configuration,) = documents("webhook.yaml")
        bundle = base64.b64encode(served.authority.certificate.read_bytes()).decode()
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"{served.url}{path}", "caBundle": bundle}
        self.hub.create(configuration)
        served.until(lambda: "wm-place" in self.kubectl.create(job("probe", 1), "--dry-run=server").stderr)


def documents(name: str) -> list[Object]:
    return [found for found in yaml.safe_load_all((MANIFESTS / name).read_text()) if found]


@pytest.fixture
def federation(server_pool: Pool, servers: Servers, tmp_path: Path) -> Federation:
    return Federation(server_pool, servers, tmp_path)


@pytest.fixture
def serve(federation: Federation) -> Iterator[Callable[..., Served]]:
    """Starts a server; what a test has started is stopped when it ends."""
    started: list[Served] = []

    def begin(**config: Any) -> Served:
        started.append(federation.serve(**config))
        return started[-1]

    yield begin
    for served in started:
        served.stop()


def test_a_gang_is_let_in_with_the_cluster_or_the_reason(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    federation.members["west"].load([node("w1", 8), node("w2", 8)])
    served = serve()
    fitting = federation.kubectl.create(jobset("small", 3))
    assert fitting.returncode == 0, fitting.stderr
    assert fitting.stderr == "Warning: wm-place: fits west (3 pods on 2 nodes, in any order)\n"
    served.until(lambda: served.held() == 3)
    large = federation.kubectl.create(jobset("large", 4))
    assert large.returncode == 0, large.stderr
    said = large.stderr.splitlines()
    assert said[0] == "Warning: wm-place: no cluster has room for all of it now"
    assert [line.split()[2] for line in said[1:]] == ["west", "east"]
    assert {item["metadata"]["name"] for item in federation.hub.list("jobsets")} == {"small", "large"}
    assert served.held() == 3


def test_an_enforced_namespace_refuses_with_the_reason(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    federation.members["west"].load([node("w1", 2)])
    serve()
    refused = federation.kubectl.create(job("large", 3, "strict"))
    assert refused.returncode == 1
    assert 'admission webhook "enforce.wm-place.io" denied the request' in refused.stderr
    assert "example.com/gpu" in refused.stderr
    assert federation.kubectl.create(job("small", 2, "strict")).returncode == 0
    assert [item["metadata"]["name"] for item in federation.hub.list("jobs")] == ["small"]


def test_a_dry_run_holds_no_room(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    served = serve()
    tried = federation.kubectl.create(job("train", 2), "--dry-run=server")
    assert "fits east" in tried.stderr
    assert served.held() == 0
    assert "fits east" in federation.kubectl.create(job("train", 2)).stderr
    assert served.held() == 2


def test_without_the_server_creation_goes_on(federation: Federation, serve: Callable[..., Served]) -> None:
    served = serve()
    served.stop()
    for namespace in ("team", "strict"):
        created = federation.kubectl.create(job("train", 99, namespace))
        assert (created.returncode, created.stderr) == (0, "")


def test_room_is_held_until_the_pods_are_there(federation: Federation, serve: Callable[..., Served]) -> None:
    east = federation.members["east"]
    east.load([node("e1", 8), node("e2", 4)])
    served = serve()
    assert "fits east" in federation.kubectl.create(job("first", 2)).stderr
    assert "no cluster has room" in federation.kubectl.create(job("second", 2), "--dry-run=server").stderr
    east.load([pod("first", 1, "e1")])
    served.until(lambda: served.held() == 1)
    assert "fits east" in federation.kubectl.create(job("third", 1), "--dry-run=server").stderr
    assert "no cluster has room" in federation.kubectl.create(job("second", 2), "--dry-run=server").stderr
    east.load([pod("first", 2, "e1")])
    served.until(lambda: served.held() == 0)
    assert "fits east" in federation.kubectl.create(job("third", 1), "--dry-run=server").stderr
    assert "no cluster has room" in federation.kubectl.create(job("second", 2), "--dry-run=server").stderr


def test_room_that_nobody_comes_for_is_free_again(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    served = serve(reservations={"expiry": "1s"})
    federation.kubectl.create(job("first", 2))
    served.until(lambda: "fits east" in federation.kubectl.create(job("second", 2), "--dry-run=server").stderr)


def test_a_deletion_frees_the_room_at_once(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    served = serve()
    federation.kubectl.create(job("first", 2))
    assert served.held() == 2
    federation.kubectl("delete", "job", "first", "--namespace", "team", "--wait=false")
    assert served.held() == 0


def test_a_made_up_name_can_be_freed(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    served = serve()
    unnamed = job("", 2)
    unnamed["metadata"] = {"generateName": "train-", "namespace": "team"}
    made = federation.kubectl.create(unnamed, "--output", "jsonpath={.metadata.name}")
    assert served.held() == 2
    federation.kubectl("delete", "job", made.stdout, "--namespace", "team", "--wait=false")
    assert served.held() == 0


def test_what_changes_no_pod_is_waved_through(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    serve()
    federation.kubectl.create(job("first", 2))
    changed = federation.kubectl("label", "job", "first", "--namespace", "team", "team=ml")
    assert (changed.returncode, changed.stderr) == (0, "")


def test_more_pods_of_a_deployment_are_asked_about_when_it_is_scaled(
    federation: Federation, serve: Callable[..., Served]
) -> None:
    federation.members["east"].load([node("e1", 8), node("e2", 8)])
    served, scale = serve(), ("scale", "deployment", "web", "--namespace", "team")
    federation.kubectl.create(deployment("web", 1))
    grown = federation.kubectl(*scale, "--replicas=3")
    assert grown.returncode == 0, grown.stderr
    assert grown.stderr == "Warning: wm-place: fits east (3 pods on 2 nodes, in any order)\n"
    assert served.held() == 3
    assert "has no room for all of its new pods" in federation.kubectl(*scale, "--replicas=9").stderr
    assert served.held() == 3
    for pods in (2, 0):
        smaller = federation.kubectl(*scale, f"--replicas={pods}")
        assert (smaller.returncode, smaller.stderr, served.held()) == (0, "", pods)


def test_each_update_asks_for_what_is_still_to_come(federation: Federation, serve: Callable[..., Served]) -> None:
    east = federation.members["east"]
    east.load([node(f"e{number}", 4) for number in range(6)])
    served = serve()

    def applied(pods: int) -> tuple[int, int]:
        given = deployment("web", pods, "strict")
        done = federation.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", given=given)
        return done.returncode, served.held()

    assert applied(2) == (0, 2)
    east.load([pod("web", number, f"e{number}", "strict", "7d9c4") for number in range(2)])
    served.until(lambda: served.held() == 0)
    assert [applied(pods) for pods in (4, 6, 7, 3)] == [(0, 2), (0, 4), (1, 4), (0, 1)]


def test_a_quota_is_charged_once_for_pods_without_a_node(federation: Federation, serve: Callable[..., Served]) -> None:
    """It counts them when they are created; A has 2 of 4 pods, and so has B."""
    east, hard = federation.members["east"], {"requests.example.com/gpu": "16"}
    east.load([node(f"e{number}", 4) for number in range(6)])
    limit = east.create(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q", "namespace": "strict"},
            "spec": {"hard": hard},
        }
    )
    limit["status"] = {"hard": hard, "used": {"requests.example.com/gpu": "0"}}
    east.api.request("PUT", "/api/v1/namespaces/strict/resourcequotas/q/status", limit)
    served = serve()
    assert federation.kubectl.create(job("a", 2, "strict")).returncode == 0
    assert federation.kubectl.create(job("b", 3, "strict"), "--dry-run=server").returncode == 1
    for number in range(2):
        east.create(pod("a", number, "", "strict"))
    served.until(lambda: "fits east" in federation.kubectl.create(job("b", 2, "strict"), "--dry-run=server").stderr)
    assert served.held() == 2
    assert federation.kubectl.create(job("b", 3, "strict"), "--dry-run=server").returncode == 1


def test_a_cluster_with_two_names_is_promised_once(federation: Federation, serve: Callable[..., Served]) -> None:
    federation.members["east"].load([node("e1", 8)])
    entry = federation.entry("east")
    serve(clusters=[entry, {**entry, "name": "east-again"}])
    assert federation.kubectl.create(job("a", 2, "strict")).returncode == 0
    assert federation.kubectl.create(job("b", 2, "strict")).returncode == 1


def test_what_exists_already_holds_no_room(federation: Federation, serve: Callable[..., Served]) -> None:
    east = federation.members["east"]
    east.load([node("e1", 8), node("e2", 8)])
    served = serve()
    federation.kubectl.create(job("a", 2))
    east.load([pod("a", number, "e1") for number in range(2)])
    served.until(lambda: served.held() == 0)
    again = federation.kubectl.create(job("a", 2))
    assert "already exists" in again.stderr
    assert served.held() == 0
    assert federation.kubectl.create(job("b", 2, "strict")).returncode == 0


def test_more_groups_that_fit_nowhere_are_refused_when_they_are_scaled(
    federation: Federation, serve: Callable[..., Served]
) -> None:
    federation.members["east"].load([node("e1", 8), node("e2", 8)])
    served, scale = serve(), ("scale", "leaderworkerset", "llm", "--namespace", "strict")
    assert federation.kubectl.create(groups("llm", 1)).returncode == 0
    refused = federation.kubectl(*scale, "--replicas=3")
    assert refused.returncode == 1
    assert 'admission webhook "enforce.wm-place.io" denied the request' in refused.stderr
    assert federation.kubectl(*scale, "--replicas=2", "--dry-run=server").returncode == 0
    assert served.held() == 2
    assert federation.kubectl(*scale, "--replicas=2").returncode == 0
    assert (served.held(), federation.hub.list("leaderworkersets")[0]["spec"]["replicas"]) == (4, 2)


def test_a_scale_that_cannot_be_looked_at_is_let_in_with_a_word(
    federation: Federation, serve: Callable[..., Served]
) -> None:
    federation.members["east"].load([node("e1", 8)])
    serve(hub={"kubeconfig": str(federation.hub.reader_kubeconfig)})
    federation.kubectl.create(deployment("web", 1))
    grown = federation.kubectl("scale", "deployment", "web", "--namespace", "team", "--replicas=2")
    assert grown.returncode == 0
    assert "was not judged: may not get deployments team/web (403)" in grown.stderr


def test_one_cluster_hangs_and_another_refuses(federation: Federation, serve: Callable[..., Served]) -> None:
    east, west = federation.members["east"], federation.members["west"]
    east.load([node("e1", 8)])
    blind = west.token_user("blind", without=("pods",))
    entries = [federation.entry("east"), {"name": "west", "kubeconfig": str(blind.kubeconfig)}]
    served = serve(clusters=entries, maxAge="1s")
    assert served.cluster("west")["failure"]["why"] == "forbidden"
    east.pause()
    try:
        served.until(lambda: not served.cluster("east")["usable"])
        told = federation.kubectl.create(job("train", 2))
        assert told.returncode == 0
        assert (
            told.stderr.splitlines()[0] == "Warning: wm-place: cannot tell whether some cluster has room for all of it"
        )
        assert "east not judged: was last read" in told.stderr
        assert "west not judged" in told.stderr
        served.until(lambda: (served.cluster("east")["failure"] or {}).get("why") == "timeout")
        assert served.cluster("east")["ageSeconds"] >= 1
    finally:
        east.resume()
    served.until(lambda: served.cluster("east")["usable"])
    assert "fits east" in federation.kubectl.create(job("again", 2)).stderr


def test_our_manifests_are_accepted(federation: Federation) -> None:
    hub, dry = federation.hub, "?dryRun=All"
    hub.create(documents("namespace.yaml")[0])
    for name in ("reader.yaml", "hub.yaml", "config.yaml", "deployment.yaml", "service.yaml", "webhook.yaml"):
        for obj in documents(name):
            resource = hub.api.resource_of(obj)
            path = resource.path(obj["metadata"].get("namespace"))
            obj["metadata"]["name"] += "-tried"  # the pool has a role of that name
            stored = hub.api.request("POST", f"{path}{dry}&fieldValidation=Strict", deepcopy(obj))
            assert stored["metadata"]["name"] == obj["metadata"]["name"]
