"""What the cluster as a whole says, and what must not pass silently (capacity.md 0.2, 0.3, 1.7, 4.8, 4.9)."""

from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot, Namespace
from advisor.fit import examine
from advisor.labels import Toleration
from advisor.workload import TopologyRequest, Unmodelled, Workload
from tests.builders import (
    bound,
    cluster,
    exists,
    gpus,
    namespace,
    node,
    noexecute,
    nominated,
    noschedule,
    port,
    priority_class,
    quota,
    role,
    waiting,
    workload,
)

JOB = workload(role(cpu=1))
KUEUE = "kueue.x-k8s.io"


def here(**facts: Any) -> ClusterSnapshot:
    return cluster([node("a")], **facts)


def refusals(job: Workload, there: ClusterSnapshot, assume: bool = False) -> list[tuple[str, str]]:
    return [(reason.code, reason.subject) for reason in examine(job, there, gpus(), assume).refusals]


def doubts(job: Workload, there: ClusterSnapshot, assume: bool = False) -> list[tuple[str, str, bool]]:
    found = examine(job, there, gpus(), assume).doubts
    return [(doubt.reason.code, doubt.reason.subject, doubt.restricts) for doubt in found]


def notes(job: Workload, there: ClusterSnapshot, assume: bool = False) -> list[tuple[str, str]]:
    return [(reason.code, reason.subject) for reason in examine(job, there, gpus(), assume).notes]


def test_a_workload_and_a_cluster_without_surprises_leave_nothing_to_say() -> None:
    assert (refusals(JOB, here()), doubts(JOB, here()), notes(JOB, here())) == ([], [], [])


def test_a_cluster_without_nodes_takes_nothing() -> None:
    assert refusals(JOB, cluster()) == [("no-nodes", "")]
    assert not any(reason.lasting for reason in examine(JOB, cluster(), gpus()).refusals)  # some may come
    assert refusals(JOB, cluster(gaps=["nodes"])) == []  # that is something else


@pytest.mark.parametrize(
    ("api_version", "served", "refused"),
    [
        ("x.io/v1", None, False),  # the list is not known to be whole
        ("x.io/v1", {"x.io/v1", "batch/v1"}, False),
        ("x.io/v1beta1", {"x.io/v1"}, True),  # the group alone is not enough
        ("x.io/v1", set(), True),
        ("v1", set(), False),  # the core is always served
    ],
)
def test_4_9_a_kind_that_the_cluster_does_not_serve(api_version: str, served: set[str] | None, refused: bool) -> None:
    job = workload(role(cpu=1), kind="Thing", api_version=api_version)
    there = here(api_versions=None if served is None else frozenset(served))
    assert refusals(job, there) == ([("kind-not-served", f"Thing ({api_version})")] if refused else [])


@pytest.mark.parametrize(
    ("spaces", "facts", "assume", "refused", "doubted", "noted"),
    [
        ([namespace("team")], {}, False, [], [], []),
        ([namespace("red")], {}, False, ["namespace-missing"], [], []),
        ([], {}, False, ["namespace-missing"], [], []),
        ([namespace("red")], {}, True, [], [], ["namespace-assumed"]),
        (None, {}, False, [], [], ["namespace-assumed"]),  # a recording without namespaces
        (None, {"pods": [bound(on="a")]}, False, [], [], []),  # something is in it
        ([namespace("red")], {"quotas": [quota(hard={"pods": 9})]}, False, [], [], []),
        (None, {"gaps": ["namespaces"]}, False, [], ["namespaces"], []),
        (None, {"gaps": ["namespaces"]}, True, [], [], []),
    ],
)
def test_1_7_the_namespace(
    spaces: list[Namespace] | None,
    facts: dict[str, Any],
    assume: bool,
    refused: list[str],
    doubted: list[str],
    noted: list[str],
) -> None:
    there = here(namespaces=spaces, **facts)
    assert [code for code, _ in refusals(JOB, there, assume)] == refused
    assert [subject for _, subject, _ in doubts(JOB, there, assume)] == doubted
    assert [code for code, _ in notes(JOB, there, assume)] == noted


