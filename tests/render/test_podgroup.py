"""The gang as an object for a scheduler: how many objects, what each of them needs, what is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from advisor.render import podgroup
from advisor.workload import GangObject, Workload
from tests.builders import gang, role, workload


def served(*groups: Any, **facts: Any) -> Workload:
    leader, worker = role("leader", 2, cpu=1, gpu=1), role("worker", 4, cpu=2)
    return workload(leader, worker, groups=list(groups), name="llama", **facts)


def specs(asked: Workload, scheduler: str, kind: str = "PodGroup") -> dict[str, Any]:
    made = [one for one in podgroup.objects(asked, scheduler) if one["kind"] == kind]
    return {one["metadata"]["name"]: one["spec"] for one in made}


def test_a_group_of_two_is_two_objects() -> None:
    found = specs(served(gang(2, leader=1, worker=2)), "volcano")
    assert [*found] == ["llama-0", "llama-1"]
    assert found["llama-0"] == {"minMember": 3, "minResources": {"cpu": "5", "nvidia.com/gpu": "1"}}


@pytest.mark.parametrize("scheduler", podgroup.FORMATS)
def test_without_a_gang_there_is_nothing(scheduler: str) -> None:
    assert podgroup.objects(served(), scheduler) == []


def test_kai_has_a_part_for_each_role() -> None:
    (spec,) = specs(served(gang(leader=2, worker=4)), "kai").values()
    parts = [{"name": "leader", "minMember": 2}, {"name": "worker", "minMember": 4}]
    assert spec == {"minSubGroup": 2, "subGroups": parts}


def test_where_fewer_may_start_only_their_number_counts() -> None:
    asked = replace(served(gang(leader=2, worker=4)), min_available=3)
    assert [*specs(asked, "kai").values()] == [{"minMember": 3}]
    assert [*specs(asked, "volcano").values()] == [{"minMember": 3}]
    ((name, spec),) = specs(asked, "kubernetes").items()
    assert (name, spec["schedulingPolicy"]) == ("llama", {"gang": {"minCount": 3}})


def test_kubernetes_has_a_template_for_each_group() -> None:
    asked = served(gang(leader=1, worker=1), gang(2, worker=1))
    ((name, spec),) = specs(asked, "kubernetes", "Workload").items()
    assert name == "llama"
    assert spec["controllerRef"] == {"apiGroup": "batch", "kind": "Job", "name": "llama"}
    assert [template["name"] for template in spec["podGroupTemplates"]] == ["llama-0", "llama-1"]
    references = {name: spec["workloadRef"] for name, spec in specs(asked, "kubernetes").items()}
    assert references == {
        "llama-0": {"workloadName": "llama", "templateName": "llama-0"},
        "llama-1-0": {"workloadName": "llama", "templateName": "llama-1"},
        "llama-1-1": {"workloadName": "llama", "templateName": "llama-1"},
    }


def test_names_are_labels_of_dns() -> None:
    asked = replace(served(gang(leader=1)), name="a.b" * 40)
    ((name, _),) = specs(asked, "volcano").items()
    assert len(name) <= podgroup.LONGEST
    assert "." not in name


def test_a_name_that_will_be_generated_names_no_controller() -> None:
    asked = replace(served(gang(leader=1)), name="llama-", generated=True)
    ((name, spec),) = specs(asked, "kubernetes", "Workload").items()
    assert (name, "controllerRef" in spec) == ("llama", False)


def test_what_a_cluster_serves_decides() -> None:
    assert podgroup.served(["scheduling.k8s.io/v1beta1", "scheduling.run.ai/v2alpha2"]) == "kai"
    assert podgroup.served(["scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1"]) == "kubernetes"
    assert podgroup.served(["scheduling.k8s.io/v1"]) is None


def test_pods_that_are_made_after_others_are_a_gang_of_their_own() -> None:
    """In one gang of three, the leader would wait for workers that are made when it is Ready."""
    leader, worker = role("leader", 2, gpu=1), role("worker", 4, cpu=2, made_after=("leader",))
    found = specs(workload(leader, worker, groups=[gang(2, leader=1, worker=2)], name="llama"), "volcano")
    assert {name: spec["minMember"] for name, spec in found.items()} == {
        "llama-leader-0": 1,
        "llama-leader-1": 1,
        "llama-worker-0": 2,
        "llama-worker-1": 2,
    }


def test_pods_that_are_made_one_by_one_are_in_no_gang() -> None:
    asked = workload(role("replica", 3, made_after=("replica",)), groups=[gang(replica=3)])
    assert podgroup.gangs(asked) == []


def test_no_part_needs_more_than_the_whole_can_do_without() -> None:
    first, then = role("first", 2), role("then", 4, made_after=("first",))
    asked = workload(first, then, groups=[gang(first=2, then=4)], min_available=5)
    assert [one.minimum for one in podgroup.gangs(asked)] == [1, 3]


@pytest.mark.parametrize(
    ("given", "name", "left"), [(True, "llama", []), (False, "llama", ["llama"]), (False, "other", [])]
)
def test_pods_get_no_second_gang(given: bool, name: str, left: list[str]) -> None:
    """An object that they name and that is nowhere may be the one that is wanted here."""
    named = GangObject("key", "PodGroup team/it", name, ("leader", "worker"), 3 if given else None, given)
    asked = served(gang(leader=2, worker=4), gangs=(named,))
    assert [*specs(asked, "kai")] == left


def test_what_is_replaced_in_a_name_still_tells_gangs_apart() -> None:
    names = {name for one in ("r.v1", "r-v1") for name in specs(replace(served(gang(leader=1)), name=one), "volcano")}
    assert len(names) == 2 and "r-v1" in names


@pytest.mark.parametrize("roles", [("GPU_a", "gpu-a"), ("GPU-a", "gpu-a")])
def test_parts_have_names_of_their_own(roles: tuple[str, str]) -> None:
    asked = workload(*(role(name, 1) for name in roles), groups=[gang(**dict.fromkeys(roles, 1))])
    (spec,) = specs(asked, "kai").values()
    assert len({part["name"] for part in spec["subGroups"]}) == 2


@pytest.mark.parametrize(("scheduler", "known"), [("kai", False), ("kubernetes", True), ("volcano", True)])
@pytest.mark.parametrize("pods", [1, 3])
def test_a_number_does_not_tell_roles_apart(scheduler: str, known: bool, pods: int) -> None:
    """One head and one worker of three: two workers are as many."""
    asked = workload(role("head", 1), role("worker", pods), groups=[gang(head=1, worker=1)])
    expected = ["head", "worker"] if known and pods > 1 else []
    assert podgroup.interchangeable(asked, scheduler) == expected


def test_what_is_cut_off_a_name_still_tells_gangs_apart() -> None:
    asked = replace(served(gang(2, leader=1)), name="a" * 63)
    first, second = specs(asked, "volcano")
    assert (len(first), len(second)) == (podgroup.LONGEST, podgroup.LONGEST)
    assert first != second


def classed(*classes: str, **asked: Any) -> Workload:
    roles = [role(f"r{n}", 1, fields={"priority_class": one, **asked}) for n, one in enumerate(classes)]
    return workload(*roles, groups=[gang(**{one.name: 1 for one in roles})], name="llama")


@pytest.mark.parametrize("scheduler", ["kubernetes", "kai", "volcano"])
def test_the_priority_of_the_pods_is_that_of_the_gang(scheduler: str) -> None:
    (spec,) = specs(classed("high", "high"), scheduler).values()
    assert spec["priorityClassName"] == "high"
    (spec,) = specs(classed("", ""), scheduler).values()
    assert "priorityClassName" not in spec
    assert podgroup.unlike(classed("high", "high"), scheduler) == ""


def test_a_gang_of_kubernetes_has_one_priority_and_one_scheduler() -> None:
    assert podgroup.unlike(classed("high", ""), "kubernetes") == "have different priority classes (r0 high, r1 none)"
    two = classed("", "")
    first, second = two.roles
    other = replace(second, template=replace(second.template, scheduler="mine"))
    said = podgroup.unlike(replace(two, roles=(first, other)), "kubernetes")
    assert said == "name different schedulers (r0 default-scheduler, r1 mine)"
    assert podgroup.unlike(classed("high", ""), "volcano") == ""
    assert "priorityClassName" not in next(iter(specs(classed("high", ""), "volcano").values()))


def test_gangs_that_no_workload_holds_are_written_alone() -> None:
    """A Workload has at most 8 templates, all of one priority."""
    one = classed("high", "low")
    apart = replace(one, groups=(gang(r0=1), gang(r1=1)))
    many = workload(*(role(f"r{n}", 1) for n in range(9)), groups=[gang(**{f"r{n}": 1}) for n in range(9)])
    for asked in (apart, many):
        assert specs(asked, "kubernetes", "Workload") == {}
        assert not any("workloadRef" in spec for spec in specs(asked, "kubernetes").values())
    assert [spec["priorityClassName"] for spec in specs(apart, "kubernetes").values()] == ["high", "low"]
    eight = replace(many, roles=many.roles[:8], groups=many.groups[:8])
    assert len(specs(eight, "kubernetes", "Workload")) == 1
