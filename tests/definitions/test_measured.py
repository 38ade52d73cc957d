"""Upstream's definitions on all public manifests give upstream's answers, row by row of the corpus' MEASURED.md.

Two rows differ, as that page announces: it did not simulate the conversion to Go types, by which Dynamo services with
`custom` resources cannot be read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from advisor import files, quantity
from advisor.definitions.extract import Extraction
from advisor.definitions.scale import subtree
from advisor.errors import InputError
from advisor.resources import Init, pod_total
from tests.definitions.builders import Definitions, extraction

pytestmark = pytest.mark.corpus

GPU = "nvidia.com/gpu"
CUSTOM = {"dynamographdeployment/qwen3-32b-4p8d-vke.yaml", "dynamographdeployment/qwen3-8b-8p4d-multinode.yaml"}
TWICE = "knativeservice/tag-header-two-revisions.yaml"
"""One object in two documents, which is an update: MEASURED.md leaves it out."""
REPEATED_KEY = "pod/nccl-a4-two-pods.yaml"
"""Has a key twice in one mapping; our reader refuses it, upstream's takes the later."""


class Outcome(NamedTuple):
    """What was read of one object, and what is true. `pods` None: unreadable."""

    manifest: str
    pods: int | None
    gpus: int
    true_pods: int
    true_gpus: int
    read: Extraction


class Row(NamedTuple):
    manifest: str
    pods: str
    gpus: str


@pytest.fixture(scope="module")
def outcomes(corpus: Path, catalogue: Definitions) -> list[Outcome]:
    folder = corpus / "workloads"
    names = (str(path.relative_to(folder)) for path in sorted(folder.rglob("*.yaml")))
    manifests = [name for name in names if not name.endswith(".expected.yaml") and name != TWICE]
    return [outcome for name in manifests for outcome in judged(folder, name, catalogue)]


def judged(folder: Path, name: str, catalogue: Definitions) -> Iterator[Outcome]:
    answers = folder / name.replace(".yaml", ".expected.yaml")
    expected = documents(answers)[0]["workloads"] if answers.exists() else []
    for manifest in documents(folder / name):
        kind = (manifest["apiVersion"], manifest["kind"])
        if kind in catalogue:
            truth = next(one for one in expected if identity(one) in (identity(manifest), (*kind, None)))
            expected.remove(truth)
            read = extraction(catalogue[kind], manifest, strict=False)
            pods, gpus = counted(read)
            yield Outcome(name, pods, gpus, truth["totals"]["pods"], truth["totals"].get(GPU, 0), read)


def documents(path: Path) -> list[Any]:
    text = path.read_text()
    if str(path).endswith(REPEATED_KEY):
        text = re.sub(r"      resources:\n        requests:\n.*\n", "", text)
    found = [document.data for document in files.documents(files.Source(path.name, text))]
    return [item for one in found for item in (one["items"] if one.get("kind") == "List" else [one])]


def identity(manifest: Mapping[str, Any]) -> tuple[str, str, str | None]:
    metadata = manifest.get("metadata") or {}
    name = manifest.get("name") or metadata.get("name") or metadata.get("generateName")
    return manifest["apiVersion"], manifest["kind"], name


def counted(read: Extraction) -> tuple[int | None, int]:
    """Pods and GPUs as upstream's tool counts them."""
    try:
        instances = [instance for part in read.leaves() for instance in part.instances]
    except InputError:
        return None, 0
    desired = [instance.scale.desired if instance.scale else 1 for instance in instances]
    return sum(desired), sum(n * gpus(instance.pod or {}) for n, instance in zip(desired, instances, strict=True))


def gpus(pod: Mapping[str, Any]) -> int:
    spec = pod.get("spec") or {}
    running = [amounts(container) for container in spec.get("containers") or ()]
    return pod_total(running, [Init(amounts(one)) for one in spec.get("initContainers") or ()]).get(GPU, 0)


def amounts(container: Mapping[str, Any]) -> dict[str, int]:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.get(GPU)
    return {} if asked is None else {GPU: quantity.parse(asked)}


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
        if (one.pods, one.gpus) != (one.true_pods, one.true_gpus) and one.manifest not in CUSTOM
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
