"""What a scenario file may say (product.md 4), as models that check it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from advisor.errors import Faults, InputError
from advisor.files import Document
from advisor.labels import Requirement, Selector, Taint, is_key, is_value
from advisor.quantity import base_units, limit_units, parse
from advisor.resources import MOST, PODS, is_extended
from advisor.schema import Model, Text, checked
from advisor.verdict import CODES
from advisor.whatif import edits
from advisor.whatif.edits import Edit, Which
from advisor.whatif.scenario import Asked, Expected, Scenario, Step

Count = Annotated[int, Field(ge=0, le=100_000)]
Amounts = Callable[[Mapping[str, Any]], dict[str, int]]
_VALUES = "letters, digits and - _ . inside, 63 at most"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = re.compile(r"(?P<key>[^=:]+?)(?:=(?P<value>[^:=]*))?(?::(?P<effect>\w+))?(?P<remove>-)?", re.ASCII)


class _Base(Model):
    clusters: Text | None = None
    snapshots: list[Text] = Field(default_factory=list)

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        if bool(found.get("clusters")) == bool(found.get("snapshots")):
            faults.add("needs clusters or snapshots, and not both")


class _Asked(Model):
    """A manifest, or only its name."""

    file: Text
    copies: Annotated[int, Field(ge=1, le=1_000)] = 1

    @model_validator(mode="before")
    @classmethod
    def _from_its_name(cls, found: Any) -> Any:
        return {"file": found} if isinstance(found, str) else found


class _Nodes(Model):
    """Which nodes: by name or by labels."""

    cluster: Text
    nodes: list[Text] = Field(default_factory=list)
    selector: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        if bool(found.get("nodes")) == bool(found.get("selector")):
            faults.add("needs nodes or a selector, and not both")
        _check_labels(found, "selector", faults)

    @property
    def which(self) -> Which:
        wanted = tuple(Requirement(key, "In", (value,)) for key, value in sorted(self.selector.items()))
        return Which(self.cluster, tuple(self.nodes), Selector(wanted) if wanted else None)


class _Shape(Model):
    allocatable: dict[str, Any]
    labels: dict[str, str] = Field(default_factory=dict)
    taints: list[Text] = Field(default_factory=list)

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        _check_amounts(found, "allocatable", faults, offered)
        _check_labels(found, "labels", faults)
        for number, text in _texts(found, "taints"):
            with faults.collect("taints", number):
                _one_taint(text)


class _AddNodes(Model):
    cluster: Text
    count: Count
    like: Text | None = None
    shape: _Shape | None = None

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        if (found.get("like") is None) == (found.get("shape") is None):
            faults.add("needs like (a node that is there) or a shape, and not both")


class _Taint(_Nodes):
    taints: Annotated[list[Text], Field(min_length=1)]

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        super().rules(found, faults)
        for number, text in _texts(found, "taints"):
            with faults.collect("taints", number):
                _gone(text) if text.endswith("-") else _one_taint(text)


class _Label(_Nodes):
    labels: Annotated[dict[str, str | None], Field(min_length=1)]

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        super().rules(found, faults)
        _check_labels(found, "labels", faults)


class _Cluster(Model):
    cluster: Text


class _Quota(Model):
    cluster: Text
    namespace: Text
    name: Text | None = None
    hard: Annotated[dict[str, Any], Field(min_length=1)]

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        _check_amounts(found, "hard", faults, limits)


class _Pods(Model):
    cluster: Text
    namespace: Text


class _Replicas(Model):
    role: Text
    count: Count
    workload: Text | None = None


class _Copies(Model):
    workload: Text
    count: Annotated[int, Field(ge=1, le=1_000)]


class _Edit(Model):
    """One edit: exactly one of these keys."""

    add_nodes: _AddNodes | None = None
    remove_nodes: _Nodes | None = None
    drain: _Nodes | None = None
    cordon: _Nodes | None = None
    uncordon: _Nodes | None = None
    taint: _Taint | None = None
    label: _Label | None = None
    lose_cluster: _Cluster | None = None
    replicas: _Replicas | None = None
    quota: _Quota | None = None
    remove_pods: _Pods | None = None
    copies: _Copies | None = None

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        if len(found) != 1:
            known = ", ".join(str(field.alias) for field in cls.model_fields.values())
            faults.add(f"should be one edit, of {known}", hint="each has an entry of its own")
        for key, value in found.items():
            if value is None and key in _EDITS:
                faults.add("says nothing", key)


class _Expected(Model):
    verdict: Literal["fits", "fits-reduced", "full", "never", "unknown"] | None = None
    reason: Text | None = None

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        if "cluster" not in found and not any(found.values()):
            faults.add("expects nothing", hint="say a verdict, a cluster, a reason or clusters")
        code = found.get("reason")
        if isinstance(code, str) and code and code not in CODES and not code.startswith("insufficient-"):
            faults.add(f'"{code}" is no reason code', "reason", hint="docs/verdicts.md lists them")


class _ExpectedAnswer(_Expected):
    cluster: Text | None = None
    clusters: dict[str, _Expected] = Field(default_factory=dict)


class _Step(Model):
    name: Text | None = None
    edits: list[_Edit] = Field(default_factory=list)
    expect: dict[str, _ExpectedAnswer] = Field(default_factory=dict)


class _Scenario(Model):
    api_version: Literal["wm-place/v1"]
    kind: Literal["Scenario"]
    base: _Base | None = None
    workloads: Annotated[list[_Asked], Field(min_length=1)]
    steps: list[_Step] = Field(default_factory=list)

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        asked = found.get("workloads")
        seen: set[str] = set()
        for number, entry in enumerate(asked if isinstance(asked, list) else []):
            name = entry.get("file") if isinstance(entry, dict) else entry
            if isinstance(name, str) and name in seen:
                faults.add(f"{name} is named already", "workloads", number, hint="say how many with copies")
            seen.add(str(name))


_LATER = dict.fromkeys(("sweep", "minimise"), "say the counts one by one, each as a step of its own")
"""Keys of product.md that a later version will read."""


def scenario(document: Document) -> Scenario:
    """A scenario file. Relative paths in it start from its own folder. Raises InputError with every fault placed."""
    with document.faults():
        found = checked(_Scenario, document.data, _LATER)
    folder = Path(document.source.name).parent
    base = found.base or _Base.model_construct()
    return Scenario(
        document=document,
        workloads=tuple(Asked(_path(folder, entry.file), entry.copies) for entry in found.workloads),
        clusters=_path(folder, base.clusters) if base.clusters else "",
        snapshots=tuple(_recording(folder, path) for path in base.snapshots),
        steps=tuple(_step(step, number) for number, step in enumerate(found.steps, start=1)),
    )


def _path(folder: Path, stated: str) -> str:
    return os.path.normpath(folder / Path(stated).expanduser())


def _recording(folder: Path, stated: str) -> str:
    """`NAME=PATH` or `PATH`, as the option has it."""
    name, equals, path = stated.partition("=")
    return f"{name}={_path(folder, path)}" if equals and "/" not in name else _path(folder, stated)


def _step(found: _Step, number: int) -> Step:
    made = [_EDITS[key](value) for key, value in map(_only, found.edits)]
    expect = {name: _expected(expected) for name, expected in found.expect.items()}
    return Step(found.name or f"step {number}", tuple(made), expect)


def _only(edit: _Edit) -> tuple[str, Any]:
    """The key of an entry, and what it says."""
    (name,) = edit.model_fields_set
    return str(_Edit.model_fields[name].alias), getattr(edit, name)


def _check_labels(owner: Mapping[str, Any], field: str, faults: Faults) -> None:
    """Keys and values of labels that no node can have."""
    for key, value in _members(owner, field):
        if not is_key(key):
            faults.add("is no label key", field, key, hint=f"{_VALUES}, and a domain before a slash")
        elif isinstance(value, str) and not is_value(value):
            faults.add(f'"{value}" is no label value', field, key, hint=_VALUES)


def _check_amounts(owner: Mapping[str, Any], field: str, faults: Faults, read: Amounts) -> None:
    with faults.collect(field):
        read(dict(_members(owner, field)))


def _members(owner: Mapping[str, Any], field: str) -> list[tuple[str, Any]]:
    """Of a mapping as written; keys that are no text are faults of their own."""
    found = owner.get(field)
    return [(key, value) for key, value in found.items() if isinstance(key, str)] if isinstance(found, dict) else []


def _texts(owner: Mapping[str, Any], field: str) -> list[tuple[int, str]]:
    found = owner.get(field)
    items = enumerate(found) if isinstance(found, list) else ()
    return [(number, item) for number, item in items if isinstance(item, str) and item]


def _expected(found: _ExpectedAnswer) -> Expected:
    """`cluster: null` expects that none is chosen."""
    cluster = found.cluster or "" if "cluster" in found.model_fields_set else None
    clusters = {name: Expected(one.verdict, reason=one.reason) for name, one in found.clusters.items()}
    return Expected(found.verdict, cluster, found.reason, clusters)


def _add_nodes(found: _AddNodes) -> Edit:
    return edits.AddNodes(found.cluster, found.count, found.like or "", _shape(found.shape) if found.shape else None)


def _shape(found: _Shape) -> edits.Shape:
    allocatable = {PODS: 110, **offered(found.allocatable)}
    return edits.Shape(allocatable, found.labels, tuple(map(_one_taint, found.taints)))


def offered(found: Mapping[str, Any]) -> dict[str, int]:
    """Base units of what a node has, as Kubernetes writes it. Raises InputError."""
    return _amounts(found, _offered)


def limits(found: Mapping[str, Any]) -> dict[str, int]:
    """Base units of what a quota allows; its keys are in the units of their resource. Raises InputError."""
    return _amounts(
        found, lambda key, amount: limit_units(key.removeprefix("requests.").removeprefix("limits."), amount)
    )


def _offered(resource: str, thousandths: int) -> int:
    if is_extended(resource) and thousandths % 1000:
        raise InputError("must be a whole number")
    return base_units(resource, thousandths)


def _amounts(found: Mapping[str, Any], units: Callable[[str, int], int]) -> dict[str, int]:
    faults = Faults()
    read: dict[str, int] = {}
    for name, value in found.items():
        with faults.collect(name):
            read[name] = min(units(name, parse(value)), MOST)
            if read[name] < 0:
                raise InputError(f"{value} is less than nothing")
    faults.raise_if_any()
    return read


def _one_taint(text: str) -> Taint:
    found = _TAINT.fullmatch(text)
    if not found or found["remove"] or found["effect"] not in _EFFECTS or not _is_sound(found):
        hint = f"KEY=VALUE:EFFECT or KEY:EFFECT, with {', '.join(_EFFECTS)}"
        raise InputError(f'"{text}" is not a taint', hint=hint)
    return Taint(found["key"], found["value"] or "", found["effect"])


def _gone(text: str) -> edits.Gone:
    """A value stands before an effect only, as with kubectl."""
    found = _TAINT.fullmatch(text)
    effects = _EFFECTS if found and found["value"] is not None else (None, *_EFFECTS)
    if not found or found["effect"] not in effects or not _is_sound(found):
        hint = f"KEY-, KEY:EFFECT- or KEY=VALUE:EFFECT-, with {', '.join(_EFFECTS)}"
        raise InputError(f'"{text}" is not a taint to take away', hint=hint)
    return edits.Gone(found["key"], found["effect"] or "", found["value"])


def _is_sound(taint: re.Match[str]) -> bool:
    return is_key(taint["key"]) and is_value(taint["value"] or "")


def _taint(found: _Taint) -> Edit:
    added = [_one_taint(text) for text in found.taints if not text.endswith("-")]
    removed = [_gone(text) for text in found.taints if text.endswith("-")]
    return edits.TaintNodes(found.which, tuple(added), tuple(removed))


def _quota(found: _Quota) -> Edit:
    return edits.SetQuota(found.cluster, found.namespace, limits(found.hard), found.name or "")


_EDITS: Mapping[str, Callable[[Any], Edit]] = {
    "addNodes": _add_nodes,
    "removeNodes": lambda found: edits.RemoveNodes(found.which),
    "drain": lambda found: edits.Drain(found.which),
    "cordon": lambda found: edits.Cordon(found.which),
    "uncordon": lambda found: edits.Uncordon(found.which),
    "taint": _taint,
    "label": lambda found: edits.LabelNodes(found.which, found.labels),
    "loseCluster": lambda found: edits.LoseCluster(found.cluster),
    "replicas": lambda found: edits.Replicas(found.role, found.count, found.workload or ""),
    "quota": _quota,
    "removePods": lambda found: edits.RemovePods(found.cluster, found.namespace),
    "copies": lambda found: edits.Copies(found.workload, found.count),
}
"""Key in the file → the edit. Every edit of `_Edit` has its line here."""
