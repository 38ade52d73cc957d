"""Bytes to the structs of `wire.py`, with kind, object and field in every fault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from advisor import quantity
from advisor.errors import InputError, Path, at
from advisor.kube import wire
from advisor.kube.kinds import Kind

T = TypeVar("T")
Buffer = bytes | bytearray | msgspec.Raw

HEAD = 4096
"""The server writes the kind and the metadata of a built-in list before its items; this many bytes hold them."""

_PLACE = re.compile(r"(?P<message>.*) - at `(?:key in )?\$(?P<path>.*)`", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_NOTHING = (b"", b"null")


class _Titled(Struct):
    metadata: Any = None


@cache
def _decoder(shape: Any, /) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


@cache
def _list_of(item: Any) -> Any:
    return msgspec.defstruct("List", [("items", list[item] | None, None)])


def objects(kind: Kind, body: Buffer) -> Sequence[Any]:
    """The items of one page of a list. Raises InputError when they are not what the API promises."""
    try:
        return _decoder(_list_of(kind.type)).decode(body).items or ()
    except RecursionError:
        raise InputError("is nested too deeply", path=(f"{kind.name}List",)) from None
    except msgspec.DecodeError as error:
        raise _in_list(kind, body, error) from None


def one(kind: Kind, body: Buffer) -> Any:
    """A single object. Raises InputError like `objects`."""
    try:
        return _decoder(kind.type).decode(body)
    except RecursionError:
        raise InputError("is nested too deeply", path=(kind.name,)) from None
    except msgspec.DecodeError as error:
        message, path = parts(error)
        raise InputError(message, path=(kind.name, _title(body), *path)) from None


def plain(shape: type[T], body: Buffer) -> T:
    """Anything else of `wire.py`. Raises InputError with the path inside it."""
    try:
        decoder: msgspec.json.Decoder[T] = _decoder(cast(Any, shape))
        return decoder.decode(body)
    except RecursionError:
        raise InputError("is nested too deeply") from None
    except msgspec.DecodeError as error:
        message, path = parts(error)
        raise InputError(message, path=path) from None


def head(body: bytes | bytearray) -> wire.ListHead:
    """The kind of a list and its continue token, without reading the items where they come last."""
    begin = bytes(body[: max(0, body.find(b'"items":', 0, HEAD))])
    if b'"kind"' in begin and b'"metadata"' in begin:
        return plain(wire.ListHead, begin + b'"items":null}')
    return plain(wire.ListHead, body)


def amounts(raw: Buffer) -> dict[str, int]:
    """A raw map of quantities in thousandths; empty where there is none."""
    return {} if bytes(raw) in _NOTHING else thousandths(plain(wire.Quantities, raw))


def requests(raw: Buffer) -> dict[str, int]:
    """The `requests` of a raw `resources` in thousandths."""
    if bytes(raw) in _NOTHING:
        return {}
    found = plain(wire.Resources, raw).requests
    with at("requests"):
        return thousandths(found)


def strings(raw: Buffer) -> dict[str, str]:
    return {} if bytes(raw) in _NOTHING else plain(wire.Strings, raw)


def thousandths(found: wire.Quantities | None) -> dict[str, int]:
    """Quantities as whole thousandths. Raises InputError for what is no quantity, and for a negative one."""
    return {name: _thousandths(name, value) for name, value in (found or {}).items()}


def _thousandths(name: str, value: wire.Quantity) -> int:
    with at(name):
        amount = quantity.parse(value)
        if amount < 0:
            raise InputError(f'"{value}" is negative')
    return amount


def _in_list(kind: Kind, body: Buffer, error: msgspec.DecodeError) -> InputError:
    message, path = parts(error)
    match path:
        case ("items", int(index), *rest):
            return InputError(message, path=(kind.name, _title_in_list(body, index), *rest))
    return InputError(message, path=(f"{kind.name}List", *path))


def parts(error: msgspec.DecodeError) -> tuple[str, Path]:
    """msgspec's message and its path; keys of maps are `[...]` there, so the path ends before one."""
    if not isinstance(error, msgspec.ValidationError):
        return f"is not JSON: {error}", ()
    found = _PLACE.fullmatch(str(error))
    message, path = (found["message"], found["path"]) if found else (str(error), "")
    steps = tuple(int(index) if index else name for name, index in _STEP.findall(path.partition("[...]")[0]))
    return message.replace("`", ""), steps


def _title_in_list(body: Buffer, index: int) -> str:
    return _title(_decoder(_list_of(msgspec.Raw)).decode(body).items[index], f"number {index}")


def _title(body: Buffer, otherwise: str = "without a name") -> str:
    """namespace/name of an object of which not even the metadata may be as it should."""
    try:
        metadata = _decoder(_Titled).decode(body).metadata
    except msgspec.DecodeError:
        return otherwise
    found = metadata if isinstance(metadata, dict) else {}
    parts = [part for part in (found.get("namespace"), found.get("name")) if isinstance(part, str)]
    return "/".join(parts) or otherwise
