"""The rules that a definition must keep, and what is only doubtful (definitions.md 3, rules 3 to 25)."""

from __future__ import annotations

import pytest

from advisor.definitions.engine import TRUSTED
from advisor.definitions.validate import Findings, validate
from tests.definitions.builders import definition, lines

CHILD = "{name: worker, ownerRef: thing}"
LEAF = "ownerRef: thing, specDefinition: {podSpecPath: .spec}"
STATUS = "{statusDefinition: {statusMappings: {running: [%s]}}}"


def judge(root: str = "{}", children: str = "[]", gang: str = "") -> Findings:
    instructions = f"{{gangScheduling: {gang}}}" if gang else "{}"
    return validate(definition(root, children, instructions), TRUSTED)


def test_a_small_definition_is_valid() -> None:
    assert judge(children=f"[{CHILD}]") == Findings()


@pytest.mark.parametrize(
    ("root", "children", "gang", "faults"),
    [
        # 4
        ("{kind: null}", "[]", "", ["rootComponent.kind: is required"]),
        (
            "{kind: {group: a, version: '', kind: ''}}",
            "[]",
            "",
            ["rootComponent.kind.version: must not be empty", "rootComponent.kind.kind: must not be empty"],
        ),
        ("{kind: {group: '', version: v1, kind: Thing}}", "[]", "", ["rootComponent.kind.group: must not be empty"]),
        ("{kind: {group: '', version: v1, kind: Pod}}", "[]", "", []),
        # 5
        ("{ownerRef: ''}", "[]", "", ["rootComponent.ownerRef: the root component has no owner"]),
        # 6
        ("{statusDefinition: null}", "[]", "", ["rootComponent.statusDefinition: is required"]),
        # 7
        ("{}", "[{name: worker}]", "", ["childComponents[0].ownerRef: is required"]),
        ("{}", "[{name: worker, ownerRef: ''}]", "", ["childComponents[0].ownerRef: is required"]),
        ("{}", "[{name: worker, ownerRef: x}]", "", ["childComponents[0].ownerRef: there is no component x"]),
        # 8, also when a component owns itself
        (
            "{}",
            "[{name: worker, ownerRef: worker}]",
            "",
            ["childComponents[0].ownerRef: worker owns itself in the end"],
        ),
        (
            "{}",
            "[{name: a, ownerRef: b}, {name: b, ownerRef: a}, {name: c, ownerRef: a}]",
            "",
            [
                "childComponents[0].ownerRef: a owns itself in the end",
                "childComponents[1].ownerRef: b owns itself in the end",
            ],
        ),
        # 9
        ("{}", "[{name: '', ownerRef: thing}]", "", ["childComponents[0].name: must not be empty"]),
        # 10
        (
            "{specDefinition: {podTemplateSpecPath: .a, podSpecPath: .b}}",
            "[]",
            "",
            ["rootComponent.specDefinition: only one of podTemplateSpecPath and podSpecPath can be used"],
        ),
        ("{specDefinition: {podSpecPath: .a, metadataPath: .b}}", "[]", "", []),
        ("{specDefinition: {}}", "[]", "", []),
        # 11
        (
            "{instanceIdPath: .a}",
            "[]",
            "",
            ["rootComponent.instanceIdPath: needs podSelector.componentInstanceSelector"],
        ),
        (
            "{podSelector: {componentInstanceSelector: {idPath: .a}}}",
            "[]",
            "",
            ["rootComponent.podSelector.componentInstanceSelector: needs instanceIdPath"],
        ),
        ("{instanceIdPath: .a, podSelector: {componentInstanceSelector: {idPath: .b}}}", "[]", "", []),
        # 13
        (
            "{}",
            "[]",
            "{podGroups: [{name: g, members: [{componentName: thing}, {componentName: x}]}]}",
            ["optimizationInstructions.gangScheduling.podGroups[0].members[1].componentName: there is no component x"],
        ),
        # 14
        (
            "{instanceIdPath: .a | del(.b), podSelector: {componentInstanceSelector: {idPath: '.['}}}",
            "[]",
            "",
            [
                "rootComponent.instanceIdPath: del changes the object, a definition only reads it",
                "rootComponent.podSelector.componentInstanceSelector.idPath: [ is not closed",
            ],
        ),
        ("{scaleDefinition: {replicasPath: ''}}", "[]", "", []),
        # 16
        (
            "{}",
            "[]",
            "{podGroup: {name: g, subGroups: [{componentName: x}]}}",
            ["optimizationInstructions.gangScheduling.podGroup.subGroups[0].componentName: there is no component x"],
        ),
        # 17
        (
            "{scaleDefinition: {replicasPath: spec.replicas}}",
            "[]",
            "",
            ["rootComponent.scaleDefinition.replicasPath: not valid jq: spec/0 is not defined"],
        ),
    ],
)
def test_errors(root: str, children: str, gang: str, faults: list[str]) -> None:
    assert lines(judge(root, children, gang).errors) == faults


def test_two_components_of_one_name_stop_all_other_rules() -> None:
    found = judge("{ownerRef: x, statusDefinition: null, instanceIdPath: '.['}", f"[{CHILD}, {CHILD}]")
    assert lines(found.errors) == [
        "childComponents[0].name: the name worker is used 2 times",
        "childComponents[1].name: the name worker is used 2 times",
    ]
    assert not found.warnings


