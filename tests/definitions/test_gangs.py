"""Gang objects beside a workload: their minimum counts, contradictions are told, what cannot start is a doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.workload import Workload

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team}
spec:
  parallelism: 4
  completions: 4
  template:
    metadata: {labels: {scheduling.x-k8s.io/pod-group: g}, annotations: {scheduling.k8s.io/group-name: g}}
    spec:
      restartPolicy: Never
      schedulingGroup: {podGroupName: g}
      containers: [{name: main, image: example/train}]
---
"""
NATIVE = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
"""
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {minMember: 3}
"""
COSCHEDULING = """
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {minMember: 3}
"""


def read(*texts: str) -> list[Workload]:
    return list(reading.read(files.documents(files.Source("x", "\n---\n".join(texts))), Catalog()).workloads)


def job(*gangs: str) -> Workload:
    (workload,) = read(JOB, *gangs)
    assert not workload.faults
    return workload


@pytest.mark.parametrize("gang", [NATIVE, VOLCANO, COSCHEDULING], ids=["kubernetes", "volcano", "coscheduling"])
def test_the_minimum_of_the_object_counts(gang: str) -> None:
    workload = job(gang)
    assert workload.min_available == 3
    assert [role.minimum for role in workload.roles] == [3]
    assert [dict(group.members) for group in workload.groups] == [{"job": 4}]
    assert "starts when 3 of its pods can" in workload.notes[-1].text


def test_without_the_object_the_field_is_a_request_that_nobody_evaluates() -> None:
    assert job().min_available is None
    assert "spec.schedulingGroup" in job().roles[0].template.used
    assert "spec.schedulingGroup" not in job(NATIVE).roles[0].template.used


@pytest.mark.parametrize("field", ["namespace: team", "name: g"])
def test_an_object_of_another_name_or_namespace_is_not_theirs(field: str) -> None:
    assert job(NATIVE.replace(field, f"{field}2")).min_available is None


def test_pods_that_name_no_group_have_none() -> None:
    (workload,) = read(JOB.replace("schedulingGroup: {podGroupName: g}", ""), NATIVE)
    assert workload.min_available is None


def test_more_than_there_are_never_start() -> None:
    workload = job(NATIVE.replace("3", "5"))
    (doubt,) = workload.unmodelled
    assert doubt.text == "it waits for 5 pods, and 4 in these files name it"
    assert job(NATIVE.replace("3", "4")).unmodelled == ()


def test_pods_of_two_workloads_may_make_up_one_gang() -> None:
    first, second = read(JOB, JOB.replace("name: train", "name: second"), NATIVE.replace("3", "7"))
    assert first.unmodelled == second.unmodelled == ()
    assert first.min_available == 4


def test_a_basic_policy_is_no_gang() -> None:
    workload = job(NATIVE.replace("gang: {minCount: 3}", "basic: {}"))
    assert workload.min_available is None
    assert "spec.schedulingGroup" not in workload.roles[0].template.used


def test_what_else_it_asks_for_is_a_doubt() -> None:
    workload = job(NATIVE.replace("spec: {", "spec: {schedulingConstraints: {topology: [{key: rack}]}, "))
    assert [doubt.path for doubt in workload.unmodelled] == ["PodGroup team/g: spec.schedulingConstraints"]


def test_a_contradiction_is_told() -> None:
    stated = JOB.replace("namespace: team}", "namespace: team, annotations: {kai.scheduler/batch-min-member: '2'}}", 1)
    before, after = read(stated)[0], read(stated, NATIVE)[0]
    assert replace(before, notes=()).min_available in (None, 2)
    assert after.min_available == 3


def test_a_fault_has_its_place() -> None:
    with pytest.raises(InputError) as caught:
        read(JOB, NATIVE.replace("3", "three"))
    (fault,) = caught.value.faults
    assert fault.path == ("spec", "schedulingPolicy", "gang", "minCount")
