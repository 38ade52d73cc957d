"""Public manifests of the catalogue's kinds give the roles, numbers, requests and gangs that are known to be right."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor import files, quantity
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.files import Document
from advisor.render import totals
from advisor.resources import in_base_units
from advisor.workload import Role, Workload
from tests import corpus

KINDS = (
    "pod",
    "deployment",
    "statefulset",
    "job",
    "cronjob",
    "jobset",
    "leaderworkerset",
    "pytorchjob",
    "mpijob",
    "raycluster",
    "rayjob",
    "rayservice",
    "tfjob",
    "volcanojob",
    "stormservice",
    "rayclusterfleet",
    "disaggregatedset",
    "trainjob",
    "knativeservice",
    "inferenceservice",
    "nimservice",
    "nimcache",
    "nimpipeline",
    "workload",
)
REFUSED = {
    "nccl-a4-two-pods": 'the key "resources" stands twice',
    "stablediffusion-autoscaler": "cannot be set in a RayService",
    "invalid-min-available": "is more than the pods of all tasks",
}
"""Files that are refused on purpose: two meanings in one mapping (kubectl would take the later one without a word), and
what the kind's own webhook or controller refuses."""

MENDED = {"mpi-launcher-as-node-ddp-sft": ("manager: bench-mpi-ddp-sft", "manager: example.com/bench")}
"""Files that a webhook refuses, with what is wrong and what makes it right: then the numbers are those expected."""

OTHER_NAMES = {"deployment": "replica"}
"""Roles that the expected files call by two names."""

RUNTIMES = {"nim-llama3-70b-4xh100": ("nvidia-nim-llama3-70b-instruct-1.0.0", {"cpu": "12", "memory": "32Gi"})}
"""Files whose expected values come from a runtime that is not in the file: its name and its requests."""

FILES = [path for kind in KINDS for path in corpus.expected(kind)]
pytestmark = [pytest.mark.corpus, corpus.needed]


def stem(path: Path) -> str:
    return path.name.removesuffix(".expected.yaml")


def manifest(path: Path, *, mended: bool = True) -> list[Document]:
    source = files.read(str(path.with_name(f"{stem(path)}.yaml")))
    wrong, right = MENDED.get(stem(path), ("", "")) if mended else ("", "")
    return files.documents(replace(source, text=source.text.replace(wrong, right)))


def runtimes(path: Path) -> list[Document]:
    """Objects on which a file's workloads depend and that it does not hold itself."""
    named = [one.get("requiresRuntime", {}).get("file") for one in corpus.data(path)["workloads"]]
    return [
        one
        for name in named
        if name not in (None, SAME)
        for one in files.documents(files.read(str(path.parent / name)))
    ]


def is_lost(path: Path) -> bool:
    """Does nobody know the object on which its pods depend?"""
    named = [one.get("requiresRuntime", {"file": ""})["file"] for one in corpus.data(path)["workloads"]]
    return None in named


SAME = "same file"
READ = [path for path in FILES if stem(path) not in REFUSED and not is_lost(path)]
REFERRING = [path for path in READ if runtimes(path)]


def pairs(path: Path) -> list[tuple[Workload, Mapping[str, Any]]]:
    """Each workload of a file with what is expected of it."""
    read = reading.read(manifest(path), Catalog(), further=[*runtimes(path), *beside(path)])
    wanted = [one for one in corpus.data(path)["workloads"] if one["roles"]]
    assert not read.missing
    return list(zip(read.workloads, _once(wanted), strict=True))


def beside(path: Path) -> Iterator[files.Document]:
    if stem(path) in RUNTIMES:
        name, requests = RUNTIMES[stem(path)]
        container = {"name": "kserve-container", "resources": {"requests": requests}}
        kind = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ClusterServingRuntime"}
        runtime = {**kind, "metadata": {"name": name}, "spec": {"containers": [container]}}
        yield from files.documents(files.Source("runtime", json.dumps(runtime)))


