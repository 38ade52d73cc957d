"""Whole clusters: what is asked for, what is missing, and that one cluster's trouble is its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.errors import InputError
from advisor.kube.client import Access
from advisor.kube.collect import Live, collect
from advisor.kube.conversation import Needs
from advisor.kube.progress import silent
from advisor.kube.recorded import Recorded
from tests.kube import stub
from tests.kube.objects import clusterwide, namespaced, node, pod, requested
from tests.kube.stub import Behaviour, Stub, hang, in_turn, listing, reply, serving, status

CORE = "/api/v1"
NODES, PODS, NAMESPACES = f"{CORE}/nodes", f"{CORE}/pods", f"{CORE}/namespaces"
QUOTAS, LIMITS = "resourcequotas", "limitranges"
CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses"
DEVICES = "/apis/resource.k8s.io/v1/deviceclasses"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2"
FORBIDDEN = status(403, "Forbidden")


def groups(**versions: str) -> Behaviour:
    names = {"scheduling_k8s_io": "v1", "node_k8s_io": "v1", **versions}
    listed = [
        {
            "name": (name := key.replace("_", ".").replace("..", "-")),
            "preferredVersion": {"groupVersion": f"{name}/{v}"},
        }
        for key, v in names.items()
    ]
    return reply({"kind": "APIGroupList", "groups": listed})


def a_cluster() -> dict[str, Behaviour]:
    """Two nodes, two pods, nothing else, and everything may be read."""
    empty = {
        f"{CORE}/{QUOTAS}": "ResourceQuota",
        f"{CORE}/{LIMITS}": "LimitRange",
        f"{CORE}/{CLAIMS}": "PersistentVolumeClaim",
        f"{CORE}/{VOLUMES}": "PersistentVolume",
        PRIORITIES: "PriorityClass",
        RUNTIMES: "RuntimeClass",
    }
    return {
        **{path: reply(listing(kind)) for path, kind in empty.items()},
        "/apis": groups(),
        NODES: reply(listing("Node", node("n1"), node("n2"))),
        PODS: reply(listing("Pod", pod("a", cpu="1"), pod("b", cpu="1"))),
        NAMESPACES: reply(listing("Namespace", clusterwide("Namespace", "team"))),
    }


def live(folder: Path, server: Stub, name: str = "eu", timeout: float = 10) -> Live:
    return Live(name, Access(stub.context(folder, server.url)), timeout)


def read(
    folder: Path, routes: Mapping[str, Behaviour], needs: Needs | None = None, timeout: float = 10
) -> ClusterSnapshot:
    with serving(routes) as server:
        return live(folder, server, timeout=timeout).read(needs or Needs(), Accelerators(), silent)


def gaps(snapshot: ClusterSnapshot) -> list[tuple[str, str]]:
    return [(gap.what, gap.why) for gap in snapshot.gaps]


def test_a_whole_cluster(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    found = read(tmp_path, a_cluster())
    assert (found.name, found.version, found.gaps, found.scope) == ("eu", "v1.36.2", (), None)
    assert sorted(found.api_groups or ()) == ["node.k8s.io", "scheduling.k8s.io"]
    assert found.taken_at and before <= found.taken_at <= datetime.now(UTC)
    assert [space.name for space in found.namespaces or ()] == ["team"]
    assert requested(found) == {"cpu": 2000, "pods": 2}


class TestWhatIsAsked:
    def asked(self, folder: Path, needs: Needs, routes: Mapping[str, Behaviour] | None = None) -> list[str]:
        with serving({**a_cluster(), **(routes or {})}) as server:
            live(folder, server).read(needs, Accelerators(), silent)
            return [path for path, _, _ in server.requests]

    def test_nodes_come_before_pods(self, tmp_path: Path) -> None:
        asked = self.asked(tmp_path, Needs())
        assert asked[:4] == ["/version", "/apis", NODES, PODS]

    def test_finished_pods_are_left_out_by_the_server(self, tmp_path: Path) -> None:
        with serving(a_cluster()) as server:
            live(tmp_path, server).read(Needs(), Accelerators(), silent)
            assert server.asked(PODS)[0]["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"
            assert "fieldSelector" not in server.asked(NODES)[0]

    def test_only_the_namespaces_in_question(self, tmp_path: Path) -> None:
        quotas = {f"{CORE}/namespaces/{n}/{QUOTAS}": reply(listing("ResourceQuota")) for n in "ab"}
        asked = self.asked(tmp_path, Needs(namespaces=("a", "b"), volumes=False), quotas)
        assert [path for path in asked if path.endswith(QUOTAS)] == [f"{CORE}/namespaces/{n}/{QUOTAS}" for n in "ab"]
        assert PODS in asked

    def test_volumes_only_if_they_are_used(self, tmp_path: Path) -> None:
        assert not [path for path in self.asked(tmp_path, Needs(volumes=False)) if "persistentvolume" in path]
        assert [path for path in self.asked(tmp_path, Needs(volumes=True)) if "persistentvolume" in path]

    def test_kinds_of_groups_that_are_not_served_are_not_asked_for(self, tmp_path: Path) -> None:
        asked = self.asked(tmp_path, Needs(), {"/apis": groups(scheduling_k8s_io="v1")})
        assert not [path for path in asked if "deviceclasses" in path or "localqueues" in path]

    def test_and_the_others_in_the_version_that_the_server_prefers(self, tmp_path: Path) -> None:
        routes = {"/apis": groups(resource_k8s_io="v1", kueue_x__k8s_io="v1beta2")}
        asked = self.asked(tmp_path, Needs(namespaces=("a",)), routes)
        assert {DEVICES, f"{QUEUES}/namespaces/a/localqueues"} <= set(asked)


class TestGaps:
    def test_a_forbidden_kind_is_one_and_the_rest_is_read(self, tmp_path: Path) -> None:
        found = read(tmp_path, {**a_cluster(), PRIORITIES: FORBIDDEN})
        assert gaps(found) == [("priorityclasses", "forbidden")]
        assert found.gaps[0].text.startswith("may not list priorityclasses at cluster scope (403)")
        assert len(found.nodes) == 2

    def test_forbidden_namespaces_are_not_none(self, tmp_path: Path) -> None:
        found = read(tmp_path, {**a_cluster(), NAMESPACES: FORBIDDEN})
        assert (gaps(found), found.namespaces) == ([("namespaces", "forbidden")], None)

    def test_one_forbidden_namespace_is_enough(self, tmp_path: Path) -> None:
        path = f"{CORE}/namespaces"
        routes = {f"{path}/a/{QUOTAS}": reply(listing("ResourceQuota")), f"{path}/b/{QUOTAS}": FORBIDDEN}
        routes |= {f"{path}/{n}/{LIMITS}": reply(listing("LimitRange")) for n in "ab"}
        found = read(tmp_path, {**a_cluster(), **routes}, Needs(("a", "b"), volumes=False))
        assert gaps(found) == [("resourcequotas", "forbidden")]
        assert "in namespace b" in found.gaps[0].text
        assert found.scope == ("a", "b")

    def test_without_pods_nothing_is_known(self, tmp_path: Path) -> None:
        found = read(tmp_path, {**a_cluster(), PODS: FORBIDDEN})
        assert (gaps(found), len(found.nodes)) == ([("pods", "forbidden")], 0)

    def test_without_nodes_and_pods_both_are_said(self, tmp_path: Path) -> None:
        found = read(tmp_path, {**a_cluster(), NODES: FORBIDDEN, PODS: FORBIDDEN})
        assert (gaps(found), len(found.nodes)) == ([("nodes", "forbidden"), ("pods", "forbidden")], 0)
        assert gaps(read(tmp_path, {**a_cluster(), NODES: FORBIDDEN})) == [("nodes", "forbidden")]

    def test_unknown_groups_leave_two_kinds_open(self, tmp_path: Path) -> None:
        found = read(tmp_path, {**a_cluster(), "/apis": FORBIDDEN, "/version": FORBIDDEN})
        assert gaps(found) == [("deviceclasses", "not-found"), ("localqueues", "not-found")]
        assert (found.api_groups, found.version, len(found.nodes)) == (None, "", 2)

    def test_a_list_that_cannot_be_understood(self, tmp_path: Path) -> None:
        broken = reply(listing("Pod", pod("a", {"spec": {"nodeName": 3}})))
        found = read(tmp_path, {**a_cluster(), PODS: broken})
        assert (gaps(found), len(found.nodes)) == ([("pods", "invalid")], 0)
        assert 'Pod["team/a"].spec.nodeName: Expected' in found.gaps[0].text
        quota = reply(listing("ResourceQuota", namespaced("ResourceQuota", "q", {"status": {"hard": {"cpu": "x"}}})))
        found = read(tmp_path, {**a_cluster(), f"{CORE}/{QUOTAS}": quota})
        assert (gaps(found), len(found.nodes)) == ([("resourcequotas", "invalid")], 2)

    @pytest.mark.parametrize(
        ("path", "behaviour", "gap"),
        [
            ("/version", status(401), "unauthorized"),
            ("/version", reply("<html>", Content_Type="text/html"), "not-kubernetes"),
            ("/version", reply({"hello": "world"}), "not-kubernetes"),
            ("/apis", reply({"hello": "world"}), "not-kubernetes"),
            (NODES, reply({"hello": "world"}), "not-kubernetes"),
            (NODES, hang, "timeout"),
            (PODS, stub.hang_in_the_body, "timeout"),
            (PODS, stub.trickle, "timeout"),
            (PODS, stub.cut, "cut-off"),
        ],
    )
    def test_what_ends_a_conversation(self, tmp_path: Path, path: str, behaviour: Behaviour, gap: str) -> None:
        began = time.monotonic()
        found = read(tmp_path, {**a_cluster(), path: behaviour}, timeout=1)
        assert (gaps(found), len(found.nodes)) == ([("cluster", gap)], 0)
        assert time.monotonic() - began < 2

    def test_time_that_runs_out_after_the_pods_leaves_gaps_only_behind_it(self, tmp_path: Path) -> None:
        found = read(tmp_path, {**a_cluster(), RUNTIMES: hang}, Needs(volumes=False), timeout=1)
        assert gaps(found) == [(kind, "timeout") for kind in ("deviceclasses", "localqueues", "runtimeclasses")]
        assert len(found.nodes) == 2


class TestMoments:
    def test_a_pod_on_an_unlisted_node_has_the_nodes_listed_again(self, tmp_path: Path) -> None:
        young = reply(listing("Node", node("n1"), node("young")))
        with serving(
            {
                **a_cluster(),
                NODES: in_turn(reply(listing("Node", node("n1"))), young),
                PODS: reply(listing("Pod", pod("a", on="young", cpu="1"), pod("b", on="gone"))),
            }
        ) as server:
            found = live(tmp_path, server).read(Needs(), Accelerators(), silent)
            assert len(server.asked(NODES)) == 2
        assert found.nodes.names == ("n1", "young")
        assert requested(found, "young") == {"cpu": 1000, "pods": 1}

    def test_time_that_runs_out_there_is_no_smaller_cluster(self, tmp_path: Path) -> None:
        nodes = in_turn(reply(listing("Node", node("n1"))), hang)
        found = read(tmp_path, {**a_cluster(), NODES: nodes, PODS: reply(listing("Pod", pod("a", on="x")))}, timeout=1)
        assert (gaps(found), len(found.nodes)) == ([("cluster", "timeout")], 0)

    def test_a_list_that_starts_again_counts_nothing_twice(self, tmp_path: Path) -> None:
        first = reply(listing("Pod", pod("a", cpu="1"), token="t"))
        pods = in_turn(first, status(410), first, reply(listing("Pod", pod("b", cpu="2"))))
        assert requested(read(tmp_path, {**a_cluster(), PODS: pods})) == {"cpu": 3000, "pods": 2}


class TestManyClusters:
    def test_in_their_order_and_each_with_its_own_trouble(self, tmp_path: Path) -> None:
        slow = {**a_cluster(), PODS: hang}
        with serving(a_cluster()) as good, serving(slow) as bad:
            sources = [live(tmp_path, server, f"c{n}", timeout=1) for n, server in enumerate((bad, good, bad, good))]
            began = time.monotonic()
            found = collect(sources, Needs(), Accelerators())
            assert time.monotonic() - began < 2
        assert [(one.name, len(one.nodes)) for one in found] == [("c0", 0), ("c1", 2), ("c2", 0), ("c3", 2)]

    def test_none(self) -> None:
        assert collect([], Needs(), Accelerators()) == ()

    def test_more_than_are_read_at_once(self, tmp_path: Path) -> None:
        with serving(a_cluster()) as server:
            names = [f"c{n:02}" for n in range(40)]
            found = collect([live(tmp_path, server, name) for name in names], Needs(volumes=False), Accelerators())
        assert [one.name for one in found] == names
        assert not any(one.gaps for one in found)

    def test_a_recorded_one_beside_a_live_one(self, tmp_path: Path) -> None:
        (tmp_path / "us.json").write_text('{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "u1"}}')
        with serving(a_cluster()) as server:
            sources = (live(tmp_path, server), Recorded("us", tmp_path / "us.json", (("tier", "spot"),)))
            found = collect(sources, Needs(), Accelerators())
        assert [one.nodes.names for one in found] == [("n1", "n2"), ("u1",)]
        assert found[1].labels == (("tier", "spot"),)

    def test_a_file_that_is_none_is_the_callers_business(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            collect([Recorded("us", tmp_path / "nowhere.json")], Needs(), Accelerators())

    def test_progress_counts_objects(self, tmp_path: Path) -> None:
        seen: list[tuple[str, str, int]] = []
        lock = threading.Lock()

        def note(cluster: str, what: str, count: int) -> None:
            with lock:
                seen.append((cluster, what, count))

        two = in_turn(reply(listing("Pod", pod("a"), token="t")), reply(listing("Pod", pod("b"))))
        with serving({**a_cluster(), PODS: two}) as server:
            collect([live(tmp_path, server)], Needs(), Accelerators(), note)
        assert [entry for entry in seen if entry[1] in ("nodes", "pods")] == [
            ("eu", "nodes", 2),
            ("eu", "pods", 1),
            ("eu", "pods", 2),
        ]
