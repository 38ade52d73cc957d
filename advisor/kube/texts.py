"""Files to the JSON texts of their objects: JSON of any size or YAML of a moderate one, gzip or not."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec

from advisor import files
from advisor.errors import Fault, InputError, Where
from advisor.files import Document
from advisor.kube import decode, jsonstream, wire

YAML_LIMIT = 64 << 20
_HEAD = re.compile(rb'\s*\{\s*"apiVersion"\s*:\s*"([^"\\]*)"\s*,\s*"kind"\s*:\s*"([^"\\]*)"')
_GZIP = b"\x1f\x8b"
_SNIFFED = 4096
_USE_JSON = "a recording of this size is read as JSON: kubectl get … -o json"


class _File(Protocol):
    def read(self, size: int, /) -> bytes: ...
    def peek(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Text:
    """The JSON of one object. `list_head`: what its list says before the items, where it is in one.

    `line` works out where it begins, by reading the file again, so it is only asked when there is a fault.
    """

    body: bytes
    file: str
    line: Callable[[], int | None] = field(repr=False)
    list_head: bytes = b""

    @property
    def head(self) -> wire.ObjectHead:
        """apiVersion and kind; those of the list, where a server left them out of its items. Raises InputError."""
        quick = _HEAD.match(self.body)
        if quick:
            return wire.ObjectHead(quick[1].decode(), quick[2].decode())
        own = decode.plain(wire.ObjectHead, self.body)
        if own.kind or not self.list_head:
            return own
        listed = decode.plain(wire.ObjectHead, self.list_head)
        return wire.ObjectHead(listed.api_version, listed.kind.removesuffix("List"))

    def placed(self, error: InputError) -> InputError:
        where = Where(self.file, self.line())
        return InputError.of([fault if fault.where else replace(fault, where=where) for fault in error.faults])


def of_file(path: Path) -> Iterator[Text]:
    """Raises InputError, placed, for a file that cannot be read or is neither JSON nor YAML."""
    try:
        with _opened(path) as file:
            if file.peek(_SNIFFED).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
                yield from _json(str(path), file)
            else:
                yield from _yaml(str(path), file.read(YAML_LIMIT + 1))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise _fault(str(path), "is not a whole gzip file") from None
    except OSError as error:
        raise _fault(str(path), f"cannot be read: {error.strerror or 'the system gives no reason'}") from None


def _opened(path: str | Path) -> Any:
    """The file, unpacked while it is read if it is packed, whatever its name."""
    with Path(path).open("rb") as file:
        packed = file.read(2) == _GZIP
    return gzip.open(path, "rb") if packed else Path(path).open("rb")


def _json(name: str, file: _File) -> Iterator[Text]:
    try:
        for found in jsonstream.objects(file.read):
            yield Text(found.body, name, partial(_line, name, found.offset), found.list_head)
    except jsonstream.MalformedError as error:
        raise _fault(name, str(error), _line(name, error.offset)) from None


def _line(name: str, offset: int) -> int:
    line = 1
    with _opened(name) as file:
        while offset > 0 and (block := file.read(min(offset, jsonstream.BLOCK))):
            line += block.count(b"\n")
            offset -= len(block)
    return line


def _yaml(name: str, raw: bytes) -> Iterator[Text]:
    if len(raw) > YAML_LIMIT:
        raise _fault(name, f"is YAML of more than {YAML_LIMIT >> 20} MiB", hint=_USE_JSON)
    try:
        documents = files.documents(files.decode(raw, name, YAML_LIMIT))
    except InputError as error:
        raise InputError.of([replace(fault, hint=fault.hint or _hint(raw)) for fault in error.faults]) from None
    for document in documents:
        yield from _objects(document)


def _objects(document: Document) -> Iterator[Text]:
    """The document's object, or those of its list."""
    data, name = document.data, document.source.name
    if not (isinstance(data, dict) and isinstance(data.get("items"), list)):
        yield Text(msgspec.json.encode(data), name, document.line)
        return
    head = msgspec.json.encode({key: data[key] for key in ("apiVersion", "kind") if key in data})
    for index, item in enumerate(data["items"]):
        yield Text(msgspec.json.encode(item), name, partial(document.line, ("items", index)), head)


def _hint(raw: bytes) -> str:
    return _USE_JSON if len(raw) > files.MANIFEST_LIMIT else ""


def _fault(name: str, message: str, line: int | None = None, hint: str = "") -> InputError:
    return InputError.of([Fault(message, where=Where(name, line), hint=hint)])
