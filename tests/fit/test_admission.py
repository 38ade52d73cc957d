"""What a cluster makes of a template (capacity.md 1.2-1.7, 2.3, 11)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import PriorityClass
from advisor.fit.admission import admit
from advisor.workload import PodTemplate
from tests.builders import (
    GPU,
    TEAM,
    against,
    cluster,
    container,
    equal,
    exists,
    level,
    node,
    on_nodes,
    pod,
    port,
    priority_class,
    runtime_class,
    term,
)


def codes(template: PodTemplate, **facts: Any) -> list[str]:
    return [reason.code for reason in admit(template, TEAM, cluster([node("a")], **facts))[1]]


@pytest.mark.parametrize(
    ("template", "requests"),
    [
        (pod(limits={"cpu": 2, GPU: 1}), {"cpu": 2000, GPU: 1, "pods": 1}),
        (pod(cpu=1, limits={"cpu": 2}), {"cpu": 1000, "pods": 1}),
        (pod(container(), inits=[container("i", limits={"memory": 9})]), {"memory": 9, "pods": 1}),
        (pod(cpu=0, limits={"cpu": 2}), {"pods": 1}),  # zero is stated
    ],
)
def test_1_3_a_limit_without_a_request_is_the_request(template: PodTemplate, requests: dict[str, int]) -> None:
    shape, refused = admit(template, TEAM, cluster())
    assert (shape.requests, refused) == (requests, [])


def test_1_3_pod_level_requests_come_from_the_containers_or_else_from_the_pods_limit() -> None:
    template = pod(container(cpu=1), container("b", cpu=2), pod_level=level(limits={"cpu": 8, "memory": 64}))
    shape, refused = admit(template, TEAM, cluster())
    assert (shape.requests, refused) == ({"cpu": 3000, "memory": 64, "pods": 1}, [])
    assert shape.limits == {"cpu": 8000, "memory": 64}


def test_everything_else_of_the_template_is_carried_over() -> None:
    wanted = against("app=a")
    template = pod(
        container(ports=[port(2), port(1)]),
        labels={"app": "a"},
        nodes=on_nodes(term("b"), pairs={"c": "1"}),
        tolerations=[exists("gpu")],
        affinity=[wanted],
        anti_affinity=[wanted],
        volume_claims=["data"],
        fields={"node_name": "n", "scheduler": "volcano", "has_deadline": True},
    )
    shape, _ = admit(template, "red", cluster())
    assert (shape.namespace, shape.labels, shape.nodes) == ("red", (("app", "a"),), template.nodes)
    assert (shape.tolerations, shape.affinity, shape.anti_affinity) == ((exists("gpu"),), (wanted,), (wanted,))
    assert (shape.ports, shape.volume_claims) == ((port(1), port(2)), ("data",))
    assert (shape.node_name, shape.scheduler, shape.has_deadline) == ("n", "volcano", True)


KATA = runtime_class("kata", node_labels={"kata": "yes"}, tolerations=[equal("kata", "only")], cpu="250m", memory=100)


def test_1_4_a_runtimeclass_adds_overhead_node_labels_and_tolerations() -> None:
    nodes = on_nodes(term("gpu"), pairs={"a": "1"})
    template = pod(cpu=1, nodes=nodes, tolerations=[exists("x")], fields={"runtime_class": "kata"})
    shape, refused = admit(template, TEAM, cluster(runtime_classes=[KATA]))
    assert refused == []
    assert shape.requests == {"cpu": 1250, "memory": 100, "pods": 1}
    assert shape.nodes == on_nodes(term("gpu"), pairs={"a": "1", "kata": "yes"})
    assert shape.tolerations == (exists("x"), equal("kata", "only"))


@pytest.mark.parametrize(
    ("template", "refused"),
    [
        (pod(cpu=1, fields={"runtime_class": "gvisor"}), ["runtimeclass-missing"]),
        (pod(cpu=1, nodes=on_nodes(pairs={"kata": "yes"}), fields={"runtime_class": "kata"}), []),
        (pod(cpu=1, nodes=on_nodes(pairs={"kata": "no"}), fields={"runtime_class": "kata"}), ["runtimeclass-conflict"]),
        (pod(cpu=1, overhead={"cpu": "250m", "memory": 100}, fields={"runtime_class": "kata"}), []),
        (pod(cpu=1, overhead={"cpu": "250m"}, fields={"runtime_class": "kata"}), ["invalid-template"]),
        (pod(cpu=1, overhead={"cpu": "250m"}), ["invalid-template"]),  # belongs to a RuntimeClass
    ],
)
def test_1_4_what_a_runtimeclass_refuses(template: PodTemplate, refused: list[str]) -> None:
    assert codes(template, runtime_classes=[KATA]) == refused


def test_1_4_classes_that_could_not_be_read_refuse_nothing() -> None:
    template = pod(cpu=1, fields={"runtime_class": "gvisor", "priority_class": "gold"})
    assert codes(template, gaps=["runtimeclasses", "priorityclasses"]) == []


CLASSES = [priority_class("high", 1000), priority_class("low", -5)]


@pytest.mark.parametrize(
    ("named", "stated", "priority", "refused"),
    [
        ("", None, ("", 0), []),
        ("high", None, ("high", 1000), []),
        ("low", None, ("low", -5), []),
        ("system-node-critical", None, ("system-node-critical", 2_000_001_000), []),
        ("system-cluster-critical", None, ("system-cluster-critical", 2_000_000_000), []),
        ("gold", None, ("gold", 0), ["priorityclass-missing"]),
        ("high", 1000, ("high", 1000), []),
        ("high", 7, ("high", 1000), ["invalid-template"]),  # the number must be the class's own
        ("", 7, ("", 0), ["invalid-template"]),
        ("", 0, ("", 0), []),
    ],
)
def test_2_3_the_priority_comes_from_the_class(
    named: str, stated: int | None, priority: tuple[str, int], refused: list[str]
) -> None:
    template = pod(cpu=1, fields={"priority_class": named, "priority": stated})
    shape, reasons = admit(template, TEAM, cluster(priority_classes=CLASSES))
    assert (shape.priority_class, shape.priority) == priority
    assert [reason.code for reason in reasons] == refused


@pytest.mark.parametrize(
    ("defaults", "priority"),
    [
        ([priority_class("usual", 10, default=True)], ("usual", 10)),
        ([priority_class("usual", 10, default=True), priority_class("old", 2, default=True)], ("old", 2)),
        ([priority_class("usual", 10)], ("", 0)),
    ],
)
def test_2_3_a_global_default_gives_priority_and_name_and_of_several_the_lowest(
    defaults: list[PriorityClass], priority: tuple[str, int]
) -> None:
    shape, _ = admit(pod(cpu=1), TEAM, cluster(priority_classes=defaults))
    assert (shape.priority_class, shape.priority) == priority


def test_2_3_where_classes_could_not_be_read_the_stated_number_is_all_there_is() -> None:
    here = cluster(gaps=["priorityclasses"])
    shape, reasons = admit(pod(cpu=1, fields={"priority": 7}), TEAM, here)
    assert (shape.priority, shape.priority_class, reasons) == (7, "", [])
    shape, reasons = admit(pod(cpu=1, fields={"priority_class": "gold", "priority": 7}), TEAM, here)
    assert (shape.priority, shape.priority_class, reasons) == (7, "gold", [])


def test_all_reasons_come_at_once() -> None:
    template = pod(cpu=2, limits={"cpu": 1}, fields={"runtime_class": "x", "priority_class": "y"})
    assert codes(template) == ["invalid-template", "priorityclass-missing", "runtimeclass-missing"]


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory", GPU]), st.integers(0, 9), max_size=3)


@given(AMOUNTS, AMOUNTS)
def test_admitting_what_was_admitted_changes_nothing(requests: dict[str, int], limits: dict[str, int]) -> None:
    template = pod(container(also=requests, limits=limits))
    once, _ = admit(template, TEAM, cluster())
    again, _ = admit(template.as_pod(), TEAM, cluster())
    assert once == again


@pytest.mark.parametrize(
    ("stated", "given", "refused"),
    [("", "Never", []), ("Never", "Never", []), ("Never", "PreemptLowerPriority", ["invalid-template"])],
)
def test_a_preemption_policy_is_that_of_the_class(stated: str, given: str, refused: list[str]) -> None:
    classes = [PriorityClass("high", 5, preemption=given)]
    assert codes(replace(pod(), preemption=stated, priority_class="high"), priority_classes=classes) == refused
