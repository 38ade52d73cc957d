"""Public manifests of the catalogue's kinds give the roles, numbers, requests and gangs that are known to be right."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from advisor import files, quantity
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
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
    "knativeservice",
    "workload",
    "podcliqueset",
    "sandbox",
    "workspace",
    "inferenceset",
    "dynamographdeployment",
    "milvus",
)
NOT_YET = {"raycronjob-sample"}
"""Files in these folders whose kind the catalogue does not have."""

REFUSED = {"nccl-a4-two-pods": 'the key "resources" stands twice'}
"""Files that are refused on purpose: two meanings in one mapping (kubectl would take the later one without a word)."""

OTHER_NAMES = {"deployment": "replica"}
"""Roles that the expected files call by two names."""

FILES = [path for kind in KINDS for path in corpus.expected(kind)]
pytestmark = [pytest.mark.corpus, corpus.needed]


def stem(path: Path) -> str:
    return path.name.removesuffix(".expected.yaml")


READ = [path for path in FILES if stem(path) not in {*NOT_YET, *REFUSED}]


def pairs(path: Path) -> list[tuple[Workload, Mapping[str, Any]]]:
    """Each workload of a file with what is expected of it."""
    read = reading.read(files.documents(files.read(str(path.with_name(f"{stem(path)}.yaml")))), Catalog())
    wanted = [one for one in corpus.data(path)["workloads"] if one["roles"]]
    assert not read.missing
    return list(zip(read.workloads, _once(wanted), strict=True))


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
        assert sorted((role.name, role.replicas) for role in workload.roles) == sorted(
            (named(role), role["replicas"]) for role in wanted["roles"]
        )


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
        by_name = {named(stated): stated for stated in wanted["roles"]}
        for role in workload.roles:
            stated = by_name[role.name]
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
        by_name = {named(stated): stated for stated in wanted["roles"]}
        for role in workload.roles:
            stated = by_name[role.name]
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
        pairs(path)
