"""A suspended object is sized as if resumed (definitions.md 8)."""

from __future__ import annotations

import pytest

from advisor.definitions.engine import TRUSTED
from advisor.definitions.suspend import resumed, suspended
from advisor.errors import InputError
from tests.definitions.builders import definition, lines, prepared


def suspendable(path: str, value: str) -> str:
    actions = f"[{{path: {path}, value: '{value}'}}]"
    return f"suspendDefinition: {{suspendActions: {actions}, resumeActions: {actions}}}"


@pytest.mark.parametrize(
    ("path", "value", "manifest", "after"),
    [
        (".spec.suspend", "false", "spec: {suspend: true, x: 1}", {"spec": {"suspend": False, "x": 1}}),
        (".spec.policy.suspend", "false", "{}", {"spec": {"policy": {"suspend": False}}}),
        (".spec.mode", '"Running"', "spec: {mode: Suspended}", {"spec": {"mode": "Running"}}),
        ("'.a[].x'", "1", "a: [{}, {x: 0}]", {"a": [{"x": 1}, {"x": 1}]}),
    ],
)
def test_resume_actions_are_applied_to_a_copy(path: str, value: str, manifest: str, after: object) -> None:
    document = prepared(manifest)
    before = document.text
    assert resumed(definition(f"{{{suspendable(path, value)}}}"), document, TRUSTED).data == after
    assert document.text == before


def test_a_definition_without_them_leaves_the_object_alone() -> None:
    document = prepared("{a: 1}")
    assert resumed(definition(), document, TRUSTED) is document


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (".a", "Running", "resumeActions[0].value: is not JSON text"),
        ("'.a = 1 | .b'", "1", "resumeActions[0]: = changes the object, a definition only reads it"),
        (".b" * 2000, "1", "resumeActions[0]: gives a value that is nested too deeply"),
        (".b" * 900, "1", "resumeActions[0]: gives a value that is nested too deeply"),
        (".a.b", "1", 'resumeActions[0]: Cannot index number with string ("b")'),
    ],
)
def test_a_fault_names_the_action(path: str, value: str, fault: str) -> None:
    with pytest.raises(InputError) as raised:
        resumed(definition(f"{{{suspendable(path, value)}}}"), prepared("{a: 1}"), TRUSTED)
    assert lines(raised.value.faults) == [f"suspendDefinition.{fault}"]


@pytest.mark.parametrize(
    ("path", "value", "manifest", "found"),
    [
        (".spec.suspend", "true", "spec: {suspend: true}", True),
        (".spec.suspend", "true", "spec: {suspend: false}", False),
        (".spec.suspend", "true", "spec: {suspend: 1}", False),
        (".spec.suspend", "true", "{}", False),
        (".spec.suspend", "true", "spec: text", False),
        (".spec.suspend", "True", "spec: {suspend: true}", False),
        ("'.a[].x'", "0", "a: [{x: 0}, {x: 0}]", True),
        ("'.a[].x'", "0", "a: [{x: 0}, {x: 1}]", False),
        ("'.a[].x'", "0", "a: []", False),
        (".spec.mode", '"Suspended"', "spec: {mode: Suspended}", True),
    ],
)
def test_an_object_is_suspended_when_it_says_so_already(path: str, value: str, manifest: str, found: bool) -> None:
    assert suspended(definition(f"{{{suspendable(path, value)}}}"), prepared(manifest), TRUSTED) == found


def test_a_definition_without_actions_knows_no_suspension() -> None:
    assert not suspended(definition(), prepared("spec: {suspend: true}"), TRUSTED)
