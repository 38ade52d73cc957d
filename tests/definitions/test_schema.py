"""What a definition may say, and how its faults are named (definitions.md 1, 2 and rules 1 and 2 of 3)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from advisor.definitions import schema
from advisor.errors import InputError
from tests.definitions.builders import definition, karta, lines

GROUPS = "{gangScheduling: {podGroups: [%s]}}"


def refused(data: dict[str, Any]) -> list[str]:
    with pytest.raises(InputError) as raised:
        schema.parse(data)
    return lines(raised.value.faults)


@pytest.mark.parametrize(
    ("root", "fault"),
    [
        ("{name: 3}", "rootComponent.name: must be text, not a number"),
        ("{name: null}", "rootComponent.name: is required"),
        ("{kind: {group: a, version: v1}}", "rootComponent.kind.kind: is required"),
        ("{kind: Thing}", "rootComponent.kind: must be a mapping, not text"),
        ("{ownerRef: true}", "rootComponent.ownerRef: must be text, not true or false"),
        ("{specDefinition: []}", "rootComponent.specDefinition: must be a mapping, not a list"),
        (
            "{scaleDefinition: {replicasPath: 1}}",
            "rootComponent.scaleDefinition.replicasPath: must be text, not a number",
        ),
        ("{statusDefinition: {}}", "rootComponent.statusDefinition.statusMappings: is required"),
        (
            "{statusDefinition: {statusMappings: {running: [{byConditions: [{status: x}]}]}}}",
            "rootComponent.statusDefinition.statusMappings.running[0].byConditions[0].type: is required",
        ),
        (
            "{statusDefinition: {statusMappings: {}, phaseDefinition: {}}}",
            "rootComponent.statusDefinition.phaseDefinition.path: is required",
        ),
        (
            "{suspendDefinition: {suspendActions: [], resumeActions: [{path: .a, value: '1'}]}}",
            "rootComponent.suspendDefinition.suspendActions: must not be empty",
        ),
        (
            "{suspendDefinition: {suspendActions: [{path: .a, value: true}], resumeActions: [{path: .a, value: '1'}]}}",
            "rootComponent.suspendDefinition.suspendActions[0].value: must be text, not true or false",
        ),
        (
            "{podSelector: {componentTypeSelector: {}}}",
            "rootComponent.podSelector.componentTypeSelector: needs keyPath or matchLabels",
        ),
        (
            "{podSelector: {componentTypeSelector: {keypath: .a}}}",
            "rootComponent.podSelector.componentTypeSelector: needs keyPath or matchLabels",
        ),
        (
            "{podSelector: {componentTypeSelector: {keyPath: ''}}}",
            "rootComponent.podSelector.componentTypeSelector.keyPath: must not be empty",
        ),
        (
            "{podSelector: {componentTypeSelector: {matchLabels: {}}}}",
            "rootComponent.podSelector.componentTypeSelector.matchLabels: must not be empty",
        ),
        (
            "{podSelector: {componentTypeSelector: {matchLabels: {a: b}, value: x}}}",
            "rootComponent.podSelector.componentTypeSelector: has a value but no keyPath to compare it with",
        ),
        (
            "{podSelector: {componentInstanceSelector: {}}}",
            "rootComponent.podSelector.componentInstanceSelector.idPath: is required",
        ),
        ("{podSelector: {replicaSelector: {}}}", "rootComponent.podSelector.replicaSelector.keyPath: is required"),
    ],
)
def test_the_form_of_a_component(root: str, fault: str) -> None:
    assert refused(karta(root)) == [fault]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"children": "{}"}, "childComponents: must be a list, not a mapping"),
        ({"children": "[{ownerRef: thing}]"}, "childComponents[0].name: is required"),
        (
            {"structure": "{additionalChildKinds: [{kind: A, version: v1}]}"},
            "additionalChildKinds[0].group: is required",
        ),
        (
            {"structure": "{additionalChildKinds: [&a {kind: A, group: a, version: v1}, *a]}"},
            "additionalChildKinds: has A twice",
        ),
        ({"structure": "{references: [{name: runtime}]}"}, "references: references to other objects cannot be read"),
        (
            {"instructions": "{gangScheduling: {podGroup: {subGroups: []}}}"},
            "optimizationInstructions.gangScheduling.podGroup.name: is required",
        ),
        (
            {"instructions": "{gangScheduling: {podGroup: {name: a, topology: {topologyName: t}}}}"},
            "optimizationInstructions.gangScheduling.podGroup.topology.requiredTopologyLevel: is required",
        ),
        (
            {"instructions": GROUPS % "{name: a}"},
            "optimizationInstructions.gangScheduling.podGroups[0].members: is required",
        ),
        (
            {"instructions": GROUPS % "{name: a, members: []}, {name: a, members: []}"},
            "optimizationInstructions.gangScheduling.podGroups: has a twice",
        ),
        (
            {"instructions": GROUPS % "{name: a, members: [{componentName: x, filters: [.a, .a]}]}"},
            "optimizationInstructions.gangScheduling.podGroups[0].members[0].filters: has .a twice",
        ),
    ],
)
def test_the_form_of_the_rest(changes: dict[str, str], fault: str) -> None:
    assert refused(karta(**changes))[0] == fault


def test_all_faults_of_form_come_at_once() -> None:
    faults = refused(karta("{name: 3, kind: {group: a}}", children="[{name: 4}]"))
    assert len(faults) == 4


@pytest.mark.parametrize(
    ("api_version", "kind", "warnings"),
    [
        ("run.ai/v1alpha1", "Karta", []),
        (
            "optimization.nvidia.com/v1alpha1",
            "ResourceInterface",
            ["kind: ResourceInterface is the old name of this kind"],
        ),
    ],
)
def test_both_names_of_the_kind(api_version: str, kind: str, warnings: list[str]) -> None:
    made, found = schema.parse({**karta(), "apiVersion": api_version, "kind": kind})
    assert made.root.name == "thing"
    assert lines(found) == warnings


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("run.ai/v1alpha1", "WorkloadMap"),
        ("run.ai/v1alpha1", "ResourceInterface"),
        ("v1", "Pod"),
        ("run.ai/v1", "Karta"),
    ],
)
def test_no_other_name_is_guessed(api_version: str, kind: str) -> None:
    assert refused({**karta(), "apiVersion": api_version, "kind": kind}) == [
        "kind: is not a definition (run.ai/v1alpha1 Karta)"
    ]


@pytest.mark.parametrize("metadata", [None, {}, {"name": ""}])
def test_a_file_without_a_name_is_used_with_a_warning(metadata: dict[str, str] | None) -> None:
    _, warnings = schema.parse({**karta(), "metadata": metadata})
    assert lines(warnings) == ["metadata.name: is missing; a cluster would refuse the definition"]


def test_unknown_fields_are_left_out_with_a_warning() -> None:
    data = karta("{scaleDefinition: {replicasPath: .a, replicaPath: .b}}", children="[{name: x, colour: red}]")
    made, warnings = schema.parse({**data, "extra": 1, "status": {"conditions": []}})
    assert lines(warnings) == [
        "rootComponent.scaleDefinition.replicaPath: is not a field of a definition and is left out",
        "childComponents[0].colour: is not a field of a definition and is left out",
        "extra: is not a field of a definition and is left out",
    ]
    assert warnings[0].hint == "did you mean replicasPath?"
    assert made.root.scale_definition == schema.ScaleDefinition(replicasPath=schema.Expression(".a"))  # type: ignore[call-arg]


def test_the_defaults_of_conditions_and_null_for_a_default() -> None:
    conditions = "{path: .status.conditions, typeFieldName: kind, reasonFieldName: null}"
    made = definition(f"{{statusDefinition: {{statusMappings: {{}}, conditionsDefinition: {conditions}}}}}")
    status = made.root.status_definition
    assert status and status.conditions_definition
    found = status.conditions_definition
    names = (found.type_field_name, found.status_field_name, found.message_field_name, found.reason_field_name)
    assert names == ("kind", "status", "message", "reason")


def test_a_definition_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        definition().root.name = "other"


def test_the_jq_texts_of_a_definition_with_their_paths() -> None:
    made = definition(
        "{specDefinition: {podSpecPath: .a}, suspendDefinition: {suspendActions: [{path: .b, value: '1'}],"
        " resumeActions: [{path: .c, value: '2'}]}}",
        instructions="{gangScheduling: {podGroups: [{name: .no, members: [{componentName: .no, filters: [.d]}]}]}}",
    )
    assert [(path[-1], str(text)) for path, text in schema.expressions(made)] == [
        ("podSpecPath", ".a"),
        ("path", ".b"),
        ("path", ".c"),
        (0, ".d"),
    ]
