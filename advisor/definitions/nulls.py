"""What is left of the nulls of a manifest once an API server has stored it. Here alone it is said what a null is.

Objects of Kubernetes itself are decoded into Go types: a null field is none, a null member of a map or a list is the
zero value of its type (`cpu: null` asks for 0, a null container is one without any field). Other kinds have a
structural schema: null members of mappings are dropped, those of lists stay and are refused. Where that schema lets
anything pass (`free`), nulls are stored, and the controller decodes them as Kubernetes does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from advisor.definitions import openapi
from advisor.errors import Path

Free = tuple[tuple[str, ...], ...]
"""Paths without the places in lists; `*` is any step."""


def stored(data: Mapping[str, Any], free: Iterable[str] = ()) -> Mapping[str, Any]:
    """`free`: paths below which the schema of the kind says nothing, as in the profile."""
    if type_ := openapi.type_of(data):
        decoded: Mapping[str, Any] = openapi.decoded(type_, data)
        return decoded
    return {key: value if key == "metadata" else _dropped(value, (key,), _steps(free)) for key, value in data.items()}


def is_free(path: Path, free: Iterable[str]) -> bool:
    """Is the path one below which nulls are stored?"""
    return _leads_to(tuple(step for step in path if isinstance(step, str)), _steps(free))


def _steps(free: Iterable[str]) -> Free:
    return tuple(tuple(text[1:].split(".")) for text in free)


def _leads_to(path: tuple[str, ...], free: Free) -> bool:
    return any(
        len(path) >= len(one) and all(wanted in ("*", step) for wanted, step in zip(one, path, strict=False))
        for one in free
    )


def _dropped(value: Any, path: tuple[str, ...], free: Free) -> Any:
    if _leads_to(path, free):
        return value
    if isinstance(value, list):
        return [_dropped(member, path, free) for member in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _dropped(member, (*path, str(key)), free)
        for key, member in value.items()
        if member is not None or _leads_to((*path, str(key)), free)
    }