def _once(wanted: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of an object that a file holds twice the last one, as we read it; what has no name yet is another each time."""
    keys = ("apiVersion", "kind", "namespace")
    kept = {(*(one[key] for key in keys), one["name"] or place): one for place, one in enumerate(wanted)}
    return list(kept.values())


def named(role: Mapping[str, Any]) -> str:
    name: str = role["name"]
    return OTHER_NAMES.get(name, name)


def units(stated: Mapping[str, Any]) -> dict[str, int]:
    """Resource amounts of an expected file in base units, without zeros."""
    amounts = {name: quantity.base_units(name, quantity.parse(value)) for name, value in stated.items()}
    return {name: amount for name, amount in amounts.items() if amount}


def requests(role: Role) -> dict[str, int]:
    return in_base_units(role.template.as_pod().requests())


@pytest.mark.parametrize("path", READ, ids=stem)
def test_roles_and_their_numbers(path: Path) -> None:
    for workload, wanted in pairs(path):
        assert not workload.faults
        assert [(role.name, role.replicas) for role in workload.roles] == [
            (named(role), role["replicas"]) for role in wanted["roles"]
        ]


@pytest.mark.parametrize("path", READ, ids=stem)
def test_what_one_pod_requests(path: Path) -> None:
    for workload, wanted in pairs(path):
        assert {role.name: requests(role) for role in workload.roles} == {
            named(role): units(role["requests"]) for role in wanted["roles"]
        }


@pytest.mark.parametrize("path", READ, ids=stem)
def test_totals(path: Path) -> None:
    for workload, wanted in pairs(path):
        found: dict[str, int] = {}
        for role in workload.roles:
            for name, amount in requests(role).items():
                found[name] = found.get(name, 0) + amount * role.replicas
        stated = {name: value for name, value in wanted["totals"].items() if name not in ("pods", "deviceClaims")}
        assert workload.pods == wanted["totals"]["pods"]
        assert {name: amount for name, amount in found.items() if amount} == units(stated)


@pytest.mark.parametrize("path", READ, ids=stem)
def test_elastic_bounds(path: Path) -> None:
    for workload, wanted in pairs(path):
        for role, stated in zip(workload.roles, wanted["roles"], strict=True):
            if "minReplicas" in stated:
                assert role.minimum == min(stated["minReplicas"], stated["replicas"])
            if "maxReplicas" in stated:
                assert role.maximum == stated["maxReplicas"]
            assert role.injected == stated.get("injected", False)


@pytest.mark.parametrize("path", READ, ids=stem)
def test_gang_groups(path: Path) -> None:
    for workload, wanted in pairs(path):
        found = [{"count": group.count, "members": dict(group.members)} for group in workload.groups]
        assert several(found) == several(wanted.get("gangGroups", []))


@pytest.mark.parametrize("path", READ, ids=stem)
def test_claims_of_devices(path: Path) -> None:
    for workload, wanted in pairs(path):
        for role, stated in zip(workload.roles, wanted["roles"], strict=True):
            found = totals.devices_per_pod(role)
            known = totals.known_devices_per_pod(role)
            if "deviceClaims" in stated or known:
                assert known == by_class(stated.get("deviceClaims", {}))
                assert found == known or (found is None and "uncertain" in wanted)
        if "deviceClaims" in wanted["totals"] and "uncertain" not in wanted:
            assert totals.devices(workload) == by_class(wanted["totals"]["deviceClaims"])
        for shared in wanted.get("sharedClaims", ()):
            assert (shared["deviceClass"], shared["count"]) in shared_devices(workload)


def by_class(stated: Any) -> dict[str, int]:
    """The corpus writes them as a mapping or as a list."""
    return stated if isinstance(stated, dict) else {one["deviceClass"]: one["count"] for one in stated}


def shared_devices(workload: Workload) -> list[tuple[str | None, int | None]]:
    known = [claim.devices or {} for claim in workload.shared_claims]
    return [next(iter(devices.items()), (None, None)) for devices in known]


@pytest.mark.parametrize("path", READ, ids=stem)
def test_pods_that_must_start_at_least(path: Path) -> None:
    for workload, wanted in pairs(path):
        if "minAvailable" in wanted:
            in_groups = sum(group.count * sum(group.members.values()) for group in workload.groups)
            assert (workload.min_available or in_groups) == wanted["minAvailable"]


def several(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without groups of one pod, which say nothing."""
    return [group for group in groups if group["count"] * sum(group["members"].values()) > 1]


@pytest.mark.parametrize("path", [path for path in FILES if stem(path) in REFUSED], ids=stem)
def test_what_is_refused_says_why(path: Path) -> None:
    with pytest.raises(InputError, match=REFUSED[stem(path)]):
        for workload, _ in pairs(path):
            raise InputError.of(workload.faults)


@pytest.mark.parametrize("path", [*REFERRING, *filter(is_lost, FILES)], ids=stem)
def test_without_the_object_on_which_the_pods_depend_nobody_knows_them(path: Path) -> None:
    (workload,) = reading.read(manifest(path), Catalog()).workloads
    (wanted,) = (one["requiresRuntime"] for one in corpus.data(path)["workloads"])
    assert workload.roles == ()
    assert [missing.title for missing in workload.lacking] == [f"{wanted['kind']} {wanted['name']}"]


@pytest.mark.parametrize("path", [path for path in FILES if stem(path) in MENDED], ids=stem)
def test_what_a_webhook_refuses_is_a_fault(path: Path) -> None:
    (workload,) = reading.read(manifest(path, mended=False), Catalog(), further=runtimes(path)).workloads
    assert [fault.path[-1] for fault in workload.faults] == ["manager"]
