"""Text to plain data, with file, line and path in every fault.

Reads YAML as Kubernetes does (sigs.k8s.io/yaml, which is YAML 1.1 as go-yaml v2 resolves it: `yes`, `on` and `y` are
booleans, dates are strings, keys become strings), and JSON. Refuses what could mean two things (duplicate keys) and
what grows without end (aliases within aliases). It knows nothing of workloads or clusters.
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

import yaml

from advisor.errors import Fault, InputError, Path, Where

MIB = 1 << 20
MANIFEST_LIMIT = 8 * MIB
"""An object in etcd is at most 1.5 MiB, so this is room for a large bundle of them."""
_MOST_VALUES = 1_000_000
_MOST_DEPTH = 200

_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    **{word: True for name in ("y", "yes", "true", "on") for word in (name, name.title(), name.upper())},
    **{word: False for name in ("n", "no", "false", "off") for word in (name, name.title(), name.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_NOT_NUMBERS = {f"{sign}.{name}" for sign in ("", "+", "-") for name in ("inf", "Inf", "INF", "nan", "NaN", "NAN")}


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name under which the user knows it (a file's path, `<stdin>`)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a source: plain data (dict, list, str, int, float, bool, None) and where it starts.

    `prefix` is the path of this object inside its document, for members of a List.
    """

    data: Any
    source: Source
    number: int
    where: Where
    prefix: Path = ()

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Give every fault that passes through this document's file and the line of its path."""
        try:
            yield
        except InputError as error:
            error.faults = tuple(self.placed(fault) for fault in error.faults)
            raise

    def placed(self, fault: Fault) -> Fault:
        if fault.where:
            return fault
        return replace(fault, where=Where(self.source.name, self.line(fault.path)))

    def line(self, path: Path = ()) -> int | None:
        """The line on which `path`, or as much of it as exists, is written."""
        return _line_of(self.source, self.number, (*self.prefix, *path)) or self.where.line

    def member(self, data: Any, *steps: str | int, line: int | None = None) -> Document:
        """A part of this document as a document of its own; `line` is where it begins, if that is known already."""
        path = (*self.prefix, *steps)
        line = line or _line_of(self.source, self.number, path)
        return replace(self, data=data, prefix=path, where=Where(self.source.name, line or self.where.line))

    def members(self, key: str) -> list[Document]:
        """The items of the list under `key`, if any, as documents of their own, their lines found in one pass."""
        items: list[Any] = self.data.get(key) or []
        lines = _item_lines(self.source, self.number, (*self.prefix, key))
        known = [*lines, *[None] * (len(items) - len(lines))]
        return [self.member(item, key, n, line=known[n]) for n, item in enumerate(items)]


