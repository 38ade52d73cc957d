"""All of upstream's public definitions, with the outcome that the corpus' INDEX.md states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.definitions import expressions, schema
from advisor.definitions.layers import from_files
from tests.definitions.builders import Definitions, lines, yaml

pytestmark = pytest.mark.corpus

BROKEN = {
    "legacy-resourceinterface/mpijob.yaml": ["mpijob.yaml:25: is not YAML: did not find expected key"],
    "nvcf/scheduling-run-ai-podgroup-v2alpha2.yaml": [
        "scheduling-run-ai-podgroup-v2alpha2.yaml:53 spec.structureDefinition.childComponents[0]"
        ".podSelector.componentInstanceSelector: needs instanceIdPath"
    ],
    "samples-unmerged/argo-workflow.yaml": ["not valid jq: spec/0 is not defined"] * 8,
}
UNNAMED = {"legacy-resourceinterface/jobset.yaml", "legacy-resourceinterface/milvus.yaml"}


def paths(corpus: Path) -> dict[str, Path]:
    folder = corpus / "definitions"
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.yaml"))}
    return {name: path for name, path in found.items() if not name.startswith("crd/")}


def test_every_file_has_the_outcome_of_the_index(corpus: Path) -> None:
    outcome = {name: from_files([str(path)]) for name, path in paths(corpus).items()}
    faults = {name: [str(fault) for fault in layer.faults] for name, layer in outcome.items() if layer.faults}
    assert len(outcome) == 43
    assert faults.keys() == BROKEN.keys()
    for name, shown in faults.items():
        assert len(shown) == len(BROKEN[name])
        assert all(wanted in fault for wanted, fault in zip(BROKEN[name], shown, strict=True))
    assert sum(len(layer.entries) for layer in outcome.values()) == 40


def test_the_index_names_the_same_outcomes(corpus: Path) -> None:
    rows = re.findall(r"^\| (\S+\.yaml) \|.*\| ([^|]+) \|$", (corpus / "definitions" / "INDEX.md").read_text(), re.M)
    expected = {name: text.replace("*", "") for name, text in rows if not name.startswith("crd/")}
    assert expected.keys() == paths(corpus).keys()
    assert {name for name, text in expected.items() if not text.startswith("valid")} == BROKEN.keys()
    assert {name for name, text in expected.items() if "no `metadata`" in text} == UNNAMED


def test_the_old_names_and_missing_names_are_warned_about(corpus: Path) -> None:
    for name, path in paths(corpus).items():
        for entry in from_files([str(path)]).entries:
            warnings = [line for line in lines(entry.warnings) if line.startswith(("kind", "metadata"))]
            expected = ["kind: ResourceInterface is the old name of this kind"] if name.startswith("legacy") else []
            expected += ["metadata.name: is missing; a cluster would refuse the definition"] if name in UNNAMED else []
            assert warnings == expected


def test_no_path_of_the_catalogue_uses_a_refused_word_or_asks_for_a_warning(catalogue: Definitions) -> None:
    texts = {text for definition in catalogue.values() for _, text in schema.expressions(definition)}
    assert len(texts) > 150
    for text in texts:
        expressions.check(text)
        assert not expressions.warnings(text)


def test_a_catalogue_file_is_named_after_its_kind(corpus: Path, catalogue: Definitions) -> None:
    stems = {path.stem for path in (corpus / "definitions").glob("*.yaml")}
    assert stems == {definition.name for definition in catalogue.values()}


def test_the_schema_has_the_fields_of_the_crd(corpus: Path) -> None:
    crd = yaml((corpus / "definitions" / "crd" / "run.ai_kartas.yaml").read_text())
    theirs = set(fields(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"], {}))
    ours = schema.Definition.model_json_schema()
    assert set(fields(ours["$defs"]["Spec"], ours["$defs"])) == theirs
    assert len(theirs) > 200


def fields(node: dict[str, Any], named: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The path of each field below a node of a JSON schema, and whether it is required."""
    node = named[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    for choice in node.get("anyOf", ()):
        yield from fields(choice, named)
    for name, below in node.get("properties", {}).items():
        yield name, name in node.get("required", ())
        yield from ((f"{name}.{path}", required) for path, required in fields(below, named))
    if "items" in node:
        yield from fields(node["items"], named)
