"""TaintToleration (capacity.md 4.3)."""

from hypothesis import given
from hypothesis import strategies as st

from advisor.fit import taints
from advisor.labels import UNSCHEDULABLE, Taint, Toleration
from tests.builders import GPU, cluster, equal, exists, node, noexecute, noschedule, prefer_not, shape
from tests.fit.asking import doubted, refused, told

HERE = cluster(
    [
        node("bare"),
        node("gpu", taints=[noschedule("gpu", "h100")]),
        node("leaving", taints=[noexecute("maintenance")]),
        node("both", taints=[noschedule("gpu", "h100"), noexecute("maintenance")]),
        node("disliked", taints=[prefer_not("gpu", "h100")]),
    ]
)


def test_4_3_every_repelling_taint_must_be_tolerated() -> None:
    assert refused(taints.examine, shape(), HERE) == ["both", "gpu", "leaving"]
    one = shape(fields={"tolerations": (equal("gpu", "h100"),)})
    assert refused(taints.examine, one, HERE) == ["both", "leaving"]
    two = shape(fields={"tolerations": (equal("gpu", "h100"), exists("maintenance"))})
    assert refused(taints.examine, two, HERE) == []


def test_4_3_each_taint_is_told_by_itself_so_that_tolerating_one_opens_no_node_that_bears_two() -> None:
    assert told(taints.examine, shape(), HERE) == {
        "taint! gpu=h100:NoSchedule": ["both", "gpu"],
        "taint! maintenance:NoExecute": ["both", "leaving"],
    }


def test_taints_of_the_node_lifecycle_pass_by_themselves() -> None:
    here = cluster(
        [
            node("a", taints=[noschedule("node.kubernetes.io/memory-pressure")]),
            node("b", taints=[noschedule("node.cloudprovider.kubernetes.io/uninitialized", "true")]),
            node("c", taints=[noschedule("node.cilium.io/agent-not-ready")]),
            node("d", taints=[noschedule(UNSCHEDULABLE)]),
        ]
    )
    assert told(taints.examine, shape(), here) == {
        "taint node.kubernetes.io/memory-pressure:NoSchedule": ["a"],
        "taint node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule": ["b"],
        "taint! node.cilium.io/agent-not-ready:NoSchedule": ["c"],
        "cordoned": ["d"],
    }


def test_4_3_a_cordon_beside_a_lasting_taint_hides_nothing() -> None:
    here = cluster([node("a", taints=[noschedule(UNSCHEDULABLE), noschedule("zone", "lab")])])
    assert told(taints.examine, shape(), here) == {"cordoned": ["a"], "taint! zone=lab:NoSchedule": ["a"]}


def test_4_3_a_taint_named_like_a_device_that_is_asked_for_is_a_doubt() -> None:
    here = cluster(
        [
            node("a", gpu=8, taints=[noschedule(GPU, "present")]),
            node("b", gpu=8, taints=[noexecute(GPU, "present")]),
            node("c", gpu=8, taints=[noschedule(GPU, "present"), noschedule("team", "other")]),
        ]
    )
    assert told(taints.examine, shape(gpu=1), here) == {
        f"taint! {GPU}=present:NoExecute": ["b"],
        "taint! team=other:NoSchedule": ["c"],
        f"admission-toleration? {GPU}=present:NoSchedule": ["a", "c"],
    }
    assert doubted(taints.examine, shape(cpu=1), here) == []
    tolerating = shape(gpu=1, fields={"tolerations": (exists(GPU),)})
    assert refused(taints.examine, tolerating, here) == ["c"]


TAINTS = st.builds(
    Taint, st.sampled_from("ab"), st.sampled_from(["", "x"]), st.sampled_from(["NoSchedule", "NoExecute"])
)
TOLERATIONS = st.builds(
    Toleration,
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["Exists", "Equal", ""]),
    st.sampled_from(["", "x"]),
    st.sampled_from(["", "NoSchedule", "NoExecute"]),
)


@given(st.lists(st.lists(TAINTS, max_size=2), min_size=1, max_size=4), st.lists(TOLERATIONS, max_size=2), TOLERATIONS)
def test_a_toleration_more_never_turns_down_more_nodes(
    borne: list[list[Taint]], tolerations: list[Toleration], more: Toleration
) -> None:
    here = cluster([node(f"n{number}", taints=found) for number, found in enumerate(borne)])
    before = refused(taints.examine, shape(fields={"tolerations": tuple(tolerations)}), here)
    after = refused(taints.examine, shape(fields={"tolerations": (*tolerations, more)}), here)
    assert set(after) <= set(before)


@given(st.lists(st.lists(TAINTS, max_size=3), min_size=1, max_size=4))
def test_a_node_is_open_exactly_when_no_taint_is_left(borne: list[list[Taint]]) -> None:
    here = cluster([node(f"n{number}", taints=found) for number, found in enumerate(borne)])
    pod = shape(fields={"tolerations": (exists("a"), equal("b", "x"))})
    expected = [f"n{n}" for n, found in enumerate(borne) if any(t.key == "b" and t.value == "" for t in found)]
    assert refused(taints.examine, pod, here) == expected
