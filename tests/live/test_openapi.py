"""The table of types is what a real API server says of itself, and what the table refuses a server refuses."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from advisor.definitions.openapi import FILE
from tests.live import openapi
from tests.live.test_refusals import CONTAINER, Object, bare, cron, faults, job, refusal, served
from tests.servers.pool import Servers

Types = Mapping[str, Mapping[str, str]]
BASES = {
    "Pod": bare(),
    "Job": job(),
    "CronJob": cron(),
    **{kind: served(kind) for kind in ("Deployment", "StatefulSet", "ReplicaSet")},
}
NOWHERE = {"OwnerReference", "EphemeralContainer"}
"""Types that are looked at in a pod itself only, or may not be there when it is created."""
SAMPLES = {"flag": True, "int32": 1, "int64": 1, "intOrText": 1, "time": "2026-01-31T12:00:00Z", "any": {}}
WRONG = [
    (served("Deployment", paused="true"), "spec.paused"),
    (served("Deployment", strategy="Recreate"), "spec.strategy"),
    (job(suspend="true"), "spec.suspend"),
    (job(ttlSecondsAfterFinished="5"), "spec.ttlSecondsAfterFinished"),
    (job(backoffLimit=2**31), "spec.backoffLimit"),
    (cron(suspend="true"), "spec.suspend"),
    (bare(metadata={"name": "x", "creationTimestamp": "today"}), "metadata.creationTimestamp"),
    (bare(terminationGracePeriodSeconds="5"), "spec.terminationGracePeriodSeconds"),
    (bare(containers=[{**CONTAINER, "stdin": "no"}]), "spec.containers[0].stdin"),
]


def test_the_table_is_what_a_server_says(servers: Servers) -> None:
    """Else `python -m tests.live.openapi` writes it anew."""
    assert FILE.read_text() == openapi.text(openapi.table(servers.server()))


def test_a_wrong_type_is_refused(servers: Servers) -> None:
    server = servers.server()
    told = [(manifest, path, refusal(server, manifest), faults(manifest)) for manifest, path in WRONG]
    assert [one for one in told if not one[2].startswith("400 ") or one[1] not in one[3]] == []


def test_what_the_table_refuses_a_server_refuses(servers: Servers) -> None:
    """Every type once, at the first place where one is, without each of its required fields and with a wrong word.

    Where the least that a type must hold is refused too, then for something else; a struct that is not there is as one
    that is empty."""
    server = servers.server()
    types: Types = json.loads(FILE.read_text())["types"]
    taken = []
    for name, (kind, way) in _ways(types).items():
        for field, wrong in _wrong(types, name) if name not in (*BASES, *NOWHERE) else ():
            said = refusal(server, _with(types, kind, way, wrong))
            before = refusal(server, _with(types, kind, way, _sample(types, name)))
            if not said or (said == before and types[name][field].removeprefix("!") not in types):
                taken.append((name, field))
    assert taken == []


def _wrong(types: Types, name: str) -> Iterator[tuple[str, Object]]:
    """What the table refuses in a type, with the field that is wrong."""
    whole = _sample(types, name)
    for field, form in types[name].items():
        if form.startswith("!"):
            yield field, {key: value for key, value in whole.items() if key != field}
        if _struct(form).startswith("="):
            yield field, {**whole, field: ["no word"] if "[]" in form else "no word"}


def _struct(form: str) -> str:
    return form.removeprefix("!").removeprefix("[]").removeprefix("{}")


def _ways(types: Types) -> Mapping[str, tuple[str, tuple[tuple[str, str], ...]]]:
    """Every type: in which kind, and the way to it, as fields with their forms."""
    found: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {}
    waiting: deque[tuple[str, str, tuple[tuple[str, str], ...]]] = deque((kind, kind, ()) for kind in BASES)
    while waiting:
        name, kind, way = waiting.popleft()
        if name not in found:
            found[name] = kind, way
            inside = ((_struct(form), field, form) for field, form in types[name].items())
            waiting += [(to, kind, (*way, (field, form))) for to, field, form in inside if to in types]
    return found


def _sample(types: Types, name: str) -> Object:
    """The least that a type must hold."""
    return {field: _value(types, form) for field, form in types[name].items() if form.startswith("!")}


def _value(types: Types, form: str) -> Any:
    name = _struct(form)
    leaf = name[1:].split("|")[0] if name.startswith("=") else SAMPLES.get(name, "1")
    value = _sample(types, name) if name in types else leaf
    return [value] if "[]" in form else {"a": value} if "{}" in form else value


def _with(types: Types, kind: str, way: tuple[tuple[str, str], ...], value: Object) -> Object:
    """A right object of the kind with the value at the end of the way."""
    manifest = deepcopy(BASES[kind])
    for holder, field, form, last in _steps(types, manifest, way):
        if last:
            holder[field] = [value] if "[]" in form else {"a": value} if "{}" in form else value
    return manifest


def _steps(types: Types, data: Any, way: tuple[tuple[str, str], ...]) -> Iterator[tuple[Any, str, str, bool]]:
    for number, (field, form) in enumerate(way):
        yield data, field, form, number == len(way) - 1
        inside = data.setdefault(field, _value(types, form))
        data = inside[0] if "[]" in form else inside["a"] if "{}" in form else inside
