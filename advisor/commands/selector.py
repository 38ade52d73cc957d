"""Label selectors as kubectl's `-l` has them: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, with commas."""

from __future__ import annotations

import re

from advisor.errors import InputError
from advisor.labels import Requirement, Selector, is_key, is_value

_KEY = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]*[A-Za-z0-9])?"
_VALUE = r"[-A-Za-z0-9_.]*"
_REQUIREMENT = re.compile(
    rf"""\s*(?:
        !\s*(?P<absent>{_KEY})
      | (?P<key>{_KEY}) (?:
            \s*(?P<sign>==|=|!=|>|<)\s*(?P<value>{_VALUE})
          | \s+(?P<word>in|notin)\s*\((?P<values>[^()]*)\)
        )?
    )\s*""",
    re.VERBOSE,
)
_SIGNS = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt", "in": "In", "notin": "NotIn"}
_EXAMPLE = "such as -l team=ml,stage!=dev or -l 'team in (ml,vision)'"


def parse(text: str) -> Selector:
    """Raises InputError for what kubectl would not take."""
    requirements = []
    position = 0
    while position < len(text):
        found = _REQUIREMENT.match(text, position)
        if not found or text[found.end() : found.end() + 1] not in ("", ","):
            raise InputError(f'"{text}" is not a label selector', hint=_EXAMPLE)
        requirements.append(_checked(_requirement(found), text))
        position = found.end() + 1
    return Selector(tuple(requirements))


def _checked(requirement: Requirement, text: str) -> Requirement:
    """Gt and Lt compare numbers, all others labels."""
    if not is_key(requirement.key):
        raise InputError(f'"{text}" is not a label selector: {requirement.key} is no label key', hint=_EXAMPLE)
    for value in requirement.values:
        if not is_value(value):
            raise InputError(f'"{text}" is not a label selector: {value} is no label value', hint=_EXAMPLE)
    return requirement


def _requirement(found: re.Match[str]) -> Requirement:
    if found["absent"]:
        return Requirement(found["absent"], "DoesNotExist")
    operator = found["sign"] or found["word"]
    if not operator:
        return Requirement(found["key"], "Exists")
    values = found["values"].split(",") if found["word"] else [found["value"]]
    return Requirement(found["key"], _SIGNS[operator], tuple(value.strip() for value in values))
