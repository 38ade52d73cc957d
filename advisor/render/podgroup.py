"""The gang of a workload as the object by which a scheduler learns of it: one function per scheduler.

A gang group of `count` is that many objects; each starts when its members can. Pods join by a field, label or
annotation of theirs (`Format.joins`), which a controller or the person who writes the manifest puts there. What only a
cluster's administrator knows (queues, the names of topologies) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.quantity import canonical
from advisor.render.totals import per_pod
from advisor.workload import GangGroup, Workload

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
    """How one scheduler is told. `versions` are the apiVersions of its object, the preferred one first."""

    versions: tuple[str, ...]
    write: Callable[[Workload, Sequence[Gang], str], Iterator[Tree]]
    joins: str


def gangs(workload: Workload) -> list[Gang]:
    """Every gang of the workload, in order; none where its pods start one by one."""
    sole = workload.groups[0] if len(workload.groups) == 1 and workload.groups[0].count == 1 else None
    found = []
    for place, group in enumerate(workload.groups):
        base = workload.name.rstrip("-.")
        template = base if len(workload.groups) == 1 else f"{base}-{place}"
        for index in range(group.count):
            name = template if group.count == 1 else f"{template}-{index}"
            minimum = _pods(group)
            if group is sole and workload.min_available:
                minimum = min(minimum, workload.min_available)
            found.append(Gang(_label(name), group.members, minimum, _label(template)))
    return found


def _pods(group: GangGroup) -> int:
    return sum(group.members.values())


def _label(name: str) -> str:
    """As a DNS label; names of objects may hold dots and be longer."""
    return re.sub(r"[^a-z0-9-]", "-", name.lower())[:LONGEST].strip("-")


def _object(workload: Workload, version: str, kind: str, name: str, spec: Tree) -> Tree:
    metadata = {"name": name, "namespace": workload.namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _kubernetes(workload: Workload, found: Sequence[Gang], version: str) -> Iterator[Tree]:
    """A Workload with a template per group, and the PodGroups made from them."""
    group, _, _ = workload.api_version.rpartition("/")
    controller = {"apiGroup": group, "kind": workload.kind, "name": workload.name}
    templates = {gang.template: {"name": gang.template, **_policy(gang)} for gang in found}
    owner = {} if workload.generated else {"controllerRef": controller}
    yield _object(
        workload, version, "Workload", _owner(workload), {**owner, "podGroupTemplates": [*templates.values()]}
    )
    for gang in found:
        reference = {"workloadName": _owner(workload), "templateName": gang.template}
        yield _object(workload, version, "PodGroup", gang.name, {"workloadRef": reference, **_policy(gang)})


def _owner(workload: Workload) -> str:
    return workload.name.rstrip("-.")


def _policy(gang: Gang) -> Tree:
    return {"schedulingPolicy": {"gang": {"minCount": gang.minimum}}}


def _kai(workload: Workload, found: Sequence[Gang], version: str) -> Iterator[Tree]:
    """A sub-group per role, all of them needed; where fewer pods may start than there are, only their number."""
    for gang in found:
        whole = gang.minimum == sum(gang.members.values()) and len(gang.members) > 1
        parts = [{"name": _label(role), "minMember": count} for role, count in gang.members.items()]
        spec = {"minSubGroup": len(parts), "subGroups": parts} if whole else {"minMember": gang.minimum}
        yield _object(workload, version, "PodGroup", gang.name, spec)


def _counted(workload: Workload, found: Sequence[Gang], version: str) -> Iterator[Tree]:
    """A number of pods, and what all of them ask for where all must start."""
    for gang in found:
        whole = gang.minimum == sum(gang.members.values())
        least = {"minResources": _resources(workload, gang)} if whole else {}
        yield _object(workload, version, "PodGroup", gang.name, {"minMember": gang.minimum, **least})


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
    ),
    "volcano": Format(("scheduling.volcano.sh/v1beta1",), _counted, "annotation scheduling.k8s.io/group-name"),
    "scheduler-plugins": Format(("scheduling.x-k8s.io/v1alpha1",), _counted, "label scheduling.x-k8s.io/pod-group"),
    "kubernetes": Format(("scheduling.k8s.io/v1beta1",), _kubernetes, "field spec.schedulingGroup.podGroupName"),
}
"""In the order of preference where a cluster serves several: a scheduler of its own was installed to be used."""


def served(versions: Collection[str]) -> str | None:
    """The first of FORMATS whose API is among these `group/version`s."""
    return next((name for name, form in FORMATS.items() if {*form.versions} & {*versions}), None)


def objects(workload: Workload, scheduler: str) -> list[Tree]:
    """The objects for one of FORMATS; none where the workload has no gang."""
    found, form = gangs(workload), FORMATS[scheduler]
    return list(form.write(workload, found, form.versions[0])) if found else []
