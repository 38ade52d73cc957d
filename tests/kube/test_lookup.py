"""Objects that workloads refer to: what is asked of a server, what is kept of it, and what it means when it says no."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Looked
from advisor.errors import InputError
from advisor.kube import recorded
from advisor.kube.client import Access
from advisor.kube.collect import Live, supplemented
from advisor.kube.conversation import Needs
from advisor.kube.progress import silent
from advisor.workload import Reference
from tests.builders import cluster
from tests.kube import stub
from tests.kube.objects import Object, node
from tests.kube.stub import Behaviour, Stub, cut, listing, reply, serving, status
from tests.kube.test_collect import a_cluster, groups

GROUP = "example.com"
ROOT = f"/apis/{GROUP}/v1"
RUNTIMES, SHARED = f"{ROOT}/namespaces/team/runtimes", f"{ROOT}/clusterruntimes"
NOBODY = Accelerators()

OWN = Reference(GROUP, "Runtime", "small", "team")
COMMON = Reference(GROUP, "ClusterRuntime", "small", "team")


def resource(kind: str, plural: str, scope: str) -> Object:
    return {"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "singularResource": kind.lower()}


def discovery(group: str, version: str, *resources: Object) -> Object:
    return {"metadata": {"name": group}, "versions": [{"version": version, "resources": list(resources)}]}


def discovered(*groups: Object) -> Behaviour:
    return reply({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": list(groups)})


CORE = discovered(
    discovery("", "v1", resource("Pod", "pods", "Namespaced"), resource("Secret", "secrets", "Namespaced"))
)
KINDS = discovered(
    discovery(
        GROUP,
        "v1",
        resource("Runtime", "runtimes", "Namespaced"),
        resource("ClusterRuntime", "clusterruntimes", "Cluster"),
    )
)


def runtime(name: str = "small", **facts: Any) -> Object:
    return {"apiVersion": f"{GROUP}/v1", "kind": "Runtime", "metadata": {"name": name, "namespace": "team"}, **facts}


def routes(**more: Behaviour) -> dict[str, Behaviour]:
    return {"/api": CORE, "/apis": KINDS, **more}


def read(
    folder: Path, server: Stub, *references: Reference, alone: bool = True, timeout: float = 10
) -> ClusterSnapshot:
    source = Live("eu", Access(stub.context(folder, server.url)), timeout)
    return source.read(Needs(references=references, alone=alone, definitions=False), NOBODY, silent)


def looked(folder: Path, answers: Mapping[str, Behaviour], *references: Reference) -> ClusterSnapshot:
    with serving({**routes(), **answers}) as server:
        return read(folder, server, *references)


def gaps(found: ClusterSnapshot) -> list[tuple[str, str]]:
    return [(one.what, one.why) for one in found.gaps]


def objects(found: ClusterSnapshot) -> list[Object]:
    return [json.loads(text) for one in found.looked_up for text in one.objects]


class TestLive:
    def test_one_is_asked_for_by_its_name(self, tmp_path: Path) -> None:
        with serving(routes(**{f"{RUNTIMES}/small": reply(runtime(spec={"pods": 2}))})) as server:
            found = read(tmp_path, server, OWN)
            assert [path for path, _, _ in server.requests] == ["/api", "/apis", f"{RUNTIMES}/small"]
        (one,) = found.looked_up
        assert (one.name, one.namespace, one.whole) == ("small", "team", True)
        assert objects(found)[0]["spec"] == {"pods": 2}
        assert found.gaps == ()

    def test_a_kind_without_namespaces(self, tmp_path: Path) -> None:
        found = looked(tmp_path, {f"{SHARED}/small": reply({**runtime(), "kind": "ClusterRuntime"})}, COMMON)
        assert [(one.namespace, len(one.objects)) for one in found.looked_up] == [("", 1)]

    @pytest.mark.parametrize("reference", [OWN, COMMON, Reference("example.org", "Other", "small", "team")])
    def test_what_is_not_there_is_known_not_to_be(self, tmp_path: Path, reference: Reference) -> None:
        found = looked(tmp_path, {}, reference)
        assert [(one.objects, one.whole) for one in found.looked_up] == [((), True)]
        assert found.gaps == ()

    def test_all_of_a_kind_page_by_page(self, tmp_path: Path) -> None:
        first = listing("Runtime", {"metadata": {"name": "a", "namespace": "team"}}, token="more")
        last = listing("Runtime", {"metadata": {"name": "b", "namespace": "team"}})
        found = looked(
            tmp_path, {RUNTIMES: stub.in_turn(reply(first), reply(last))}, Reference(GROUP, "Runtime", "", "team")
        )
        assert [(one["kind"], one["apiVersion"], one["metadata"]["name"]) for one in objects(found)] == [
            ("Runtime", f"{GROUP}/v1", "a"),
            ("Runtime", f"{GROUP}/v1", "b"),
        ]

    def test_all_namespaces_where_none_is_named(self, tmp_path: Path) -> None:
        found = looked(
            tmp_path, {f"{ROOT}/runtimes": reply(listing("Runtime", runtime()))}, Reference(GROUP, "Runtime")
        )
        assert [one["metadata"]["namespace"] for one in objects(found)] == ["team"]

    @pytest.mark.parametrize(("code", "why"), [(403, "forbidden"), (500, "server-error")])
    def test_what_may_not_be_read_is_a_gap_and_the_rest_is_read(self, tmp_path: Path, code: int, why: str) -> None:
        answers = {f"{RUNTIMES}/small": status(code), f"{SHARED}/small": reply(runtime())}
        found = looked(tmp_path, answers, OWN, COMMON)
        assert gaps(found) == [(f"Runtime.{GROUP}", why)]
        assert [one.kind for one in found.looked_up] == ["ClusterRuntime"]

    def test_where_discovery_is_not_what_it_is_today_nothing_is_known(self, tmp_path: Path) -> None:
        """Kubernetes before 1.27 gives another list for the same question."""
        found = looked(
            tmp_path,
            {"/api": reply({"kind": "APIVersions", "versions": ["v1"]}), "/apis": stub.reply(stub.GROUPS)},
            OWN,
        )
        assert (gaps(found), found.looked_up) == ([(f"Runtime.{GROUP}", "not-found")], ())

    def test_secrets_are_never_looked_up(self, tmp_path: Path) -> None:
        with serving(routes()) as server:
            found = read(tmp_path, server, Reference("", "Secret", "mine", "team"))
            assert [path for path, _, _ in server.requests] == ["/api", "/apis"]
        assert gaps(found) == [("Secret", "not-found")]

    def test_what_containers_are_told_is_not_kept(self, tmp_path: Path) -> None:
        secret = "hunter2"
        told = {"env": [{"value": secret}], "envFrom": [secret], "args": [secret], "command": [secret], "name": "a"}
        whole = runtime(spec={"template": {"containers": [told]}}, status={"said": secret})
        whole["metadata"]["annotations"] = {
            "kubectl.kubernetes.io/last-applied-configuration": json.dumps(whole),
            "kept": "yes",
        }
        whole["metadata"]["managedFields"] = [{"manager": secret}]
        found = looked(tmp_path, {f"{RUNTIMES}/small": reply(whole)}, OWN)
        (text,) = found.looked_up[0].objects
        assert secret not in text
        assert json.loads(text)["spec"]["template"]["containers"] == [{"name": "a"}]
        assert json.loads(text)["metadata"]["annotations"] == {"kept": "yes"}

    def test_labels_may_have_any_name(self, tmp_path: Path) -> None:
        labels = {"env": "prod", "command": "train"}
        spec = {
            "template": {"metadata": {"labels": labels}, "spec": {"nodeSelector": labels}},
            "podLabels": labels,
            "selector": {"matchLabels": labels},
        }
        found = looked(tmp_path, {f"{RUNTIMES}/small": reply(runtime(spec=spec))}, OWN)
        (text,) = found.looked_up[0].objects
        assert json.loads(text)["spec"] == spec

    def test_a_name_cannot_lead_elsewhere(self, tmp_path: Path) -> None:
        with serving(routes()) as server:
            read(tmp_path, server, Reference(GROUP, "Runtime", "../../../../api/v1/secrets", "team"))
            assert server.requests[-1][0] == f"{RUNTIMES}/..%2F..%2F..%2F..%2Fapi%2Fv1%2Fsecrets"

    def test_beside_the_cluster_and_only_where_asked_for(self, tmp_path: Path) -> None:
        answers = {**a_cluster(), f"{RUNTIMES}/small": reply(runtime())}
        with serving(answers) as server:
            read(tmp_path, server, alone=False)
            assert "/api" not in [path for path, _, _ in server.requests]
        served = stub.in_turn(groups(example_com="v1"), KINDS)
        with serving({**answers, "/api": CORE, "/apis": served}) as server:
            found = read(tmp_path, server, OWN, alone=False)
        assert (found.nodes.names, len(objects(found)), found.gaps) == (("n1", "n2"), 1, ())

    def test_of_a_group_that_is_not_served_nothing_needs_to_be_asked(self, tmp_path: Path) -> None:
        with serving(a_cluster()) as server:
            found = read(tmp_path, server, OWN, alone=False)
            assert "/api" not in [path for path, _, _ in server.requests]
        assert [(one.kind, one.objects, one.whole) for one in found.looked_up] == [("Runtime", (), True)]

    def test_a_server_that_goes_away_leaves_gaps(self, tmp_path: Path) -> None:
        found = looked(tmp_path, {f"{RUNTIMES}/small": cut}, OWN, COMMON)
        assert {what for what, _ in gaps(found)} == {f"Runtime.{GROUP}", f"ClusterRuntime.{GROUP}"}


class TestRecorded:
    def kubectl(self, folder: Path, *objects: Object) -> Path:
        path = folder / "eu.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("n1"), *objects]}))
        return path

    def test_kubectl_recorded_some_perhaps_not_all(self, tmp_path: Path) -> None:
        path = self.kubectl(tmp_path, runtime(spec={"args": ["x"], "pods": 2}), {**runtime(), "kind": "Other"})
        (found,) = recorded.read(path, NOBODY, {(GROUP, "Runtime")})
        (one,) = found.looked_up
        assert (one.kind, one.name, one.namespace, one.whole) == ("Runtime", "", "", False)
        assert json.loads(one.objects[0])["spec"] == {"pods": 2}
        assert recorded.read(path, NOBODY)[0].looked_up == ()

    def test_an_object_without_a_name_has_its_place(self, tmp_path: Path) -> None:
        path = self.kubectl(tmp_path, {"apiVersion": f"{GROUP}/v1", "kind": "Runtime"})
        with pytest.raises(InputError, match=r"eu\.json:1 metadata\.name: is required"):
            recorded.read(path, NOBODY, {(GROUP, "Runtime")})


def test_what_is_looked_up_later_is_added() -> None:
    first, second = Looked(GROUP, "Runtime", "a"), Looked(GROUP, "Runtime", "b")
    known = cluster(looked_up=(first,), gaps=["quotas"])
    more = cluster(looked_up=(second, first), gaps=["quotas", "Runtime.example.com"])
    found = supplemented(known, more)
    assert found.looked_up == (first, second)
    assert [one.what for one in found.gaps] == ["quotas", "Runtime.example.com"]
