"""Every file of the catalogue: named by the rule, valid, its expressions compile, its examples come out as it says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from advisor.commands import definitions
from advisor.definitions import examples, layers, profile_checks, profile_schema
from advisor.definitions.engine import TRUSTED
from advisor.definitions.layers import Entry
from advisor.definitions.profile_schema import Profile
from advisor.definitions.shipped import builtin_folder
from advisor.definitions.validate import validate
from advisor.workload import Workload
from tests import corpus

FILES = sorted(path for path in builtin_folder().glob("*.yaml") if path.stem.rpartition("-")[2].startswith("v"))


def entry(path: Path) -> Entry:
    (found,) = layers.builtin(path).entries
    return found


def rules(path: Path) -> Profile:
    document = entry(path).profile_document
    assert document
    return profile_schema.parse(document)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
class TestFile:
    def test_is_named_by_group_kind_and_version(self, path: Path) -> None:
        kind = entry(path).kind
        group = kind.group.replace(".", "-") or "core"
        assert path.stem == entry(path).definition.name == f"{group}-{kind.kind.lower()}-{kind.version}"

    def test_is_valid_without_a_warning(self, path: Path) -> None:
        found = validate(entry(path).definition, TRUSTED)
        assert not found.errors
        assert not [warning for warning in found.warnings if "clock" in warning.message]

    def test_the_profile_speaks_of_the_same_kind(self, path: Path) -> None:
        kind, stated = entry(path).kind, rules(path).spec.for_
        assert (stated.group, stated.kind) == (kind.group, kind.kind)
        assert kind.version in stated.versions

    def test_the_profile_is_right_without_a_doubt(self, path: Path) -> None:
        """Its expressions compile with the variables that they will have; every component has its role."""
        document = entry(path).profile_document
        assert document
        found = profile_checks.about_profile(document, entry(path).definition, TRUSTED)
        assert (found.errors, found.warnings) == ((), ())

    def test_a_copy_of_it_is_one_that_anybody_may_use(self, path: Path) -> None:
        """Also within the time that what others wrote has."""
        found = layers.from_files([str(path)])
        assert (found.faults, [one.definition.name for one in found.entries]) == ((), [path.stem])

    def test_has_two_examples_at_least(self, path: Path) -> None:
        assert len(rules(path).spec.examples) >= 2

    def test_the_examples_come_out_as_they_say(self, path: Path) -> None:
        assert [outcome for outcome in examples.tried(entry(path)) if not outcome.holds] == []

    def test_an_empty_name_is_none(self, path: Path) -> None:
        """With generateName, as the API server reads it."""
        for trial in examples.trials(entry(path)):
            unnamed, empty = (_named(trial, {"generateName": "ab-", **more}) for more in ({}, {"name": ""}))
            assert [(fault.path, fault.message) for fault in empty.faults] == [
                (fault.path, fault.message) for fault in unnamed.faults
            ]
            assert (empty.roles, empty.groups, empty.requires) == (unnamed.roles, unnamed.groups, unnamed.requires)


def _named(trial: examples.Trial, names: Mapping[str, str]) -> Workload:
    manifest = dict(trial.example.manifest)
    others = {key: value for key, value in manifest["metadata"].items() if key != "name"}
    changed = trial.example.model_copy(update={"manifest": {**manifest, "metadata": {**others, **names}}})
    return replace(trial, example=changed).workload()


def test_patterns_end_where_the_text_ends() -> None:
    """`$` matches before a line's end, too, with which block scalars of YAML end."""
    own = [path for path in builtin_folder().rglob("*") if path.suffix in (".yaml", ".jq")]
    found = [
        f"{path.name}:{number}"
        for path in own
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r'(?:test|match|capture)\("[^"]*\$(?:["|)])', line)
    ]
    assert not found


def test_every_kind_that_is_referred_to_is_recorded_and_read_by_servers() -> None:
    known = {(one.group, one.kind) for one in definitions.referred()}
    read = (workload for path in FILES for workload in examples.workloads(entry(path)))
    assert {(one.group, one.kind) for workload in read for one in workload.references} == known


@corpus.needed
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_what_a_scale_sets_is_what_the_kind_says(path: Path) -> None:
    """Where we know its CustomResourceDefinition; the built-in kinds have none."""
    own = rules(path).spec
    stated = sizes().get((own.for_.group, own.for_.kind), {})
    for version in stated.keys() & set(own.for_.versions):
        assert own.scaled == stated[version]


@cache
def sizes() -> dict[tuple[str, str], dict[str, str | None]]:
    """Kind → version → the path of the replicas in its subresource `scale`, as the CRDs of the corpus say."""
    return {
        (one["spec"]["group"], one["spec"]["names"]["kind"]): dict(map(_size, one["spec"]["versions"]))
        for _, one in corpus.custom_resources()
    }


def _size(version: dict[str, Any]) -> tuple[str, str | None]:
    scale = (version.get("subresources") or {}).get("scale") or {}
    return version["name"], scale.get("specReplicasPath")
