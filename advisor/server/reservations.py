"""Assumed placements: room that allowed gangs are promised, held until their pods appear in a cluster or time is up.

A pod that has appeared is counted by the snapshot, so its hold lets go of its room in the same step, and nothing is
counted twice while half of a gang is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from advisor.cluster import ClusterSnapshot
from advisor.server.appeared import Appeared
from advisor.server.arrivals import Arrivals, after
from advisor.server.holds import Fleet, Hold, Key, as_stored, emptied, resized


@dataclass(frozen=True)
class Reservations:
    """All holds, in the order in which they were made."""

    holds: tuple[Hold, ...] = ()

    @cached_property
    def _by_cluster(self) -> Mapping[str, tuple[Hold, ...]]:
        found: dict[str, list[Hold]] = {}
        for one in self.holds:
            found.setdefault(one.cluster, []).append(one)
        return {name: tuple(holds) for name, holds in found.items()}

    def of(self, key: Key) -> Hold | None:
        """What an object holds; it has one hold at most, for all of its pods that are still to come."""
        return next((one for one in self.holds if one.key == key), None)

    def on(self, cluster: str) -> tuple[Hold, ...]:
        return self._by_cluster.get(cluster, ())

    def plus(self, made: Hold) -> Reservations:
        """A hold takes the place of the one that its object had."""
        kept = self.without(made.key)
        return Reservations((*kept.holds, made)) if made.due else kept

    def without(self, key: Key) -> Reservations:
        """What an object held is free again."""
        return Reservations(tuple(one for one in self.holds if one.key != key)) if self.of(key) else self

    def without_doubtful(self) -> Reservations:
        """Less what may be held though the pods have come: nobody knows how to tell whose these are, or which ones."""
        known = (one for one in self.holds if one.likeness.complete)
        sure = tuple(_sure(one) if one.doubtful else one for one in known)
        return self if sure == self.holds else Reservations(tuple(one for one in sure if one.due))

    def resized(self, key: Key, growth: Mapping[str, int]) -> Reservations:
        """An object gets so many pods more, by role, without room for them, or fewer: those without room go first."""
        return self._with(key, lambda one: resized(one, growth)) if growth else self

    def as_stored(self, key: Key, stored: Mapping[str, int]) -> Reservations:
        """As an object has these pods, whatever its creations said."""
        return self._with(key, lambda one: as_stored(one, stored))

    def _with(self, key: Key, change: Callable[[Hold], Hold]) -> Reservations:
        """With another hold for the object, in the place of the one that it has, if anything is still due."""
        changed = (change(one) if one.key == key else one for one in self.holds)
        return Reservations(tuple(one for one in changed if one.due))

    def at(self, now: datetime) -> Reservations:
        """Holds whose time is up are gone."""
        kept = tuple(one for one in self.holds if one.until > now)
        return self if len(kept) == len(self.holds) else Reservations(kept)

    def emptied(self, key: Key, roles: frozenset[str]) -> Reservations:
        """Pods of these roles are still to come, but there is no room for what they are now."""
        return self._with(key, lambda one: emptied(one, roles))

    def restored(self, key: Key, before: Hold | None, fleet: Fleet) -> Reservations:
        """As if the last change of an object had not been: what it held before, less the pods that have come since."""
        kept = self.without(key)
        if before:
            kept = Reservations((*kept.holds, before))
            for cluster, pods in fleet.items():
                kept = kept.arrived(pods, cluster)
        return kept

    def moved(self, cluster: str, holds: Sequence[Hold]) -> Reservations:
        """The holds of a cluster in the place of those that were made for the same objects."""
        if all(new is old for new, old in zip(holds, self.on(cluster), strict=True)):
            return self
        known = {one.key: one for one in holds}
        return Reservations(tuple(known.get(one.key, one) for one in self.holds))

    def seen(self, snapshot: ClusterSnapshot) -> Reservations:
        return self.arrived(Appeared(snapshot), snapshot.name)

    def arrived(self, pods: Appeared, cluster: str) -> Reservations:
        """What is left to wait for once the pods of a snapshot are known; first come, first served.

        Only snapshots that were begun after a hold say anything about it. Those who are promised room there come before
        those whose pods turn up there though they are expected elsewhere. `cluster`: whose pods they are.
        """
        arrivals: dict[str, Arrivals] = {}
        left = list(self.holds)
        for expected in (True, False):
            for place, one in enumerate(left):
                space, when = one.key.namespace, pods.taken_at
                at_home, known = one.cluster == cluster, cluster in one.strangers or when is None or when <= one.since
                if at_home == expected and when and not known:
                    if space not in arrivals:
                        arrivals[space] = Arrivals(pods.among(space), pods.unbound(space), when)
                    left[place] = after(one, arrivals[space], cluster)
        return Reservations(tuple(one for one in left if one.due))


def _sure(one: Hold) -> Hold:
    """Without the room of pods that may be there already."""
    return resized(replace(one, beyond={}), {role: -pods for role, pods in one.doubtful.items()})
