"""Nodes that take no pods (capacity.md 2.4, 4.2)."""

import pytest

from advisor.fit import health
from advisor.labels import UNSCHEDULABLE, Taint, Toleration
from tests.builders import cluster, equal, exists, node, noexecute, noschedule, prefer_not, shape
from tests.fit.asking import refused, told

HERE = cluster(
    [
        node("fine"),
        node("cordoned", unschedulable=True),
        node("deleted", deleting=True),
        node("unready", ready=False),
    ]
)


def test_2_4_each_state_is_told_by_its_own_name() -> None:
    assert told(health.examine, shape(), HERE) == {
        "node-going-away! being deleted": ["deleted"],
        "not-ready": ["unready"],
        "cordoned": ["cordoned"],
    }


@pytest.mark.parametrize(
    ("toleration", "opened"),
    [
        (exists(), True),
        (exists(UNSCHEDULABLE), True),
        (exists(UNSCHEDULABLE, "NoSchedule"), True),
        (equal(UNSCHEDULABLE), True),
        (exists(UNSCHEDULABLE, "NoExecute"), False),
        (equal(UNSCHEDULABLE, "yes"), False),
        (exists("other"), False),
    ],
)
def test_4_2_a_cordon_is_opened_by_tolerating_its_taint(toleration: Toleration, opened: bool) -> None:
    pod = shape(fields={"tolerations": (toleration,)})
    assert ("cordoned" not in refused(health.examine, pod, HERE)) is opened


def test_2_4_no_toleration_makes_an_unready_or_deleted_node_usable() -> None:
    pod = shape(fields={"tolerations": (exists(),)})
    assert refused(health.examine, pod, HERE) == ["deleted", "unready"]


@pytest.mark.parametrize(
    ("taint", "toleration", "usable"),
    [
        (noschedule("ToBeDeletedByClusterAutoscaler", "17"), None, False),
        (noschedule("karpenter.sh/disrupted"), None, False),
        (noschedule("karpenter.sh/disruption", "disrupting"), None, False),
        (noschedule("ToBeDeletedByClusterAutoscaler"), exists(), False),  # a blanket toleration does not open it
        (noschedule("karpenter.sh/disrupted"), exists("karpenter.sh/disrupted"), True),
        (prefer_not("ToBeDeletedByClusterAutoscaler"), None, True),
        (prefer_not("DeletionCandidateOfClusterAutoscaler", "17"), None, True),
        (noexecute("something-else"), None, True),  # TaintToleration's business
    ],
)
def test_2_4_nodes_on_their_way_out(taint: Taint, toleration: Toleration | None, usable: bool) -> None:
    pod = shape(fields={"tolerations": (toleration,) if toleration else ()})
    assert (refused(health.examine, pod, cluster([node("a", taints=[taint])])) == []) is usable


@pytest.mark.parametrize(
    ("labels", "taints", "virtual"),
    [
        ({"type": "virtual-kubelet"}, [], True),
        ({"liqo.io/type": "virtual-node"}, [], True),
        ({}, [noschedule("virtual-kubelet.io/provider", "azure")], True),
        ({"type": "worker"}, [], False),
        ({"liqo.io/type": "local"}, [noschedule("azure")], False),
    ],
)
def test_2_4_virtual_nodes_say_nothing_of_machines(labels: dict[str, str], taints: list[Taint], virtual: bool) -> None:
    here = cluster([node("a", labels=labels, taints=taints)])
    pod = shape(fields={"tolerations": (exists(),)})
    assert told(health.examine, pod, here) == ({"virtual-node!": ["a"]} if virtual else {})
