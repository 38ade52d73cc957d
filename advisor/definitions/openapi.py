"""What each field of a pod, and of the objects of Kubernetes that make pods, may hold: `catalog/openapi.json`.

The table is Kubernetes' own description (OpenAPI v3), so that nothing depends on which fields a rule reads. A wrong
type or word is refused by the API server, and so is what lacks a required field; a field that is not in the table is
refused by kubectl and dropped by servers, unless they are newer than the table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from advisor import files, quantity
from advisor.definitions import shapes
from advisor.definitions.metadata import TIME
from advisor.definitions.shipped import builtin_folder
from advisor.errors import Fault, InputError, Path, likely
from advisor.workload import Malformed

FILE = builtin_folder() / "openapi.json"
What = Literal["type", "word", "lacking", "unknown", "fraction", "null"]
"""A null is one in a list. A fraction is a quantity such as 0.5 without quotes, or one with blanks around it, which
some kinds do not take."""
NO_MEMBER = "leave it away: the schema of the kind takes no null in a list"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: of which sort, where, what, and what to do about it."""

    what: What
    path: Path
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _Form:
    """Of a field: in a list or a map (`many`), a struct's name or the name of a leaf; `words`: those that it takes."""

    many: str
    name: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Struct:
    fields: Mapping[str, _Form]
    needed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    version: str
    kinds: Mapping[str, str]
    structs: Mapping[str, _Struct]


@lru_cache(maxsize=1)
def _table() -> _Table:
    data = json.loads(files.read(str(FILE)).text)
    structs = {
        name: _Struct(
            {field: _form(text) for field, text in fields.items()},
            tuple(field for field, text in fields.items() if text.startswith("!")),
        )
        for name, fields in data["types"].items()
    }
    return _Table(data["version"], data["kinds"], structs)


@lru_cache(maxsize=1024)
def _form(text: str) -> _Form:
    """`!` is required, `[]` a list, `{}` a map, `=` begins words; what is left is a type."""
    text = text.removeprefix("!")
    many = text[:2] if text[:2] in ("[]", "{}") else ""
    name = text.removeprefix(many)
    return _Form(many, "text", tuple(name[1:].split("|"))) if name.startswith("=") else _Form(many, name)


def version() -> str:
    """Of Kubernetes, which the table describes."""
    return _table().version


def type_of(data: Any) -> str:
    """The type of an object of Kubernetes itself; "" of any other."""
    return _table().kinds.get(f"{data.get('apiVersion')} {data.get('kind')}", "")


def found(form: str, value: Any) -> list[Finding]:
    """Everything that is wrong with a value of this form (a type, or as the table writes it)."""
    findings: list[Finding] = []
    _walk(value, _form(form), (), findings)
    return findings


def mistyped(form: str, value: Any) -> list[Fault]:
    """Every wrong type in a value of this form."""
    return [Fault(one.message, one.path, hint=one.hint) for one in found(form, value) if one.what == "type"]


def check(form: str) -> Callable[[Any], None]:
    """A shape (`shapes.py`): raises InputError with every wrong type."""

    def fits(value: Any) -> None:
        if wrong := mistyped(form, value):
            raise InputError.of(wrong)

    return fits


def decoded(form: str, value: Any) -> Any:
    """What Go makes of a value of this form: null members of maps and lists are the zero value of their type."""
    return _decoded(value, _form(form))


def _decoded(value: Any, form: _Form) -> Any:
    if form.many == "[]" and isinstance(value, list):
        return [_member(one, form.name) for one in value]
    if form.many == "{}" and isinstance(value, dict):
        return {key: _member(one, form.name) for key, one in value.items()}
    return value if form.many or value is None else _member(value, form.name)


def _member(value: Any, name: str) -> Any:
    struct = _table().structs.get(name)
    if value is None:
        return {} if struct else _ZEROS.get(name)
    if struct is None or not isinstance(value, dict):
        return value
    return {key: _decoded(one, struct.fields[key]) if key in struct.fields else one for key, one in value.items()}


