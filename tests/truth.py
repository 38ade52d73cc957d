"""What the corpus says of its public manifests, beside what we read in them: aspect by aspect, in equal form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from advisor import files, quantity
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.files import Document
from advisor.render import totals
from advisor.resources import in_base_units
from advisor.workload import Role, Workload
from tests import corpus

Wanted = Mapping[str, Any]
SAME = "same file"

MENDED = {
    "mpi-launcher-as-node-ddp-sft": ("manager: bench-mpi-ddp-sft", "manager: example.com/bench"),
    "cloudrun-nim-nemotron": ("name: ${CLOUD_RUN_SERVICE_NAME}", "name: nemotron"),
    "stateful-gpu-defaults": ("name: trainjob-qwen2.5", "name: trainjob-qwen2-5"),
    "income-alibi-explainer": ("cpu: 0.1", 'cpu: "0.1"'),
    "tensorflow-notebook-v1beta1": ("  template:\n", "  selector: {matchLabels: {app: tf-notebook}}\n  template:\n"),
}
"""Files that the API server or a webhook refuses, with what is wrong and what makes it right: then the numbers are
those expected."""

REFUSED = {
    "nccl-a4-two-pods": 'the key "resources" stands twice',
    "stablediffusion-autoscaler": "cannot be set in a RayService",
    "invalid-min-available": "is more than the pods of all tasks",
}
"""Files that are refused on purpose: two meanings in one mapping (kubectl would take the later one without a word), and
what the kind's own webhook or controller refuses."""


OTHER_NAMES = {"deployment": "replica"}
"""Roles that the expected files call by two names."""

RUNTIMES: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    "nim-llama3-70b-4xh100": (
        "nvidia-nim-llama3-70b-instruct-1.0.0",
        "nvidia-nim-llama3-70b-instruct",
        {"cpu": "12", "memory": "32Gi"},
    ),
    "fluid-llama31-8b-scale-to-zero": ("custom-kserve-huggingfaceserver", "huggingface", {}),
}
"""Files whose expected values need a runtime that is not in the file: its name, the model's format, its requests."""


@dataclass(frozen=True, slots=True)
class Public:
    """One public manifest, and what is known to be right of it; `path` is that of the expected file."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".expected.yaml")

    @property
    def title(self) -> str:
        return f"{self.path.parent.name}/{self.name}"

    @property
    def wanted(self) -> list[Wanted]:
        """The workloads that are expected; objects without pods are none."""
        return [one for one in corpus.data(self.path)["workloads"] if one["roles"]]

    def documents(self, *, mended: bool = True) -> list[Document]:
        source = files.read(str(self.path.with_name(f"{self.name}.yaml")))
        wrong, right = MENDED.get(self.name, ("", "")) if mended else ("", "")
        return files.documents(replace(source, text=source.text.replace(wrong, right)))

    @property
    def elsewhere(self) -> list[str]:
        """Files of objects on which its workloads depend."""
        names = [one["requiresRuntime"]["file"] for one in self.wanted if "requiresRuntime" in one]
        return [name for name in names if name not in (None, SAME)]

    @property
    def runtimes(self) -> list[Document]:
        """Objects on which its workloads depend and that it does not hold itself."""
        paths = (str(self.path.parent / name) for name in self.elsewhere)
        found = [one for path in paths for one in files.documents(files.read(path))]
        return [*found, *_stood_in(*RUNTIMES[self.name])] if self.name in RUNTIMES else found

    @property
    def is_lost(self) -> bool:
        """Does nobody know the object on which its pods depend?"""
        return any(one["requiresRuntime"]["file"] is None for one in self.wanted if "requiresRuntime" in one)

    def pairs(self) -> list[tuple[Workload, Wanted]]:
        """Each workload with what is expected of it. Raises InputError, and ValueError where their numbers differ."""
        return _pairs(self)


def _stood_in(name: str, model_format: str, requests: Mapping[str, str]) -> list[Document]:
    """A runtime with what the corpus says that the missing one asks for."""
    container = {"name": "kserve-container", "resources": {"requests": requests}}
    kind = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ClusterServingRuntime"}
    spec = {"supportedModelFormats": [{"name": model_format}], "containers": [container]}
    runtime = {**kind, "metadata": {"name": name}, "spec": spec}
    return files.documents(files.Source("runtime", json.dumps(runtime)))


@lru_cache(maxsize=8)
def _pairs(one: Public) -> list[tuple[Workload, Wanted]]:
    read = reading.read(one.documents(), Catalog(), further=one.runtimes)
    assert not read.missing
    return list(zip(read.workloads, once(one.wanted), strict=True))


def once(wanted: Iterable[Wanted]) -> list[Wanted]:
    """An object that stands twice in a file is one workload: the later one."""
    found: dict[Any, Wanted] = {}
    for place, one in enumerate(wanted):
        found[(one["kind"], one["namespace"], one["name"]) if one["name"] else place] = one
    return list(found.values())


def public() -> list[Public]:
    """Every public manifest of the corpus; none where it is absent."""
    return [Public(path) for path in sorted(corpus.FOLDER.glob("workloads/*/*.expected.yaml"))]


Aspect = Callable[[Workload, Wanted], tuple[Any, Any]]
"""What was found and what is right, to be compared with ==."""


def roles(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    found = sorted((role.name, role.replicas) for role in workload.roles)
    return found, sorted((_name(role), role["replicas"]) for role in wanted["roles"])


def requests(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    found = {role.name: _requests(role) for role in workload.roles}
    return found, {_name(role): _units(role["requests"]) for role in wanted["roles"]}


def sums(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    stated = {name: value for name, value in wanted["totals"].items() if name not in ("pods", "deviceClaims")}
    found = _added((name, amount * r.replicas) for r in workload.roles for name, amount in _requests(r).items())
    return (workload.pods, found), (wanted["totals"]["pods"], _units(stated))


def bounds(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    """Least and most of the roles of which that is stated, and which roles the controller adds."""
    found, right = [], []
    for role, stated in _matched(workload, wanted):
        least, most = "minReplicas" in stated, "maxReplicas" in stated
        found.append((least and role.minimum, most and role.maximum, role.injected))
        minimum = least and min(stated["minReplicas"], stated["replicas"])
        right.append((minimum, most and stated["maxReplicas"], stated.get("injected", False)))
    return found, right


def gangs(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    found = [{"count": group.count, "members": dict(group.members)} for group in workload.groups]
    return _several(found), _several(wanted.get("gangGroups") or [])


def least(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    """Pods that must start at least, where that is stated: all of the groups where nothing else says so."""
    if "minAvailable" not in wanted:
        return None, None
    in_groups = sum(group.count * sum(group.members.values()) for group in workload.groups)
    return workload.min_available or in_groups, wanted["minAvailable"]


def claims(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    """Devices of each pod's own claims; what the corpus is not sure of may be unknown to us."""
    found = [dict(totals.known_devices_per_pod(role)) for role, _ in _matched(workload, wanted)]
    right = [_by_class(stated.get("deviceClaims", {})) for _, stated in _matched(workload, wanted)]
    if "deviceClaims" in wanted["totals"] and "uncertain" not in wanted:
        return (found, totals.devices(workload)), (right, _by_class(wanted["totals"]["deviceClaims"]))
    return found, right


