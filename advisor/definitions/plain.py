"""Typed access to plain data: every getter gives a value of its type, or raises InputError at the key's path.

A missing key and null are the same, as in the Kubernetes API: text is "", a mapping is empty, a number is None. What
the nulls in maps and lists of pods mean is settled before (`nulls`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor import quantity
from advisor.definitions.shapes import kind_of
from advisor.errors import InputError, at

Data = Mapping[str, Any]


def mapping(data: Data, key: str) -> Data:
    value = data.get(key)
    return {} if value is None else _must(value, dict, "a mapping", key)


def below(data: Data, keys: Iterable[str]) -> Data:
    """The mapping at a path of keys."""
    for key in keys:
        data = mapping(data, key)
    return data


def group_and_kind(data: Any) -> tuple[str, str]:
    """Of an object; empty for what is none."""
    if not isinstance(data, dict):
        return "", ""
    return str(data.get("apiVersion", "")).rpartition("/")[0], str(data.get("kind", ""))


def text(data: Data, key: str) -> str:
    value = data.get(key)
    return "" if value is None else _must(value, str, "text", key)


def flag(data: Data, key: str) -> bool:
    value = data.get(key)
    return False if value is None else _must(value, bool, "true or false", key)


def number(data: Data, key: str) -> int | None:
    value = data.get(key)
    if isinstance(value, bool):
        raise _wrong(value, "a whole number", key)
    return None if value is None else _must(value, int, "a whole number", key)


def mappings(data: Data, key: str) -> Iterator[tuple[int, Data]]:
    """The members of a list of mappings, with their places; use `at(key, place)` round what is done with one."""
    for place, item in enumerate(_items(data, key)):
        yield place, _must(item, dict, "a mapping", key, place)


def texts(data: Data, key: str) -> tuple[str, ...]:
    return tuple(_must(item, str, "text", key, place) for place, item in enumerate(_items(data, key)))


def pairs(data: Data, key: str) -> dict[str, str]:
    """A map of text to text: labels, selectors."""
    members = mapping(data, key).items()
    return {name: _must(value, str, "text", key, name) for name, value in members if value is not None}


def amounts(data: Data, key: str) -> dict[str, int]:
    """A map of quantities, in thousandths; null is "not stated"."""
    found = {}
    for name, value in mapping(data, key).items():
        if value is not None:
            with at(key, name):
                found[name] = quantity.parse(value)
    return found


def _items(data: Data, key: str) -> list[Any]:
    value = data.get(key)
    items: list[Any] = [] if value is None else _must(value, list, "a list", key)
    return items


def _must(value: Any, type_: type, name: str, *path: str | int) -> Any:
    if not isinstance(value, type_):
        raise _wrong(value, name, *path)
    return value


def _wrong(value: Any, name: str, *path: str | int) -> InputError:
    return InputError(f"must be {name}, not {kind_of(value)}", path=path)
