"""Subtree scale, as upstream computes it (definitions.md 9.4)."""

from __future__ import annotations

import pytest

from advisor.definitions.scale import subtree
from advisor.errors import InputError
from tests.definitions.builders import definition, extraction, yaml

MANY = "instanceIdPath: '.g[].id', podSelector: {componentInstanceSelector: {idPath: .x}}"
LEAF = "specDefinition: {podSpecPath: .p}"


@pytest.mark.parametrize(
    ("replicas", "minimum", "scale"),
    [(3, None, 3), (3, 2, 2), (3, 0, 3), (0, None, 0), (None, 2, 2), (None, None, 0), (-1, None, 0), (0, 4, 4)],
)
def test_the_minimum_counts_before_the_replicas_and_zero_is_unset(
    replicas: int | None, minimum: int | None, scale: int
) -> None:
    made = definition("{scaleDefinition: {replicasPath: .r, minReplicasPath: .m}}")
    assert subtree(extraction(made, {"r": replicas, "m": minimum}), "thing") == scale


@pytest.mark.parametrize(
    ("own", "left", "right", "scale"),
    [(2, 3, 4, 14), (None, 3, 4, 7), (2, None, None, 2), (0, 3, 0, 3), (None, None, None, 0)],
)
def test_a_parent_multiplies_the_sum_of_its_children(
    own: int | None, left: int | None, right: int | None, scale: int
) -> None:
    children = ", ".join(
        f"{{name: {name}, ownerRef: thing, scaleDefinition: {{replicasPath: .{name}}}}}" for name in ("left", "right")
    )
    made = definition("{scaleDefinition: {replicasPath: .own}}", f"[{children}]")
    assert subtree(extraction(made, {"own": own, "left": left, "right": right}), "thing") == scale


def test_without_any_scale_the_leaves_are_counted() -> None:
    children = (
        f"[{{name: one, ownerRef: thing, {LEAF}}}, {{name: many, ownerRef: thing, {LEAF}, {MANY}}},"
        " {name: level, ownerRef: thing}, {name: below, ownerRef: one, specDefinition: {podSpecPath: .q}}]"
    )
    found = extraction(definition(children=children), yaml("g: [{id: a}, {id: b}]"))
    assert [subtree(found, name) for name in ("thing", "one", "many", "level")] == [3, 1, 2, 0]
    assert subtree(found, "many", "b") == 1
    with pytest.raises(InputError, match="many has no instance c"):
        subtree(found, "many", "c")


@pytest.mark.parametrize(("instance", "scale"), [(None, 5), ("a", 2), ("b", 3), ("c", "thing has no instance c")])
def test_one_instance_of_the_starting_component(instance: str | None, scale: int | str) -> None:
    made = definition(f"{{{MANY}, scaleDefinition: {{replicasPath: '.g[].r'}}}}")
    found = extraction(made, yaml("g: [{id: a, r: 2}, {id: b, r: 3}]"))
    if isinstance(scale, str):
        with pytest.raises(InputError, match=scale):
            subtree(found, "thing", instance)
    else:
        assert subtree(found, "thing", instance) == scale


def test_a_path_that_fails_is_no_zero() -> None:
    found = extraction(definition(children="[{name: a, ownerRef: thing, scaleDefinition: {replicasPath: '.x[]'}}]"), {})
    with pytest.raises(InputError, match="cannot be read: a, replicasPath, Cannot iterate over null"):
        subtree(found, "thing")
