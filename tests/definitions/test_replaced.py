"""A definition that stands in for ours while our profile stays: what does not go together is said, and of whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor import files
from advisor.definitions import layers, reading
from advisor.definitions.catalog import Catalog
from advisor.workload import Workload
from tests.test_catalog import FILES

POD = {"spec": {"containers": [{"name": "main", "image": "x"}]}}
GROUP = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "x"},
    "spec": {"leaderWorkerTemplate": {"size": 3, "workerTemplate": POD}},
}


@pytest.fixture
def ours() -> Any:
    (path,) = [path for path in FILES if path.stem == "leaderworkerset-x-k8s-io-leaderworkerset-v1"]
    definition: Any = next(yaml.safe_load_all(path.read_text()))
    return definition


def read(definition: Any, folder: Path, manifest: Any = GROUP) -> Workload:
    path = folder / "theirs.yaml"
    path.write_text(files.dump({**definition, "metadata": {"name": "theirs"}}))
    documents = files.documents(files.Source("m.json", json.dumps(manifest)))
    return reading.read(documents, Catalog((layers.from_files([str(path)]),))).workloads[0]


def parts(definition: Any) -> Any:
    return definition["spec"]["structureDefinition"]["childComponents"]


def test_one_of_the_same_components_keeps_our_profile(ours: Any, tmp_path: Path) -> None:
    found = read(ours, tmp_path)
    assert {role.name: role.replicas for role in found.roles} == {"leader": 1, "worker": 2}
    assert not [note for note in found.notes if note.rule == "no-profile"]


def test_one_that_lacks_components_is_said_to_count_alone(ours: Any, tmp_path: Path) -> None:
    """The pods may be fewer than those that come, so it is said also where nobody asks for notes."""
    parts(ours)[:] = [part for part in parts(ours) if part["name"] != "leader"]
    ours["spec"].pop("optimizationInstructions")
    (said,) = [note for note in read(ours, tmp_path).notes if note.rule == "no-profile"]
    assert said.warns
    assert f"the definition theirs of file {tmp_path / 'theirs.yaml'} alone" in said.text
    assert "placement profile of leaderworkerset-x-k8s-io-leaderworkerset-v1" in said.text


def test_what_our_own_definition_reads_is_no_fault_of_the_manifest(ours: Any, tmp_path: Path) -> None:
    (leader,) = [part for part in parts(ours) if part["name"] == "leader"]
    leader["specDefinition"] = {"podTemplateSpecPath": ".spec.leaderWorkerTemplate.leaderTemplate"}
    (fault,) = read(ours, tmp_path).faults
    assert fault.where and fault.where.file == str(tmp_path / "theirs.yaml")
    assert fault.message.startswith("does not go with the placement profile of leaderworkerset-x-k8s-io-")
    whole = {**GROUP, "spec": {"leaderWorkerTemplate": {"size": 3, "workerTemplate": POD, "leaderTemplate": POD}}}
    assert not read(ours, tmp_path, whole).faults


def test_a_manifest_that_nobody_reads_is_to_blame_itself(ours: Any, tmp_path: Path) -> None:
    broken = {**GROUP, "spec": {"leaderWorkerTemplate": {"size": 3, "workerTemplate": {"spec": 3}}}}
    (leader,) = [part for part in parts(ours) if part["name"] == "leader"]
    leader["specDefinition"] = {"podTemplateSpecPath": ".spec.leaderWorkerTemplate.leaderTemplate"}
    assert all(fault.where and fault.where.file == "m.json" for fault in read(ours, tmp_path, broken).faults)
