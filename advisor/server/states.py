"""What a server knows of its clusters, for people, for probes and for Prometheus."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from advisor.cluster import Gap
from advisor.server.reservations import Reservations
from advisor.server.store import Latest


def clusters(latest: Sequence[Latest], held: Reservations, now: datetime, max_age: float) -> dict[str, Any]:
    rows = [_row(one, held.at(now), now, max_age) for one in latest]
    return {"apiVersion": "wm-place/v1", "kind": "ClusterStates", "clusters": rows}


def _row(one: Latest, held: Reservations, now: datetime, max_age: float) -> dict[str, Any]:
    age = one.age(now)
    holds = held.on(one.name)
    return {
        "name": one.name,
        "usable": one.good is not None and not one.stale(now, max_age),
        "ageSeconds": None if age is None else max(0, int(age)),
        "nodes": len(one.good.nodes) if one.good else None,
        "version": one.good.version or None if one.good else None,
        "gaps": [_gap(gap) for gap in one.good.gaps] if one.good else [],
        "failure": _gap(one.failure) if one.failure else None,
        "holds": {"objects": len({hold.key for hold in holds if hold.pods}), "pods": sum(hold.pods for hold in holds)},
    }


def _gap(gap: Gap) -> dict[str, str]:
    return {"what": gap.what, "why": gap.why, "text": gap.text}


def unready(latest: Sequence[Latest], certificate: str) -> str:
    """Why no review should come here; empty when it may. `certificate`: what is wrong with it.

    Data that has grown old is no reason: who is asked can say so, and refuse where it is told to; nobody else would.
    """
    waiting = [one.name for one in latest if not one.tried]
    if waiting:
        return f"not read yet: {', '.join(waiting)}"
    return certificate if any(one.good for one in latest) else "no cluster could be read"


def ready(latest: Sequence[Latest], now: datetime, max_age: float) -> str:
    """What is said when a review may come: which clusters are not known well enough to be judged."""
    old = [one.name for one in latest if one.good is None or one.stale(now, max_age)]
    return f"ok, without {', '.join(old)}" if old else "ok"
