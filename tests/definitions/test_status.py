"""A live object's status (definitions.md 7)."""

from __future__ import annotations

import pytest

from advisor.definitions import status
from advisor.definitions.engine import TRUSTED, prepare
from advisor.definitions.status import Condition
from advisor.errors import InputError
from tests.definitions.builders import definition, yaml

READY = "{type: Ready, status: 'True', reason: Done, message: all is well}"


def matched(mappings: str, manifest: str, fields: str = "") -> tuple[str, ...]:
    phase = "phaseDefinition: {path: .phase}"
    conditions = f"conditionsDefinition: {{path: .conditions, {fields}}}"
    made = definition(f"{{statusDefinition: {{{phase}, {conditions}, statusMappings: {mappings}}}}}")
    return status.read(made, prepare(yaml(manifest)), TRUSTED).matched


@pytest.mark.parametrize(
    ("mappings", "manifest", "found"),
    [
        ("{}", "{}", ("Undefined",)),
        ("{running: [{byPhase: Up}]}", "phase: Up", ("Running",)),
        ("{running: [{byPhase: Up}]}", "phase: Down", ("Undefined",)),
        ("{running: [{byPhase: ''}]}", "{}", ("Running",)),  # null becomes the empty phase
        ("{running: [{byPhase: Down}, {byPhase: Up}]}", "phase: Up", ("Running",)),
        # several, in upstream's order
        (
            "{degraded: [{}], initializing: [{}], completed: [{}], failed: [{}], running: [{}], suspended: [{}],"
            " suspending: [{}], resuming: [{}]}",
            "{}",
            ("Resuming", "Suspending", "Suspended", "Running", "Failed", "Completed", "Initializing", "Degraded"),
        ),
        # conditions: all of a matcher, by type; status and reason only where given
        ("{running: [{byConditions: [{type: Ready}]}]}", f"conditions: [{READY}]", ("Running",)),
        (
            "{running: [{byConditions: [{type: Ready, status: 'True', reason: Done}]}]}",
            f"conditions: [{READY}]",
            ("Running",),
        ),
        ("{running: [{byConditions: [{type: Ready, status: ''}]}]}", f"conditions: [{READY}]", ("Running",)),
        ("{running: [{byConditions: [{type: Ready, status: 'False'}]}]}", f"conditions: [{READY}]", ("Undefined",)),
        ("{running: [{byConditions: [{type: Ready, reason: Other}]}]}", f"conditions: [{READY}]", ("Undefined",)),
        ("{running: [{byConditions: [{type: Ready}, {type: Up}]}]}", f"conditions: [{READY}]", ("Undefined",)),
        ("{running: [{byConditions: [{type: Ready}], byPhase: Up}]}", f"conditions: [{READY}]", ("Undefined",)),
        (
            "{running: [{byConditions: [{type: Ready, status: 'True'}]}]}",
            "conditions: [{type: Ready, status: true}]",
            ("Undefined",),
        ),
        # of two conditions of one type the last wins
        (
            "{running: [{byConditions: [{type: Ready, status: 'True'}]}]}",
            f"conditions: [{READY}, {{type: Ready}}]",
            ("Undefined",),
        ),
        # expressions
        ("{running: [{byExpression: {expression: .n > 1, expectedResult: 'true'}}]}", "'n': 2", ("Running",)),
        ("{running: [{byExpression: {expression: .n, expectedResult: '2'}}]}", "'n': 2.0", ("Running",)),
        ("{running: [{byExpression: {expression: '.n, .m', expectedResult: '2'}}]}", "{'n': 1, m: 2}", ("Undefined",)),
        ("{running: [{byExpression: {expression: '.l[]', expectedResult: a}}]}", "l: []", ("Undefined",)),
        ("{running: [{byExpression: {expression: .t, expectedResult: 'null'}}]}", "{}", ("Running",)),
    ],
)
def test_what_matches(mappings: str, manifest: str, found: tuple[str, ...]) -> None:
    assert matched(mappings, manifest) == found


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        ('a"b', '" is not closed'),
        ('" | env | "', "env reaches outside the object"),
        ("\\(env)", "env reaches outside the object"),
    ],
)
def test_the_expected_text_is_pasted_as_it_is_and_checked_with_the_rest(expected: str, reason: str) -> None:
    made = definition(
        "{statusDefinition: {statusMappings: {running: [{byExpression: {expression: .a, expectedResult: %s}}]}}}"
        % ("'" + expected + "'")
    )
    with pytest.raises(InputError, match=reason):
        status.read(made, prepare({}), TRUSTED)


@pytest.mark.parametrize(
    ("mappings", "manifest", "fault"),
    [
        ("{}", "phase: 3", "statusDefinition.phaseDefinition: must be text, not a number"),
        ("{}", "conditions: {a: b}", "statusDefinition.conditionsDefinition: must be a list, not a mapping"),
        ("{}", "conditions: [a]", "statusDefinition.conditionsDefinition[0]: must be a mapping, not text"),
        (
            "{failed: [{byExpression: {expression: '.x[]', expectedResult: a}}]}",
            "{}",
            "statusDefinition.statusMappings.failed: Cannot iterate over null (null)",
        ),
    ],
)
def test_what_fails_fails_the_whole_status(mappings: str, manifest: str, fault: str) -> None:
    with pytest.raises(InputError) as raised:
        matched(mappings, manifest)
    assert str(raised.value) == fault


def test_conditions_are_flattened_and_read_by_the_names_of_their_fields() -> None:
    made = definition(
        "{statusDefinition: {statusMappings: {}, conditionsDefinition: {path: '.a, .b', typeFieldName: kind}}}"
    )
    found = status.read(made, prepare(yaml(f"{{a: [{{kind: Up}}], b: [{READY}, {{kind: 3}}]}}")), TRUSTED)
    assert found.phase is None
    assert found.conditions == (
        Condition("Up"),
        Condition("", "True", "Done", "all is well"),
        Condition(),
    )


def test_a_matcher_on_the_reason_works_without_reason_field_name() -> None:
    """Upstream reads no reason then, as only the API server fills the default in."""
    assert matched("{failed: [{byConditions: [{type: Ready, reason: Done}]}]}", f"conditions: [{READY}]") == ("Failed",)


@pytest.mark.parametrize("manifest", ["conditions: null", "{}"])
def test_no_conditions(manifest: str) -> None:
    assert matched("{}", manifest) == ("Undefined",)
