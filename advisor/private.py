"""What containers are told (env, arguments) may be secret: it is dropped before an object is kept, shown or written."""

from __future__ import annotations

from typing import Any

TOLD = frozenset({"env", "envFrom", "args", "command"})
NAMES = ("labels", "annotations", "nodeselector")


def without(value: Any) -> Any:
    """Plain data without what containers are told, at whatever depth.

    Labels and the like (podLabels, matchLabels, nodeSelector, ...) are maps from any name to text: they stay whole.
    """
    if isinstance(value, dict):
        kept = {key: member for key, member in value.items() if key not in TOLD}
        return {key: member if _names(key, member) else without(member) for key, member in kept.items()}
    return [without(member) for member in value] if isinstance(value, list) else value


def _names(key: object, member: Any) -> bool:
    if not str(key).lower().endswith(NAMES) or not isinstance(member, dict):
        return False
    return all(isinstance(text, str) for text in member.values())
