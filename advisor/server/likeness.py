"""Whose pods are they? A workload's pods are known by their labels alone: no uid here is known there.

Labels that a controller makes of the workload's name prove by themselves whose a pod is, whatever else it bears: other
labels differ with the version of the controller and in the course of a pod's life. Without such a label a pod has those
of the template, and the name among these or one at least of those that the controller always adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from advisor.labels import Labels, MadeLabel
from advisor.server.appeared import Alike, Appeared


class Look(Protocol):
    """Labels of a role's pods: those that are known, which of these the controller adds, and those that it makes."""

    @property
    def labels(self) -> Labels: ...

    @property
    def added(self) -> tuple[str, ...]: ...

    @property
    def made(self) -> tuple[MadeLabel, ...]: ...


@dataclass(frozen=True, slots=True)
class _Plain:
    """A look and nothing else."""

    labels: Labels
    added: tuple[str, ...]
    made: tuple[MadeLabel, ...]


Changed = Mapping[str, frozenset[str]]
"""Role → keys of labels that have changed, so that some of its pods have old values, or none."""


@dataclass(frozen=True)
class Likeness:
    """What the pods of the workload `name` look like, by role."""

    name: str
    looks: Mapping[str, Look]

    def whatever(self, changed: Changed) -> Likeness:
        """The same pods, whichever values these labels have."""
        return Likeness(self.name, {role: _whatever(look, changed.get(role)) for role, look in self.looks.items()})

    def roles(self, labels: Labels) -> tuple[str, ...]:
        """The roles whose pods may have these labels: those that share most of them, or that a label names."""
        able = [role for role in self.looks if self._may_have(role, labels)]
        shared = {role: len(set(self.looks[role].labels) & set(labels)) for role in able}
        most = [role for role in able if shared[role] == max(shared.values())]
        values = {value for _, value in labels}
        return tuple(role for role in most if role in values) or tuple(most)

    def bears_the_name(self, labels: Labels) -> bool:
        """Are such pods its own in whatever cluster they are: is it named by a label, and not only alike?"""
        owners = self._made_of_the_name
        return any(value == self.name or (key in owners and value.startswith(self.name)) for key, value in labels)

    def is_sure(self, labels: Labels) -> bool:
        """Are such pods those of the workload and of no other, even if nobody waits for them?

        A label of the controller says so; or they bear the name, and no label that neither template nor controller
        gives. What others add to all pods makes them no stranger, but might be what tells them from a sibling's.
        """
        if any(named & set(labels) for named in self._names.values()):
            return True
        pairs = dict(labels)
        alike = any(self._is_marked(role, pairs) and pairs.keys() <= self._keys[role] for role in self.roles(labels))
        return alike and (self.name in pairs.values() or any(self._is_numbered(value) for value in pairs.values()))

    def _is_numbered(self, value: str) -> bool:
        """Is it the name of one of several pods?"""
        name, dash, number = value.rpartition("-")
        return bool(dash) and name == self.name and number.isdecimal()

    def may_be_among(self, pods: Appeared, namespace: str) -> bool:
        """Does any label of the namespace's pods bear its name?"""
        values = pods.values(namespace)
        made = bool(self._made_of_the_name)
        return self.name in values or (made and any(value.startswith(self.name) for value in values))

    def among(self, pods: Alike) -> Iterator[Labels]:
        """The label sets that its pods may have, of those that are there."""
        return (labels for labels in pods.having(self._sought, self.name) if self.roles(labels))

    def _may_have(self, role: str, labels: Labels) -> bool:
        """May a pod of this role have exactly these labels?"""
        look, named, pairs = self.looks[role], self._names[role], dict(labels)
        if named:
            return bool(named & set(labels))
        owners = [made.key for made in look.made if made.of == "workload"]
        if owners or not look.labels:
            return any(pairs[key].startswith(self.name) for key in (owners or pairs) if key in pairs)
        if not set(look.labels) <= set(labels):
            return False
        return self.name in dict(look.labels).values() or self._is_marked(role, pairs)

    def _is_marked(self, role: str, pairs: Mapping[str, str]) -> bool:
        """Is there any of the labels that the controller always adds? Its versions add more and more of them."""
        always = [made.key for made in self.looks[role].made if made.sure]
        return not always or any(key in pairs for key in always)

    @cached_property
    def _names(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        """Role → labels that the controller adds with the workload's own name."""
        return {
            role: frozenset(pair for pair in look.labels if pair[0] in look.added and pair[1] == self.name)
            for role, look in self.looks.items()
        }

    @cached_property
    def _keys(self) -> Mapping[str, frozenset[str]]:
        return {
            role: frozenset((*dict(look.labels), *(made.key for made in look.made)))
            for role, look in self.looks.items()
        }

    @cached_property
    def _made_of_the_name(self) -> frozenset[str]:
        return frozenset(made.key for look in self.looks.values() for made in look.made if made.of == "workload")

    @cached_property
    def _sought(self) -> frozenset[Labels]:
        """Labels of which a pod has all, one set of them for each way to know it; none where only a value tells."""
        found: set[Labels] = set()
        for role, look in self.looks.items():
            if self._names[role]:
                found.update((pair,) for pair in self._names[role])
            else:
                found.add(() if any(made.of == "workload" for made in look.made) else look.labels)
        return frozenset(found)


def _whatever(look: Look, keys: frozenset[str] | None) -> Look:
    if not keys:
        return look
    kept = tuple(pair for pair in look.labels if pair[0] not in keys)
    return _Plain(kept, look.added, (*look.made, *(MadeLabel(key, sure=False) for key in sorted(keys))))
