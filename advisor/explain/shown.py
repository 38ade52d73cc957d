"""What to show of a workload whose pods may differ from cluster to cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from advisor.workload import Note, Workload


def shown(workload: Workload, clusters: Iterable[str]) -> Workload:
    """As the first of these clusters would make it that can, with a note where others would make other pods of it."""
    known = [(name, found) for name in clusters if not ((found := workload.on(name)).is_open or found.faults)]
    if not workload.variants or not known:
        return workload
    (first, chosen), *rest = known
    others = [name for name, found in rest if _pods(found) != _pods(chosen)]
    if not others:
        return chosen
    note = Note("reference", f"these are its pods in {first}; in {', '.join(others)} they are others", warns=True)
    return replace(chosen, variants=workload.variants, notes=(*chosen.notes, note))


def _pods(workload: Workload) -> Any:
    return workload.roles, workload.groups, workload.min_available