@pytest.mark.parametrize(
    ("gap", "restricts"),
    [("cluster", False), ("nodes", False), ("pods", False), ("resourcequotas", True), ("limitranges", True)],
)
def test_0_2_what_every_answer_needs(gap: str, restricts: bool) -> None:
    assert doubts(JOB, here(gaps=[gap])) == [("unreadable", gap, restricts)]


@pytest.mark.parametrize(
    ("gap", "fields"),
    [("priorityclasses", {"priority_class": "high"}), ("runtimeclasses", {"runtime_class": "kata"})],
)
def test_0_2_classes_matter_to_pods_that_name_one(gap: str, fields: dict[str, str]) -> None:
    assert doubts(JOB, here(gaps=[gap])) == []
    assert doubts(workload(role(cpu=1, fields=fields)), here(gaps=[gap])) == [("unreadable", gap, True)]
    assert doubts(workload(role(replicas=0, fields=fields)), here(gaps=[gap])) == []


@pytest.mark.parametrize("gap", ["persistentvolumeclaims", "persistentvolumes", "deviceclasses", "priorityclasses"])
def test_0_2_what_was_not_read_and_is_not_needed_makes_no_doubt(gap: str) -> None:
    assert doubts(JOB, here(gaps=[gap], nominated=[nominated("a")])) == []


def test_0_2_quotas_of_a_namespace_that_was_not_asked_for() -> None:
    assert doubts(JOB, here(scope=("team",))) == []
    assert doubts(JOB, here(scope=("red",))) == [("unreadable", "quotas and limits of namespace team", True)]


RACK = TopologyRequest("rack", "role", False, "metadata.annotations.topology")


@pytest.mark.parametrize(
    ("job", "doubt"),
    [
        (workload(role(cpu=1, fields={"used": ("spec.resourceClaims",)})), ("spec.resourceClaims", True)),
        (workload(role(cpu=1, topology=[RACK])), ("metadata.annotations.topology", True)),
        (workload(role(cpu=1), unmodelled=(Unmodelled("spec.x", "x"),)), ("spec.x", True)),
        (workload(role(cpu=1), unmodelled=(Unmodelled("spec.x", "x", restricts=False),)), ("spec.x", False)),
        (
            workload(role(cpu=1, tolerations=[Toleration("level", "Gt", "3"), Toleration("x", "Gt", "1")])),
            ("spec.tolerations with operator Gt", False),
        ),
    ],
)
def test_0_3_fields_that_no_rule_evaluates(job: Workload, doubt: tuple[str, bool]) -> None:
    assert doubts(job, here()) == [("unsupported", *doubt)]


def test_0_3_roles_without_pods_use_nothing() -> None:
    idle = role("idle", 0, topology=[RACK], tolerations=[Toleration("a", "Lt", "1")], fields={"used": ("spec.x",)})
    assert doubts(workload(role(cpu=1), idle), here()) == []


QUEUED = workload(role(cpu=1), unmodelled=(Unmodelled("metadata.labels.queue", "queue", needs=KUEUE),))


@pytest.mark.parametrize(
    ("groups", "doubtful", "noted"),
    [
        (None, True, []),  # not known: it may be there
        (frozenset({KUEUE}), True, []),
        (frozenset({"apps"}), False, [("queue-not-served", KUEUE)]),
    ],
)
def test_0_3_a_queue_matters_where_its_system_is_served(
    groups: frozenset[str] | None, doubtful: bool, noted: list[tuple[str, str]]
) -> None:
    there = here(api_groups=groups)
    assert doubts(QUEUED, there) == ([("unsupported", "metadata.labels.queue", True)] if doubtful else [])
    assert notes(QUEUED, there) == noted


