"""Nodes and the short lists, as an answer needs them (capacity.md 2, 4.6, 6.8, 7, 8, 14)."""

from __future__ import annotations

import pytest

from advisor.accelerators import Accelerators, Mark
from advisor.cluster import LimitRangeItem, NodeState, PriorityClass, Quota, RuntimeClass, Scope
from advisor.errors import InputError
from advisor.kube import kinds
from advisor.kube.decode import objects as decoded
from advisor.kube.summarise import Summary
from advisor.labels import NodeSelector, NodeTerm, Requirement, Taint, Toleration
from tests.kube.fleet import pages
from tests.kube.objects import Object, clusterwide, namespaced, node, pod, requested, shipped, snapshot

GI = 1 << 30


class TestNodes:
    def test_allocatable_counts_and_capacity_does_not(self) -> None:
        found = snapshot(node("n1", {"status": {"capacity": {"nvidia.com/gpu": "8"}}}, **{"nvidia.com/gpu": "5"}))
        assert {name: column.tolist() for name, column in found.nodes.allocatable.items()} == {
            "cpu": [8000],
            "memory": [64 * GI],
            "nvidia.com/gpu": [5],
            "pods": [110],
        }

    def test_free_may_be_negative(self) -> None:
        found = snapshot(node("n1", cpu="1"), pod(cpu="3"))
        assert found.nodes.free("cpu").tolist() == [-2000]

    def test_rows_are_sorted_and_columns_complete(self) -> None:
        found = snapshot(node("b", **{"x.io/y": "1"}), node("a"), pod("p", on="b", cpu="1"))
        assert found.nodes.names == ("a", "b")
        assert found.nodes.offered("x.io/y").tolist() == [0, 1]
        assert found.nodes.requested["cpu"].tolist() == [0, 1000]

    @pytest.mark.parametrize(
        ("change", "state"),
        [
            ({}, NodeState()),
            ({"status": {"conditions": []}}, NodeState(ready=False)),
            ({"status": {"conditions": None}}, NodeState(ready=False)),
            ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, NodeState(ready=False)),
            ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, NodeState(ready=False)),
            ({"spec": {"unschedulable": True}}, NodeState(unschedulable=True)),
            ({"metadata": {"deletionTimestamp": "2026-11-30T10:00:00Z"}}, NodeState(deleting=True)),
        ],
    )
    def test_state(self, change: Object, state: NodeState) -> None:
        assert snapshot(node("n1", change)).nodes.states.of(0) == state

    def test_labels(self) -> None:
        found = snapshot(node("a", {"metadata": {"labels": {"zone": "z1"}}}), node("b"))
        assert [found.nodes.labels_of(row) for row in (0, 1)] == [
            {"kubernetes.io/hostname": "a", "zone": "z1"},
            {"kubernetes.io/hostname": "b"},
        ]

    def test_taints_in_one_order(self) -> None:
        taints = [
            {"key": "b", "effect": "NoSchedule", "timeAdded": None},
            {"key": "a", "effect": "NoExecute", "value": "v"},
        ]
        found = snapshot(node("a", {"spec": {"taints": taints}}), node("b", {"spec": {"taints": taints[::-1]}}))
        assert found.nodes.taints.values == ((Taint("a", "v", "NoExecute"), Taint("b")),)

    def test_what_is_no_quantity_is_a_fault(self) -> None:
        with pytest.raises(InputError, match=r'Node\.n1\.status\.allocatable\.cpu: "many" is not a quantity'):
            snapshot(node("n1", cpu="many"))


