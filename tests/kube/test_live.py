"""The same room against real API servers: what is read, who may read it, and what kubectl says of the same cluster."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.kube import paging, recorded, recording
from advisor.kube.clusters import of_contexts
from advisor.kube.collect import collect
from advisor.kube.conversation import Needs
from advisor.kube.kubeconfig import load
from tests.kube.objects import Object, clusterwide, namespaced, node, pod, requested
from tests.servers.build import program
from tests.servers.pool import Servers

pytestmark = pytest.mark.servers

NOBODY = Accelerators()
ANTI = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}, "matchLabelKeys": ["rev"]}


def objects() -> list[Object]:
    """Something of every kind that is read."""
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [ANTI]}}
    mine = {"metadata": {"labels": {"app": "x", "rev": "1"}}, "spec": {"affinity": affinity}}
    named = {"spec": {"containers": [{**container, "image": "x"} for container in pod(cpu="1")["spec"]["containers"]]}}
    claim = {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": "v",
            "storageClassName": "",
        },
        "status": {"phase": "Bound"},
    }
    volume = {
        "metadata": {"labels": {"topology.kubernetes.io/zone": "z1__z2"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/x"},
            "storageClassName": "",
        },
    }
    return [
        clusterwide("Namespace", "team", {"metadata": {"labels": {"t": "1"}}}),
        node("n1", {"metadata": {"labels": {"zone": "z1"}}}, **{"nvidia.com/gpu": "8"}),
        node("n2", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": True}}),
        pod("bound", mine, named),
        pod("going", named, {"metadata": {"deletionTimestamp": "2026-11-30T10:00:00Z"}}),
        pod("done", named, {"status": {"phase": "Succeeded"}}),
        pod("waiting", named, on=None),
        namespaced("ResourceQuota", "q", {"spec": {"hard": {"pods": "5"}}}),
        namespaced("LimitRange", "l", {"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}}),
        namespaced("PersistentVolumeClaim", "data", claim),
        clusterwide("PersistentVolume", "v", volume),
        clusterwide("PriorityClass", "high", {"value": 10}, version="scheduling.k8s.io/v1"),
        clusterwide("RuntimeClass", "kata", {"handler": "kata"}, version="node.k8s.io/v1"),
        clusterwide(
            "DeviceClass", "d", {"spec": {"extendedResourceName": "example.com/d"}}, version="resource.k8s.io/v1"
        ),
    ]


def read(kubeconfig: Path, needs: Needs | None = None, timeout: float = 20, **how: Any) -> tuple[ClusterSnapshot, ...]:
    sources = of_contexts(load([str(kubeconfig)]), timeout=timeout, **how)
    return collect(sources, needs or Needs(), NOBODY)


def gaps(snapshot: ClusterSnapshot) -> list[tuple[str, str]]:
    return [(gap.what, gap.why) for gap in snapshot.gaps]


def comparable(snapshot: ClusterSnapshot) -> bytes:
    """All that a recording by kubectl can know."""
    same = replace(snapshot, name="", taken_at=None, version="", api_groups=None, api_versions=None, notes=())
    return recording.encode([same])


def kubectl(kubeconfig: Path, *words: str) -> bytes:
    command = shutil.which("kubectl") or str(program("kubernetes", "kubectl"))
    done = subprocess.run([command, "--kubeconfig", kubeconfig, *words], capture_output=True, check=True, timeout=60)
    return done.stdout


def test_two_clusters_with_the_read_role(servers: Servers) -> None:
    fleet = servers.fleet("eu", "us")
    fleet["eu"].load(objects())
    eu, us = read(fleet.kubeconfig)
    assert (eu.name, eu.gaps, us.name, us.gaps) == ("eu", (), "us", ())
    assert eu.version.startswith("v1.")
    assert eu.api_groups and "resource.k8s.io" in eu.api_groups
    assert (eu.nodes.names, us.nodes.names) == (("n1", "n2"), ())
    assert requested(eu) == {"cpu": 2000, "pods": 2}
    assert [(one.terminating, sum(one.nodes.values())) for one in eu.pods] == [(True, 1), (False, 1)]
    assert [(one.count, one.requests) for one in eu.waiting] == [(1, {"cpu": 1000})]
    assert "example.com/d" in eu.served_by_dra
    assert {"system-node-critical", "high"} <= {one.name for one in eu.priority_classes}


def test_a_stopped_and_a_hanging_server_are_their_own_trouble(servers: Servers) -> None:
    fleet = servers.fleet("eu", "us", "hang")
    fleet["eu"].load(objects())
    fleet["us"].stop()
    fleet["hang"].pause()
    began = time.monotonic()
    eu, us, hanging = read(fleet.kubeconfig, timeout=3)
    assert time.monotonic() - began < 5
    assert (len(eu.nodes), eu.gaps) == (2, ())
    assert (gaps(us), len(us.nodes)) == ([("cluster", "refused")], 0)
    assert (gaps(hanging), len(hanging.nodes)) == ([("cluster", "timeout")], 0)


def test_who_may_not_list_pods(servers: Servers) -> None:
    server = servers.server("eu")
    server.load(objects())
    (found,) = read(server.token_user("blind", without=("pods", "priorityclasses")).kubeconfig)
    assert (gaps(found), len(found.nodes)) == ([("pods", "forbidden")], 0)
    assert found.gaps[0].text.startswith("may not list pods at cluster scope (403)")
    (found,) = read(server.token_user("nearly", without=("priorityclasses",)).kubeconfig)
    assert (gaps(found), len(found.nodes)) == ([("priorityclasses", "forbidden")], 2)


def test_a_wrong_token_and_a_missing_plugin(servers: Servers, tmp_path: Path) -> None:
    server = servers.server("eu")
    content = yaml.safe_load(server.reader_kubeconfig.read_text())
    for user, why in (
        ({"token": "canary"}, "unauthorized"),
        ({"exec": {"command": "no-such-plugin", "apiVersion": "client.authentication.k8s.io/v1"}}, "exec-plugin"),
    ):
        content["users"][0]["user"] = user
        (tmp_path / "config").write_text(yaml.safe_dump(content))
        (found,) = read(tmp_path / "config")
        assert gaps(found) == [("cluster", why)]
        assert "canary" not in found.gaps[0].text


@pytest.mark.parametrize("inline", [True, False])
def test_a_certificate_and_somebody_else(servers: Servers, inline: bool) -> None:
    server = servers.server("eu")
    server.load(objects())
    admin = server.kubeconfig("admin", inline=inline)
    (found,) = read(admin)
    assert (len(found.nodes), found.gaps) == (2, ())
    (found,) = read(admin, impersonate="nobody")
    assert gaps(found) == [("nodes", "forbidden"), ("pods", "forbidden")]


def test_only_one_namespace(servers: Servers) -> None:
    server = servers.server("eu")
    server.load(objects())
    (found,) = read(server.reader_kubeconfig, Needs(("team",), volumes=False))
    assert (found.scope, found.gaps, found.volume_claims) == (("team",), (), ())
    assert [quota.name for quota in found.quotas] == ["q"]
    (found,) = read(server.reader_kubeconfig, Needs(("nowhere",)))
    assert (found.quotas, found.gaps) == ((), ())


def test_small_pages_make_the_same_snapshot(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    server = servers.server("eu")
    server.load(objects())
    (whole,) = read(server.reader_kubeconfig)
    monkeypatch.setattr(paging, "SIZE", 1)
    (pieces,) = read(server.reader_kubeconfig)
    assert comparable(pieces) == comparable(whole)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_kubectl_records_the_same_cluster(servers: Servers, tmp_path: Path, form: str) -> None:
    server = servers.server("eu")
    server.load(objects())
    (live,) = read(server.reader_kubeconfig)
    kinds = "nodes,pods,namespaces,resourcequotas,limitranges,pvc,pv,priorityclasses,runtimeclasses,deviceclasses"
    path = tmp_path / f"eu.{form}"
    path.write_bytes(kubectl(server.reader_kubeconfig, "get", kinds, "-A", "-o", form))
    (taped,) = recorded.read(path, NOBODY)
    assert comparable(taped) == comparable(live)
    recorded.write(tmp_path / "ours.json.gz", [live])
    (back,) = recorded.read(tmp_path / "ours.json.gz", NOBODY)
    assert recording.encode([back]) == recording.encode([live])