def read(path: str, limit: int = MANIFEST_LIMIT) -> Source:
    """The text of a file (gzip or not). Raises InputError when it cannot be read or is too large."""
    try:
        with FilePath(path).open("rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise _at_file(path, f"cannot be read: {error.strerror or error}") from None
    return decode(raw, path, limit)


def decode(raw: bytes, name: str, limit: int = MANIFEST_LIMIT) -> Source:
    if raw[:2] == b"\x1f\x8b":
        raw = _inflate(raw, name, limit)
    if len(raw) > limit:
        hint = "name the manifest itself, or split the file; recorded clusters go to --from-snapshot"
        raise _at_file(name, f"is larger than {limit // MIB} MiB", hint=hint)
    return Source(name, _text(raw))


def _text(raw: bytes) -> str:
    """As kubectl reads it: UTF-8, with a replacement for what is none, or UTF-16 where a mark in front says so."""
    marked = raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return raw.decode("utf-16" if marked else "utf-8-sig", errors="replace")


def _inflate(raw: bytes, name: str, limit: int) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(raw, limit + 1)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise _at_file(name, f"is not a whole gzip file: {error}") from None


def _at_file(name: str, message: str, *, line: int | None = None, hint: str = "") -> InputError:
    return InputError.of([Fault(message, where=Where(name, line), hint=hint)])


def documents(source: Source) -> list[Document]:
    """The documents of a text, empty ones left out. Raises InputError with file and line for what cannot be parsed."""
    if source.text.lstrip()[:1] in ("{", "["):
        found = _json(source)
        if found:
            return [Document(data, source, n, Where(source.name, line)) for n, (data, line) in enumerate(found)]
    values = _Builder(source).documents()
    return [Document(data, source, n, Where(source.name, line)) for n, data, line in values if data is not None]


def _json(source: Source) -> list[tuple[Any, int]]:
    """Strict JSON, one value after the other, each with its line; none where the text is something else (flow YAML)."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    text, found = source.text, []
    position = _next(text, 0)
    try:
        while position < len(text):
            value, end = decoder.raw_decode(text, position)
            found.append((value, text.count("\n", 0, position) + 1))
            position = _next(text, end)
    except (ValueError, RecursionError):
        return []
    return found


def _finite(text: str) -> float:
    """Raises ValueError for what only text can hold."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _next(text: str, position: int) -> int:
    """Where the next value begins."""
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refuse_constant(_: str) -> None:
    raise ValueError


class _Builder:
    """Builds plain data from the parser's events, counting what aliases expand to."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.events = _events(source)
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.count = 0
        self.depth = 0
        self.line = 1

    def documents(self) -> Iterator[tuple[int, Any, int]]:
        """(number, data, first line) of each document."""
        number = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors.clear()
                if number == 0 and (event.version or event.tags):
                    raise self._directive(event)
                first = next(self.events)
                yield number, self._value(first), first.start_mark.line + 1
                number += 1

    def _directive(self, event: Any) -> InputError:
        hint = "leave the line away: kubectl takes none"
        return self._fault("begins with a directive", event.start_mark.line + 1, hint)

    def _value(self, event: Any) -> Any:
        self.line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor or "")
        before = self.count
        self._grow(1)
        if event.anchor:
            self.anchors[event.anchor] = (_OPEN, 0)
        value = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else self._nested(event)
        if event.anchor:
            self.anchors[event.anchor] = (value, self.count - before)
        return value

    def _nested(self, event: Any) -> Any:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise self._fault(f"is nested more than {_MOST_DEPTH} levels deep")
        value = self._mapping() if isinstance(event, yaml.MappingStartEvent) else self._sequence()
        self.depth -= 1
        return value

    def _sequence(self) -> list[Any]:
        items = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._value(event))
        return items

    def _mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line = event.start_mark.line + 1
            merge = isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]
            key = self._key(event)
            value = self._value(next(self.events))
            if merge:
                merged += self._merged(value, line)
            elif key in found:
                raise self._fault(
                    f'the key "{_short(key)}" stands twice in one mapping', line, hint="keep one of the two"
                )
            else:
                found[key] = value
        for other in merged:
            for key, value in other.items():
                found.setdefault(key, value)
        return found

    def _key(self, event: Any) -> str:
        value = self._value(event)
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return json.dumps(value)
        raise self._fault("has a key that is no text")

    def _merged(self, value: Any, line: int) -> list[dict[str, Any]]:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise self._fault("merges (<<) something that is not a mapping", line)
        return parts

    def _alias(self, anchor: str) -> Any:
        if anchor not in self.anchors:
            raise self._fault(f"refers to *{_short(anchor)}, which is not defined before")
        value, size = self.anchors[anchor]
        if value is _OPEN:
            raise self._fault(f"the anchor &{_short(anchor)} contains itself")
        self._grow(size)
        return value

    def _grow(self, size: int) -> None:
        self.count += size
        if self.count > _MOST_VALUES:
            raise self._fault(f"expands to more than {_MOST_VALUES:,} values")

    def _scalar(self, event: Any) -> Any:
        if event.tag and not event.implicit[0]:
            return self._tagged(event.tag.removeprefix("tag:yaml.org,2002:"), event.value)
        if not event.implicit[0]:
            return event.value
        if event.value in _NOT_NUMBERS:
            raise self._fault(f"{event.value} is not a number that JSON can hold")
        return _resolved(event.value)

    def _tagged(self, tag: str, text: str) -> Any:
        value = _resolved(text)
        if tag not in _TAGS:
            return text
        if tag == "float" and isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, _TAGS[tag]) and (tag != "int" or not isinstance(value, bool)):
            return value
        raise self._fault(f"the tag !{_short(tag)} cannot be used here")

    def _fault(self, message: str, line: int | None = None, hint: str = "") -> InputError:
        return _at_file(self.source.name, message, line=line or self.line, hint=hint)


_OPEN = object()
_TAGS: dict[str, type] = {"int": int, "float": float, "bool": bool, "null": type(None)}
"""Tags that mean something; what has another one is text, as go-yaml has it."""


def _events(source: Source) -> Iterator[Any]:
    try:
        yield from yaml.parse(source.text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise _not_yaml(source, error) from None


def _not_yaml(source: Source, error: yaml.YAMLError) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
    line = mark.line + 1 if mark else None
    if line is None and hasattr(error, "position"):
        line = source.text.count("\n", 0, error.position) + 1
    hint = "indent with spaces, YAML has no tabs" if _begins_with_tab(source.text, line) else ""
    return _at_file(source.name, f"is not YAML: {problem}", line=line, hint=hint)


def _begins_with_tab(text: str, line: int | None) -> bool:
    lines = text.split("\n", line or 0)
    return line is not None and len(lines) >= line and lines[line - 1].lstrip(" ").startswith("\t")


def _resolved(text: str) -> Any:
    """What an unquoted scalar means to go-yaml v2."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "") if text[0] != "." else text
    if _INTEGER.fullmatch(plain):
        return _integer(plain)
    if _FLOAT.fullmatch(plain):
        return _float(plain)
    return text


def _float(plain: str) -> int | float | str:
    """What no computer holds is text to go-yaml, and may be a quantity still."""
    number = float(plain) if len(plain) < 400 else math.inf
    return whole(number) if math.isfinite(number) else plain


def _integer(plain: str) -> int | float | str:
    digits = plain.lstrip("+-")
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2].lower(), 8 if digits[:1] == "0" and len(digits) > 1 else 10)
    if len(digits) > 70:
        return _float(plain) if digits.isdecimal() else plain
    value = int(digits.removeprefix("0o").removeprefix("0O"), base)
    return -value if plain[0] == "-" else value


