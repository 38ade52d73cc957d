"""What the expressions of a placement profile may give: each value is looked at before anything is made of it.

A profile may be anybody's, so a value of another form is a fault with the expression named, never a guess: text that is
taken for a list, or a flag for a number of pods, would be counted somewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from advisor.definitions.shapes import MOST_PODS, kind_of
from advisor.errors import InputError

_LONGEST = 100
_BEARERS = ("workload", "role", "part", "group", "pod", "priority")
"""Whose value a label may have (`labels.MadeLabel`)."""

Test = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Form:
    """`words` complete "gives …, where … is needed"."""

    words: str
    fits: Test


def checked(form: Form, value: Any, text: str | None, place: str = "") -> Any:
    """The value that the expression `text` gave. Raises InputError when it has another form."""
    if not form.fits(value):
        raise unreadable(f"gives {_described(value)}, where {form.words} is needed", text or "", place)
    return value


def unreadable(reason: str, text: str, place: str = "") -> InputError:
    """The manifest has another shape than the kind's, or the profile is wrong: nothing can be made of the two.

    `place`: file, line and path of the expression, where it is not ours.
    """
    line = " ".join(text.split())
    shown = line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
    hint = f"in the placement profile{place and f', {place}'}: {shown}"
    return InputError(f"cannot be read as its kind wants it: {reason}", path=("spec",), hint=hint, code="unreadable")


def _described(value: Any) -> str:
    """Its type alone where it could be the manifest's own text."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else kind_of(value)


def _is(kind: type) -> Test:
    return lambda value: isinstance(value, kind)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_PODS


def _or_null(test: Test) -> Test:
    return lambda value: value is None or test(value)


def _list(item: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(item, value))


def _map(member: Test) -> Test:
    return lambda value: isinstance(value, dict) and all(map(member, value.values()))


def _record(required: Mapping[str, Test], others: Mapping[str, Test] | None = None) -> Test:
    known = {**required, **(others or {})}

    def test(value: Any) -> bool:
        if not isinstance(value, dict) or not required.keys() <= value.keys() <= known.keys():
            return False
        return all(known[key](member) for key, member in value.items())

    return test


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _title(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?/[a-z0-9.#?*-]+", value))


_text, _flag = _is(str), _is(bool)
_made = _record(
    {},
    {
        "of": _BEARERS.__contains__,
        "resized": ("", *_BEARERS).__contains__,
        "guessable": _flag,
        "sure": _flag,
        "value": _text,
    },
)

SIZES = Form("a mapping of roles to numbers of pods", _map(_count))
COUNT = Form(f"a whole number from 0 to {MOST_PODS}", _count)
MAXIMUM = Form("a whole number, or null", _or_null(_count))
NAME = Form("a name", lambda value: isinstance(value, str) and value != "")
TEXT = Form("text, or null", _or_null(_text))
FLAG = Form("true or false", _or_null(_flag))
STAGES = Form("a list of one whole number or more", lambda value: _list(_count)(value) and len(value) > 0)
OBJECT = Form("an object", _is(dict))
LABELS = Form(
    f"a mapping of keys to text, or to what is known of the value (of: {', '.join(_BEARERS)})",
    _map(lambda value: isinstance(value, str) or _made(value)),
)
OWNER = Form("Kind.group/name, a list of such names, or null", lambda value: all(map(_title, _listed(value))))
TOPOLOGY = Form(
    "a list of {key, unit, exclusive, path}",
    _or_null(_list(_record({"key": _text, "unit": _text, "exclusive": _flag, "path": _text}))),
)
GROUPS = Form(
    "a list of {count, members: {role: pods}, most: {role: pods}, further, partly}",
    _or_null(
        _list(
            _record(
                {"count": _count, "members": _map(_count)}, {"most": _map(_count), "further": _flag, "partly": _flag}
            )
        )
    ),
)
ORDER = Form("a mapping of roles to lists of {role: pods or null}", _or_null(_map(_list(_map(_or_null(_count))))))
UNMODELLED = Form(
    "a list of {path, text, restricts, needs, resource}",
    _or_null(_list(_record({"path": _text, "text": _text}, {"restricts": _flag, "needs": _text, "resource": _text}))),
)
TEXTS = Form("a list of text", _list(_text))
REQUIRES = Form("a list of API groups", _or_null(_list(_text)))
NAMES = Form("a list of names of roles", _or_null(_list(_text)))
CLAIMS = Form(
    "a list of {name, spec, shared}",
    _or_null(_list(_record({"name": _text, "spec": _is(dict)}, {"shared": _or_null(_count)}))),
)


def is_path(value: Any) -> bool:
    """A list of steps: keys and places."""
    return _list(lambda step: isinstance(step, str) or _count(step))(value)