class TestSigns:
    """The catalogue that is shipped, against nodes as the plugins label them."""

    @pytest.fixture
    def accelerators(self) -> Accelerators:
        return shipped()

    @pytest.mark.parametrize(
        ("labels", "annotations", "resource", "means"),
        [
            ({}, {}, "nvidia.com/gpu", set()),
            ({"nvidia.com/gpu.replicas": "1"}, {}, "nvidia.com/gpu", set()),
            ({"nvidia.com/gpu.replicas": "4"}, {}, "nvidia.com/gpu", {"time-sliced"}),
            ({"nvidia.com/gpu.replicas": "4"}, {}, "nvidia.com/gpu.shared", {"time-sliced"}),
            ({"nvidia.com/gpu.replicas": "4"}, {}, "rdma/hca", set()),
            ({"nvidia.com/gpu.sharing-strategy": "none"}, {}, "nvidia.com/gpu", set()),
            ({"nvidia.com/gpu.sharing-strategy": "mps"}, {}, "nvidia.com/gpu", {"one-per-container"}),
            (
                {"cloud.google.com/gke-gpu-sharing-strategy": "time-sharing"},
                {},
                "nvidia.com/gpu",
                {"time-sliced", "one-per-container"},
            ),
            ({"nvidia.com/mig.config.state": "success"}, {}, "nvidia.com/mig-1g.10gb", set()),
            ({"nvidia.com/mig.config.state": "pending"}, {}, "nvidia.com/mig-1g.10gb", {"reconfiguring"}),
            ({}, {"hami.io/node-nvidia-register": "[]"}, "nvidia.com/gpu", {"split"}),
            ({}, {"hami.io/node-nvidia-register": ""}, "nvidia.com/gpu", {"split"}),
            ({"hami.io/node-nvidia-register": "a label"}, {}, "nvidia.com/gpu", set()),
        ],
    )
    def test_meaning(
        self, accelerators: Accelerators, labels: Object, annotations: Object, resource: str, means: set[str]
    ) -> None:
        change = {"metadata": {"labels": labels, "annotations": annotations}}
        marks = snapshot(node("n1", change), accelerators=accelerators).nodes.states.of(0).marks
        assert {mark.means for mark in marks if mark.concerns(resource)} == means

    def test_accelerators_by_rank(self, accelerators: Accelerators) -> None:
        names = ["cpu", "rdma/hca", "vpc.amazonaws.com/efa", "nvidia.com/mig-1g.10gb", "nvidia.com/gpu", "amd.com/gpu"]
        assert accelerators.among(names) == ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "amd.com/gpu"]

    def test_marks_are_values(self) -> None:
        assert Mark("a", "split") == Mark("a", "split")


class TestQuotas:
    def quota(self, spec: Object, status: Object | None = None) -> Quota:
        (found,) = snapshot(namespaced("ResourceQuota", "q", {"spec": spec, "status": status or {}})).quotas
        return found

    def test_the_status_counts_in_base_units(self) -> None:
        hard = {"requests.cpu": "10", "cpu": "1", "requests.nvidia.com/gpu": "4", "requests.memory": "1Ki", "pods": "3"}
        found = self.quota({"hard": {"pods": "99"}}, {"hard": hard, "used": {"requests.cpu": "1500m", "pods": "1"}})
        assert found == Quota(
            "team",
            "q",
            {"requests.cpu": 10000, "cpu": 1000, "requests.nvidia.com/gpu": 4, "requests.memory": 1024, "pods": 3},
            {"requests.cpu": 1500, "pods": 1},
        )

    def test_of_parts_of_a_unit_limits_have_less_and_use_more(self) -> None:
        """The API server compares exactly: of 2500m devices a third one exceeds the quota."""
        hard = {"requests.example.com/gpu": "2500m", "count/jobs.batch": "1.9", "cpu": "1500m"}
        used = {"requests.example.com/gpu": "500m", "cpu": "1m"}
        found = self.quota({"hard": hard}, {"hard": hard, "used": used})
        assert found.hard == {"requests.example.com/gpu": 2, "count/jobs.batch": 1, "cpu": 1500}
        assert found.used == {"requests.example.com/gpu": 1, "cpu": 1}

    @pytest.mark.parametrize("status", [{}, {"hard": {}}, {"hard": None, "used": {"pods": "1"}}])
    def test_an_empty_status_means_that_use_is_not_known(self, status: Object) -> None:
        assert self.quota({"hard": {"limits.cpu": "2"}}, status) == Quota("team", "q", {"limits.cpu": 2000}, None)

    def test_scopes(self) -> None:
        selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
        found = self.quota({"hard": {}, "scopes": ["BestEffort"], "scopeSelector": selector})
        assert found.scopes == (Scope("BestEffort"), Scope("PriorityClass", "In", ("high",)))


