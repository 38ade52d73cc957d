"""What a scenario file may say (product.md 4), as models that check it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from advisor.errors import Faults, InputError, at
from advisor.files import Document
from advisor.labels import Requirement, Selector, Taint, is_key, is_value
from advisor.quantity import base_units, parse
from advisor.resources import MOST, PODS
from advisor.schema import Model, Text, checked
from advisor.verdict import CODES
from advisor.whatif import edits
from advisor.whatif.edits import Edit, Which
from advisor.whatif.scenario import Asked, Expected, Scenario, Step

Count = Annotated[int, Field(ge=0, le=100_000)]
_VALUES = "letters, digits and - _ . inside, 63 at most"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TAINT = re.compile(r"(?P<key>[^=:]+?)(?:=(?P<value>[^:=]*))?(?::(?P<effect>\w+))?(?P<remove>-)?", re.ASCII)


class _Base(Model):
    clusters: Text | None = None
    snapshots: list[Text] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_of_two(self) -> _Base:
        if (self.clusters is None) == (not self.snapshots):
            raise PydanticCustomError("base", "needs clusters or snapshots, and not both")
        return self


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

    @model_validator(mode="after")
    def _one_of_two(self) -> _Nodes:
        if bool(self.nodes) == bool(self.selector):
            raise PydanticCustomError("nodes", "needs nodes or a selector, and not both")
        return self

    @property
    def which(self) -> Which:
        wanted = tuple(Requirement(key, "In", (value,)) for key, value in sorted(self.selector.items()))
        return Which(self.cluster, tuple(self.nodes), Selector(wanted) if wanted else None)


class _Shape(Model):
    allocatable: dict[str, str | int]
    labels: dict[str, str] = Field(default_factory=dict)
    taints: list[Text] = Field(default_factory=list)


class _AddNodes(Model):
    cluster: Text
    count: Count
    like: Text | None = None
    shape: _Shape | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> _AddNodes:
        if (self.like is None) == (self.shape is None):
            raise PydanticCustomError("nodes", "needs like (a node that is there) or a shape, and not both")
        return self


class _Taint(_Nodes):
    taints: Annotated[list[Text], Field(min_length=1)]


class _Label(_Nodes):
    labels: Annotated[dict[str, str | None], Field(min_length=1)]


class _Cluster(Model):
    cluster: Text


class _Quota(Model):
    cluster: Text
    namespace: Text
    name: Text | None = None
    hard: Annotated[dict[str, str | int], Field(min_length=1)]


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

    @model_validator(mode="after")
    def _exactly_one(self) -> _Edit:
        if len(self.model_fields_set) != 1:
            known = ", ".join(str(field.alias) for field in type(self).model_fields.values())
            raise PydanticCustomError("edit", "should be one edit, of {known}", {"known": known})
        return self


class _Expected(Model):
    verdict: Literal["fits", "fits-reduced", "full", "never", "unknown"] | None = None
    reason: Text | None = None


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


_LATER = dict.fromkeys(("sweep", "minimise"), "say the counts one by one, each as a step of its own")
"""Keys of product.md that a later version will read."""


def scenario(document: Document) -> Scenario:
    """A scenario file. Relative paths in it start from its own folder. Raises InputError with every fault placed."""
    with document.faults():
        found = checked(_Scenario, document.data, _LATER)
        faults = Faults()
        names = [entry.file for entry in found.workloads]
        for number, entry in enumerate(found.workloads):
            if entry.file in names[:number]:
                faults.add(f"{entry.file} is named already", "workloads", number, hint="say how many with copies")
        steps = []
        for number, step in enumerate(found.steps):
            with faults.collect("steps", number):
                steps.append(_step(step, number))
        faults.raise_if_any()
    folder = Path(document.source.name).parent
    base = found.base or _Base.model_construct()
    return Scenario(
        document=document,
        workloads=tuple(Asked(_path(folder, entry.file), entry.copies) for entry in found.workloads),
        clusters=_path(folder, base.clusters) if base.clusters else "",
        snapshots=tuple(_recording(folder, path) for path in base.snapshots),
        steps=tuple(steps),
    )


def _path(folder: Path, stated: str) -> str:
    return os.path.normpath(folder / Path(stated).expanduser())


def _recording(folder: Path, stated: str) -> str:
    """`NAME=PATH` or `PATH`, as the option has it."""
    name, equals, path = stated.partition("=")
    return f"{name}={_path(folder, path)}" if equals and "/" not in name else _path(folder, stated)


def _step(found: _Step, number: int) -> Step:
    faults = Faults()
    made: list[Edit] = []
    for position, edit in enumerate(found.edits):
        ((name, value),) = ((name, getattr(edit, name)) for name in edit.model_fields_set)
        key = str(_Edit.model_fields[name].alias)
        with faults.collect("edits", position, key):
            if value is None:
                raise InputError("says nothing")
            _check_labels(value)
            made.append(_EDITS[key](value))
    for name, expected in found.expect.items():
        with faults.collect("expect", name):
            _check_codes(expected)
    faults.raise_if_any()
    expect = {name: _expected(expected) for name, expected in found.expect.items()}
    return Step(found.name or f"step {number + 1}", tuple(made), expect)


def _check_labels(edit: Model) -> None:
    """Keys and values of labels, wherever an edit has some. Raises InputError for what no node can have."""
    faults = Faults()
    places: list[tuple[tuple[str, ...], Any]] = [(("selector",), edit), (("labels",), edit)]
    places.append((("shape", "labels"), getattr(edit, "shape", None)))
    for path, owner in places:
        pairs: Mapping[str, str | None] | None = getattr(owner, path[-1], None)
        for key, value in (pairs or {}).items():
            if not is_key(key):
                faults.add("is no label key", *path, key, hint=f"{_VALUES}, and a domain before a slash")
            elif value is not None and not is_value(value):
                faults.add(f'"{value}" is no label value', *path, key, hint=_VALUES)
    faults.raise_if_any()


def _expected(found: _ExpectedAnswer) -> Expected:
    """`cluster: null` expects that none is chosen."""
    cluster = found.cluster or "" if "cluster" in found.model_fields_set else None
    clusters = {name: Expected(one.verdict, reason=one.reason) for name, one in found.clusters.items()}
    return Expected(found.verdict, cluster, found.reason, clusters)


def _check_codes(expected: _ExpectedAnswer) -> None:
    for path, one in _all(expected):
        if one.reason and one.reason not in CODES and not one.reason.startswith("insufficient-"):
            with at(*path):
                raise InputError(
                    f'"{one.reason}" is no reason code', path=("reason",), hint="docs/verdicts.md lists them"
                )


def _all(expected: _ExpectedAnswer) -> Iterator[tuple[tuple[str, ...], _Expected]]:
    yield (), expected
    yield from ((("clusters", name), one) for name, one in expected.clusters.items())


def _add_nodes(found: _AddNodes) -> Edit:
    return edits.AddNodes(found.cluster, found.count, found.like or "", _shape(found.shape) if found.shape else None)


def _shape(found: _Shape) -> edits.Shape:
    with at("shape"):
        allocatable = amounts(found.allocatable, "allocatable")
        if PODS not in allocatable:
            allocatable = {**allocatable, PODS: 110}
        added = [_one_taint(text, ("taints", number)) for number, text in enumerate(found.taints)]
    return edits.Shape(allocatable, found.labels, tuple(added))


def amounts(found: Mapping[str, str | int], *path: str) -> dict[str, int]:
    """Base units of quantities as Kubernetes writes them; keys of quotas are in the units of their resource."""
    faults = Faults()
    read: dict[str, int] = {}
    for name, value in found.items():
        with faults.collect(*path, name):
            resource = name.removeprefix("requests.").removeprefix("limits.")
            read[name] = min(base_units(resource, parse(value)), MOST)
            if read[name] < 0:
                raise InputError(f"{value} is less than nothing")
    faults.raise_if_any()
    return read


def _one_taint(text: str, path: tuple[str | int, ...]) -> Taint:
    found = _TAINT.fullmatch(text)
    if not found or found["remove"] or found["effect"] not in _EFFECTS or not _is_sound(found):
        hint = f"KEY=VALUE:EFFECT or KEY:EFFECT, with {', '.join(_EFFECTS)}"
        raise InputError(f'"{text}" is not a taint', path=path, hint=hint)
    return Taint(found["key"], found["value"] or "", found["effect"])


def _gone(text: str, path: tuple[str | int, ...]) -> edits.Gone:
    """A value stands before an effect only, as with kubectl."""
    found = _TAINT.fullmatch(text)
    effects = _EFFECTS if found and found["value"] is not None else (None, *_EFFECTS)
    if not found or found["effect"] not in effects or not _is_sound(found):
        hint = f"KEY-, KEY:EFFECT- or KEY=VALUE:EFFECT-, with {', '.join(_EFFECTS)}"
        raise InputError(f'"{text}" is not a taint to take away', path=path, hint=hint)
    return edits.Gone(found["key"], found["effect"] or "", found["value"])


def _is_sound(taint: re.Match[str]) -> bool:
    return is_key(taint["key"]) and is_value(taint["value"] or "")


def _taint(found: _Taint) -> Edit:
    added, removed = [], []
    for number, text in enumerate(found.taints):
        if text.endswith("-"):
            removed.append(_gone(text, ("taints", number)))
        else:
            added.append(_one_taint(text, ("taints", number)))
    return edits.TaintNodes(found.which, tuple(added), tuple(removed))


def _quota(found: _Quota) -> Edit:
    return edits.SetQuota(found.cluster, found.namespace, amounts(found.hard, "hard"), found.name or "")


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
