"""How a reader says how far it has come."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, str, int], None]
"""Called with cluster, plural of a kind and objects so far, from several threads."""


def silent(cluster: str, what: str, count: int) -> None:
    """The progress that nobody watches."""
