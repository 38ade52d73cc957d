"""An update as pods: which of an object's are there, which go, and which are still to come.

One rule: what is still to come is what the object will have, less what is there; and there is what it had, less what
was known to be still to come. So a second update asks neither again for what runs nor twice for what is on its way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from advisor.workload import GangGroup, Role, Workload

Sizes = Mapping[str, int]
"""Role → pods."""


@dataclass(frozen=True, slots=True)
class Joining:
    """The pods still to come, in each cluster; None where there are none. `unsure`: nobody knows what room there is."""

    workload: Workload | None
    unsure: bool = False


def has_pods(workload: Workload) -> bool:
    """Does it have pods in any cluster, or may it?"""
    return any(bool(one.pods) or not _is_known(one) for one in _everywhere(workload).values())


def adds(old: Workload, new: Workload) -> bool:
    """Are there more pods of some role, or others than before, in any cluster?"""
    return any(_adds(old.on(name), one) for name, one in _everywhere(new).items())


def runs(old: Workload, due: Sizes) -> bool:
    """Is any of its pods taken to be there, or may it be?"""
    return any(not _is_known(one) or any(there(one, due).values()) for one in _everywhere(old).values())


def there(old: Workload, due: Sizes) -> dict[str, int]:
    """Role → pods that are taken to be there: those that the object had, less those that were still to come."""
    return {role.name: max(0, role.replicas - due.get(role.name, 0)) for role in old.roles}


def growth(old: Workload, new: Workload) -> dict[str, int]:
    """Role → pods more than before, or fewer (less than zero), as far as that is known."""
    if not (_is_known(old) and _is_known(new)):
        return {}
    sizes = Counter(new.sizes)
    sizes.subtract(old.sizes)
    return {role: pods for role, pods in sizes.items() if pods}


def replaced(old: Workload, new: Workload) -> frozenset[str]:
    """Roles whose pods are to be others than before, as far as that is known."""
    if not (_is_known(old) and _is_known(new)):
        return frozenset()
    after = _by_name(new)
    return frozenset(role.name for role in old.roles if role.name in after and not _same(role, after[role.name]))


def joining(old: Workload, new: Workload, due: Sizes) -> Joining:
    """What is still to come of `new`, where `due` pods of `old` were."""
    found = {name: _joining(old.on(name), one, due) for name, one in _everywhere(new).items()}
    more = {name: one.workload or only(new.on(name), ()) for name, one in found.items()}
    if not any(one.workload for one in found.values()):
        return Joining(None)
    whole = replace(new, variants=more) if new.variants else more[""]
    return Joining(whole, any(one.unsure for one in found.values()))


def _joining(old: Workload, new: Workload, due: Sizes) -> Joining:
    if not (_is_known(old) and _is_known(new)):
        return Joining(new, unsure=_is_known(new))
    roles, unsure = _coming(old, new, there(old, due))
    if not roles:
        return Joining(None)
    return Joining(only(new, roles), unsure)


def only(workload: Workload, roles: tuple[Role, ...]) -> Workload:
    """A workload with these roles alone; they start together where it is a gang."""
    together = (GangGroup(1, {role.name: role.replicas for role in roles}),) if workload.groups and roles else ()
    return replace(workload, roles=roles, groups=together, min_available=None)


def left(workload: Workload, most: Sizes) -> Workload:
    """The workload without the pods that have run to their end: `most` may still be alive of some roles."""
    sizes = {role.name: min(role.replicas, most.get(role.name, role.replicas)) for role in workload.roles}
    if all(role.replicas == sizes[role.name] for role in workload.roles):
        return workload
    roles = (
        replace(role, replicas=sizes[role.name], minimum=min(role.minimum, sizes[role.name])) for role in workload.roles
    )
    whole = (
        {name: min(pods, sizes[name] // group.count) for name, pods in group.members.items()}
        for group in workload.groups
    )
    groups = (
        replace(group, members={name: pods for name, pods in members.items() if pods})
        for group, members in zip(workload.groups, whole, strict=True)
    )
    return replace(workload, roles=tuple(roles), groups=tuple(group for group in groups if group.members))


def _coming(old: Workload, new: Workload, running: Sizes) -> tuple[tuple[Role, ...], bool]:
    """Roles of those that are still to come; with them, are they to be in the place of others?

    Pods that go leave their room to as many of the same that come, whatever the roles are called. What room there is
    for others once all pods of a role go is not known.
    """
    before = _by_name(old)
    stays = {role.name for role in new.roles if _same(before.get(role.name), role)}
    wanted = {role.name: role.replicas for role in new.roles if role.name in stays}
    going = _Going((role, running[role.name] - wanted.get(role.name, 0)) for role in old.roles)
    roles = []
    for role in new.roles:
        missing = role.replicas - (running[role.name] if role.name in stays else 0)
        size = missing - going.take(role, missing)
        if size > 0:
            roles.append(replace(role, replicas=size, minimum=size, maximum=None))
    gone = going.has(role for role in old.roles if role.name not in stays)
    return tuple(roles), gone and any(role.name not in stays for role in roles)


class _Going:
    """Pods that go, and whose room nobody has taken yet; those that are alike count together."""

    def __init__(self, pods: Iterable[tuple[Role, int]]) -> None:
        self._kinds: list[Any] = []
        self._left: list[int] = []
        for role, count in pods:
            place = self._place(role)
            self._left[place] += max(0, count)

    def take(self, role: Role, most: int) -> int:
        """Pods like those of the role, as many as are left."""
        place = self._place(role)
        taken = max(0, min(self._left[place], most))
        self._left[place] -= taken
        return taken

    def has(self, roles: Iterable[Role]) -> bool:
        return any(self._left[self._place(role)] for role in roles)

    def _place(self, role: Role) -> int:
        kind = _essence(role)
        if kind not in self._kinds:
            self._kinds.append(kind)
            self._left.append(0)
        return self._kinds.index(kind)


def _everywhere(workload: Workload) -> Mapping[str, Workload]:
    """What it is in every cluster; the same in all of them (""), where that hangs on nothing of theirs."""
    return workload.variants or {"": workload}


def _is_known(workload: Workload) -> bool:
    return not (workload.is_open or workload.faults)


def _adds(old: Workload, new: Workload) -> bool:
    if not (_is_known(old) and _is_known(new)):
        return True
    before = _by_name(old)
    return any(role.replicas > _kept(before.get(role.name), role) for role in new.roles)


def _by_name(workload: Workload) -> dict[str, Role]:
    return {role.name: role for role in workload.roles}


def _same(old: Role | None, new: Role) -> bool:
    return old is not None and _essence(old) == _essence(new)


def _kept(old: Role | None, new: Role) -> int:
    return old.replicas if old and _same(old, new) else 0


def _essence(role: Role) -> Any:
    """What decides where a pod goes. Annotations do not, and labels only where an affinity term may see them.

    Labels that the controller makes change with the number of pods alone, and say nothing of what a pod needs.
    """
    template = replace(role.template, annotations=(), added=(), made=())
    selects = template.affinity or template.anti_affinity
    return template if selects else replace(template, labels=())
