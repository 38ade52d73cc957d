"""Several workloads, or several names of one cluster: nothing is promised twice, and no promise holds too much."""

from dataclasses import replace
from typing import Any

import pytest

from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.verdict import ANY_ORDER, THIS_ASSIGNMENT, Report
from advisor.workload import Workload
from tests.builders import (
    GPU,
    against,
    cluster,
    node,
    nodes,
    nominated,
    port,
    priority_class,
    question,
    quota,
    role,
    workload,
)

TWO = cluster([node("n1", gpu=4, cpu=64), node("n2", gpu=2, cpu=8)])


def job(name: str, pods: int = 1, **asked: Any) -> Workload:
    return workload(role("job", pods, **asked), name=name)


def assurances(report: Report) -> list[str | None]:
    return [
        answer.choice.placement.assurance if answer.choice and answer.choice.placement else None
        for answer in report.answers
    ]


class TestOneClusterManyWorkloads:
    def test_the_first_may_take_the_only_place_of_the_second(self) -> None:
        """Unless a is held to the small node, kube-scheduler may put it where alone b has room."""
        found = advise(question(job("a", gpu=2), job("b", gpu=4), TWO))
        assert [answer.choice is not None for answer in found.answers] == [True, True]
        assert assurances(found) == [THIS_ASSIGNMENT, THIS_ASSIGNMENT]
        assert all("with this assignment" in answer.choice.why for answer in found.answers if answer.choice)

    def test_where_all_have_room_in_any_order_all_are_told_so(self) -> None:
        found = advise(question(job("a", 2, gpu=2), job("b", 2, gpu=4), cluster(nodes(4, gpu=8))))
        assert assurances(found) == [ANY_ORDER, ANY_ORDER]

    def test_one_alone_is_not_touched_by_one_elsewhere(self) -> None:
        here, there = replace(TWO, name="here"), replace(cluster(nodes(1, gpu=2)), name="there")
        found = advise(question(job("a", gpu=2), job("b", gpu=4), here, there))
        assert [answer.choice.cluster for answer in found.answers if answer.choice] == ["there", "here"]
        assert assurances(found) == [ANY_ORDER, ANY_ORDER]

    @pytest.mark.parametrize(
        "asked", [{"ports": [port(80)]}, {"labels": {"a": "b"}, "anti_affinity": [against("a=b")]}]
    )
    def test_rules_between_pods_make_it_more_than_a_sum(self, asked: dict[str, Any]) -> None:
        found = advise(question(job("a", cpu=1, **asked), job("b", cpu=1, **asked), cluster(nodes(4))))
        assert assurances(found) == [THIS_ASSIGNMENT, THIS_ASSIGNMENT]

    def test_what_is_only_promised_so_far_may_still_move(self) -> None:
        here = replace(cluster(nodes(2, gpu=8)), assumed=True)
        assert assurances(advise(question(job("a", gpu=8), here))) == [THIS_ASSIGNMENT]


class TestOneClusterManyNames:
    def both(self, here: ClusterSnapshot) -> tuple[ClusterSnapshot, ClusterSnapshot]:
        return replace(here, name="one", uids=frozenset({"u"})), replace(here, name="other", uids=frozenset({"u", "v"}))

    def test_its_room_is_given_once(self) -> None:
        one, other = self.both(cluster(nodes(1, gpu=8)))
        found = advise(question(job("a", gpu=8), job("b", gpu=8), one, other))
        assert [answer.choice is not None for answer in found.answers] == [True, False]

    def test_two_clusters_that_look_alike_are_two(self) -> None:
        one, other = self.both(cluster(nodes(1, gpu=8)))
        found = advise(question(job("a", gpu=8), job("b", gpu=8), one, replace(other, uids=frozenset({"v"}))))
        assert [answer.choice is not None for answer in found.answers] == [True, True]

    def test_a_node_that_only_one_of_them_has_seen_is_no_trouble(self) -> None:
        one, _ = self.both(cluster(nodes(2, gpu=8)))
        _, other = self.both(cluster(nodes(1, gpu=8)))
        found = advise(question(job("a", 2, gpu=8), job("b", gpu=8), one, other))
        assert [answer.choice and answer.choice.cluster for answer in found.answers] == ["one", None]


class TestStages:
    """Roles that follow one another hold their room one after the other, also against the next workload."""

    first = workload(role("a", gpu=8), role("b", gpu=8, stages=(1,)), name="first")

    def test_a_node_bears_the_most_of_any_stage(self) -> None:
        found = advise(question(self.first, job("next", gpu=8), cluster(nodes(1, gpu=16))))
        assert [answer.choice is not None for answer in found.answers] == [True, True]

    def test_and_no_less(self) -> None:
        found = advise(question(self.first, job("next", gpu=9), cluster(nodes(1, gpu=16))))
        assert [answer.choice is not None for answer in found.answers] == [True, False]

    @pytest.mark.parametrize(("hard", "both"), [(16, True), (15, False)])
    def test_so_does_a_quota(self, hard: int, both: bool) -> None:
        here = cluster(nodes(2, gpu=16), quotas=[quota(hard={f"requests.{GPU}": hard})])
        found = advise(question(self.first, job("next", gpu=8), here))
        assert [answer.choice is not None for answer in found.answers] == [True, both]


def test_room_that_is_held_against_some_of_the_pods_only_makes_the_order_matter() -> None:
    """The pods of higher priority may take the held room, and then lack it where the others need it."""
    here = cluster(
        [node("n1", gpu=4, cpu=8), node("n2", gpu=4, cpu=4)],
        nominated=[nominated("n1", priority=50, gpu=4)],
        priority_classes=[priority_class("high", 100)],
    )
    gang = workload(role("a", gpu=4, cpu=4, fields={"priority_class": "high"}), role("b", cpu=8))
    assert assurances(advise(question(gang, here))) == [THIS_ASSIGNMENT]
    without = replace(here, nominated=())
    assert assurances(advise(question(job("a", gpu=4), without))) == [ANY_ORDER]