def test_limit_ranges_keep_thousandths() -> None:
    item = {
        "type": "Container",
        "default": {"cpu": "1"},
        "defaultRequest": {"cpu": "500m"},
        "min": {"cpu": "100m"},
        "max": {"memory": "1Ki"},
        "maxLimitRequestRatio": {"cpu": "1.5"},
    }
    (found,) = snapshot(namespaced("LimitRange", "l", {"spec": {"limits": [item, {"type": "Pod"}]}})).limit_ranges
    assert found.items == (
        LimitRangeItem("Container", {"cpu": 1000}, {"cpu": 500}, {"cpu": 100}, {"memory": 1024000}, {"cpu": 1500}),
        LimitRangeItem("Pod"),
    )


def test_classes() -> None:
    found = snapshot(
        clusterwide("PriorityClass", "high", {"value": 10, "globalDefault": True}, version="scheduling.k8s.io/v1"),
        clusterwide(
            "RuntimeClass",
            "kata",
            {
                "handler": "kata",
                "overhead": {"podFixed": {"cpu": "250m"}},
                "scheduling": {
                    "nodeSelector": {"kata": "yes"},
                    "tolerations": [{"operator": "Exists"}, {"key": "a", "value": "b", "tolerationSeconds": 5}],
                },
            },
            version="node.k8s.io/v1",
        ),
    )
    assert found.priority_classes == (PriorityClass("high", 10, default=True),)
    tolerations = (Toleration(operator="Exists"), Toleration("a", "Equal", "b", seconds=5))
    assert found.runtime_classes == (RuntimeClass("kata", {"cpu": 250}, (("kata", "yes"),), tolerations),)


class TestNamespaces:
    def test_none_recorded_is_not_none_there(self) -> None:
        assert snapshot(node()).namespaces is None

    def test_labels_and_node_selector(self) -> None:
        annotations = {"scheduler.alpha.kubernetes.io/node-selector": "a=b", "other": "x"}
        found = snapshot(
            clusterwide("Namespace", "team", {"metadata": {"labels": {"t": "1"}, "annotations": annotations}})
        )
        team = found.namespace("team")
        assert team and (team.labels, team.node_selector) == ((("t", "1"),), "a=b")


class TestVolumes:
    def claim(self, volume: str = "pv", **status: str) -> Object:
        spec = {"accessModes": ["ReadWriteOnce"], "volumeName": volume}
        return namespaced("PersistentVolumeClaim", "data", {"spec": spec, "status": {"phase": "Bound", **status}})

    def test_joined_with_their_volume(self) -> None:
        terms = [{"matchExpressions": [{"key": "host", "operator": "In", "values": ["b", "a"]}]}]
        volume = {
            "metadata": {
                "labels": {"topology.kubernetes.io/zone": "z2__z1", "failure-domain.beta.kubernetes.io/zone": "z"}
            },
            "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
        }
        (found,) = snapshot(self.claim(), clusterwide("PersistentVolume", "pv", volume)).volume_claims
        assert (found.phase, found.access_modes, found.volume) == ("Bound", ("ReadWriteOnce",), "pv")
        assert found.reach == NodeSelector(terms=(NodeTerm((Requirement("host", "In", ("a", "b")),)),))
        assert found.zones == (
            ("topology.kubernetes.io/zone", ("z1", "z2")),
            ("failure-domain.beta.kubernetes.io/zone", ("z",)),
        )

    def test_a_volume_without_limits(self) -> None:
        found = snapshot(node(), self.claim(), clusterwide("PersistentVolume", "pv", {"spec": {"nodeAffinity": None}}))
        assert (found.volume_claims[0].reach, found.volume_claims[0].zones, found.gaps) == (None, (), ())

    def test_a_bound_claim_whose_volume_is_not_there_is_a_gap(self) -> None:
        found = snapshot(node(), self.claim())
        assert [(gap.what, gap.why) for gap in found.gaps] == [("persistentvolumes", "not-found")]
        assert "claim team/data" in found.gaps[0].text

    def test_an_unbound_claim_is_none(self) -> None:
        found = snapshot(node(), self.claim("", phase="Pending"))
        assert (found.volume_claims[0].phase, found.gaps) == ("Pending", ())


