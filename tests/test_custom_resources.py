"""What profiles say of fields and quantities, held against the CustomResourceDefinitions of their kinds.

A kind takes a fraction without quotes where its schema has no `x-kubernetes-int-or-string`, and its own fields are
those that the schema has among the fields of pods. Looked at in every place of every example with parts of pods.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import pytest

from advisor.definitions import layers, object_checks, openapi, pieces, profile_schema, reading
from advisor.definitions.catalog import Catalog
from advisor.definitions.engine import prepare
from advisor.errors import Path
from tests import corpus
from tests.test_catalog import FILES, rules

Schema = Mapping[str, Any]
PRESERVES = "x-kubernetes-preserve-unknown-fields"
OLDER = {"workloadRef", "aix", "alibi"}
"""A field of pods of Kubernetes 1.35, and explainers that KServe had once."""


@cache
def schemas() -> Mapping[tuple[str, str, str], Schema]:
    found = {}
    for spec in (one["spec"] for _, one in corpus.custom_resources()):
        for version in spec["versions"]:
            key = (spec["group"], spec["names"]["kind"], version["name"])
            found[key] = version.get("schema", {}).get("openAPIV3Schema", {})
    return found


def places(path: FilePath) -> Iterator[tuple[Path, str]]:
    """Where examples of a kind have parts of pods, and which."""
    document = layers.builtin(path).entries[0].profile_document
    assert document
    for example in profile_schema.parse(document).spec.examples:
        manifest = json.loads(json.dumps(example.manifest))
        found = Catalog().find(manifest["apiVersion"], manifest["kind"])
        assert found
        own = reading.profile_of(found)
        assert own
        context = reading.context_of(own, prepare(manifest), "default", found)
        for where, (piece, _, _) in object_checks.parts(context.document, found, context):
            yield where, piece


def described_parts(path: FilePath) -> Iterator[tuple[Schema, Path, str]]:
    """Of every version that the profile is for its schema, where parts of pods are, and their form."""
    kind = rules(path).spec.for_
    for version in kind.versions:
        schema = schemas().get((kind.group, kind.kind, version), {})
        yield from ((schema, where, pieces.TYPES[piece]) for where, piece in places(path))


def below(schema: Schema, path: Path) -> Schema | None:
    for step in path:
        inside = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step)
        schema = inside or schema.get("additionalProperties") or {}
    return schema or None


def walk(schema: Schema, form: str, path: Path) -> Iterator[tuple[Path, str]]:
    """Fields that pods do not have, and quantities: `own`, `quoted` and `free`, each with its path."""
    for mark, inside in (("[]", "items"), ("{}", "additionalProperties")):
        if form.startswith(mark):
            schema, form = schema.get(inside) or {}, form.removeprefix(mark)
    if form == "quantity" and schema:
        yield path, "quoted" if schema.get("x-kubernetes-int-or-string") else "free"
    known = types().get(form, {})
    for field, member in (schema.get("properties") or {}).items() if known else ():
        if field in known:
            yield from walk(member, known[field].removeprefix("!"), (*path, field))
        else:
            yield (*path, field), "own"


def loose(schema: Schema, form: str, path: Path) -> Iterator[tuple[Path, bool]]:
    """Parts of pods of which the schema says nothing (True), and maps and lists of which it says something."""
    inside = {"[]": "items", "{}": "additionalProperties"}.get(form[:2])
    if PRESERVES in schema and not schema.get("properties"):
        yield path, True
        return
    if inside and inside in schema:
        schema, form = schema[inside], form[2:]
        silent = PRESERVES in schema and not schema.get("properties")
        yield path, silent
        if silent:
            return
    known = types().get(form, {})
    for field, member in (schema.get("properties") or {}).items() if known else ():
        if field in known and field not in OF_ENVIRONMENT:
            yield from loose(member, known[field].removeprefix("!"), (*path, field))


OF_ENVIRONMENT = {"env", "volumes"}
"""Where a null below what the schema does not look at is the same as nothing."""


@corpus.needed
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_the_profile_says_where_the_schema_says_nothing(path: FilePath) -> None:
    spec = rules(path).spec
    for schema, where, form in described_parts(path):
        for found, silent in loose(below(schema, where) or {}, form, where):
            assert profile_schema.is_below(found, spec.free) == silent, found


@cache
def types() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = corpus.data(openapi.FILE)["types"]
    return found


@corpus.needed
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_the_profile_says_what_the_schema_says(path: FilePath) -> None:
    spec = rules(path).spec
    own, seen = set(), False
    for schema, where, form in described_parts(path):
        for found, what in walk(below(schema, where) or {}, form, where):
            if what == "own":
                own.add(str(found[-1]))
            else:
                said = profile_schema.is_below(found, spec.quoted)
                assert said == (what == "quoted"), found
                seen = seen or said
    assert own - OLDER <= set(spec.knows)
    assert seen == bool(spec.quoted)
    schema = schemas().get((spec.for_.group, spec.for_.kind, spec.for_.versions[-1]), {})
    if schema:
        assert set(spec.knows) <= own | OLDER or PRESERVES in json.dumps(schema)
