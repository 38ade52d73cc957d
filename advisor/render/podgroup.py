"""The gang of a workload as the object by which a scheduler learns of it: one function per scheduler.

A gang group of `count` is that many objects; each starts when its members can. Pods join by a field, label or
annotation of theirs (`Format.joins`), which a controller or the person who writes the manifest puts there. What only a
cluster's administrator knows (queues, the names of topologies) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from advisor.quantity import canonical
from advisor.render.totals import per_pod
from advisor.workload import GangGroup, Workload, waves

Tree = dict[str, Any]
LONGEST = 63
"""Characters of a DNS label."""


@dataclass(frozen=True, slots=True)
class Gang:
    """One gang of a workload: the name of its object, its members by role, and how many of them must start."""

    name: str
    members: Mapping[str, int]
    minimum: int
    template: str


@dataclass(frozen=True, slots=True)
class Format:
    """How one scheduler is told. `versions` are the apiVersions of its object, the preferred one first.

    `by_role`: it can be told how many pods of each role, and not only how many in all. `alike`: it starts none of a
    gang whose pods differ in priority, preemption policy or scheduler.
    """

    versions: tuple[str, ...]
    write: Callable[[Workload, Sequence[Gang], str], Iterator[Tree]]
    joins: str
    by_role: bool = False
    alike: bool = False


MOST_TEMPLATES = 8
"""Of PodGroups in a Workload of Kubernetes; all of them have one priority."""


def gangs(workload: Workload) -> list[Gang]:
    """Every gang of the workload, in order; none where its pods start one by one.

    Pods that are made only after others run are a gang of their own: in one gang, both would wait for each other. Those
    that are made one by one are in none, and neither are those that have a gang object already.
    """
    parts = [
        (_template(workload, place, part, len(parts) > 1), part)
        for place, group in enumerate(workload.groups)
        if (parts := _waves(workload, group))
        for part in parts
    ]
    spare = _spare(workload, [part for _, part in parts])
    found = [
        Gang(_label(name), part.members, max(1, _pods(part) - spare), _label(template))
        for template, part in parts
        for name in ([template] if part.count == 1 else [f"{template}-{index}" for index in range(part.count)])
    ]
    return [gang for gang in found if not {*gang.members} & _named_otherwise(workload, gang.name)]


def _waves(workload: Workload, group: GangGroup) -> list[GangGroup]:
    """The group's pods that a gang object can still hold together, by the order in which they are made."""
    when = waves(workload.roles)
    left_out = {role.name for role in workload.roles if role.one_by_one} | {*taken(workload)}
    found: dict[int, dict[str, int]] = {}
    for name, pods in group.members.items():
        if name not in left_out:
            found.setdefault(when[name], {})[name] = pods
    return [GangGroup(group.count, members) for _, members in sorted(found.items())]


def taken(workload: Workload) -> dict[str, str]:
    """Roles whose pods have a gang object, and its title."""
    return {role: gang.title for gang in workload.gangs if gang.given for role in gang.roles}


def _named_otherwise(workload: Workload, name: str) -> set[str]:
    """Roles whose pods name a gang object of another name, which nobody has seen."""
    return {role for gang in workload.gangs if not gang.given and gang.name != name for role in gang.roles}


def _template(workload: Workload, place: int, part: GangGroup, several: bool) -> str:
    base = _owner(workload) if len(workload.groups) == 1 else f"{_owner(workload)}-{place}"
    return "-".join([base, *part.members]) if several else base


def _spare(workload: Workload, parts: Sequence[GangGroup]) -> int:
    """How many pods a start can do without, where the workload says so and is one gang."""
    if len(workload.groups) > 1 or not workload.min_available or any(part.count > 1 for part in parts):
        return 0
    return max(0, sum(map(_pods, parts)) - workload.min_available)


def _pods(group: GangGroup) -> int:
    return sum(group.members.values())


def _label(name: str) -> str:
    """As a DNS label; names may hold dots and be longer, and what is replaced or cut off may be all that differs."""
    label = re.sub(r"[^a-z0-9-]", "-", name.lower()).strip("-")
    if label == name.lower() and len(label) <= LONGEST:
        return label
    return _marked(label, name)


def _marked(label: str, name: str) -> str:
    digest = blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{label[: LONGEST - len(digest) - 1].rstrip('-')}-{digest}"


def interchangeable(workload: Workload, scheduler: str) -> list[str]:
    """Roles of which a gang counts fewer pods than there are, so that those of one may stand for those of another."""
    found = [gang for gang in gangs(workload) if len(gang.members) > 1]
    if FORMATS[scheduler].by_role and all(map(_is_whole, found)):
        return []
    pods = workload.sizes
    counted = {name: sum(gang.members.get(name, 0) for gang in found) for gang in found for name in gang.members}
    return list(counted) if any(pods[name] > number for name, number in counted.items()) else []


def _is_whole(gang: Gang) -> bool:
    return gang.minimum == sum(gang.members.values())


