"""All filters together: order, names, and laws that hold for every question."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import PodShape, Rejection
from advisor.fit import FILTERS, examine, rejections
from advisor.labels import NodeSelector, Taint
from advisor.verdict import CODES, NOTES
from tests.builders import (
    GPU,
    Bound,
    against,
    bound,
    cluster,
    equal,
    exists,
    gpus,
    limit_range,
    node,
    nodes,
    noschedule,
    on_nodes,
    per_container,
    port,
    quota,
    role,
    runtime_class,
    shape,
    term,
    workload,
)
from tests.fit.asking import left, named


def everything_wrong() -> tuple[PodShape, ClusterSnapshot]:
    pod_ = shape(
        gpu=8,
        fields={
            "nodes": on_nodes(pairs={"pool": "gpu"}),
            "ports": (port(80),),
            "node_name": "other",
            "anti_affinity": (against("name=web"),),
        },
    )
    here = cluster(
        [node("a", gpu=4, unschedulable=True, taints=[noschedule("x")])], [bound("web", on="a", ports=[port(80)])]
    )
    return pod_, here


def test_filters_run_in_the_order_of_kube_scheduler() -> None:
    found = [rejection.reason for rejection in rejections(*everything_wrong())]
    assert [(reason.filter, reason.code) for reason in found] == [
        ("NodeUnschedulable", "cordoned"),
        ("NodeName", "node-name"),
        ("TaintToleration", "taint"),
        ("NodeAffinity", "node-affinity"),
        ("NodePorts", "host-port"),
        ("NodeResourcesFit", "insufficient-gpu"),
        ("InterPodAffinity", "anti-affinity"),
    ]


def test_a_filter_that_turns_no_node_down_is_not_heard() -> None:
    assert list(rejections(shape(gpu=4), cluster([node("a", gpu=4)]))) == []
    assert list(rejections(shape(gpu=4), cluster())) == []


def test_every_code_that_a_filter_gives_is_one_that_is_explained() -> None:
    codes = {rejection.reason.code for rejection in rejections(*everything_wrong())}
    known = {*CODES, *NOTES}
    assert {code for code in codes if not code.startswith("insufficient-")} <= known


def test_0_6_each_role_is_examined_with_its_own_template_and_roles_without_pods_are_not() -> None:
    job = workload(role("head", cpu=1), role("worker", 4, gpu=8), role("idle", 0, gpu=64))
    here = cluster(nodes(2, gpu=4))
    found = examine(job, here, gpus())
    assert [(fit.role.name, left(fit, here)) for fit in found.roles] == [("head", ["n0", "n1"]), ("worker", [])]
    assert sorted(found.supply.now) == ["cpu", GPU, "pods"]
    assert found.refusals == ()


def test_a_workload_without_pods_asks_for_nothing() -> None:
    found = examine(workload(role(replicas=0, gpu=8)), cluster(nodes(1)), gpus())
    assert (found.roles, found.refusals, found.doubts, dict(found.supply.now)) == ((), (), (), {})


def test_refusals_name_their_role() -> None:
    job = workload(role("a", cpu=1), role("b", limits={"cpu": 9}))
    here = cluster(nodes(1), limit_ranges=[limit_range("r", per_container(most={"cpu": 4}, default={"cpu": 1}))])
    assert [(reason.code, reason.role) for reason in examine(job, here, gpus()).refusals] == [("limitrange", "b")]


@pytest.mark.parametrize(
    ("without", "allowed"),
    [
        ((), []),
        (("taint",), ["a", "b"]),
        (("taint=x:NoSchedule",), ["a"]),  # the other taint still stands
        (("taint=y:NoSchedule",), []),
        (("taint=x:NoSchedule", "taint=y:NoSchedule"), ["a", "b"]),
    ],
)
def test_lifting_one_taint_opens_no_node_that_bears_another(without: tuple[str, ...], allowed: list[str]) -> None:
    here = cluster([node("a", taints=[noschedule("x")]), node("b", taints=[noschedule("x"), noschedule("y")])])
    (fit,) = examine(workload(role(cpu=1)), here, gpus()).roles
    mask = fit.allowed(2, without=without)
    assert [name for name, open_ in zip(here.nodes.names, mask, strict=True) if open_] == allowed


def test_doubts_are_resolved_in_the_pods_favour_only_when_asked_to() -> None:
    here = cluster([node("a", gpu=1, taints=[noschedule(GPU)]), node("b", gpu=1)])
    (fit,) = examine(workload(role(gpu=1)), here, gpus()).roles
    assert fit.allowed(2).tolist() == [False, True]
    assert fit.allowed(2, hopeful=True).tolist() == [True, True]


def test_lasting_rules_are_those_that_an_emptied_cluster_would_keep() -> None:
    rows = [node("a"), node("b", unschedulable=True), node("c", taints=[noschedule("x")])]
    here = cluster(rows, [bound("web", on="a")])
    (fit,) = examine(workload(role(anti_affinity=[against("name=web")])), here, gpus()).roles
    assert fit.allowed(3).tolist() == [False, False, False]
    assert fit.allowed(3, lasting_only=True).tolist() == [True, True, False]


def test_1_4_what_admission_adds_opens_and_closes_nodes() -> None:
    kata = runtime_class("kata", node_labels={"kata": "yes"}, tolerations=[equal("kata", "only")], cpu=1)
    here = cluster(
        [node("a"), node("b", labels={"kata": "yes"}, taints=[noschedule("kata", "only")], cpu=2)],
        runtime_classes=[kata],
        quotas=[quota(hard={"requests.cpu": 9})],
    )
    (plain,) = examine(workload(role(cpu=1)), here, gpus()).roles
    assert left(plain, here) == ["a"]
    found = examine(workload(role(cpu=1, fields={"runtime_class": "kata"})), here, gpus())
    assert left(found.roles[0], here) == ["b"]
    assert found.charges[0].per_pod == {"worker": 2000}
    (large,) = examine(workload(role(cpu="1001m", fields={"runtime_class": "kata"})), here, gpus()).roles
    assert left(large, here) == []


LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from("12"), max_size=2)
TAINTS = st.lists(st.builds(Taint, st.sampled_from("xy")), max_size=2)
NODES = st.lists(st.tuples(LABELS, TAINTS, st.integers(0, 4), st.booleans()), min_size=1, max_size=4)
PODS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=3)
SHAPES = st.builds(
    lambda asked, label, tolerates, apart, ported: shape(
        gpu=asked,
        labels={"app": "me"},
        fields={
            "nodes": on_nodes(term(f"{label}=1")) if label else NodeSelector(),
            "tolerations": (exists("x"),) if tolerates else (),
            "anti_affinity": (against("name=there", key="a"),) if apart else (),
            "ports": (port(80),) if ported else (),
        },
    ),
    st.integers(0, 4),
    st.sampled_from(["", "a", "b"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


def built(
    facts: list[tuple[dict[str, str], list[Taint], int, bool]], pods: list[tuple[int, int, bool]]
) -> ClusterSnapshot:
    rows = [
        node(f"n{n}", labels=labels, taints=taints, gpu=gpu, unschedulable=cordoned)
        for n, (labels, taints, gpu, cordoned) in enumerate(facts)
    ]
    return cluster(rows, [_there(where % len(rows), gpu, ported) for where, gpu, ported in pods])


def _there(where: int, gpu: int, ported: bool) -> Bound:
    return bound("there", on=f"n{where}", gpu=gpu, ports=[port(80)] if ported else [])


def closed(pod_: PodShape, here: ClusterSnapshot) -> set[str]:
    found: list[Rejection] = list(rejections(pod_, here))
    return {name for rejection in found for name in named(rejection, here)}


@given(SHAPES, NODES, PODS)
def test_taking_a_pod_away_never_turns_down_more_nodes(
    pod_: PodShape, facts: list[tuple[dict[str, str], list[Taint], int, bool]], pods: list[tuple[int, int, bool]]
) -> None:
    for gone in range(len(pods)):
        assert closed(pod_, built(facts, [*pods[:gone], *pods[gone + 1 :]])) <= closed(pod_, built(facts, pods))


@given(SHAPES, NODES, PODS)
def test_asking_for_less_never_turns_down_more_nodes(
    pod_: PodShape, facts: list[tuple[dict[str, str], list[Taint], int, bool]], pods: list[tuple[int, int, bool]]
) -> None:
    here = built(facts, pods)
    less = replace(
        pod_, requests={"pods": 1}, ports=(), anti_affinity=(), nodes=NodeSelector(), tolerations=(exists(),)
    )
    assert closed(less, here) <= closed(pod_, here)


@given(SHAPES, NODES, PODS)
def test_a_node_more_changes_nothing_for_the_others(
    pod_: PodShape, facts: list[tuple[dict[str, str], list[Taint], int, bool]], pods: list[tuple[int, int, bool]]
) -> None:
    before = built(facts, [])
    after = built([*facts, ({"a": "2"}, [], 1, False)], [])
    assert closed(pod_, before) == closed(pod_, after) - {f"n{len(facts)}"}
    assert set(FILTERS) >= {rejection.reason.filter for rejection in rejections(pod_, built(facts, pods))}


@given(SHAPES, NODES, PODS)
def test_what_is_rejected_in_an_emptied_cluster_is_rejected_now(
    pod_: PodShape, facts: list[tuple[dict[str, str], list[Taint], int, bool]], pods: list[tuple[int, int, bool]]
) -> None:
    here = built(facts, pods)
    lasting = {n for r in rejections(pod_, here) if r.reason.lasting for n in named(r, here)}
    assert lasting <= closed(pod_, here)
    assert lasting == {n for r in rejections(pod_, built(facts, [])) if r.reason.lasting for n in named(r, here)}


def test_1_3_a_device_that_is_only_limited_is_asked_for() -> None:
    here = cluster([node("a"), node("b", gpu=1)])
    (fit,) = examine(workload(role(limits={GPU: 1})), here, gpus()).roles
    assert left(fit, here) == ["b"]
