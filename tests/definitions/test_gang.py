"""Gangs by the definition, for pending objects and for running pods (definitions.md 9)."""

from __future__ import annotations

import pytest

from advisor.definitions import gang
from advisor.definitions.engine import prepare
from advisor.definitions.gang import Gang, Member, Place, Split
from tests.definitions.builders import Definitions, definition, extraction, yaml

CONSTANT = Split()
CHILDREN = """
- {name: head, ownerRef: thing, specDefinition: {podSpecPath: .head}, scaleDefinition: {replicasPath: .heads},
   podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: head}}}
- {name: group, ownerRef: thing, podSelector: {replicaSelector: {keyPath: .metadata.labels.group}}}
- {name: worker, ownerRef: group, specDefinition: {podSpecPath: '.groups[].pod'},
   scaleDefinition: {replicasPath: '.groups[].size'}, instanceIdPath: '.groups[].id',
   podSelector: {componentTypeSelector: {keyPath: .metadata.labels.role, value: worker},
                 componentInstanceSelector: {idPath: .metadata.labels.id}}}
"""
MANIFEST = "{heads: 1, groups: [{id: a, size: 2}, {id: b, size: 3}]}"


def groups(*members: str) -> str:
    return f"{{gangScheduling: {{podGroups: [{{name: all, members: [{', '.join(members)}]}}]}}}}"


def member(name: str, keys: str, filters: str = "") -> str:
    return f"{{componentName: {name}, groupByKeyPaths: [{keys}], filters: [{filters}]}}"


@pytest.mark.parametrize(
    ("instructions", "gangs"),
    [
        ("{}", ()),
        ("{gangScheduling: {}}", ()),
        ("{gangScheduling: {podGroup: {name: all}}}", (Gang("all", (Member("thing", 6),)),)),
        (
            "{gangScheduling: {podGroup: {name: all, subGroups: [{componentName: head}, {componentName: worker}]}}}",
            (Gang("all", (Member("head", 1), Member("worker", 5))),),
        ),
        # podGroup wins over podGroups
        (
            "{gangScheduling: {podGroup: {name: one}, podGroups: [{name: all, members: []}]}}",
            (Gang("one", (Member("thing", 6),)),),
        ),
        (
            groups(member("head", ".metadata.labels.job"), member("worker", ".metadata.labels.job")),
            (Gang("all", (Member("head", 1), Member("worker", 5))),),
        ),
        (
            groups(member("worker", ".metadata.labels.id | ascii_downcase")),
            (Gang("all", (Member("worker", 5, Split("instance", "worker"), {"a": 2, "b": 3}),)),),
        ),
        # the instances of a leaf below the member
        (
            groups(member("group", ".metadata.labels.id")),
            (Gang("all", (Member("group", 5, Split("instance", "worker"), {"a": 2, "b": 3}),)),),
        ),
        (
            groups(member("worker", '.metadata.labels.job, .metadata.labels.group // "0"')),
            (Gang("all", (Member("worker", 5, Split("replica", "group")),)),),
        ),
    ],
)
def test_the_gangs_of_a_pending_object(instructions: str, gangs: tuple[Gang, ...]) -> None:
    assert gang.pending(extraction(definition("{}", CHILDREN, instructions), yaml(MANIFEST))) == gangs


def place(instructions: str, **labels: str) -> Place | None:
    read = extraction(definition("{}", CHILDREN, instructions), yaml(MANIFEST))
    return gang.of_pod(read, prepare({"metadata": {"labels": labels}}))


@pytest.mark.parametrize(
    ("instructions", "labels", "found"),
    [
        ("{}", {"role": "head"}, None),
        ("{gangScheduling: {podGroup: {name: all}}}", {"role": "head"}, Place("all", (), 6)),
        (groups(member("head", ".metadata.labels.role")), {"role": "head"}, Place("all", ("head",), 1)),
        # a member's own instance
        (groups(member("worker", "")), {"role": "worker", "id": "b"}, Place("all", (), 3)),
        # named by its owner: the owner's whole subtree, whatever the instance
        (groups(member("group", ".metadata.labels.id")), {"role": "worker", "id": "b"}, Place("all", ("b",), 5)),
        # its own component comes before its owner's
        (groups(member("thing", ""), member("worker", "")), {"role": "worker", "id": "a"}, Place("all", (), 2)),
        # filters choose among the candidates
        (
            groups(member("worker", "", ".metadata.labels.big"), member("thing", "")),
            {"role": "worker", "id": "a", "big": "no"},
            Place("all", (), 6),
        ),
        (groups(member("head", "")), {"role": "worker", "id": "a"}, None),
    ],
)
def test_the_gang_of_a_running_pod(instructions: str, labels: dict[str, str], found: Place | None) -> None:
    assert place(instructions, **labels) == found


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("kind", "split"),
    [
        *(
            (kind, {CONSTANT})
            for kind in ("Job", "MPIJob", "PyTorchJob", "RayCluster", "RayJob", "RayService", "Sandbox")
        ),
        *(
            (kind, {CONSTANT})
            for kind in ("InferenceService", "LLMInferenceService", "Service", "NIMService", "Milvus")
        ),
        ("JobSet", {Split("instance", "replicatedjob")}),
        ("LeaderWorkerSet", {Split("replica", "group")}),
        ("PodCliqueSet", {Split("replica", "clique")}),
        *((kind, set()) for kind in ("Deployment", "StatefulSet", "CronJob", "Pod", "NIMCache")),
    ],
)
def test_what_the_catalogue_groups_by(catalogue: Definitions, kind: str, split: set[Split]) -> None:
    definitions = [definition for (_, known), definition in catalogue.items() if known == kind]
    for found in definitions:
        members = [one for group in found.gang.pod_groups for one in group.members] if found.gang else []
        assert {gang.split(found, one) for one in members} == split


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "level"), [("v1alpha1", "service"), ("v1beta1", "component")])
def test_dynamo_groups_by_service(catalogue: Definitions, version: str, level: str) -> None:
    found = catalogue[f"nvidia.com/{version}", "DynamoGraphDeployment"]
    assert found.gang
    assert [gang.split(found, one) for one in found.gang.pod_groups[0].members] == [Split("instance", level)]
