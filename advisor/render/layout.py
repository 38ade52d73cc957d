"""Columns and wrapped lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import TextWrapper

from advisor.render.style import Style, visible

GAP = "  "
NARROWEST = 24
"""With less room than this beside the other columns, the last column goes below them."""
BELOW = " " * 6


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of a grid, on one line whatever it holds."""

    text: str
    tone: str = ""
    right: bool = False

    @property
    def shown(self) -> str:
        return _line(self.text)

    def padded(self, width: int, style: Style) -> str:
        blank = " " * (width - len(self.shown))
        painted = style.paint(self.shown, self.tone)
        return blank + painted if self.right else painted + blank


def grid(rows: Sequence[Sequence[Cell]], style: Style, indent: str = "") -> Iterator[str]:
    """Lines of aligned columns; the last column wraps under itself, or under the others where these leave no room."""
    if not rows:
        return
    columns = zip(*([len(cell.shown) for cell in row] for row in rows), strict=True)
    widths = [max(lengths) for lengths in columns]
    offset = len(indent) + sum(width + len(GAP) for width in widths[:-1])
    below = style.width is not None and style.width - offset < min(NARROWEST, widths[-1])
    for *cells, last in rows:
        start = indent + "".join(cell.padded(width, style) + GAP for cell, width in zip(cells, widths, strict=False))
        if last.right:
            yield (start + last.padded(widths[-1], style)).rstrip()
        elif below and last.text:
            yield start.rstrip()
            yield from paragraph(last.text, style, indent + BELOW, last.tone)
        else:
            yield from _beside(start, _wrapped(last.shown, style, offset), offset, last.tone, style)


def _beside(start: str, lines: Sequence[str], offset: int, tone: str, style: Style) -> Iterator[str]:
    first, *more = lines
    yield (start + style.paint(first, tone)).rstrip()
    yield from (" " * offset + style.paint(line, tone) for line in more)


def paragraph(text: str, style: Style, indent: str = "", tone: str = "", hanging: str = "") -> Iterator[str]:
    """Lines of one text; those after the first are indented further by `hanging`."""
    first, *more = _wrapped(_line(text), style, len(indent + hanging))
    yield indent + style.paint(first, tone)
    yield from (indent + hanging + style.paint(line, tone) for line in more)


def _line(text: str) -> str:
    return visible(text).replace("\n", " ")


def _wrapped(text: str, style: Style, offset: int) -> list[str]:
    if style.width is None:
        return [text]
    room = max(style.width - offset, NARROWEST)
    wrapper = TextWrapper(room, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text) or [""]
