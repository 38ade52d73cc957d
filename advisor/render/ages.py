"""Which clusters an answer rests on, and how old the data of them is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from advisor.verdict import Verdict

ESSENTIAL = ("cluster", "nodes", "pods")
"""Gaps with which nothing of a cluster can be judged."""


def is_read(verdict: Verdict) -> bool:
    return not any(gap.what in ESSENTIAL for gap in verdict.gaps)


def oldest(verdicts: Iterable[Verdict]) -> datetime | None:
    """When the oldest data that was used was read."""
    return min((verdict.taken_at for verdict in verdicts if verdict.taken_at and is_read(verdict)), default=None)


def age(verdict: Verdict, as_of: datetime) -> int | None:
    """Whole seconds since the cluster was read; a recording from the future is new."""
    return max(0, int((as_of - verdict.taken_at).total_seconds())) if verdict.taken_at else None


def duration(seconds: float) -> str:
    """An age as kubectl writes it: two units at most, and the smaller one only while it matters."""
    left = max(0, int(seconds))
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "m", 60), ("m", 60, "s", 1)):
        if left >= 2 * size:
            rest = left % size // part
            return f"{left // size}{unit}" + (f"{rest}{smaller}" if rest and left < 10 * size else "")
    return f"{left}s"
