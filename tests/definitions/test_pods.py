"""Which component, instance and replica a running pod belongs to (definitions.md 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from advisor.definitions import pods
from advisor.definitions.engine import TRUSTED, prepare
from advisor.definitions.schema import ComponentTypeSelector
from advisor.errors import InputError
from tests.definitions.builders import definition, extraction, yaml

POD = prepare(yaml("metadata: {labels: {role: worker, job: llama, index: '0'}}"))


def outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except InputError as error:
        return str(error).partition("\n")[0]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("{keyPath: .metadata.labels.role}", True),
        ("{keyPath: .metadata.labels.other}", False),
        ("{keyPath: '.metadata.labels[]?'}", True),
        ("{keyPath: .metadata.labels.role, value: worker}", True),
        ("{keyPath: .metadata.labels.role, value: leader}", False),
        ("{keyPath: .metadata.labels.role, value: 'wor\"ker'}", False),
        # upstream puts no parentheses: .other // (.role == "worker"), and the first alternative is taken as it is
        ("{keyPath: .metadata.labels.other // .metadata.labels.role, value: worker}", True),
        ("{keyPath: .metadata.labels.job // .metadata.labels.role, value: llama}", False),
        ("{keyPath: '.metadata | .labels.role', value: worker}", True),
        ("{matchLabels: {role: worker, job: llama}}", True),
        ("{matchLabels: {role: worker, job: other}}", False),
        ("{matchLabels: {job: llama}, keyPath: .metadata.labels.role, value: worker}", True),
        ("{matchLabels: {job: llama}, keyPath: .metadata.labels.role, value: leader}", False),
        ("{keyPath: '.spec.x[]'}", "Cannot iterate over null (null)"),
    ],
)
def test_the_type_selector(selector: str, found: bool | str) -> None:
    made = ComponentTypeSelector.model_validate(yaml(selector))
    assert outcome(lambda: pods.matches(made, POD, TRUSTED)) == found


def leaf(name: str, selector: str) -> str:
    return f"{{name: {name}, ownerRef: thing, specDefinition: {{podSpecPath: .p}}, podSelector: {selector}}}"


EXISTS = "{componentTypeSelector: {keyPath: .metadata.labels.role}}"
WORKER = "{componentTypeSelector: {keyPath: .metadata.labels.role, value: worker}}"
LEADER = "{componentTypeSelector: {keyPath: .metadata.labels.role, value: leader}}"


@pytest.mark.parametrize(
    ("leaves", "found"),
    [
        ([("only", LEADER)], "only"),  # a single leaf is not asked
        ([("leader", LEADER), ("worker", WORKER)], "worker"),
        ([("any", EXISTS), ("worker", WORKER)], "any"),  # the first match wins
        ([("mute", "{}"), ("leader", LEADER)], "the pod belongs to no component of the definition"),
    ],
)
def test_the_component_of_a_pod(leaves: list[tuple[str, str]], found: str) -> None:
    made = definition(children=f"[{', '.join(leaf(*one) for one in leaves)}]")
    assert outcome(lambda: pods.component(made, POD, TRUSTED).name) == found


@pytest.mark.parametrize(
    ("path", "ids", "found"),
    [
        (".metadata.labels.job", "[a, llama]", "llama"),
        (".metadata.labels.job", "[a, b]", "thing has no instance llama, only a, b"),
        (".metadata.labels.job", "[]", ""),
        (".metadata.labels.other", "[a]", "must give one value that is not empty"),
        ("'.metadata.labels[]'", "[a]", "must give one value that is not empty"),
    ],
)
def test_the_instance_of_a_pod(path: str, ids: str, found: str) -> None:
    made = definition(f"{{instanceIdPath: '.ids[]', podSelector: {{componentInstanceSelector: {{idPath: {path}}}}}}}")
    read = extraction(made, yaml(f"ids: {ids}"))
    assert outcome(lambda: pods.instance(read, made.root, POD)) == found


def test_a_component_without_instances_has_one_without_a_name() -> None:
    assert pods.instance(extraction(definition(), {}), definition().root, POD) == ""


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("{}", None),
        ("{replicaSelector: {keyPath: .metadata.labels.index}}", "0"),
        ("{replicaSelector: {keyPath: .metadata.labels | length}}", "3"),
        ("{replicaSelector: {keyPath: .metadata.labels.other}}", "must give one value that is not empty"),
    ],
)
def test_the_replica_key(selector: str, found: str | None) -> None:
    made = definition(f"{{podSelector: {selector}}}")
    assert outcome(lambda: pods.replica(made.root, POD, TRUSTED)) == found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ([], True),
        (['.metadata.labels.role == "worker"'], True),
        (['.metadata.labels.role == "leader"'], False),
        (['.metadata.labels.role == "worker"', ".metadata.labels.role"], False),  # only true is true
        ([".metadata.labels.other"], "must give one value that is not empty"),
        (["empty"], "must give one value that is not empty"),
    ],
)
def test_filters(filters: list[str], found: bool | str) -> None:
    assert outcome(lambda: pods.passes(filters, POD, TRUSTED)) == found
