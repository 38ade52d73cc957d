"""The two streams of the process: how wide, in colour or not, and what is said on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from advisor.errors import Fault
from advisor.render.faults import faults
from advisor.render.style import Style


def answer_style(*, no_color: bool = False, no_headers: bool = False) -> Style:
    """The style of stdout."""
    return Style(_width(sys.stdout), _in_color(sys.stdout, no_color), not no_headers)


def _width(stream: TextIO) -> int | None:
    """COLUMNS, else the terminal's own; a pipe has none, so that every record there stays on one line."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isascii() and stated.isdigit() and int(stated):
        return int(stated)
    with suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns or None
    return None


def _in_color(stream: TextIO, no_color: bool) -> bool:
    """https://no-color.org, and terminals that say of themselves that they cannot."""
    refused = no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not refused and stream.isatty()


def say(found: Sequence[Fault], *, severity: str = "error", no_color: bool = False) -> None:
    """Faults, warnings or notes, all at once, on stderr."""
    sys.stderr.write(faults(found, Style(color=_in_color(sys.stderr, no_color)), severity))
    sys.stderr.flush()


def note(text: str, *, no_color: bool = False) -> None:
    say([Fault(text)], severity="note", no_color=no_color)


def last_note(text: str, *, no_color: bool = False) -> None:
    """Where the terminal has been closed, this and whatever is said after it goes nowhere."""
    try:
        note(text, no_color=no_color)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def confirmed(question: str) -> bool:
    """Does somebody at a terminal say yes? Without one nobody does."""
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
