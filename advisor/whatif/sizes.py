"""A workload at another size, or several times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from math import lcm
from pathlib import PurePath

from advisor.errors import InputError, unknown
from advisor.labels import PodAffinityTerm, Selector
from advisor.workload import GangGroup, PodTemplate, Role, Workload


def named(workloads: Sequence[Workload], name: str) -> list[Workload]:
    """Those of this name; else those of the file that is called so, its ending left out. Raises InputError for none."""
    own = [workload for workload in workloads if workload.name == name]
    found = own or [workload for workload in workloads if PurePath(workload.source.file).stem == name]
    if not found:
        raise unknown("workload", name, [workload.name for workload in workloads])
    return found


def sized(workload: Workload, role: str, count: int) -> Workload:
    """With `count` pods in a role, in every cluster where it has that role.

    Raises InputError for a size that the workload cannot have.
    """
    return workload.each(lambda one: _with(one, role, count))


def _with(workload: Workload, role: str, count: int) -> Workload:
    """What starts with all of its pods still does."""
    for one in workload.roles:
        if one.name == role and one.replicas != count:
            _check(workload, one, count)
    old = {one.name: one.replicas for one in workload.roles}.get(role, 0)
    roles = tuple(_sized(one, count) if one.name == role else one for one in workload.roles)
    before, pods = workload.pods, sum(one.replicas for one in roles)
    if pods != before:
        roles = tuple(map(_relabelled_by_size, roles))
    least = workload.min_available
    return replace(
        workload,
        roles=roles,
        groups=tuple(_regrouped(group, role, old, count) for group in workload.groups),
        min_available=least and (pods if least == before else min(least, pods)),
    )


def _sized(role: Role, count: int) -> Role:
    minimum = count if role.minimum == role.replicas else min(role.minimum, count)
    maximum = role.maximum if role.maximum is None else max(role.maximum, count)
    return replace(role, replicas=count, minimum=minimum, maximum=maximum)


def _relabelled_by_size(role: Role) -> Role:
    """Labels in which controllers count pods say something else now."""
    made = tuple(label.at_another_size() for label in role.template.made)
    return replace(role, template=replace(role.template, made=made))


def _check(workload: Workload, role: Role, count: int) -> None:
    """Whole groups only, and every group has the same share of the role. Raises InputError."""
    if not role.step:
        others = [other.name for other in workload.roles if other.step]
        hint = f"roles of other sizes are {', '.join(others)}" if others else ""
        pods = f"{role.replicas} {role.name} pod{'s' * (role.replicas != 1)}"
        raise InputError(f"{workload.name} has {pods} at any size of its other roles", hint=hint)
    step = lcm(role.step, *(group.count for group in workload.groups if role.name in group.members))
    if count % step:
        sizes = " or ".join(str(size) for size in (count - count % step, count - count % step + step) if size)
        problem = f"{workload.name} cannot have {count} {role.name} pods: they come in multiples of {step}"
        raise InputError(
            problem, hint=f"the sizes next to it are {sizes}" if " or " in sizes else f"the least is {sizes}"
        )


def _regrouped(group: GangGroup, role: str, old: int, count: int) -> GangGroup:
    """Every group gets the same share of the role; one that needs fewer pods than there are of it still does."""
    if role not in group.members:
        return group
    share, needed = count // group.count, group.members[role]
    members = share if needed * group.count == old else min(needed, share)
    return replace(group, members={**group.members, role: members})


def copies(workload: Workload, count: int) -> list[Workload]:
    """`count` of it, named NAME-1, NAME-2, …

    They differ in nothing else than their names, and in the labels that controllers make of these: what the manifest
    writes itself stays as it is. Where workloads share a gang object, so do all the first copies, and all the second.
    """
    if count == 1:
        return [workload]
    return [workload.each(partial(_renamed, number=number)) for number in range(1, count + 1)]


def has_role(workload: Workload, role: str) -> bool:
    """In some cluster at least."""
    return any(one.name == role for known in (workload, *workload.variants.values()) for one in known.roles)


def _renamed(workload: Workload, number: int) -> Workload:
    name = f"{workload.name}-{number}"
    roles = (replace(role, template=_relabelled(role.template, workload.name, name)) for role in workload.roles)
    gangs = (replace(gang, key=f"{gang.key} {number}") if gang.key else gang for gang in workload.gangs)
    return replace(workload, name=name, roles=tuple(roles), gangs=tuple(gangs))


def _relabelled(template: PodTemplate, old: str, new: str) -> PodTemplate:
    keys = {*template.added, *(label.key for label in template.made)}
    follow = partial(_followed, old=old, new=new)
    return replace(
        template,
        labels=tuple((key, follow(value) if key in keys else value) for key, value in template.labels),
        made=tuple(replace(label, value=follow(label.value)) for label in template.made),
        affinity=tuple(_term(term, keys, follow) for term in template.affinity),
        anti_affinity=tuple(_term(term, keys, follow) for term in template.anti_affinity),
    )


def _followed(value: str, old: str, new: str) -> str:
    """A value that is made of the workload's name, made of its new one."""
    return new + value.removeprefix(old) if value == old or value.startswith(f"{old}-") else value


def _term(term: PodAffinityTerm, keys: Collection[str], follow: Callable[[str], str]) -> PodAffinityTerm:
    """What it asks of labels that follow the name follows it, too."""
    if term.selector is None:
        return term
    asked = (
        replace(one, values=tuple(map(follow, one.values))) if one.key in keys else one
        for one in term.selector.requirements
    )
    return replace(term, selector=Selector(tuple(asked)))
