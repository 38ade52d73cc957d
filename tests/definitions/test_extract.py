"""Instances, scales and pods of a manifest (definitions.md 4.3, 5)."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.definitions.extract import Extraction, Scale
from advisor.errors import InputError
from tests.definitions.builders import definition, extraction, lines, yaml

MANY = "instanceIdPath: '.g[].id', podSelector: {componentInstanceSelector: {idPath: .x}}"


def thing(root: str, manifest: str, *, strict: bool = True) -> Extraction:
    return extraction(definition(root), yaml(manifest), strict=strict)


def failure(read: Extraction) -> str:
    with pytest.raises(InputError) as raised:
        read.part("thing")
    assert {fault.code for fault in raised.value.faults} == {"unreadable"}
    return str(raised.value).partition("\n")[0]


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        ("3", 3),
        ("0", 0),
        ("-1", -1),
        ("2.0", 2),
        ("1e2", 100),
        ("null", None),
        ('"3"', 'thing, replicasPath, must be a whole number, not the text "3"'),
        ("1.5", "thing, replicasPath, must be a whole number, not 1.5"),
        ("true", "thing, replicasPath, must be a whole number, not true or false"),
        ("{}", "thing, replicasPath, must be a whole number, not a mapping"),
        ("2147483647", 2147483647),
        ("2147483648", "thing, replicasPath, 2147483648 is out of range"),
    ],
)
def test_replicas_are_what_go_takes_as_an_int32(value: str, scale: int | str | None) -> None:
    read = thing("{scaleDefinition: {replicasPath: .a}}", f"a: {value}")
    if isinstance(scale, str):
        assert failure(read) == f"cannot be read: {scale}"
    else:
        assert read.scales("thing") == {"": Scale(scale)}


@pytest.mark.parametrize(
    ("pod", "fault"),
    [
        ("null", ""),
        ("{spec: {containers: [{name: a, resources: {limits: {cpu: 1.5, memory: null, nvidia.com/gpu: '8'}}}]}}", ""),
        ("{spec: {anything: {else: [1]}}, extra: 1}", ""),
        ("[]", "must be a mapping, not a list"),
        ("{spec: {containers: {name: a}}}", "spec.containers must be a list, not a mapping"),
        ("{spec: {containers: [{name: 1}]}}", "spec.containers[0].name must be text, not a number"),
        ("{metadata: {labels: {a: 1}}}", "metadata.labels.a must be text, not a number"),
        ("{spec: {nodeSelector: {a: true}}}", "spec.nodeSelector.a must be text, not true or false"),
        (
            "{spec: {containers: [{resources: {requests: {memory: 1GiB}}}]}}",
            'spec.containers[0].resources.requests.memory "1GiB" is not a quantity',
        ),
        (
            "{spec: {containers: [{resources: {limits: {custom: {a: 1}}}}]}}",
            "spec.containers[0].resources.limits.custom dict is not a quantity",
        ),
        (
            "{spec: {tolerations: [{tolerationSeconds: '5'}]}}",
            'spec.tolerations[0].tolerationSeconds must be a whole number, not the text "5"',
        ),
        ("{spec: {hostNetwork: 'yes'}}", 'spec.hostNetwork must be true or false, not the text "yes"'),
    ],
)
def test_a_pod_template_is_what_go_takes_as_one(pod: str, fault: str) -> None:
    read = thing("{specDefinition: {podTemplateSpecPath: .pod}}", f"pod: {pod}")
    if fault:
        assert failure(read) == f"cannot be read: thing, podTemplateSpecPath, {fault}"
    else:
        read.part("thing")


@pytest.mark.parametrize(
    ("groups", "ids"),
    [
        ("[{id: a}, {id: b}]", ("a", "b")),
        ("[]", ()),
        ("null", "Cannot iterate over null (null)"),
        ("[{id: a}, {}]", "an instance id is empty"),
        ("[{id: ''}]", "an instance id is empty"),
        ("[{id: 1}]", "must be text, not a number"),
        ("[{id: a}, {id: b}, {id: a}]", "the instance id a is given twice"),
    ],
)
def test_instance_ids(groups: str, ids: tuple[str, ...] | str) -> None:
    read = thing(f"{{{MANY}}}", f"g: {groups}")
    if isinstance(ids, str):
        assert failure(read) == f"cannot be read: thing, instanceIdPath, {ids}"
    else:
        assert read.ids("thing") == ids
        assert tuple(instance.id for instance in read.part("thing").instances) == ids


def test_of_an_id_given_twice_upstream_keeps_the_later() -> None:
    read = thing(
        f"{{{MANY}, scaleDefinition: {{replicasPath: '.g[].r'}}}}",
        "g: [{id: a, r: 1}, {id: b}, {id: a, r: 3}]",
        strict=False,
    )
    assert [(i.id, i.scale) for i in read.part("thing").instances] == [("a", Scale(3)), ("b", Scale())]


@pytest.mark.parametrize(
    ("spec", "groups", "compatible", "strict"),
    [
        # full lists
        (
            "replicasPath: '.g[].r', minReplicasPath: '.g[].m'",
            "[{id: a, r: 1}, {id: b, m: 2}]",
            [(1, None), (None, 2)],
            "",
        ),
        # the value of b lands on a; upstream says nothing
        (
            "replicasPath: '.g[].r // 1', minReplicasPath: '.g[].m'",
            "[{id: a}, {id: b, r: 4}]",
            [(4, None), (None, None)],
            "replicasPath, 1 value for 2 instances",
        ),
        # an empty list is no better
        (
            "replicasPath: '.g[].r', minReplicasPath: '.g[].m[]?'",
            "[{id: a}, {id: b, r: 4}]",
            [(None, None), (4, None)],
            "minReplicasPath, 0 values for 2 instances",
        ),
        # the longest list decides, for upstream too
        (
            "replicasPath: '.g[].r // 1'",
            "[{id: a}, {id: b}]",
            "scaleDefinition, 1 value for 2 instances",
            "replicasPath, 1 value for 2 instances",
        ),
        (
            "replicasPath: '.g[].r[]?'",
            "[{id: a, r: [1, 2]}]",
            "scaleDefinition, 2 values for 1 instance",
            "replicasPath, 2 values for 1 instance",
        ),
        ("replicasPath: '.g[].r'", "[]", [], ""),
    ],
)
def test_values_are_given_to_instances_by_position(
    spec: str, groups: str, compatible: list[tuple[int | None, int | None]] | str, strict: str
) -> None:
    root = f"{{{MANY}, scaleDefinition: {{{spec}}}}}"
    upstream = thing(root, f"g: {groups}", strict=False)
    if isinstance(compatible, str):
        assert failure(upstream) == f"cannot be read: thing, {compatible}"
    else:
        scales = upstream.scales("thing") or {}
        assert [(scale.replicas, scale.minimum) for scale in scales.values()] == compatible
    ours = thing(root, f"g: {groups}")
    if strict:
        assert failure(ours) == f"cannot be read: thing, {strict}"
    else:
        assert ours.scales("thing") == upstream.scales("thing")


@pytest.mark.parametrize(
    ("spec", "manifest", "fault"),
    [
        (
            "podTemplateSpecPath: '.g[].t[]?'",
            "g: [{id: a, t: [{}]}, {id: b}]",
            "podTemplateSpecPath, 1 value for 2 instances",
        ),
        ("podSpecPath: '.g[].p', metadataPath: .m", "g: [{id: a}, {id: b}]", "metadataPath, 1 value for 2 instances"),
        ("metadataPath: .m", "g: [{id: a}, {id: b}]", "metadataPath, 1 value for 2 instances"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_pods_and_metadata_need_one_value_for_each_instance(spec: str, manifest: str, fault: str, strict: bool) -> None:
    read = thing(f"{{{MANY}, specDefinition: {{{spec}}}}}", manifest, strict=strict)
    assert failure(read) == f"cannot be read: thing, {fault}"


@pytest.mark.parametrize(
    ("spec", "manifest", "pod", "absent"),
    [
        (
            "podTemplateSpecPath: .t",
            "t: {metadata: {labels: {a: b}}, spec: {x: 1}, kind: Pod}",
            {"metadata": {"labels": {"a": "b"}}, "spec": {"x": 1}},
            False,
        ),
        ("podTemplateSpecPath: .t", "t: {}", {"metadata": {}, "spec": {}}, False),
        ("podTemplateSpecPath: .t", "{}", None, True),
        ("podSpecPath: .p", "p: {}", {"metadata": {}, "spec": {}}, False),
        ("podSpecPath: .p", "p: {x: 1}", {"metadata": {}, "spec": {"x": 1}}, False),
        (
            "podSpecPath: .p, metadataPath: .m",
            "{p: {x: 1}, m: {name: nn}}",
            {"metadata": {"name": "nn"}, "spec": {"x": 1}},
            False,
        ),
        ("podSpecPath: .p, metadataPath: .m", "{m: {name: nn}}", None, True),
        (
            "fragmentedPodSpecDefinition: {imagePath: .i}",
            "i: x",
            {"metadata": {}, "spec": {"containers": [{"name": "thing", "image": "x"}]}},
            False,
        ),
        ("fragmentedPodSpecDefinition: {imagePath: .i, labelsPath: .l}", "{}", None, True),
        ("metadataPath: .m", "m: {name: nn}", None, False),  # makes no leaf
        ("", "{}", None, False),
    ],
)
def test_pods_and_absence(spec: str, manifest: str, pod: dict[str, Any] | None, absent: bool) -> None:
    part = thing(f"{{specDefinition: {{{spec}}}}}", manifest).part("thing")
    assert [instance.pod for instance in part.instances] == [pod]
    assert part.absent is absent


FRAGMENTS = "containersPath: .many, containerPath: .one, resourcesPath: .resources, imagePath: .image"
GPU = {"limits": {"nvidia.com/gpu": "8"}}


@pytest.mark.parametrize(
    ("manifest", "strict", "compatible"),
    [
        ("{many: [{name: a}], one: {name: b}}", [("a", None), ("b", None)], None),
        ("{image: x, resources: {limits: {nvidia.com/gpu: '8'}}}", [("thing", GPU)], None),
        ("{one: {name: b}, resources: {limits: {nvidia.com/gpu: '8'}}}", [("b", GPU)], [("b", None)]),
        ("{many: [{name: a}], resources: {limits: {nvidia.com/gpu: '8'}}}", [("a", GPU)], [("a", None)]),
        (
            "{many: [{name: a}], one: {name: b}, resources: {limits: {nvidia.com/gpu: '8'}}}",
            [("a", None), ("b", GPU)],
            [("a", None), ("b", None)],
        ),
        (
            "{many: [{name: a, resources: {requests: {cpu: '1'}}}], resources: {limits: {nvidia.com/gpu: '8'}}}",
            [("a", {"requests": {"cpu": "1"}})],
            None,
        ),
        (
            "{many: [{name: a}, {name: b}], resources: {limits: {nvidia.com/gpu: '8'}}}",
            "which of 2 containers gets the resources cannot be told",
            [("a", None), ("b", None)],
        ),
    ],
)
def test_the_containers_of_a_pod_in_fragments(
    manifest: str, strict: list[tuple[str, Any]] | str, compatible: list[tuple[str, Any]] | None
) -> None:
    root = f"{{specDefinition: {{fragmentedPodSpecDefinition: {{{FRAGMENTS}}}}}}}"
    for read, expected in (
        (thing(root, manifest), strict),
        (thing(root, manifest, strict=False), compatible or strict),
    ):
        if isinstance(expected, str):
            assert failure(read) == f"cannot be read: thing, fragmentedPodSpecDefinition, {expected}"
            continue
        (instance,) = read.part("thing").instances
        assert instance.pod and instance.source == "fragmentedPodSpecDefinition"
        assert [(c["name"], c.get("resources")) for c in instance.pod["spec"]["containers"]] == expected


def test_the_other_fragments_are_set_on_the_pod() -> None:
    fields = {
        "labelsPath": "labels",
        "annotationsPath": "notes",
        "schedulerNamePath": "scheduler",
        "priorityClassNamePath": "priority",
        "resourceClaimsPath": "claims",
        "podAffinityPath": "affinity",
        "nodeAffinityPath": "nodes",
    }
    paths = ", ".join(f"{field}: .{name}" for field, name in fields.items())
    manifest = (
        "{labels: {a: b}, notes: {c: d}, scheduler: s, priority: p, claims: [{name: x}], affinity: {}, nodes: {z: 1}}"
    )
    part = thing(f"{{specDefinition: {{fragmentedPodSpecDefinition: {{{paths}}}}}}}", manifest).part("thing")
    assert part.instances[0].pod == {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {
            "resourceClaims": [{"name": "x"}],
            "affinity": {"nodeAffinity": {"z": 1}},
            "schedulerName": "s",
            "priorityClassName": "p",
        },
    }


def test_everything_that_cannot_be_read_is_named_at_once() -> None:
    children = "[{name: a, ownerRef: thing, scaleDefinition: {replicasPath: '.x[]'}}, {name: b, ownerRef: thing}]"
    read = extraction(definition("{instanceIdPath: '.z[]'}", children), {})
    with pytest.raises(InputError) as raised:
        read.parts()
    assert lines(raised.value.faults) == [
        ": cannot be read: thing, instanceIdPath, Cannot iterate over null (null)",
        ": cannot be read: a, replicasPath, Cannot iterate over null (null)",
    ]
    assert raised.value.faults[1].hint == ".x[]"
    assert read.leaves() == ()


@pytest.mark.parametrize(
    ("scale", "desired"),
    [
        (Scale(3, 2, 8), 3),
        (Scale(0, 2), 0),
        (Scale(None, 2, 8), 2),
        (Scale(None, 0), 0),
        (Scale(), 1),
        (Scale(maximum=5), 1),
    ],
)
def test_the_desired_count_is_replicas_else_the_minimum_else_one(scale: Scale, desired: int) -> None:
    assert scale.desired == desired
