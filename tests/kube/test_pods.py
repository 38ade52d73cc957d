"""What pods take of nodes: which count, and how much each asks for (capacity.md 1.1, 1.6, 2.2, 2.3, 2.6)."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.cluster import Nominated, PortUse, Waiting
from advisor.errors import InputError
from advisor.labels import HostPort, PodAffinityTerm, Requirement, Selector
from tests.kube.objects import Object, container, node, pod, requested, snapshot

GI = 1 << 30
DELETED = {"metadata": {"deletionTimestamp": "2026-11-30T10:00:00Z"}}
DAEMON = {"metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "ds", "controller": True}]}}
MIRROR = {"metadata": {"annotations": {"kubernetes.io/config.mirror": "abc", "other": "x"}}}
GATED = {"spec": {"schedulingGates": [{"name": "example.com/hold"}]}}


def phase(name: str) -> Object:
    return {"status": {"phase": name}}


def pinned(*names: str, operator: str = "In", key: str = "metadata.name") -> Object:
    terms = [{"matchFields": [{"key": key, "operator": operator, "values": [name]}]} for name in names]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"spec": {"affinity": {"nodeAffinity": required}}}


@pytest.mark.parametrize(
    ("case", "counts"),
    [
        (pod(cpu="1"), True),
        (pod("p", phase("Pending"), cpu="1"), True),  # pulling its image
        (pod("p", phase("Unknown"), cpu="1"), True),
        (pod("p", {"status": {"phase": None}}, cpu="1"), True),
        (pod("p", DELETED, cpu="1"), True),
        (pod("p", MIRROR, cpu="1"), True),
        (pod("p", {"spec": {"schedulerName": "other"}}, cpu="1"), True),
        (pod("p", phase("Succeeded"), cpu="1"), False),
        (pod("p", phase("Failed"), cpu="1"), False),
        (pod("p", on=None, cpu="1"), False),
        (pod("p", GATED, on=None, cpu="1"), False),
        (pod("p", on="gone", cpu="1"), False),
        (pod("p", pinned("n1"), on=None, cpu="1"), False),
        (pod("p", DAEMON, pinned("n1"), on=None, cpu="1"), True),
        (pod("p", pinned("n1"), DELETED, on=None, cpu="1"), False),
        (pod("p", pinned("n1"), GATED, on=None, cpu="1"), False),
        (pod("p", pinned("n1", "n2"), on=None, cpu="1"), False),
        (pod("p", pinned("n1", operator="NotIn"), on=None, cpu="1"), False),
    ],
)
def test_which_pods_count_on_a_node(case: Object, counts: bool) -> None:
    assert requested(snapshot(node(), case)) == ({"cpu": 1000, "pods": 1} if counts else {})


@pytest.mark.parametrize(
    ("change", "stands"),
    [(DAEMON, True), (MIRROR, True), ({}, False), ({"metadata": {"ownerReferences": [{"kind": "ReplicaSet"}]}}, False)],
)
def test_pods_of_the_node_itself_stand(change: Object, stands: bool) -> None:
    found = snapshot(node(), pod("p", change, cpu="1"))
    assert requested(found, standing=True) == ({"cpu": 1000, "pods": 1} if stands else {})
    assert [pods.standing for pods in found.pods] == [stands]


def owned(version: str, kind: str, name: str, *, controller: bool = True) -> Object:
    return {"apiVersion": version, "kind": kind, "name": name, "controller": controller, "uid": "5"}


@pytest.mark.parametrize(
    ("owners", "owner"),
    [
        ([owned("batch/v1", "Job", "train")], "Job.batch/train"),
        ([owned("batch.volcano.sh/v1alpha1", "Job", "train")], "Job.batch.volcano.sh/train"),
        (
            [owned("v1", "Service", "a", controller=False), owned("apps/v1", "ReplicaSet", "b-7d9c4")],
            "ReplicaSet.apps/b-7d9c4",
        ),
        ([owned("v1", "Service", "a", controller=False)], "Pod/p"),
        ([], "Pod/p"),
        ([owned("apps/v1", "DaemonSet", "a")], ""),
    ],
)
def test_who_looks_after_a_pod(owners: list[Object], owner: str) -> None:
    change = {"metadata": {"ownerReferences": owners}}
    (bound,) = snapshot(node(), pod("p", change, cpu="1")).pods
    assert bound.owner == owner
    (waits,) = snapshot(node(), pod("p", change, on=None, cpu="1")).unbound
    assert (waits.owner, waits.requests) == (owner or "DaemonSet.apps/a", {"cpu": 1000})


def test_a_pinned_pod_of_a_daemon_set_stands_before_it_lands() -> None:
    found = snapshot(node(), pod("p", DAEMON, pinned("n1"), on=None, cpu="1"))
    assert requested(found, standing=True) == {"cpu": 1000, "pods": 1}
    assert found.waiting == ()


class TestPinned:
    """Pending pods that can only go to one node, as the API server shows them."""

    def test_a_place_is_held_for_one_against_its_priority_and_lower(self) -> None:
        found = snapshot(node(), pod("p", pinned("n1"), {"spec": {"priority": 7}}, on=None, cpu="1"))
        assert [(one.node, one.priority, one.requests) for one in found.nominated] == [("n1", 7, {"cpu": 1000})]

    @pytest.mark.parametrize("change", [DAEMON, {}])
    def test_one_that_cannot_fit_holds_nothing(self, change: Object) -> None:
        found = snapshot(node(), pod("p", change, pinned("n1"), on=None, cpu="65"))
        assert (requested(found), found.nominated, len(found.waiting)) == ({}, (), 1)

    def test_room_is_given_once_and_by_priority(self) -> None:
        low = pod("a", DAEMON, pinned("n1"), on=None, cpu="40")
        high = pod("b", DAEMON, pinned("n1"), {"spec": {"priority": 9}}, on=None, cpu="40")
        found = snapshot(node(cpu="64", pods="9"), low, high)
        assert ([pods.priority for pods in found.pods], [one.priority for one in found.waiting]) == ([9], [0])

    def test_bound_pods_come_first_wherever_they_stand_in_the_list(self) -> None:
        found = snapshot(
            node(cpu="64", pods="9"), pod("p", DAEMON, pinned("n1"), on=None, cpu="40"), pod("q", cpu="40")
        )
        assert (requested(found)["cpu"], len(found.waiting)) == (40_000, 1)

    def test_a_place_of_another_scheduler_is_held_for_its_own_pods_only(self) -> None:
        found = snapshot(node(), pod("p", pinned("n1"), {"spec": {"schedulerName": "volcano"}}, on=None, cpu="1"))
        assert [one.scheduler for one in found.nominated] == ["volcano"]


class TestRequests:
    def ask(self, spec: Object, status: Object | None = None) -> dict[str, int]:
        change = {"spec": spec, "status": status or {}}
        return requested(snapshot(node(), pod("p", change)))

    def test_containers_add_up_and_round_once(self) -> None:
        spec = {
            "containers": [container("a", cpu="0.0001", memory="1.5Gi"), container("b", cpu="1500m", memory="129e6")]
        }
        assert self.ask(spec) == {"cpu": 1501, "memory": 1610612736 + 129000000, "pods": 1}

    def test_numbers_as_yaml_leaves_them(self) -> None:
        resources = {"requests": {"cpu": 0.5, "memory": 1e9, "nvidia.com/gpu": 2}}
        assert self.ask({"containers": [{"name": "a", "resources": resources}]}) == {
            "cpu": 500,
            "memory": 10**9,
            "nvidia.com/gpu": 2,
            "pods": 1,
        }

    def test_init_containers_count_when_they_are_larger(self) -> None:
        spec = {
            "containers": [container(cpu="1", memory="2Gi")],
            "initContainers": [container("i", cpu="3", memory="1Gi")],
        }
        assert self.ask(spec) == {"cpu": 3000, "memory": 2 * GI, "pods": 1}

    def test_sidecars_add_up_in_order(self) -> None:
        sidecar = {**container("s", cpu="1"), "restartPolicy": "Always"}
        spec = {"containers": [container(cpu="1")], "initContainers": [sidecar, container("i", cpu="2")]}
        assert self.ask(spec)["cpu"] == 3000

    def test_overhead_is_on_top(self) -> None:
        assert self.ask({"containers": [container(cpu="1")], "overhead": {"cpu": "250m"}})["cpu"] == 1250

    def test_pod_level_replaces_cpu_and_memory_only(self) -> None:
        spec = {
            "containers": [container(cpu="1", **{"nvidia.com/gpu": "1"})],
            "resources": {"requests": {"cpu": "4", "nvidia.com/gpu": "9"}},
        }
        assert self.ask(spec) == {"cpu": 4000, "nvidia.com/gpu": 1, "pods": 1}

    def test_no_requests_take_a_slot(self) -> None:
        assert self.ask({"containers": [{"name": "a"}, {"name": "b", "resources": {}}]}) == {"pods": 1}

    @pytest.mark.parametrize(
        ("wanted", "actual", "allocated", "reason", "counts"),
        [
            ("2", None, None, "", 2000),
            ("2", "2", "2", "", 2000),
            ("1", "3", None, "", 3000),  # shrinking: still held
            ("1", None, "3", "", 3000),
            ("4", "2", "2", "Deferred", 4000),  # growing: already promised
            ("4", "2", "2", "Infeasible", 2000),
            ("4", "2", "3", "Infeasible", 3000),
            ("4", None, None, "Infeasible", 4000),
        ],
    )
    @pytest.mark.parametrize("init", [False, True])
    def test_resizes(
        self, wanted: str, actual: str | None, allocated: str | None, reason: str, counts: int, init: bool
    ) -> None:
        status: dict[str, Any] = {"name": "a"}
        if actual:
            status["resources"] = {"requests": {"cpu": actual}}
        if allocated:
            status["allocatedResources"] = {"cpu": allocated}
        conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}] if reason else []
        asking = {**container("a", cpu=wanted), "restartPolicy": "Always"}
        spec = {"containers": [], "initContainers": [asking]} if init else {"containers": [asking]}
        statuses = {"initContainerStatuses" if init else "containerStatuses": [status]}
        assert self.ask(spec, {**statuses, "conditions": conditions})["cpu"] == counts

    def test_pod_level_resizes(self) -> None:
        spec = {"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "2"}}}
        assert self.ask(spec, {"resources": {"requests": {"cpu": "3"}}})["cpu"] == 3000
        assert self.ask(spec, {"allocatedResources": {"cpu": "5"}})["cpu"] == 5000

    def test_absurd_amounts_stay_within_64_bits(self) -> None:
        pods = [pod(f"p{n}", memory="9E") for n in range(20)]
        assert requested(snapshot(node(), *pods))["memory"] == 1 << 60

    @pytest.mark.parametrize(
        ("requests", "message"),
        [
            ({"cpu": "1x"}, 'Pod["team/p"].spec.containers[0].resources.requests.cpu: "1x" is not a quantity'),
            ({"cpu": "-1"}, 'Pod["team/p"].spec.containers[0].resources.requests.cpu: "-1" is negative'),
            ({"cpu": True}, 'Pod["team/p"].spec.containers[0].resources.requests: Expected'),
        ],
    )
    def test_what_is_no_quantity_is_a_fault(self, requests: Object, message: str) -> None:
        with pytest.raises(InputError) as caught:
            self.ask({"containers": [{"name": "a", "resources": {"requests": requests}}]})
        assert message in str(caught.value)


class TestPorts:
    def ports(self, spec: Object) -> list[str]:
        return [str(use.port) for use in snapshot(node(), pod("p", {"spec": spec})).ports]

    def with_port(self, name: str = "a", **port: Any) -> Object:
        return {"name": name, "ports": [{"containerPort": 80, **port}]}

    def test_host_ports_of_containers_and_sidecars(self) -> None:
        sidecar = {**self.with_port("s", hostPort=2), "restartPolicy": "Always"}
        spec = {
            "containers": [self.with_port(hostPort=1, protocol="UDP", hostIP="10.0.0.1")],
            "initContainers": [sidecar, self.with_port("i", hostPort=3)],
        }
        assert self.ports(spec) == ["10.0.0.1:1/UDP", "2/TCP"]

    def test_container_ports_in_the_network_of_the_host(self) -> None:
        assert self.ports({"containers": [self.with_port()]}) == []
        assert self.ports({"containers": [self.with_port()], "hostNetwork": True}) == ["80/TCP"]
        assert self.ports({"containers": [self.with_port(hostPort=81)], "hostNetwork": True}) == ["81/TCP"]

    def test_say_whose_they_are_and_end_with_the_pod(self) -> None:
        spec = {"spec": {"containers": [self.with_port(hostPort=9100)]}}
        found = snapshot(node(), pod("a", spec, DAEMON), pod("b", spec, phase("Succeeded")), pod("c", spec, on="gone"))
        assert found.ports == (PortUse("n1", HostPort(9100), standing=True, namespace="team"),)


class TestPending:
    def test_alike_pods_wait_together(self) -> None:
        high = {"spec": {"priority": 10}}
        found = snapshot(
            node(),
            pod("a", on=None, cpu="1"),
            pod("b", on=None, cpu="1000m"),
            pod("c", high, on=None, cpu="1"),
            pod("d", GATED, on=None),
            pod("e", DELETED, on=None),
        )
        assert found.waiting == (Waiting(0, {"cpu": 1000}, 2, "team"), Waiting(10, {"cpu": 1000}, 1, "team"))

    def test_a_nominated_pod_holds_room(self) -> None:
        change = {
            "metadata": {"labels": {"app": "x"}},
            "spec": {"priority": 7, "schedulerName": "mine", "hostNetwork": True},
            "status": {"nominatedNodeName": "n1"},
        }
        spec = {"spec": {"containers": [{**container(cpu="2"), "ports": [{"containerPort": 80}]}]}}
        found = snapshot(node(), pod("a", change, spec, on=None))
        assert found.waiting == ()
        assert found.nominated == (
            Nominated("n1", "team", 7, {"cpu": 2000}, (HostPort(80),), (("app", "x"),), (), "mine"),
        )
        assert requested(found) == {}


class TestPodSets:
    def test_pods_alike_are_one_entry(self) -> None:
        labels = {"metadata": {"labels": {"b": "2", "a": "1"}, "generateName": "p-"}}
        turned = {"metadata": {"labels": {"a": "1", "b": "2"}, "generateName": "p-"}}
        found = snapshot(
            node("n1"),
            node("n2"),
            pod("a", labels),
            pod("b", turned),
            pod("c", labels, on="n2"),
            pod("d", labels, on="x"),
        )
        (only,) = found.pods
        assert (only.namespace, only.labels, only.nodes) == ("team", (("a", "1"), ("b", "2")), {"n1": 2, "n2": 1})

    @pytest.mark.parametrize(
        "change",
        [
            DELETED,
            DAEMON,
            {"metadata": {"namespace": "other"}},
            {"metadata": {"labels": {"a": "b"}}},
            {"spec": {"containers": [container("main", cpu="1")]}},
            {"spec": {"priority": 7}},
        ],
    )
    def test_pods_that_differ_are_two(self, change: Object) -> None:
        assert len(snapshot(node(), pod("a"), pod("b", change)).pods) == 2

    def test_what_one_asks_for_and_its_priority_are_kept(self) -> None:
        (only,) = snapshot(node(), pod("a", {"spec": {"priority": 7}}, cpu="500m", memory="1Gi")).pods
        assert (only.requests, only.priority) == ({"cpu": 500, "memory": 1 << 30}, 7)

    def test_terminating_is_said(self) -> None:
        assert [pods.terminating for pods in snapshot(node(), pod("a", DELETED)).pods] == [True]


class TestAntiAffinity:
    def terms(self, *terms: Object, labels: Object | None = None) -> tuple[PodAffinityTerm, ...]:
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}
        (found,) = snapshot(
            node(), pod("p", {"metadata": {"labels": labels or {}}, "spec": {"affinity": affinity}})
        ).pods
        return found.anti_affinity

    def test_a_term_without_namespaces_means_its_own(self) -> None:
        selector = {
            "matchLabels": {"b": "2"},
            "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["y", "x"]}],
        }
        assert self.terms({"topologyKey": "zone", "labelSelector": selector}) == (
            PodAffinityTerm(
                "zone", Selector((Requirement("a", "NotIn", ("x", "y")), Requirement("b", "In", ("2",)))), ("team",)
            ),
        )

    @pytest.mark.parametrize(
        ("stated", "namespaces", "selector"),
        [
            ({"namespaces": ["b", "a"]}, ("a", "b"), None),
            ({"namespaceSelector": {}}, (), Selector()),
            (
                {"namespaces": ["a"], "namespaceSelector": {"matchLabels": {"t": "1"}}},
                ("a",),
                Selector((Requirement("t", "In", ("1",)),)),
            ),
            ({"namespaceSelector": None}, ("team",), None),
        ],
    )
    def test_namespaces(self, stated: Object, namespaces: tuple[str, ...], selector: Selector | None) -> None:
        (term,) = self.terms({"topologyKey": "zone", "labelSelector": {}, **stated})
        assert (term.namespaces, term.namespace_selector) == (namespaces, selector)

    def test_no_selector_matches_nothing_and_an_empty_one_everything(self) -> None:
        assert [term.selector for term in self.terms({"topologyKey": "z"})] == [None]
        assert [term.selector for term in self.terms({"topologyKey": "z", "labelSelector": {}})] == [Selector()]

    def test_match_label_keys_are_folded_in_once(self) -> None:
        term = {"topologyKey": "z", "labelSelector": {}, "matchLabelKeys": ["a", "c"], "mismatchLabelKeys": ["b"]}
        folded = Selector((Requirement("a", "In", ("1",)), Requirement("b", "NotIn", ("2",))))
        labels = {"a": "1", "b": "2"}
        assert [found.selector for found in self.terms(term, labels=labels)] == [folded]
        merged = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}  # as newer servers store it
        assert [found.selector for found in self.terms({**term, "labelSelector": merged}, labels=labels)] == [folded]

    def test_preferred_terms_do_not_bind(self) -> None:
        preferred = [{"weight": 1, "podAffinityTerm": {"topologyKey": "z", "labelSelector": {}}}]
        affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
        assert [pods.anti_affinity for pods in snapshot(node(), pod("p", {"spec": {"affinity": affinity}})).pods] == [
            ()
        ]