def whole(number: float) -> int | float:
    """Whole floats as integers, as Go prints them (definitions.md 4.2)."""
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _line_of(source: Source, number: int, path: Path) -> int | None:
    """Parse again, following `path` through document `number`: only paid for when there is a fault to place."""
    with suppress(yaml.YAMLError, StopIteration):
        events = yaml.parse(source.text, Loader=yaml.CSafeLoader)
        return _follow(events, _root(events, number), path)[0]
    return None


def _item_lines(source: Source, number: int, path: Path) -> list[int]:
    """The lines on which the items of the list at `path` begin; fewer than there are where that cannot be told."""
    lines: list[int] = []
    with suppress(yaml.YAMLError, StopIteration):
        events = yaml.parse(source.text, Loader=yaml.CSafeLoader)
        _, start = _follow(events, _root(events, number), path)
        item: Any = next(events) if isinstance(start, yaml.SequenceStartEvent) else yaml.SequenceEndEvent()
        while not isinstance(item, yaml.SequenceEndEvent):
            lines.append(item.start_mark.line + 1)
            _skip(events, item)
            item = next(events)
    return lines


def _root(events: Iterator[Any], number: int) -> Any:
    """The first event of document `number`. Raises StopIteration when there are fewer."""
    while True:
        if isinstance(next(events), yaml.DocumentStartEvent):
            if number == 0:
                return next(events)
            number -= 1


def _follow(events: Iterator[Any], event: Any, path: Path) -> tuple[int, Any]:
    """The line of `path`, or of as much of it as exists, and the first event of what stands there."""
    line = int(event.start_mark.line) + 1
    for step in path:
        found = _step(events, event, step)
        if found is None:
            break
        line, event = found
    return line, event


def _step(events: Iterator[Any], event: Any, step: str | int) -> tuple[int, Any] | None:
    """The line and first event of the member `step` of the collection that `event` opens; None when it has none."""
    mapping = isinstance(event, yaml.MappingStartEvent)
    if not mapping and not isinstance(event, yaml.SequenceStartEvent):
        return None
    position = 0
    while not isinstance(head := next(events), yaml.CollectionEndEvent):
        value = _skip(events, head) and next(events) if mapping else head
        wanted = head.value == str(step) if mapping and isinstance(head, yaml.ScalarEvent) else position == step
        if wanted:
            return head.start_mark.line + 1, value
        _skip(events, value)
        position += 1
    return None


def _skip(events: Iterator[Any], event: Any) -> bool:
    """Consume the rest of the node that `event` opens."""
    depth = 1 if isinstance(event, yaml.CollectionStartEvent) else 0
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
    return True


def dump(data: Any) -> str:
    """Plain data as YAML, keys in their own order."""
    return yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
