"""Exit codes (product.md 2)."""

from __future__ import annotations

from collections.abc import Iterable

PLACED = 0
NOT_NOW = 1
INPUT = 2
NEVER = 3
CANNOT_TELL = 4
NO_DEFINITION = 5
OURS = 70
INTERRUPTED = 130
CLOSED_PIPE = 141
"""The last two as a shell reports a process that SIGINT or SIGPIPE ended."""

WORST_FIRST = (OURS, INPUT, NO_DEFINITION, CANNOT_TELL, NEVER, NOT_NOW, PLACED)
"""What the user must repair comes before what nobody knows, that before what will not pass, that before what may."""


def worst(codes: Iterable[int]) -> int:
    return min(codes, key=WORST_FIRST.index, default=PLACED)
