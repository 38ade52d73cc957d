"""Workloads whose pods share a gang object: placed as one, answered one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from advisor import company
from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.explain import tell
from advisor.labels import MadeLabel
from advisor.question import Policy
from advisor.render import table
from advisor.render.style import Style
from advisor.verdict import FITS, FULL, NEVER, REDUCED, UNKNOWN, Report, Verdict
from advisor.whatif.sizes import copies, sized
from advisor.workload import GangObject, SharedClaim, Workload
from tests.builders import GPU, against, bound, cluster, nodes, priority_class, question, quota, role, workload


def named(
    name: str, pods: int = 1, *, least: int | None = 2, key: str = "pg", kind: str = "Job", **asked: Any
) -> Workload:
    """Pods with 8 GPUs that name a gang object which waits for `least` of all that name it."""
    own = role("pod", pods, gpu=8, **asked)
    return workload(own, name=name, kind=kind, gangs=(GangObject(key, f"PodGroup team/{key}", key, ("pod",), least),))


def here(name: str, count: int, **facts: Any) -> ClusterSnapshot:
    return cluster(nodes(count, name, gpu=8), name=name, **facts)


def chosen(report: Report) -> list[str | None]:
    return [answer.choice.cluster if answer.choice else None for answer in report.answers]


class TestPlacing:
    def test_they_are_on_one_cluster_or_nowhere(self) -> None:
        asked = question(named("a"), named("b"), here("p", 1), here("q", 1))
        assert chosen(advise(asked)) == [None, None]
        assert chosen(advise(replace(asked, clusters=(here("p", 1), here("q", 2))))) == ["q", "q"]

    def test_each_has_its_own_pods_and_the_verdicts_of_all(self) -> None:
        first, second = advise(
            question(named("a", least=3), named("b", 2, least=3), here("p", 3), here("q", 2))
        ).answers
        for answer, pods in ((first, 1), (second, 2)):
            assert answer.choice and answer.choice.placement
            assert answer.choice.placement.size == {"pod": pods}
            assert [verdict.verdict for verdict in answer.verdicts] == [FITS, NEVER]
            assert answer.verdicts[1].largest is None
            assert [reason.total for reason in answer.verdicts[1].reasons[:1]] != [None]
        assert [other.name for other in first.company] == ["b"]
        taken = [
            {*answer.choice.placement.assignment["pod"]}
            for answer in (first, second)
            if answer.choice and answer.choice.placement
        ]
        assert not taken[0] & taken[1]

    def test_others_are_asked_in_their_turn(self) -> None:
        """The company is asked in the place of its first, so that what is between comes after all of it."""
        between = workload(role("pod", 1, gpu=8), name="between")
        report = advise(question(named("a"), between, named("b"), here("p", 2)))
        assert [answer.workload.name for answer in report.answers] == ["a", "between", "b"]
        assert chosen(report) == ["p", None, "p"]

    def test_those_of_other_gangs_are_alone(self) -> None:
        report = advise(question(named("a", least=1), named("b", least=1, key="other"), here("p", 1), here("q", 1)))
        assert sorted(map(str, chosen(report))) == ["p", "q"]
        assert [answer.company for answer in report.answers] == [(), ()]

    def test_what_hangs_together_by_a_third_is_one(self) -> None:
        a, c = named("a", key="x", least=1), named("c", key="y", least=1)
        b = replace(named("b", key="x", least=1), gangs=(*a.gangs, *c.gangs))
        assert company.companies([a, workload(role()), c, b]) == [(0, 2, 3), (1,)]

    def test_a_gang_that_only_one_cluster_knows_of_counts(self) -> None:
        alone = replace(named("a"), gangs=())
        there = replace(alone, variants={"q": named("a")})
        assert company.companies([there, named("b")]) == [(0, 1)]


class TestEnough:
    def test_too_few_pods_are_never_a_yes(self) -> None:
        (answer,) = advise(question(named("a"), here("p", 4))).answers
        assert [(v.verdict, [d.code for d in v.doubts]) for v in answer.verdicts] == [(UNKNOWN, ["gang-too-small"])]
        assert answer.verdicts[0].why == "PodGroup team/pg waits for 2 pods, and 1 of what is asked for name it"

    def test_a_smaller_size_is_counted_anew(self) -> None:
        asked = [sized(named("a", 3, least=4), "pod", 2), named("b")]
        assert [(short.needs, short.total) for short in company.shortages(asked)] == [(4, 3)]

    def test_copies_have_gangs_of_their_own(self) -> None:
        several = [*copies(named("a"), 2), *copies(named("b"), 2)]
        assert company.companies(several) == [(0, 2), (1, 3)]

    def test_some_of_them_will_do_where_the_object_says_so(self) -> None:
        policy = Policy(allow_reduced=True)
        asked = [named("a", 3, minimum=1, least=4), named("b", 3, minimum=1, least=4)]
        report = advise(question(*asked, here("p", 5), policy=policy))
        sizes = [
            answer.choice.placement.size["pod"]
            for answer in report.answers
            if answer.choice and answer.choice.placement
        ]
        assert [answer.choice and answer.choice.verdict for answer in report.answers] == [REDUCED, REDUCED]
        assert sum(sizes) == 5
        assert chosen(advise(question(*asked, here("p", 3), policy=policy))) == [None, None]

    def test_no_smaller_size_where_several_objects_have_a_word(self) -> None:
        first = named("a", 3, minimum=1, least=1)
        second = replace(
            named("b", 3, minimum=1, least=1), gangs=(*first.gangs, *named("b", key="other", least=1).gangs)
        )
        assert [one.minimum for one in company.joined([first, second]).roles] == [3, 3]

    def test_pods_that_are_alone_may_be_left_out(self) -> None:
        """Four pods of a gang that waits for three, and room for three."""
        asked = [named(name, least=3) for name in "abcd"]
        report = advise(question(*asked, here("p", 3), policy=Policy(allow_reduced=True)))
        sizes = [one.choice.placement.size["pod"] for one in report.answers if one.choice and one.choice.placement]
        assert sorted(sizes) == [0, 1, 1, 1]
        texts = [table.table(Report(report.as_of, (tell(one),)), Style()) for one in report.answers]
        assert sum("Leave it out on p" in text for text in texts) == 1
        assert chosen(advise(question(*asked, here("p", 2), policy=Policy(allow_reduced=True)))) == [None] * 4

    def test_a_group_that_demands_no_gang_leaves_each_its_own_word(self) -> None:
        asked = [named(name, 2, least=None, minimum=1) for name in "ab"]
        assert [one.verdicts[0].verdict for one in advise(question(*asked, here("p", 3))).answers] == [REDUCED] * 2
        whole = [named(name, 2, least=None) for name in "ab"]
        assert [one.verdicts[0].verdict for one in advise(question(*whole, here("p", 3))).answers] == [NEVER] * 2

    def test_no_smaller_size_is_sure_where_nobody_knows_how_many_must_start(self) -> None:
        asked = [named(name, 2, least=None, minimum=1) for name in "ab"]
        asked = [replace(one, gangs=(replace(one.gangs[0], given=False),)) for one in asked]
        for each in ([asked[0]], asked):
            (verdict, *_) = [tell(one).verdicts[0] for one in advise(question(*each, here("p", len(each)))).answers]
            assert (verdict.verdict, [doubt.code for doubt in verdict.doubts]) == (UNKNOWN, ["missing-reference"])
            assert verdict.why == "its pods depend on PodGroup team/pg, which was not found: --with FILE names it"

    def test_a_smaller_size_has_the_pods_with_which_it_begins(self) -> None:
        """Of an ordered set one pod comes at first, so that the other must have three for a gang of four."""
        ordered = named("set", 3, least=4, minimum=1, made_after=("pod",))
        report = advise(question(ordered, named("web", 3, least=4, minimum=1), here("p", 4)))
        sizes = [one.verdicts[0].placement.size for one in report.answers if one.verdicts[0].placement]
        assert sizes == [{"pod": 1}, {"pod": 3}]
        assert "order-decides" in [note.code for note in report.answers[0].verdicts[0].notes]


class TestAlike:
    """What kube-scheduler wants of the pods of a PodGroup."""

    def verdict(self, gang: dict[str, Any], *pods: dict[str, Any], **facts: Any) -> Verdict:
        roles = [role(f"r{number}", gpu=8, fields=each) for number, each in enumerate(pods)]
        names = tuple(one.name for one in roles)
        group = GangObject("pg", "PodGroup team/pg", "pg", names, 1, alike=True, **gang)
        classes = [
            priority_class("high", 1000),
            replace(priority_class("polite", 1000), preemption="Never"),
            priority_class("usual", 0),
        ]
        where = here("p", 4, **{"priority_classes": classes, **facts})
        (answer,) = advise(question(workload(*roles, gangs=(group,)), where)).answers
        return tell(answer).verdicts[0]

    @pytest.mark.parametrize(
        ("gang", "pods", "said"),
        [
            ({}, [{"priority_class": "high"}], "its priority is 0, and pods of it have 1000"),
            ({"priority_class": "high"}, [{}], "its priority is 1000, and pods of it have 0"),
            ({}, [{}, {"priority_class": "high"}], "its priority is 0, and pods of it have 1000"),
            (
                {"priority_class": "high"},
                [{"priority_class": "high"}, {"priority_class": "polite"}],
                "several preemption policies (high, polite)",
            ),
            ({}, [{}, {"scheduler": "mine"}], "several schedulers (default-scheduler, mine)"),
        ],
    )
    def test_pods_that_differ_never_start(self, gang: Any, pods: Any, said: str) -> None:
        found = self.verdict(gang, *pods)
        assert (found.verdict, [doubt.code for doubt in found.doubts]) == (UNKNOWN, ["gang-unlike"])
        assert said in found.why and "kube-scheduler starts none of them" in found.why

    @pytest.mark.parametrize(
        ("gang", "pods"),
        [
            ({}, [{}, {"priority_class": "usual"}]),
            ({"priority_class": "high", "priority": 1000}, [{"priority_class": "high"}] * 2),
        ],
    )
    def test_pods_that_are_alike_fit(self, gang: Any, pods: Any) -> None:
        assert self.verdict(gang, *pods).verdict == FITS

    @pytest.mark.parametrize(
        ("gang", "code"), [({"priority_class": "nope"}, "priorityclass-missing"), ({"priority": 5}, "refused-there")]
    )
    def test_an_object_that_is_not_admitted_is_a_no(self, gang: Any, code: str) -> None:
        found = self.verdict(gang, {})
        assert (found.verdict, found.reasons[0].code) == (NEVER, code)
        assert "PodGroup team/pg" in found.why

    def test_classes_that_could_not_be_read_are_a_doubt_of_their_own(self) -> None:
        found = self.verdict({}, {"priority_class": "high"}, priority_classes=[], gaps=["priorityclasses"])
        assert (found.verdict, [doubt.code for doubt in found.doubts]) == (UNKNOWN, ["unreadable"])


class TestAsOne:
    def test_rules_between_their_pods_hold(self) -> None:
        apart: dict[str, Any] = {"labels": {"app": "x"}, "anti_affinity": [against("app=x")]}
        asked = [workload(role("pod", 1, cpu=1, **apart), name=name, gangs=named(name).gangs) for name in ("a", "b")]
        assert chosen(advise(question(*asked, cluster(nodes(1), name="p")))) == [None, None]
        assert chosen(advise(question(*asked, cluster(nodes(2), name="p")))) == ["p", "p"]

    def test_a_label_of_one_object_says_nothing_of_the_other(self) -> None:
        made = (MadeLabel("owner", "workload"),)
        parts = [named("a"), replace(named("b"), roles=(role("x"), role("y")))]
        parts = [
            replace(part, roles=tuple(replace(r, template=replace(r.template, made=made)) for r in part.roles))
            for part in parts
        ]
        parts[1] = replace(parts[1], gangs=(replace(parts[1].gangs[0], roles=("x", "y")),))
        found = company.joined(parts)
        assert [label.of for one in found.roles for label in one.template.made] == ["role", "group", "group"]

    def test_objects_of_the_same_name_are_told_apart(self) -> None:
        found = company.joined([named("a"), replace(named("a"), namespace="team")])
        assert [one.name for one in found.roles] == ["Job a (1)/pod", "Job a (2)/pod"]

    def test_a_quota_counts_each_object(self) -> None:
        limited = quota(hard={"count/jobs.batch": 1})
        asked = question(named("a"), named("b"), here("p", 2, quotas=[limited]))
        assert [answer.verdicts[0].verdict for answer in advise(asked).answers] == [NEVER, NEVER]

    def test_each_kind_must_be_served(self) -> None:
        other = replace(named("b"), api_version="example.com/v1", kind="Other")
        there = here("p", 2, api_versions=frozenset({"batch/v1"}), api_groups=frozenset({"batch"}))
        (first, _) = advise(question(named("a"), other, there)).answers
        assert [reason.subject for reason in first.verdicts[0].reasons] == ["Other (example.com/v1)"]

    def test_a_claim_that_is_there_is_one_for_all(self) -> None:
        def with_claim(name: str, made: bool) -> Workload:
            return replace(named(name), shared_claims=(SharedClaim("c", {"gpu": 1}, {"pod": 1}, made=made),))

        (one,) = company.joined([with_claim("a", False), with_claim("b", False)]).shared_claims
        assert dict(one.roles) == {"Job a/pod": 1, "Job b/pod": 1}
        assert len(company.joined([with_claim("a", True), with_claim("b", True)]).shared_claims) == 2

    @pytest.mark.parametrize(
        ("stages", "found"),
        [(((0,), (1,)), [(0,), (1,), (0, 1)]), (((0,), (0,)), [(0,), (0,), (0,)])],
    )
    def test_pods_of_others_stay_while_one_goes_through_its_stages(self, stages: Any, found: Any) -> None:
        staged = workload(*(role(name, stages=stage) for name, stage in zip("xy", stages, strict=True)), name="a")
        staged = replace(staged, gangs=(GangObject("pg", "it", "pg", ("y",), 1),))
        assert [one.stages for one in company.joined([staged, named("b")]).roles] == found

    def test_two_that_have_stages_make_no_room_for_each_other(self) -> None:
        staged = workload(role("x"), role("y", stages=(1,)), gangs=named("a").gangs)
        assert {one.stages for one in company.joined([staged, staged]).roles} == {(0,)}

    def test_one_alone_stays_what_it_is(self) -> None:
        asked = named("a")
        assert company.joined([asked]) is asked


def test_emptying_the_nodes_would_help() -> None:
    busy = cluster(nodes(2, "p", gpu=8), [bound(on="p1", gpu=8)], name="p")
    answers = advise(question(named("a"), named("b"), busy)).answers
    assert [answer.verdicts[0].verdict for answer in answers] == [FULL, FULL]
    assert GPU in {reason.resource for answer in answers for reason in answer.verdicts[0].reasons}


def test_what_one_of_them_is_in_a_cluster_is_answered_there() -> None:
    """Its pods are called otherwise in one of the clusters."""
    other = replace(named("a"), roles=(role("other", gpu=8),))
    other = replace(other, gangs=(replace(other.gangs[0], roles=("other",)),))
    first, _ = advise(
        question(replace(named("a"), variants={"q": other}), named("b"), here("p", 2), here("q", 2))
    ).answers
    found = {verdict.cluster: verdict.placement and verdict.placement.size for verdict in first.verdicts}
    assert found == {"p": {"pod": 1}, "q": {"other": 1}}