def test_a_cycle_is_only_looked_for_when_the_structure_is_right() -> None:
    found = judge(children="[{name: a, ownerRef: a}, {name: b}]")
    assert lines(found.errors) == ["childComponents[1].ownerRef: is required"]


def test_a_fault_in_an_expression_shows_its_place() -> None:
    (fault,) = judge("{scaleDefinition: {replicasPath: '.a |= 1'}}").errors
    assert str(fault).endswith("|= changes the object, a definition only reads it\n    .a |= 1\n       ^")


@pytest.mark.parametrize(
    ("root", "children", "warnings"),
    [
        # 18
        (STATUS % "{byPhase: Running}", "[]", ["byPhase: never matches: there is no phaseDefinition"]),
        (
            STATUS % "{byConditions: [{type: a}]}",
            "[]",
            ["byConditions: never matches: there is no conditionsDefinition"],
        ),
        ("{statusDefinition: {phaseDefinition: {path: .p}, statusMappings: {running: [{byPhase: x}]}}}", "[]", []),
        # 19
        (STATUS % "{}", "[]", ["running[0]: an empty matcher always matches"]),
        # 20, and 2.6
        ("{scaleDefinition: {minReplicasPath: .a}}", "[]", ["has no replicasPath, so the desired size is unknown"]),
        ("{scaleDefinition: {}}", "[]", ["scaleDefinition: is empty, so no scale can be read"]),
        ("{scaleDefinition: {replicasPath: .a}}", "[]", []),
        ("{specDefinition: {fragmentedPodSpecDefinition: {}}}", "[]", ["is empty, so no pod can be read"]),
        # 21
        (
            "{}",
            f"[{{name: a, {LEAF}, podSelector: {{componentTypeSelector: {{keyPath: .a}}}}}}, {{name: b, {LEAF}}}]",
            ["childComponents[1].podSelector: has no componentTypeSelector, so its pods cannot be recognised"],
        ),
        ("{}", f"[{{name: a, {LEAF}}}]", []),
        # 22
        (
            "{}",
            f"[{{name: a, {LEAF}, podSelector: {{componentTypeSelector: {{keyPath: .a}}}}}},"
            f" {{name: b, {LEAF}, podSelector: {{componentTypeSelector: {{keyPath: .a, value: x}}}}}}]",
            ["only asks whether the key exists, so it takes the pods of b too"],
        ),
        (
            "{}",
            f"[{{name: b, {LEAF}, podSelector: {{componentTypeSelector: {{keyPath: .a, value: x}}}}}},"
            f" {{name: a, {LEAF}, podSelector: {{componentTypeSelector: {{keyPath: .a}}}}}}]",
            [],
        ),
        # 23
        (
            "{instanceIdPath: '.g[].n', podSelector: {componentInstanceSelector: {idPath: .i}},"
            " specDefinition: {fragmentedPodSpecDefinition: {imagePath: '.g[] | select(.a).i', labelsPath: '.g[].l'}},"
            " scaleDefinition: {replicasPath: '.g[].replicas // 1'}}",
            "[]",
            [
                "fragmentedPodSpecDefinition.imagePath: may give fewer values than there are instances",
                "scaleDefinition.replicasPath: may give fewer values than there are instances",
            ],
        ),
        ("{scaleDefinition: {replicasPath: '.g[].replicas // 1'}}", "[]", []),
        # 24
        ("{specDefinition: {metadataPath: .a}}", "[]", ["metadataPath: is read only beside podSpecPath"]),
        ("{specDefinition: {podSpecPath: .b, metadataPath: .a}}", "[]", []),
        # 25
        (
            "{podSelector: {componentTypeSelector: {keyPath: .a // .b, value: x}}}",
            "[]",
            ["keyPath: // binds weaker than the comparison with the value"],
        ),
        ("{podSelector: {componentTypeSelector: {keyPath: (.a // .b), value: x}}}", "[]", []),
        ("{podSelector: {componentTypeSelector: {keyPath: .a // .b}}}", "[]", []),
        # 4.4
        ("{scaleDefinition: {replicasPath: now}}", "[]", ["replicasPath: now depends on the clock"]),
        # 2.9
        (
            "{suspendDefinition: {suspendActions: [{path: .a, value: Stop}], resumeActions: [{path: .a, value: '1'}]}}",
            "[]",
            ["suspendActions[0].value: is not JSON text"],
        ),
    ],
)
def test_warnings(root: str, children: str, warnings: list[str]) -> None:
    found = judge(root, children)
    assert not found.errors
    shown = lines(found.warnings)
    assert len(shown) == len(warnings)
    assert all(wanted in line for wanted, line in zip(warnings, shown, strict=True))


def test_warnings_about_expressions_wait_until_all_can_be_read() -> None:
    found = judge("{scaleDefinition: {minReplicasPath: now, maxReplicasPath: '.['}}")
    assert lines(found.warnings) == [
        "rootComponent.scaleDefinition: has no replicasPath, so the desired size is unknown"
    ]
