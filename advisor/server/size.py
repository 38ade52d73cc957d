"""How much an object is to read, told before anything of it is read.

What an expression of a catalogue costs grows with the object and with the lists that it goes through, and no other
review is heard while one runs. An object beyond these limits is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from advisor.errors import InputError

TEXT = 3 << 20
"""Characters of an object; an API server stores half of that at most."""
TEMPLATES = 100
"""Pod templates."""
MEMBERS = 1000
"""Members of one list or mapping."""
TEMPLATES_TEXT = 8 << 20
"""Pod templates times characters: every template is looked for in the whole object."""
MEMBERS_TEXT = 32 << 20
"""Members of the longest list times characters: a rule may hold every member against all others."""


def check(found: Any) -> None:
    """Raises InputError for an object that would take too long."""
    text = templates = members = 0
    for value in _everything(found):
        text += _length(value)
        if isinstance(value, dict | list):
            members = max(members, len(value))
            templates += isinstance(value, dict) and isinstance(value.get("containers"), list)
        if text > TEXT or members > MEMBERS or templates > TEMPLATES:
            break
    too_much = text > TEXT or members > MEMBERS or templates > TEMPLATES
    if too_much or templates * text > TEMPLATES_TEXT or members * text > MEMBERS_TEXT:
        raise InputError("is too large to be judged in time", code="too-large")


def _everything(found: Any) -> Iterator[Any]:
    """The value and all that is in it, in any order and however deep."""
    waiting = [found]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _length(value: Any) -> int:
    """Characters, about; those of members are their own."""
    if isinstance(value, str):
        return len(value) + 3
    if isinstance(value, dict):
        return sum(len(key) + 4 for key in value) + 2
    return value.bit_length() // 3 + 2 if isinstance(value, int) else 4
