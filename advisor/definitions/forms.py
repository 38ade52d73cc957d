"""Values of a form that the API server knows and jq has no word for: schedules, time zones, selectors of labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from advisor.definitions import plain
from advisor.definitions.plain import Data
from advisor.errors import Faults, InputError, likely
from advisor.labels import is_key, is_value

TYPES = {"schedule": "string", "timeZone": "string", "selector": "object"}
"""Form → the type of what has it."""

FIVE = "minute, hour, day of the month, month, day of the week; or @daily and the like"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of the month", 1, 31, ()),
    ("month", 1, 12, MONTHS),
    ("day of the week", 0, 6, DAYS),
)
"""Name, least and greatest number, and the words for the numbers from the least on."""
NAMED = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
DURATION = re.compile(r"[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)")
NUMBER = re.compile(r"\+?0*[0-9]{1,19}")
ZONE = re.compile(r"(?!\.{1,2}$)[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}")
ELSEWHERE = ("posix/", "right/", "localtime", "posixrules")
"""What machines may have beside the names of the database."""


def check(form: str, value: Any) -> None:
    """Raises InputError for what is not of the form; what has another type is told by the rules."""
    if value is not None and isinstance(value, _PYTHON[TYPES[form]]):
        _CHECKS[form](value)


def _schedule(text: str) -> None:
    """robfig/cron v3 `ParseStandard`: five fields, a named schedule, or every so often; perhaps with a time zone."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, text = text.partition("=")[2].partition(" ")
        if zone and zone != "Local":
            _zone(zone)
        text = text.strip()
    if text.startswith("@"):
        if text not in NAMED and not (text.startswith("@every ") and DURATION.fullmatch(text[7:])):
            raise InputError("is no named schedule", hint=f"{', '.join(NAMED)}, or @every and a duration: @every 1h30m")
        return
    fields = text.split()
    if len(fields) != len(FIELDS):
        raise InputError("is no schedule of five fields", hint=FIVE)
    known = zip(fields, FIELDS, strict=True)
    wrong = [name for field, (name, least, most, words) in known if not _is_field(field, least, most, words)]
    if wrong:
        raise InputError(f"is no schedule: {' and '.join(f'the {name}' for name in wrong)} cannot be read", hint=FIVE)


def _is_field(text: str, least: int, most: int, words: tuple[str, ...]) -> bool:
    return all(_is_range(part, least, most, words) for part in text.split(",") if part)


def _is_range(text: str, least: int, most: int, words: tuple[str, ...]) -> bool:
    """`*`, `3`, `mon-fri`, and each of them with `/2` behind it."""
    span, *steps = text.split("/")
    if len(steps) > 1 or any(not _number(step) for step in steps):
        return False
    first, *last = span.split("-")
    if first in ("*", "?"):
        return True
    start = _number(first, least, words)
    end = most if steps and not last else _number((last or [first])[0], least, words)
    return len(last) <= 1 and start is not None and end is not None and least <= start <= end <= most


def _number(text: str, least: int = 0, words: tuple[str, ...] = ()) -> int | None:
    if text.lower() in words:
        return least + words.index(text.lower())
    return int(text) if NUMBER.fullmatch(text) else None


def _zone(name: str) -> None:
    if not name or name.lower() == "local" or not all(map(ZONE.fullmatch, name.split("/"))):
        raise InputError("is no name of a time zone", hint="such as Europe/Berlin or Etc/UTC")
    if name not in _zones() and not name.startswith(ELSEWHERE):
        raise InputError("is no time zone that is known", hint=likely(name, _zones()))


@cache
def _zones() -> frozenset[str]:
    """Of the time zone database, which we bring along: a machine's own may lack old names."""
    return frozenset((resources.files("tzdata") / "zones").read_text().split())


def _selector(selector: Data) -> None:
    faults = Faults()
    for key, value in plain.pairs(selector, "matchLabels").items():
        if not is_key(key):
            faults.add("is no label key", "matchLabels", key)
        if not is_value(value):
            faults.add("is no label value", "matchLabels", key)
    for place, item in plain.mappings(selector, "matchExpressions"):
        with faults.collect("matchExpressions", place):
            for field, message in _expression_faults(item):
                faults.add(message, "matchExpressions", place, field)
    faults.raise_if_any()


def _expression_faults(item: Data) -> Iterator[tuple[str, str]]:
    operator, values = plain.text(item, "operator"), plain.texts(item, "values")
    if not is_key(plain.text(item, "key")):
        yield "key", "is no label key"
    if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
        yield "operator", "must be In, NotIn, Exists or DoesNotExist"
    elif bool(values) != (operator in ("In", "NotIn")):
        yield "values", "takes no values" if values else "needs values"
    if not all(map(is_value, values)):
        yield "values", "holds what is no label value"


_PYTHON: Mapping[str, type] = {"string": str, "object": dict}
_CHECKS: Mapping[str, Callable[[Any], None]] = {"schedule": _schedule, "timeZone": _zone, "selector": _selector}