def test_9_1_a_default_queue_takes_workloads_that_name_none() -> None:
    there = here(queues=(("team", "default"),))
    (found,) = doubts(JOB, there)
    assert (found[0], found[2]) == ("unsupported", False)
    assert found[1].startswith("LocalQueue default")
    assert [subject for _, subject, _ in doubts(QUEUED, there)] == ["metadata.labels.queue"]
    assert doubts(JOB, here(queues=(("red", "default"), ("team", "other")))) == []


def test_15_a_namespace_with_a_node_selector_is_a_doubt() -> None:
    spaces = [Namespace("team", (), "pool=gpu")]
    assert [code for code, _, _ in doubts(JOB, here(namespaces=spaces))] == ["unsupported"]
    assert doubts(JOB, here(namespaces=[namespace(), Namespace("red", (), "pool=gpu")])) == []


@pytest.mark.parametrize(("mine", "ahead"), [("", 5), ("high", 3), ("low", 5)])
def test_11_pods_that_wait_with_no_lower_priority_may_be_faster(mine: str, ahead: int) -> None:
    classes = [priority_class("high", 10), priority_class("low", -10)]
    there = here(waiting=[waiting(2, priority=0, gpu=1), waiting(3, priority=10)], priority_classes=classes)
    found = examine(workload(role(cpu=1, fields={"priority_class": mine})), there, gpus()).notes
    assert [(reason.code, reason.has) for reason in found] == [("waiting-pods", ahead)]


def test_4_3_a_taint_that_is_borne_for_a_while_evicts_afterwards() -> None:
    tainted = cluster([node("a", taints=[noexecute("spot"), noschedule("gpu")])])
    bounded = workload(role(cpu=1, tolerations=[exists("spot", "NoExecute", seconds=60), exists("gpu")]))
    assert notes(bounded, tainted) == [("bounded-toleration", "spot:NoExecute")]
    borne = [exists("spot", "NoExecute", seconds=60), exists("spot")]
    assert notes(workload(role(cpu=1, tolerations=borne)), tainted) == []
    assert notes(JOB, tainted) == []


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"scheduler": "volcano"}, ("other-scheduler", "volcano")),
        ({"gates": ("example.com/hold",)}, ("scheduling-gates", "example.com/hold")),
        ({"gates": ("kueue.x-k8s.io/admission",)}, None),  # part of a pod's normal life
        ({"gates": ("jobset.x-k8s.io/x", "mine.io/a", "mine.io/b")}, ("scheduling-gates", "mine.io/a, mine.io/b")),
        ({"node_name": "a"}, ("skips-scheduler", "a")),
        ({"service_account": "trainer"}, ("not-checked", "ServiceAccount trainer")),
        ({"service_account": "default"}, None),
        ({"host_network": True}, ("host-network-without-ports", "")),
    ],
)
def test_4_8_4_9_remarks_that_change_nothing(fields: dict[str, Any], note: tuple[str, str] | None) -> None:
    assert notes(workload(role(cpu=1, fields=fields)), here()) == ([note] if note else [])
    assert doubts(workload(role(cpu=1, fields=fields)), here()) == []
    assert notes(workload(role(cpu=1), role("idle", 0, fields=fields)), here()) == []


def test_4_5_host_network_with_ports_needs_no_remark() -> None:
    assert notes(workload(role(cpu=1, ports=[port(80)], fields={"host_network": True})), here()) == []


@pytest.mark.parametrize(
    ("served", "refused"),
    [
        (None, False),
        (frozenset({"batch/v1", "jobset.x-k8s.io/v1alpha2"}), False),
        (frozenset({"batch/v1"}), True),
        (frozenset({"batch/v1", "jobset.x-k8s.io.example.com/v1"}), True),
    ],
)
def test_a_controller_may_need_another_api(served: frozenset[str] | None, refused: bool) -> None:
    job = workload(role(cpu=1), requires=("jobset.x-k8s.io",))
    found = refusals(job, here(api_versions=served))
    assert found == [("kind-not-served", "jobset.x-k8s.io, which Job needs,")] * refused
