"""What is shown on stderr while a command takes its time: a line that moves, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock, Timer
from typing import Any

from advisor.kube.progress import Progress, silent

PATIENCE = 0.5
"""Seconds after which a user wonders; what ends sooner shows nothing and does not pay for importing rich."""


@contextmanager
def reading(clusters: Sequence[str], *, no_color: bool) -> Iterator[Progress]:
    """A `Progress` for the readers, shown as one line: how far each cluster has come."""
    if not sys.stderr.isatty():
        yield silent
        return
    line = _Line(f"reading {', '.join(clusters)}", no_color)
    counts: dict[str, str] = {}

    def advance(cluster: str, what: str, count: int) -> None:
        counts[cluster] = f"{cluster} {count:,} {what}"
        line.show(" · ".join(counts.get(name, name) for name in clusters))

    with line:
        yield advance


@contextmanager
def waiting(text: str, *, no_color: bool) -> Iterator[bool]:
    """Shows the text until it is over; False where it cannot, so that the caller may write a line that stays."""
    if not sys.stderr.isatty():
        yield False
        return
    with _Line(text, no_color):
        yield True


class _Line:
    """One line with a spinner, which appears when somebody has waited for it; may be told from any thread."""

    def __init__(self, text: str, no_color: bool) -> None:
        self._text, self._no_color = text, no_color
        self._lock = Lock()
        self._status: Any = None
        self._over = False
        self._timer = Timer(PATIENCE, self._begin)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status:
                self._status.stop()

    def show(self, text: str) -> None:
        with self._lock:
            self._text = text
            if self._status:
                self._status.update(self._drawn())

    def _begin(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._over:
                console = Console(stderr=True, no_color=self._no_color or None, highlight=False)
                self._status = Status(self._drawn(), console=console)
                self._status.start()

    def _drawn(self) -> Any:
        from rich.text import Text

        return Text(self._text, no_wrap=True, overflow="ellipsis")
