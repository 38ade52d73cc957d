"""Capacity cases made after public bug reports: every verdict right, and nothing said that is not known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from advisor.advise import advise
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.question import Policy, Question
from advisor.verdict import Answer, Verdict
from tests import corpus
from tests.kube import objects

UNMODELLED = {"15", "16", "18", "19"}
"""Kueue queues, Kueue topology and topology spread are seen and not evaluated: `unknown`."""

FAMILIES = {
    "insufficient-mig": ("insufficient-mig-3g.40gb",),
    "cordoned": ("cordoned", "not-ready"),
}
"""Words of ours for a cause that a case calls otherwise."""

CASES = corpus.cases()
JUDGED = [path for path in CASES if path.name[:2] not in UNMODELLED]
pytestmark = [pytest.mark.corpus, corpus.needed]


def question(path: Path) -> tuple[Question, dict[str, Any]]:
    case = corpus.data(path)
    text = "---\n".join(files.dump(one) for one in case.get("workloads") or [case["workload"]])
    read = reading.read(files.documents(files.Source(path.name, text)), Catalog())
    clusters = tuple(replace(objects.snapshot(*one["objects"]), name=one["name"]) for one in case["clusters"])
    asked = Question(read.workloads, clusters, Policy(), datetime(2026, 11, 30, tzinfo=UTC), objects.shipped())
    return asked, case["expect"]


def answer(path: Path) -> tuple[Answer, dict[str, Any]]:
    asked, expect = question(path)
    (found,) = advise(asked).answers
    return found, expect


def by_cluster(found: Answer) -> dict[str, Verdict]:
    return {verdict.cluster: verdict for verdict in found.verdicts}


@pytest.mark.parametrize("path", JUDGED, ids=lambda path: path.stem)
def test_fits_exactly_where_it_fits(path: Path) -> None:
    found, expect = answer(path)
    assert {name: verdict.verdict == "fits" for name, verdict in by_cluster(found).items()} == {
        name: one["fits"] for name, one in expect["perCluster"].items()
    }
    assert all(verdict.verdict != "unknown" for verdict in found.verdicts)


@pytest.mark.parametrize("path", JUDGED, ids=lambda path: path.stem)
def test_the_right_cluster_is_chosen(path: Path) -> None:
    found, expect = answer(path)
    assert (found.choice.cluster if found.choice else None) == expect.get("cluster")


@pytest.mark.parametrize("path", JUDGED, ids=lambda path: path.stem)
def test_the_first_reason_is_the_cause(path: Path) -> None:
    found, expect = answer(path)
    for name, verdict in by_cluster(found).items():
        cause = expect["perCluster"][name]["reason"]
        if cause != "ok":
            assert verdict.reasons[0].code in FAMILIES.get(cause, (cause,)), f"{name}: {verdict.reasons}"


@pytest.mark.parametrize("path", JUDGED, ids=lambda path: path.stem)
def test_the_largest_number_of_replicas(path: Path) -> None:
    found, expect = answer(path)
    for name, most in expect.get("maxReplicas", {}).items():
        largest = by_cluster(found)[name].largest
        assert largest is not None
        assert max(largest.values()) == most


@pytest.mark.parametrize("path", [path for path in CASES if path.name[:2] in UNMODELLED], ids=lambda path: path.stem)
def test_what_is_not_modelled_is_never_a_yes(path: Path) -> None:
    found, expect = answer(path)
    assert found.choice is None
    for name, verdict in by_cluster(found).items():
        assert verdict.verdict == "unknown" or not expect["perCluster"][name]["fits"]
        assert all(reason.code == "unsupported" and reason.subject for reason in verdict.doubts)