class TestServedByDra:
    CLASS = clusterwide(
        "DeviceClass",
        "gpu.example.com",
        {"spec": {"extendedResourceName": "example.com/gpu"}},
        version="resource.k8s.io/v1",
    )

    def summary(self) -> Summary:
        summary = Summary(Accelerators())
        summary.begin(kinds.DEVICE_CLASS)
        (page,) = pages("DeviceClass", [self.CLASS], 1)
        summary.add(kinds.DEVICE_CLASS, decoded(kinds.DEVICE_CLASS, page))
        return summary

    @pytest.mark.parametrize(
        ("version", "served"),
        [("v1.36.0", True), ("v1.37.2-gke.1", True), ("", True), ("v1.35.9", False), ("v1.34.1+k3s1", False)],
    )
    def test_from_the_version_that_does_it(self, version: str, served: bool) -> None:
        names = {"example.com/gpu", "deviceclass.resource.kubernetes.io/gpu.example.com"}
        assert self.summary().snapshot("c", None, version=version).served_by_dra == (names if served else set())


def test_queues_and_groups() -> None:
    found = snapshot(
        namespaced("LocalQueue", "q", version="kueue.x-k8s.io/v1beta2"),
        clusterwide("Queue", "x", version="scheduling.volcano.sh/v1beta1"),
        clusterwide("Node", "a longhorn node", version="longhorn.io/v1beta2"),
        clusterwide(
            "CustomResourceDefinition", "y", {"spec": {"group": "jobset.x-k8s.io"}}, version="apiextensions.k8s.io/v1"
        ),
    )
    assert found.queues == (("team", "q"),)
    assert found.api_groups == frozenset(
        ("kueue.x-k8s.io", "scheduling.volcano.sh", "longhorn.io", "apiextensions.k8s.io", "jobset.x-k8s.io")
    )
    assert len(found.nodes) == 0


class TestPageByPage:
    def feed(self, summary: Summary, *bodies: bytes) -> None:
        for body in bodies:
            summary.add(kinds.POD, decoded(kinds.POD, body))

    def test_pages_add_up_and_a_new_beginning_forgets(self) -> None:
        summary = Summary(Accelerators())
        summary.begin(kinds.NODE)
        summary.add(kinds.NODE, decoded(kinds.NODE, *pages("Node", [node()], 1)))
        two = list(pages("Pod", [pod("a", cpu="1"), pod("b", cpu="1")], 1))
        for _ in range(2):
            summary.begin(kinds.POD)
            self.feed(summary, *two)
        assert requested(summary.snapshot("c", None)) == {"cpu": 2000, "pods": 2}

    def test_pods_on_nodes_that_were_not_listed(self) -> None:
        summary = Summary(Accelerators())
        summary.begin(kinds.POD)
        self.feed(summary, *pages("Pod", [pod("a", cpu="1", on="young")], 1))
        assert summary.unlisted_nodes() == {"young"}
        summary.begin(kinds.NODE)
        summary.add(kinds.NODE, decoded(kinds.NODE, *pages("Node", [node("young")], 1)))
        assert summary.unlisted_nodes() == set()
        assert requested(summary.snapshot("c", None), "young") == {"cpu": 1000, "pods": 1}

    def test_namespaces_do_not_disturb_one_another(self) -> None:
        summary = Summary(Accelerators())
        for namespace in ("a", "b"):
            summary.begin(kinds.RESOURCE_QUOTA, namespace)
            body = next(pages("ResourceQuota", [namespaced("ResourceQuota", namespace=namespace)], 1))
            summary.add(kinds.RESOURCE_QUOTA, decoded(kinds.RESOURCE_QUOTA, body), namespace)
        summary.begin(kinds.RESOURCE_QUOTA, "a")
        assert [quota.namespace for quota in summary.snapshot("c", None).quotas] == ["b"]
