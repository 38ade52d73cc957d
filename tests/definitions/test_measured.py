"""Upstream's definitions on all public manifests give upstream's answers, row by row of the corpus' MEASURED.md.

Two rows differ, as that page announces: it did not simulate the conversion to Go types, by which Dynamo services with
`custom` resources cannot be read.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from advisor.definitions.extract import Extraction
from advisor.definitions.scale import subtree
from advisor.errors import InputError
from tests.coverage import upstream
from tests.coverage.upstream import CUSTOM, Outcome
from tests.definitions.builders import Definitions

pytestmark = pytest.mark.corpus


class Row(NamedTuple):
    manifest: str
    pods: str
    gpus: str


@pytest.fixture(scope="module")
def outcomes(corpus: Path, catalogue: Definitions) -> list[Outcome]:
    return upstream.outcomes(corpus, catalogue)


@cache
def measured(corpus: Path) -> tuple[list[Row], dict[str, int]]:
    """The rows of the two tables: what is not right, and the subtree scales that are not right."""
    misses, _, sizes = (corpus / "definitions" / "MEASURED.md").read_text().partition("Group size by")
    rows = re.findall(r"^\| (\S+\.yaml) \| [^|]+ \| ([^|]*) \| ([^|]*) \|$", misses, re.M)
    groups = re.findall(r"^\| (\S+\.yaml) \| (\d+) \| \d+ \| \d+ \|$", sizes, re.M)
    return [Row(*row) for row in rows], {name: int(scale) for name, scale in groups}


def test_every_miss_is_the_measured_one(corpus: Path, outcomes: list[Outcome]) -> None:
    rows, _ = measured(corpus)
    found = Counter(
        Row(one.manifest, arrow(one.pods, one.true_pods), arrow(one.gpus, one.true_gpus))
        if one.pods is not None
        else Row(one.manifest, "unreadable", "")
        for one in outcomes
        if not one.right and one.manifest not in CUSTOM
    )
    assert found == Counter(
        row._replace(pods="unreadable") if row.pods.startswith("unreadable") else row
        for row in rows
        if row.manifest not in CUSTOM
    )


def arrow(ours: int | None, truth: int) -> str:
    return "" if ours == truth else f"{ours} → {truth}"


def test_what_cannot_be_read_says_why_in_jqs_words(corpus: Path, outcomes: list[Outcome]) -> None:
    reasons = {
        row.manifest: row.pods.removeprefix("unreadable: ") for row in measured(corpus)[0] if "unread" in row.pods
    }
    for one in outcomes:
        if one.pods is None:
            with pytest.raises(InputError) as raised:
                one.read.leaves()
            assert reasons.get(one.manifest, "limits.custom dict is not a quantity") in str(raised.value)


def test_the_totals_of_the_table(outcomes: list[Outcome]) -> None:
    pods = [one for one in outcomes if one.pods == one.true_pods]
    assert len(outcomes) == 226
    assert len(pods) == 163 - len(CUSTOM)
    assert len([one for one in pods if one.gpus == one.true_gpus]) == 152
    assert {one.manifest for one in outcomes if one.pods is None} >= CUSTOM
    assert len([one for one in outcomes if one.pods is None]) == 10 + len(CUSTOM)


def test_group_sizes_by_the_root_subtree(corpus: Path, outcomes: list[Outcome]) -> None:
    _, groups = measured(corpus)
    grouped = [one for one in outcomes if one.manifest in groups and one.read.definition.gang]
    assert len(groups) == 41
    assert {one.manifest: subtree(one.read, one.read.definition.root.name) for one in grouped} == groups


def test_the_tree_fails_where_a_logical_level_fails(outcomes: list[Outcome]) -> None:
    """Leaves that can be read, below a root whose other child cannot: PodCliqueSets without scaling groups."""
    assert {one.manifest for one in outcomes if one.pods is not None and fails(one.read)} == {
        "podcliqueset/auto-mnnvl-hetero.yaml",
        "podcliqueset/llama-405b-gb200.yaml",
        "podcliqueset/llama-70b-h100.yaml",
        "podcliqueset/my-inference-rack-pack.yaml",
        "podcliqueset/scale-up-from-zero.yaml",
        "podcliqueset/shared-gpu-claims.yaml",
    }


def fails(read: Extraction) -> bool:
    try:
        subtree(read, read.definition.root.name)
    except InputError:
        return True
    return False
