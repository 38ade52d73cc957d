"""The order of API versions, and which of two is nearer to a third (Kubernetes' version priority: v1 > v1beta2 > …)."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v(?P<major>[0-9]{1,9})(?:(?P<stage>alpha|beta)(?P<minor>[0-9]{1,9}))?")
_STAGES = ("alpha", "beta", None)

Rank = tuple[int, int, int]
_FAR: Rank = (10**9, 0, 0)


def rank(version: str) -> Rank | None:
    """A key that grows with maturity; None for a text that is no Kubernetes version."""
    found = _VERSION.fullmatch(version)
    if not found:
        return None
    return int(found["major"]), _STAGES.index(found["stage"]), int(found["minor"] or 0)


def maturity(version: str) -> Rank:
    """Sorts as Kubernetes prefers versions: stable first, then the higher number; what is no version comes last."""
    found = rank(version)
    return (found[1], found[0], found[2]) if found else (-1, 0, 0)


def distance(version: str, wanted: str) -> tuple[bool, Rank, Rank]:
    """Sorts by nearness to `wanted`: equal, then major version, maturity, minor number; the newer one among equals."""
    left, right = rank(version), rank(wanted)
    if left is None or right is None:
        return version != wanted, _FAR, _FAR
    minor = abs(left[2] - right[2]) if left[1] == right[1] else 0
    away = (abs(left[0] - right[0]), abs(left[1] - right[1]), minor)
    return version != wanted, away, (-left[0], -left[1], -left[2])