def shared(workload: Workload, wanted: Wanted) -> tuple[Any, Any]:
    """Claims that several pods share: class and count of each that is stated."""
    stated = {(one["deviceClass"], one["count"]) for one in wanted.get("sharedClaims", ())}
    known = {next(iter((claim.devices or {}).items()), (None, None)) for claim in workload.shared_claims}
    return stated & known, stated


ASPECTS: tuple[Aspect, ...] = (roles, requests, sums, bounds, gangs, least, claims, shared)


def differences(workload: Workload, wanted: Wanted) -> Iterator[str]:
    """The aspects in which a workload is not what is expected."""
    if workload.faults:
        yield "faults"
        return
    for aspect in ASPECTS:
        try:
            found, right = aspect(workload, wanted)
        except KeyError:  # a role of another name: `roles` says so
            continue
        if found != right:
            yield aspect.__name__


def _matched(workload: Workload, wanted: Wanted) -> list[tuple[Role, Wanted]]:
    """Each role with what is stated of it, by name: the order of roles is ours. Raises KeyError."""
    stated = {_name(role): role for role in wanted["roles"]}
    return [(role, stated[role.name]) for role in workload.roles]


def _name(role: Wanted) -> str:
    name: str = role["name"]
    return OTHER_NAMES.get(name, name)


def _units(stated: Mapping[str, Any]) -> dict[str, int]:
    """Amounts of an expected file in base units, without zeros."""
    amounts = {name: quantity.base_units(name, quantity.parse(value)) for name, value in stated.items()}
    return {name: amount for name, amount in amounts.items() if amount}


def _requests(role: Role) -> dict[str, int]:
    return in_base_units(role.template.as_pod().requests())


def _added(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for name, amount in amounts:
        total[name] = total.get(name, 0) + amount
    return {name: amount for name, amount in total.items() if amount}


def _by_class(stated: Any) -> dict[str, int]:
    """The corpus writes them as a mapping or as a list."""
    return stated if isinstance(stated, dict) else {one["deviceClass"]: one["count"] for one in stated}


def _several(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without groups of one pod, which say nothing."""
    return [group for group in groups if group["count"] * sum(group["members"].values()) > 1]