def words(spec: Any) -> tuple[Malformed, ...]:
    """Of a pod spec: values that are none of the words which their fields take."""
    return tuple(Malformed(("spec", *one.path), one.message) for one in found("PodSpec", spec) if one.what == "word")


def _walk(value: Any, form: _Form, path: Path, findings: list[Finding]) -> None:
    """Null is the same as nothing, but in a list."""
    if not form.many:
        members: Iterable[tuple[Path, Any]] = [(path, value)]
    elif form.many == "[]" and isinstance(value, list):
        members = (((*path, place), member) for place, member in enumerate(value))
    elif form.many == "{}" and isinstance(value, dict):
        members = (((*path, key), member) for key, member in value.items())
    else:
        wanted = "a list" if form.many == "[]" else "a mapping"
        members = []
        if value is not None:
            findings.append(Finding("type", path, f"must be {wanted}, not {shapes.shown(value)}"))
    for where, member in members:
        if member is not None:
            _one(member, form, where, findings)
        elif form.many == "[]":
            findings.append(Finding("null", where, "must not be null", NO_MEMBER))


def _one(value: Any, form: _Form, path: Path, findings: list[Finding]) -> None:
    struct = _table().structs.get(form.name)
    if struct is not None:
        _inside(value, struct, path, findings)
    elif wrong := _LEAVES[form.name](value):
        findings.append(Finding("type", path, wrong))
    elif form.name == "quantity" and isinstance(value, float) and not value.is_integer():
        findings.append(Finding("fraction", path, f"must be text or a whole number, not {value!r}"))
    elif form.name == "quantity" and isinstance(value, str) and value != value.strip(quantity.BLANKS):
        findings.append(Finding("fraction", path, "has blanks around it", "leave them away"))
    elif form.words and value and value not in form.words:
        findings.append(Finding("word", path, f"must be one of {', '.join(filter(None, form.words))}"))


def _inside(value: Any, struct: _Struct, path: Path, findings: list[Finding]) -> None:
    if not isinstance(value, dict):
        findings.append(Finding("type", path, f"must be a mapping, not {shapes.shown(value)}"))
        return
    for key, member in value.items():
        form = struct.fields.get(key)
        if form is not None:
            _walk(member, form, (*path, key), findings)
        else:
            findings.append(Finding("unknown", (*path, key), "is no field here", likely(str(key), struct.fields)))
    lacking = (key for key in struct.needed if value.get(key) is None or value[key] == "")
    findings.extend(Finding("lacking", (*path, key), "is required") for key in lacking)


Leaf = Callable[[Any], str]
"""What is wrong with a value, or nothing."""


def _leaf(kind: type) -> Leaf:
    return lambda value: "" if isinstance(value, kind) else shapes.wrong(value, kind)


def _whole(bits: int) -> Leaf:
    def wrong(value: Any) -> str:
        if message := shapes.wrong(value, int):
            return message
        return "" if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else "is out of range"

    return wrong


def _quantity(value: Any) -> str:
    try:
        quantity.parse(value)
    except InputError as error:
        return error.faults[0].message
    return ""


def _int_or_text(value: Any) -> str:
    if isinstance(value, str) or not shapes.wrong(value, int):
        return "" if isinstance(value, str) else _whole(32)(value)
    return f"must be a whole number or text, not {shapes.shown(value)}"


def _time(value: Any) -> str:
    return "" if isinstance(value, str) and TIME.fullmatch(value) else "must be a time such as 2026-01-31T12:00:00Z"


_LEAVES: Mapping[str, Leaf] = {
    "text": _leaf(str),
    "flag": _leaf(bool),
    "int32": _whole(32),
    "int64": _whole(64),
    "quantity": _quantity,
    "intOrText": _int_or_text,
    "time": _time,
    "any": lambda _: "",
}
_ZEROS: Mapping[str, Any] = {"text": "", "flag": False, "int32": 0, "int64": 0, "quantity": 0, "intOrText": 0}
"""Leaf → what Go makes of a null member; of times and of what may be anything it stays one."""
