"""Whose pods are they? Told by who looks after a pod, and by the labels that a controller makes of a workload's name.

No uid here is known there, so names have to do. The catalogue says for each role what its pods' owner is called; where
it does not, the owner is the workload itself, or a label that the controller adds bears its name. Labels of a template
tell nothing: whole charts share them. Which role a pod is of, all known labels tell together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from advisor import naming
from advisor.labels import Labels
from advisor.server.appeared import Alike, Marks
from advisor.workload import Role, Workload

Roles = tuple[str, ...]
"""The roles of which some pods may be."""

ALONE = naming.titled("", "Pod", "")
"""What the owner of a pod begins with that nothing looks after but itself."""


@dataclass(frozen=True)
class Look:
    """The pods of a role.

    known     labels whose values are known
    template  those of the template, which a selector may ask for
    named     labels that the controller adds with the workload's name
    owners    forms of what looks after them
    """

    known: Labels
    template: Labels
    named: Labels
    owners: tuple[str, ...]

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(naming.pattern, self.owners))


@dataclass(frozen=True)
class Likeness:
    """What the pods of a workload look like, by role. `own`: what an owner is called that is the workload itself."""

    own: str
    looks: Mapping[str, Look]

    @cached_property
    def complete(self) -> bool:
        """Is everything that is not recognised surely somebody else's?"""
        return all(look.owners or look.named for look in self.looks.values())

    def roles(self, marks: Marks) -> Roles:
        """The roles of which such pods may be: several where nothing tells them apart."""
        pairs = dict(marks.labels)
        near = {role: _distance(look, pairs) for role, look in self.looks.items() if self._may_have(look, marks)}
        return tuple(role for role, distance in near.items() if distance == min(near.values()))

    def among(self, pods: Alike) -> Iterator[Marks]:
        """The pods that are its own, of those that are there."""
        owners = frozenset(naming.beginning(form) for look in self.looks.values() for form in (*look.owners, self.own))
        named = frozenset(pair for look in self.looks.values() if not look.owners for pair in look.named)
        return (marks for marks in pods.having(owners, named) if self.roles(marks))

    def groups(self, pods: Alike) -> dict[Roles, list[Marks]]:
        """The pods that are its own, by the roles of which they may be."""
        found: dict[Roles, list[Marks]] = {}
        for marks in self.among(pods):
            found.setdefault(self.roles(marks), []).append(marks)
        return found

    def is_left(self, marks: Marks) -> bool:
        """Of its pods: does nothing look after these, so that they were left behind?"""
        return marks.owner.startswith(ALONE) and marks.owner != self.own

    def _may_have(self, look: Look, marks: Marks) -> bool:
        pairs = dict(marks.labels)
        if not marks.owner or any(pairs.get(key, name) != name for key, name in look.named):
            return False
        bears = any(key in pairs for key, _ in look.named)
        if self.is_left(marks) and not set(look.template) <= set(marks.labels):
            return False
        if look.owners:
            own = bears or not look.named
            return own and any(pattern.fullmatch(marks.owner) for pattern in look.patterns)
        if marks.owner == self.own:
            return True
        return bears and not self.is_left(marks)


def likeness(workload: Workload) -> Likeness:
    group, _, _ = workload.api_version.rpartition("/")
    own = naming.titled(group, workload.kind, workload.name)
    return Likeness(own, {role.name: _look(role, workload.name) for role in workload.roles})


def _look(role: Role, name: str) -> Look:
    template = role.template
    made = ((label.key, label.value) for label in template.made if label.value)
    named = tuple(pair for pair in template.labels if pair[0] in template.added and pair[1] == name)
    own = tuple(pair for pair in template.labels if pair[0] not in template.added)
    return Look((*template.labels, *made), own, named, role.owners)


def _distance(look: Look, pairs: Mapping[str, str]) -> tuple[int, int]:
    """How many known labels a pod has with other values; and how few with these. Versions of a controller add others,
    and some change in the course of a pod's life, so what differs says something only beside the other roles.
    """
    there = [value == pairs[key] for key, value in look.known if key in pairs]
    return there.count(False), -there.count(True)
