"""Typed access to plain data whose types are looked at elsewhere: what has another type is as if it were not there.

For rules about the *meaning* of values; that a value has the type of its field is said once, by `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from advisor import quantity
from advisor.errors import InputError, Path
from advisor.workload import Malformed

Data = Mapping[str, Any]
Wrong = Iterator[Malformed]
"""What is wrong below a place, with paths from there."""


def mapping(data: Data, *keys: str) -> Data:
    """What stands at a path of keys; empty where nothing does."""
    found: Any = data
    for key in keys:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def items(data: Data, key: str) -> Iterator[tuple[int, Data]]:
    """The members of a list that are mappings, with their places."""
    for place, item in enumerate(listed(data, key)):
        if isinstance(item, Mapping):
            yield place, item


def texts(data: Data, key: str) -> Iterator[tuple[int, str]]:
    for place, item in enumerate(listed(data, key)):
        if isinstance(item, str):
            yield place, item


def pairs(data: Data, key: str) -> dict[str, str]:
    return {name: value for name, value in mapping(data, key).items() if isinstance(value, str)}


def listed(data: Data, key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def text(data: Data, key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number(data: Data, key: str) -> int | None:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def amount(data: Data, key: str) -> int | None:
    """A quantity in thousandths; None also where it is none."""
    try:
        return quantity.parse(data[key]) if data.get(key) is not None else None
    except InputError:
        return None


def is_true(data: Data, key: str) -> bool:
    return data.get(key) is True


def under(where: Path, found: Iterable[Malformed]) -> Wrong:
    return (replace(one, path=(*where, *one.path)) for one in found)


def containers(spec: Data) -> Iterator[tuple[Path, Data]]:
    """All of a pod's, each with its path from the spec."""
    for field in ("containers", "initContainers"):
        yield from (((field, place), item) for place, item in items(spec, field))
