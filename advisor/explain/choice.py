"""Which cluster is chosen among those that fit, and in which order the others are shown.

Feasibility first, then the policy's preferences, then its strategy, then the name, so that equal input gives equal
output. `pack` keeps the largest gang of the same shape possible afterwards, then leaves whole nodes whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from advisor.labels import Labels
from advisor.question import Policy
from advisor.verdict import FITS, FULL, NEVER, REDUCED, UNKNOWN, Verdict

ORDER = (FITS, REDUCED, UNKNOWN, FULL, NEVER)
"""`unknown` may still be a yes, so it is shown before every no."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What choosing a cluster would do to it.

    room    how many more pods of the gang's heaviest role it holds now
    taken   how many of those places the gang takes
    broken  whole nodes that the gang breaks
    nodes   nodes that it uses
    """

    room: int
    taken: int
    broken: int
    nodes: int


def choose(
    verdicts: Sequence[Verdict], footprints: Mapping[str, Footprint], labels: Mapping[str, Labels], policy: Policy
) -> Verdict | None:
    allowed = (FITS, REDUCED) if policy.allow_reduced else (FITS,)
    candidates = [verdict for verdict in verdicts if verdict.verdict in allowed]

    def key(verdict: Verdict) -> tuple[object, ...]:
        name = verdict.cluster
        return (
            allowed.index(verdict.verdict),
            preference(labels.get(name, ()), policy),
            *_strategy(name, footprints, policy),
            name,
        )

    return min(candidates, key=key, default=None)


def preference(labels: Labels, policy: Policy) -> int:
    """The position of the first preference that the cluster's labels meet."""
    return next((n for n, pair in enumerate(policy.prefer) if pair in labels), len(policy.prefer))


def _strategy(name: str, footprints: Mapping[str, Footprint], policy: Policy) -> tuple[int, ...]:
    own = footprints[name]
    if policy.strategy == "spread":
        return (-(own.room - own.taken), own.broken, own.nodes)
    others = [one.room for other, one in footprints.items() if other != name]
    left = max([own.room - own.taken, *others])
    return (-left, own.broken, own.room, own.nodes)


def rank(verdicts: Sequence[Verdict], choice: Verdict | None) -> tuple[Verdict, ...]:
    """The chosen one first, then by verdict; of equal ones those that come nearest: pods placed, devices free, name."""

    def key(verdict: Verdict) -> tuple[object, ...]:
        placed = sum((verdict.largest or {}).values())
        return (verdict is not choice, ORDER.index(verdict.verdict), -placed, -(verdict.free or 0), verdict.cluster)

    return tuple(sorted(verdicts, key=key))
