"""Every file of the catalogue: named by the rule, valid, its expressions compile, its examples come out as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor import files, quantity
from advisor.commands import definitions
from advisor.definitions import layers, profile, profile_schema, reading
from advisor.definitions.catalog import Catalog, builtin_folder
from advisor.definitions.engine import TRUSTED
from advisor.definitions.layers import Entry
from advisor.definitions.profile_schema import Example, Profile
from advisor.definitions.validate import validate
from advisor.errors import Where
from advisor.resources import in_base_units
from advisor.workload import Role, Workload
from tests import corpus

FILES = sorted(path for path in builtin_folder().glob("*.yaml") if path.stem.rpartition("-")[2].startswith("v"))

NAMES: dict[str | int, tuple[str, ...]] = {
    **dict.fromkeys(("prepare", "counts", "podless", "scaled", "unmodelled"), ()),
    "rules": ("object", "path"),
    "references": ("namespace",),
}
"""The variables that expressions may use, by field of the profile; `roles` and `gang` know all others.

All know `refs` where the profile has references.
"""


def entry(path: Path) -> Entry:
    (found,) = layers.builtin(path).entries
    return found


def rules(path: Path) -> Profile:
    document = entry(path).profile_document
    assert document
    return profile_schema.parse(document)


def examples() -> Iterator[Any]:
    for path in FILES:
        for example in rules(path).spec.examples:
            yield pytest.param(example, id=f"{path.stem}: {example.name}")


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

    def test_every_expression_compiles(self, path: Path) -> None:
        found = rules(path)
        library = profile.library(found.spec.uses)
        for where, text in profile_schema.texts(found):
            names = NAMES.get(where[1], ("id", "object", "role", "roles", "scale"))
            if found.spec.references:
                names = (*names, "refs")
            TRUSTED.compile(f"{library}{text}", names=names, edits=True)

    def test_has_two_examples_at_least(self, path: Path) -> None:
        assert len(rules(path).spec.examples) >= 2


def read(example: Example) -> Workload:
    source = files.Source(example.name, json.dumps(example.manifest))
    further = [files.Document(one, source, 0, Where(example.name)) for one in example.with_]
    (workload,) = reading.read(files.documents(source), Catalog(), further=further).workloads
    return workload


def requests(role: Role) -> dict[str, int]:
    return in_base_units(role.template.as_pod().requests())


def stated_requests(stated: Any) -> dict[str, int]:
    return {name: quantity.base_units(name, quantity.parse(value)) for name, value in stated.items()}


def test_every_kind_that_is_referred_to_is_recorded_and_read_by_servers() -> None:
    known = {(one.group, one.kind) for one in definitions.referred()}
    found = {(one.group, one.kind) for param in examples() for one in read(param.values[0]).references}
    assert found == known


@pytest.mark.parametrize("example", list(examples()))
def test_an_example_comes_out_as_it_says(example: Example) -> None:
    workload = read(example)
    assert not workload.faults
    assert not workload.lacking
    assert [role.name for role in workload.roles] == list(example.roles)
    for role in workload.roles:
        stated = example.roles[role.name]
        assert role.replicas == stated["replicas"]
        assert role.minimum == stated.get("minimum", role.replicas)
        assert role.maximum == stated.get("maximum")
        assert requests(role) == stated_requests(stated["requests"])
        assert list(role.stage) == stated.get("stage", list(role.stage))
        assert role.starts_after == stated.get("startsAfter", role.starts_after)
    if example.gang is not None:
        assert [{"count": g.count, "members": dict(g.members)} for g in workload.groups] == list(example.gang)


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
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    paths = sorted((corpus.FOLDER / "crds").glob("*.yaml"))
    found = (document for path in paths for document in yaml.load_all(path.read_text(), loader) if document)
    return {
        (one["spec"]["group"], one["spec"]["names"]["kind"]): dict(map(_size, one["spec"]["versions"]))
        for one in found
        if one.get("kind") == "CustomResourceDefinition"
    }


def _size(version: dict[str, Any]) -> tuple[str, str | None]:
    scale = (version.get("subresources") or {}).get("scale") or {}
    return version["name"], scale.get("specReplicasPath")
