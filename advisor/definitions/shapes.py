"""Is a value what upstream's Go types can hold (definitions.md 4.3)?

A shape is a type, `[shape]` for a list, `{"*": shape}` for a map, a mapping of field names for a struct, whose other
fields are not looked at, or a function that raises InputError (`openapi.check` for the types of Kubernetes). Null fits
every shape.
"""

from __future__ import annotations

import re
from typing import Any

from advisor.errors import InputError, at

Shape = Any
_QUOTED = re.compile(r"[-+]?[0-9.]{1,20}|true|false|yes|no|on|off")
MOST_PODS = 2**31 - 1
"""Kubernetes keeps numbers of pods in 32 bits."""

_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "null",
}


def check(value: Any, shape: Shape) -> None:
    """Raise InputError, with the path inside `value`, at the first thing that does not fit."""
    if value is None:
        return
    if isinstance(shape, list):
        _wanted(value, list)
        for i, item in enumerate(value):
            with at(i):
                check(item, shape[0])
    elif isinstance(shape, dict):
        _wanted(value, dict)
        for key, member in value.items():
            with at(key):
                check(member, shape.get("*", shape.get(key, _unseen)))
    elif isinstance(shape, type):
        _wanted(value, shape)
    else:
        shape(value)


def _unseen(value: Any) -> None:
    """The shape of a field that no table has."""


def _wanted(value: Any, kind: type) -> None:
    if message := wrong(value, kind):
        raise InputError(message)


def wrong(value: Any, kind: type) -> str:
    """What is wrong with a value that must be of this type, or nothing."""
    whole = isinstance(value, float) and value.is_integer()
    if not (isinstance(value, kind) or (kind is int and whole)) or (kind is int and isinstance(value, bool)):
        name = "a whole number" if kind is int else _NAMES[kind]
        return f"must be {name}, not {shown(value)}"
    return ""


def shown(value: Any) -> str:
    """What stands there in place of something else: numbers and flags in quotes are told, other text never."""
    if isinstance(value, str):
        return f'the text "{value}"' if _QUOTED.fullmatch(value) else "text"
    return f"{value!r}" if isinstance(value, float) else kind_of(value)


def kind_of(value: Any) -> str:
    """What a YAML value is, in words."""
    return _NAMES[type(value)]


def int32(value: Any) -> None:
    """What Go decodes into an int32."""
    _wanted(value, int)
    if not -(MOST_PODS + 1) <= value <= MOST_PODS:
        raise InputError(f"{value} is out of range" if abs(value) < 2**63 else "is out of range")
