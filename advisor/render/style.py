"""How a text may look: the width to keep to, and whether colours are wanted."""

from __future__ import annotations

from dataclasses import dataclass

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"
"""SGR codes (ECMA-48); "" is plain text."""


@dataclass(frozen=True, slots=True)
class Style:
    """`width` None: lines may be as long as they like, as in a pipe, where a line is a record."""

    width: int | None = None
    color: bool = False
    headers: bool = True

    def paint(self, text: str, tone: str) -> str:
        return f"\x1b[{tone}m{text}\x1b[0m" if self.color and tone and text else text


def visible(text: str) -> str:
    """The text with every control character written out: names come from files that others may have written."""
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return character.encode("unicode_escape").decode("ascii")