def _object(workload: Workload, version: str, kind: str, name: str, spec: Tree) -> Tree:
    metadata = {"name": name, "namespace": workload.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _kubernetes(workload: Workload, found: Sequence[Gang], version: str) -> Iterator[Tree]:
    """A Workload with a template per group, and the PodGroups made from them; these alone where it cannot hold them."""
    policies = {gang.name: {**_policy(gang), **_class(workload, gang)} for gang in found}
    if not in_one_workload(workload, found):
        for gang in found:
            yield _object(workload, version, "PodGroup", gang.name, policies[gang.name])
        return
    group, _, _ = workload.api_version.rpartition("/")
    controller = {"apiGroup": group, "kind": workload.kind, "name": workload.name}
    templates = {gang.template: {"name": gang.template, **policies[gang.name]} for gang in found}
    owner = {} if workload.generated else {"controllerRef": controller}
    yield _object(
        workload, version, "Workload", _owner(workload), {**owner, "podGroupTemplates": [*templates.values()]}
    )
    for gang in found:
        reference = {"workloadName": _owner(workload), "templateName": gang.template}
        yield _object(workload, version, "PodGroup", gang.name, {"workloadRef": reference, **policies[gang.name]})


def in_one_workload(workload: Workload, found: Sequence[Gang]) -> bool:
    """Can one Workload of Kubernetes hold the templates of all these gangs?"""
    classes = {name for gang in found for name in _classes(workload, gang)}
    return len(classes) <= 1 and len({gang.template for gang in found}) <= MOST_TEMPLATES


def _owner(workload: Workload) -> str:
    return workload.name.rstrip("-.")


def _class(workload: Workload, gang: Gang) -> Tree:
    """The priority class that all of its pods have, if they have one: the group has none of its own."""
    classes = _classes(workload, gang)
    return {"priorityClassName": classes[0]} if len(classes) == 1 and classes[0] else {}


def _classes(workload: Workload, gang: Gang) -> list[str]:
    return sorted({role.template.priority_class for role in workload.roles if role.name in gang.members})


def unlike(workload: Workload, scheduler: str) -> str:
    """What the pods of one gang do not have in common though the scheduler starts none of them then; "" for nothing."""
    for gang in gangs(workload) if FORMATS[scheduler].alike else ():
        own = [role for role in workload.roles if role.name in gang.members]
        if len(_classes(workload, gang)) > 1:
            said = ", ".join(f"{role.name} {role.template.priority_class or 'none'}" for role in own)
            return f"have different priority classes ({said})"
        if len({role.template.scheduler for role in own}) > 1:
            return f"name different schedulers ({', '.join(f'{role.name} {role.template.scheduler}' for role in own)})"
    return ""


def _policy(gang: Gang) -> Tree:
    return {"schedulingPolicy": {"gang": {"minCount": gang.minimum}}}


def _kai(workload: Workload, found: Sequence[Gang], version: str) -> Iterator[Tree]:
    """A sub-group per role, all of them needed; where fewer pods may start than there are, only their number."""
    for gang in found:
        whole = _is_whole(gang) and len(gang.members) > 1
        parts = [{"name": name, "minMember": count} for name, count in _parts(gang.members).items()]
        spec = {"minSubGroup": len(parts), "subGroups": parts} if whole else {"minMember": gang.minimum}
        yield _object(workload, version, "PodGroup", gang.name, {**spec, **_class(workload, gang)})


def _parts(members: Mapping[str, int]) -> dict[str, int]:
    """Names of sub-groups, and their pods; roles may differ by case alone."""
    names = {role: _label(role) for role in members}
    if len({*names.values()}) < len(names):
        names = {role: _marked(label, role) for role, label in names.items()}
    return {names[role]: count for role, count in members.items()}


def _volcano(workload: Workload, found: Sequence[Gang], version: str) -> Iterator[Tree]:
    return _counted(workload, found, version, classed=True)


def _counted(workload: Workload, found: Sequence[Gang], version: str, *, classed: bool = False) -> Iterator[Tree]:
    """A number of pods, and what all of them ask for where all must start."""
    for gang in found:
        priority = _class(workload, gang) if classed else {}
        least = {"minResources": _resources(workload, gang)} if _is_whole(gang) else {}
        yield _object(workload, version, "PodGroup", gang.name, {"minMember": gang.minimum, **least, **priority})


def _resources(workload: Workload, gang: Gang) -> dict[str, str]:
    total: dict[str, int] = {}
    for role in workload.roles:
        for name, amount in per_pod(role).items():
            total[name] = total.get(name, 0) + amount * gang.members.get(role.name, 0)
    return {name: canonical(name, amount) for name, amount in sorted(total.items()) if amount}


FORMATS: Mapping[str, Format] = {
    "kai": Format(
        ("scheduling.run.ai/v2alpha2",),
        _kai,
        "annotation pod-group-name and, for sub-groups, label kai.scheduler/subgroup-name",
        by_role=True,
    ),
    "volcano": Format(("scheduling.volcano.sh/v1beta1",), _volcano, "annotation scheduling.k8s.io/group-name"),
    "scheduler-plugins": Format(("scheduling.x-k8s.io/v1alpha1",), _counted, "label scheduling.x-k8s.io/pod-group"),
    "kubernetes": Format(
        ("scheduling.k8s.io/v1beta1",), _kubernetes, "field spec.schedulingGroup.podGroupName", alike=True
    ),
}
"""In the order of preference where a cluster serves several: a scheduler of its own was installed to be used."""


def served(versions: Collection[str]) -> str | None:
    """The first of FORMATS whose API is among these `group/version`s."""
    return next((name for name, form in FORMATS.items() if {*form.versions} & {*versions}), None)


def objects(workload: Workload, scheduler: str) -> list[Tree]:
    """The objects for one of FORMATS; none where the workload has no gang."""
    found, form = gangs(workload), FORMATS[scheduler]
    return list(form.write(workload, found, form.versions[0])) if found else []
