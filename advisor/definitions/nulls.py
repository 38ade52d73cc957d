"""What is left of the nulls of a manifest once an API server has stored it. Here alone it is said what a null is.

Objects of Kubernetes itself are decoded into Go types: a null field is none, a null member of a map or a list is the
zero value of its type (`cpu: null` asks for 0, a null container is one without any field). Other kinds have a
structural schema: null members of mappings are dropped, those of lists stay and are refused. Where that schema lets
anything pass (`free`), nulls are stored, and the controller decodes them as Kubernetes does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from advisor.definitions import openapi
from advisor.definitions.profile_schema import is_below
from advisor.errors import Path


def stored(data: Mapping[str, Any], free: Collection[str] = ()) -> Mapping[str, Any]:
    """`free`: paths below which the schema of the kind says nothing, as in the profile."""
    if type_ := openapi.type_of(data):
        decoded: Mapping[str, Any] = openapi.decoded(type_, data)
        return decoded
    return {key: value if key == "metadata" else _dropped(value, (key,), free) for key, value in data.items()}


def _dropped(value: Any, path: Path, free: Collection[str]) -> Any:
    if is_below(path, free):
        return value
    if isinstance(value, list):
        return [_dropped(member, path, free) for member in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _dropped(member, (*path, str(key)), free)
        for key, member in value.items()
        if member is not None or is_below((*path, str(key)), free)
    }
