"""The pods that an object has at one moment, and what speaks against their being all that come of it.

A pod that has ended, or is about to, may have another in its place already, or one to come. Controllers that start pods
in order hold the next ones back until the first are ready.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.definitions.drafting.draft import STATUSES
from advisor.definitions.observed import FINISHED, is_ready

Object = Mapping[str, Any]
PHASES = ("phase", "state")
"""Where objects say in which phase they are, under `status`."""


@dataclass(frozen=True, slots=True)
class Moment:
    """`pods` live, `ended` others do not, or are being deleted; `phase`: the object's own, "" where it has none."""

    pods: tuple[Object, ...]
    ended: int = 0
    phase: str = ""

    @property
    def doubt(self) -> str:
        """Why more pods than these may belong to the object; "" where nothing says so."""
        return ", and ".join(self._signs())

    def _signs(self) -> Iterator[str]:
        unready = sum(not is_ready(pod) for pod in self.pods)
        if self.ended:
            yield f"{_pods(self.ended)} of the object ended or must end"
        if unready:
            yield f"{_pods(unready)} of the object {'is' if unready == 1 else 'are'} not ready"
        if self.phase.lower() in STATUSES["initializing"]:
            yield f"the object says that it is {self.phase}"


def _pods(count: int) -> str:
    return f"{count} pod{'' if count == 1 else 's'}"


def moment(data: Object, pods: Sequence[Object]) -> Moment:
    living = tuple(pod for pod in pods if _lives(pod))
    status = data.get("status")
    told = [status.get(key) for key in PHASES] if isinstance(status, dict) else []
    phase = next((one for one in told if isinstance(one, str)), "")
    return Moment(living, len(pods) - len(living), phase)


def _lives(pod: Object) -> bool:
    ended = (pod.get("status") or {}).get("phase") in FINISHED
    return not (ended or pod["metadata"].get("deletionTimestamp"))
