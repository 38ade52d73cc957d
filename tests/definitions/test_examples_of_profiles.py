"""The examples of a profile are compared whole: what they say, and what they do not say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.definitions import examples, layers
from advisor.definitions.layers import Entry
from advisor.inventory import Difference
from tests.definitions.builders import karta

POD = {"spec": {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"nvidia.com/gpu": 2}}}]}}
MANIFEST = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "it"},
    "spec": {"workers": 3, "template": POD},
}
RIGHT = {"worker": {"replicas": 3, "minimum": 1, "requests": {"nvidia.com/gpu": "2"}}}


def entry(folder: Path, *stated: dict[str, Any]) -> Entry:
    definition = karta(
        children="[{name: worker, ownerRef: thing, specDefinition: {podTemplateSpecPath: .spec.template}}]"
    )
    spec = {
        "for": {"group": "example.com", "kind": "Thing", "versions": ["v1"]},
        "roles": [{"component": "worker", "replicas": ".spec.workers", "minimum": "1"}],
        "gang": {"groups": "[{count: 1, members: {worker: 1}}]"},
        "examples": [{"name": f"number {n}", "manifest": MANIFEST, **one} for n, one in enumerate(stated)],
    }
    profile = {"apiVersion": "wm-place/v1", "kind": "PlacementProfile", "spec": spec}
    path = folder / "thing.yaml"
    path.write_text("\n---\n".join(json.dumps(document, indent=1) for document in (definition, profile)))
    (found,) = layers.from_files([str(path)]).entries
    return found


def differences(folder: Path, **stated: Any) -> list[Difference]:
    (outcome,) = examples.tried(entry(folder, {"roles": RIGHT, **stated}))
    assert not outcome.faults
    assert outcome.holds is not bool(outcome.differences)
    return list(outcome.differences)


def test_an_example_that_comes_out_has_no_differences(tmp_path: Path) -> None:
    assert differences(tmp_path, gang=[{"count": 1, "members": {"worker": 1}}]) == []


@pytest.mark.parametrize(
    ("worker", "what", "expected", "found"),
    [
        ({"replicas": 4}, "replicas", "4", "3"),
        ({"replicas": None}, "replicas", None, "3"),
        ({"minimum": 2}, "minimum", "2", "1"),
        ({"maximum": 5}, "maximum", "5", None),
        ({"requests": {}}, "requests of nvidia.com/gpu", None, "2"),
        ({"requests": {"nvidia.com/gpu": 2, "cpu": "500m"}}, "requests of cpu", "500m", None),
        ({"requests": {"nvidia.com/gpu": 8}}, "requests of nvidia.com/gpu", "8", "2"),
        ({"stages": [1]}, "stages", "[1]", "[0]"),
        ({"startsAfter": "leader"}, "startsAfter", "leader", ""),
        ({"gpus": 2}, "gpus", "nothing by this name", "cannot be compared"),
    ],
)
def test_every_difference_is_told(tmp_path: Path, worker: Any, what: str, expected: Any, found: Any) -> None:
    roles = {"worker": {**RIGHT["worker"], **worker}}
    assert differences(tmp_path, roles=roles) == [Difference(f"role worker, {what}", expected, found)]


def test_a_role_too_few_and_a_role_too_many_are_differences(tmp_path: Path) -> None:
    assert differences(tmp_path, roles={"leader": {"replicas": 1}}) == [
        Difference("role leader", "is there", None),
        Difference("role worker", None, "3 pods"),
    ]


def test_the_gang_is_compared_where_it_is_stated(tmp_path: Path) -> None:
    found = differences(tmp_path, gang=[{"count": 2, "members": {"worker": 3}}])
    assert found == [Difference("gang", "2 × (3 worker)", "1 × (1 worker)")]


def test_an_example_that_cannot_be_read_has_faults_at_their_lines(tmp_path: Path) -> None:
    broken = {"roles": RIGHT, "manifest": {**MANIFEST, "spec": {"workers": "many", "template": POD}}}
    one = entry(tmp_path, {"roles": RIGHT}, broken)
    first, second = examples.tried(one)
    assert first.holds and not second.holds
    (fault,) = second.faults
    assert "a whole number from 0" in fault.message
    assert fault.where and fault.where.line and fault.where.line > (second.where.line or 0)


def test_an_amount_that_is_none_is_a_fault_of_the_example(tmp_path: Path) -> None:
    (outcome,) = examples.tried(
        entry(tmp_path, {"roles": {"worker": {**RIGHT["worker"], "requests": {"cpu": "much"}}}})
    )
    assert [(fault.path[-4:], fault.message) for fault in outcome.faults] == [
        (("roles", "worker", "requests", "cpu"), '"much" is not a quantity')
    ]
