"""Our own snapshot file: a `ClusterSnapshot`, or a `ClusterSnapshotList`, as JSON; the same bytes for equal snapshots.

The fields are those of the nouns in `cluster.py`, with columns as arrays, so that a field added there is recorded
without a word here. Reading checks every type, and that the columns of nodes belong together.
"""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta, Struct

from advisor.accelerators import Mark
from advisor.cluster import ClusterSnapshot, Coded, Nodes, NodeState
from advisor.errors import InputError, at
from advisor.kube.decode import parts
from advisor.labels import Taint

FAMILY = "wm-place/"
API = f"{FAMILY}v1"
KIND, LIST_KIND = "ClusterSnapshot", "ClusterSnapshotList"

T = TypeVar("T")
_Amount = Annotated[int, Meta(ge=0, lt=1 << 62)]
_Columns = dict[str, list[_Amount]]


class _Coded(Struct, Generic[T]):
    values: tuple[T, ...]
    codes: list[Annotated[int, Meta(ge=0, lt=1 << 31)]]


class _State(Struct, forbid_unknown_fields=True):
    """`NodeState`, its marks in their order."""

    ready: bool
    unschedulable: bool
    deleting: bool
    marks: tuple[Mark, ...]


class _Nodes(Struct, forbid_unknown_fields=True):
    names: tuple[str, ...]
    allocatable: _Columns
    requested: _Columns
    standing: _Columns
    labels: dict[str, _Coded[str | None]]
    taints: _Coded[tuple[Taint, ...]]
    states: _Coded[_State]


def _stored_fields() -> Iterator[tuple[str, Any, Any]]:
    """Those of the noun, its nodes in the form above."""
    types = {**get_type_hints(ClusterSnapshot), "nodes": _Nodes}
    for own in dataclasses.fields(ClusterSnapshot):
        default = msgspec.NODEFAULT if own.default is dataclasses.MISSING else own.default
        yield own.name, types[own.name], msgspec.field(default=default)


_Stored: Any = msgspec.defstruct(
    "_Stored",
    [("apiVersion", str), ("kind", str), *_stored_fields()],
    kw_only=True,
    forbid_unknown_fields=True,
)


def encode(snapshots: Sequence[ClusterSnapshot]) -> bytes:
    """The content of a file: one snapshot alone, several (or none) as a list."""
    stored = [_stored(snapshot) for snapshot in snapshots]
    content = stored[0] if len(stored) == 1 else {"apiVersion": API, "kind": LIST_KIND, "items": stored}
    return msgspec.json.encode(content, order="deterministic") + b"\n"


def compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def _stored(snapshot: ClusterSnapshot) -> Any:
    values = {field.name: getattr(snapshot, field.name) for field in dataclasses.fields(snapshot)}
    return _Stored(apiVersion=API, kind=KIND, **{**values, "nodes": _stored_nodes(snapshot.nodes)})


def _stored_nodes(nodes: Nodes) -> _Nodes:
    return _Nodes(
        names=nodes.names,
        allocatable={name: column.tolist() for name, column in nodes.allocatable.items()},
        requested={name: column.tolist() for name, column in nodes.requested.items()},
        standing={name: column.tolist() for name, column in nodes.standing.items()},
        labels={key: _Coded(coded.values, coded.codes.tolist()) for key, coded in nodes.labels.items()},
        taints=_Coded(nodes.taints.values, nodes.taints.codes.tolist()),
        states=_Coded(tuple(map(_stored_state, nodes.states.values)), nodes.states.codes.tolist()),
    )


def _stored_state(state: NodeState) -> _State:
    marks = tuple(sorted(state.marks, key=lambda mark: (mark.resource, mark.means)))
    return _State(state.ready, state.unschedulable, state.deleting, marks)


def decode(body: bytes) -> ClusterSnapshot:
    """One snapshot. Raises InputError, with its path, for the first thing that is not as `encode` writes it."""
    try:
        stored = msgspec.json.decode(body, type=_Stored)
    except msgspec.DecodeError as error:
        message, path = parts(error)
        raise InputError(message, path=path) from None
    if stored.kind != KIND:
        raise InputError(f"is a {stored.kind}, no snapshot", path=("kind",))
    if stored.apiVersion != API:
        hint = "record it again with this version"
        raise InputError(
            f'"{stored.apiVersion}" is not read by this version, only {API}', path=("apiVersion",), hint=hint
        )
    if stored.taken_at is not None and stored.taken_at.tzinfo is None:
        raise InputError("should say its time zone, such as Z", path=("taken_at",))
    values = {field.name: getattr(stored, field.name) for field in dataclasses.fields(ClusterSnapshot)}
    with at("nodes"):
        return ClusterSnapshot(**{**values, "nodes": _nodes(stored.nodes)})


def _nodes(stored: _Nodes) -> Nodes:
    count = len(stored.names)
    if list(stored.names) != sorted(set(stored.names)):
        raise InputError("should be sorted, each name once", path=("names",))
    return Nodes(
        names=stored.names,
        allocatable=_columns("allocatable", stored.allocatable, count),
        requested=_columns("requested", stored.requested, count),
        standing=_columns("standing", stored.standing, count),
        labels=_labels(stored.labels, count),
        taints=_coded(("taints",), stored.taints, count),
        states=_states(_coded(("states",), stored.states, count)),
    )


def _states(stored: Coded[_State]) -> Coded[NodeState]:
    states = (NodeState(s.ready, s.unschedulable, s.deleting, frozenset(s.marks)) for s in stored.values)
    return Coded(tuple(states), stored.codes)


def _columns(field: str, stored: _Columns, count: int) -> dict[str, Any]:
    for name, column in stored.items():
        _same_length((field, name), column, count)
    return {name: np.array(column, dtype=np.int64) for name, column in stored.items()}


def _labels(stored: dict[str, _Coded[str | None]], count: int) -> dict[str, Coded[str | None]]:
    return {key: _coded(("labels", key), column, count) for key, column in stored.items()}


def _coded(path: tuple[str, ...], stored: _Coded[T], count: int) -> Coded[T]:
    _same_length((*path, "codes"), stored.codes, count)
    if stored.codes and max(stored.codes) >= len(stored.values):
        raise InputError("names a value that is not there", path=(*path, "codes"))
    return Coded(stored.values, np.array(stored.codes, dtype=np.int32))


def _same_length(path: tuple[str, ...], column: Sequence[int], count: int) -> None:
    if len(column) != count:
        raise InputError(f"has {len(column)} entries for {count} nodes", path=path)
