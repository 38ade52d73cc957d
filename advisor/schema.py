"""What people may write in files of ours, as models that check it: the common part of every `schema.py`.

Everything that is wrong with a file is said at once, each fault with its path, and an unknown key with the likely
spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from advisor.errors import Fault, Faults, InputError, Path, likely

M = TypeVar("M", bound=BaseModel)

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|h|m|s)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_EXAMPLE = "such as 20s, 1m30s or 500ms"


def duration(text: str) -> float:
    """Seconds of a duration as Go writes it. Raises InputError for anything else, and for none at all."""
    parts = _PART.findall(text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text or seconds <= 0:
        raise InputError(f'"{text[:20]}" is not a duration', hint=_EXAMPLE)
    return seconds


def _seconds(value: object) -> float:
    try:
        return duration(value if isinstance(value, str) else repr(value))
    except InputError as error:
        raise PydanticCustomError("duration", "{text}", {"text": f"{error.faults[0].message}, {_EXAMPLE}"}) from None


Seconds = Annotated[float, BeforeValidator(_seconds)]
Text = Annotated[str, Field(min_length=1)]


class Model(BaseModel):
    """A mapping that people write: camelCase keys, no others, and no value taken for another type."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel)

    @classmethod
    def rules(cls, found: Mapping[str, Any], faults: Faults) -> None:
        """Adds what the types of the fields do not tell. `found` is as written: whatever else is wrong with it is told
        already, and keeps nothing from being looked at.
        """


def checked(model: type[M], data: Any, later: Mapping[str, str] | None = None) -> M:
    """`data` as the model has it. `later`: keys that a later version will read, and what to do meanwhile.

    Raises InputError with every fault, its path relative to `data`.
    """
    found: list[Fault] = []
    try:
        made = model.model_validate(data)
    except ValidationError as error:
        found = [_fault(model, detail, later or {}) for detail in error.errors(include_url=False)]
    broken = list(_broken(model, data, ()))
    if broken:
        found = sorted((*found, *broken), key=lambda fault: _position(data, fault.path))
    if found:
        raise InputError.of(found)
    return made


def _broken(annotation: Any, data: Any, path: Path) -> Iterator[Fault]:
    """Faults by the rules of the models, of whatever has the shape that they expect."""
    kind = _plain(annotation)
    if isinstance(data, list) and get_origin(kind) is list:
        for number, item in enumerate(data):
            yield from _broken(get_args(kind)[0], item, (*path, number))
    elif isinstance(data, dict) and get_origin(kind) is dict:
        for key, item in data.items():
            yield from _broken(get_args(kind)[-1], item, (*path, str(key)))
    elif isinstance(data, dict) and isinstance(kind, type) and issubclass(kind, Model):
        faults = Faults()
        kind.rules(data, faults)
        yield from (replace(fault, path=(*path, *fault.path)) for fault in faults.found)
        for name, field in kind.model_fields.items():
            key = field.alias or name
            if key in data:
                yield from _broken(field.annotation, data[key], (*path, key))


def _position(data: Any, path: Path) -> tuple[int, ...]:
    """For an order as in the file; what is missing in a mapping comes first."""
    place: list[int] = []
    for step in path:
        keys = list(data) if isinstance(data, dict) else list(range(len(data))) if isinstance(data, list) else []
        place.append(keys.index(step) if step in keys else -1)
        data = data[step] if step in keys else None
    return tuple(place)


def _fault(model: type[BaseModel], detail: ErrorDetails, later: Mapping[str, str]) -> Fault:
    path: Path = detail["loc"]
    given = detail["input"]
    match detail["type"]:
        case "extra_forbidden":
            return _unknown_key(model, path, later)
        case "missing":
            return Fault("is missing", path)
        case "string_type":
            return Fault(
                "should be text", path, hint="" if isinstance(given, dict | list | None) else "put it in quotes"
            )
        case "literal_error":
            known = detail["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
            hint = likely(str(given), known) or f"one of {', '.join(known)}"
            return Fault(f'"{str(given)[:40]}" is not known here', path, hint=hint)
        case "string_too_short" | "too_short":
            return Fault("should not be empty", path)
        case "model_type" | "dict_type":
            return Fault("should be a mapping", path)
    message = detail["msg"].removeprefix("Input ")
    return Fault(message[:1].lower() + message[1:], path)


def _unknown_key(model: type[BaseModel], path: Path, later: Mapping[str, str]) -> Fault:
    key = str(path[-1])
    if key in later:
        return Fault("not read yet by this version", path, hint=later[key])
    known = [field.alias or name for name, field in _model_at(model, path[:-1]).model_fields.items()]
    return Fault("is not known here", path, hint=likely(key, known) or f"known are {', '.join(known)}")


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel]:
    """The model that checks the mapping at `path`."""
    annotation: Any = model
    for step in path:
        annotation = _below(_plain(annotation), step)
    return _plain(annotation)  # type: ignore[no-any-return]


def _below(annotation: Any, step: str | int) -> Any:
    """The type of a member: a field's by its name, that of all items of a list or values of a mapping."""
    if get_origin(annotation) in (list, dict):
        return get_args(annotation)[-1]
    (found,) = (f.annotation for name, f in annotation.model_fields.items() if step in (name, f.alias))
    return found


def _plain(annotation: Any) -> Any:
    """The type in `Type | None` and `Annotated[Type, …]`."""
    while get_origin(annotation) in (Union, UnionType, Annotated):
        annotation = next(part for part in get_args(annotation) if part is not NoneType)
    return annotation
