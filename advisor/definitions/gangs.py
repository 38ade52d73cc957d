"""Objects in the same files that say which pods start together, as `catalog/gangs.yaml` names them.

Their word counts more than what a workload's kind would have (definitions.md 14.10); where the two contradict each
other a note says so. A group that waits for more pods than name it is a doubt: none of them would start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from advisor.definitions import plain, shipped
from advisor.errors import at
from advisor.files import Document
from advisor.workload import GangGroup, Note, PodTemplate, Role, Unmodelled, Workload

FIELD = "spec.schedulingGroup"
Key = tuple[str, str, str]
"""Group of the API, namespace and name of a gang object."""


@dataclass(frozen=True, slots=True)
class Gang:
    """`minimum` is None where the object asks for no gang.

    `claims`: (name, template) of the claims that its pods share. `strange`: paths of what is not understood.
    """

    key: Key
    title: str
    minimum: int | None
    claims: frozenset[tuple[str, str]]
    strange: tuple[str, ...]


def of(documents: Iterable[Document], folder: FilePath, namespace: str) -> Mapping[Key, Gang]:
    """The gang objects among the documents. Raises InputError for one that cannot be read."""
    found: dict[Key, Gang] = {}
    for document in documents:
        rule = shipped.by_kind(folder, "gangs").get(plain.group_and_kind(document.data))
        if rule:
            with document.faults():
                gang = _gang(rule, document.data, namespace)
                found[gang.key] = gang
    return found


def _gang(rule: Mapping[str, Any], data: Mapping[str, Any], namespace: str) -> Gang:
    with at("metadata"):
        metadata = plain.mapping(data, "metadata")
        name = plain.text(metadata, "name")
        namespace = plain.text(metadata, "namespace") or namespace
    *above, key = rule["minimum"]
    with at(*above):
        minimum = plain.number(plain.below(data, above), key)
    return Gang(
        (rule["group"], namespace, name),
        f"{rule['kind']} {namespace}/{name}",
        minimum,
        frozenset(_claims(rule.get("claims", ()), data)),
        tuple(f"spec.{key}" for key in sorted({*plain.mapping(data, "spec")} - {*rule["understood"]})),
    )


def _claims(path: Sequence[str], data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if path:
        *above, key = path
        with at(*above):
            for _, item in plain.mappings(plain.below(data, above), key):
                yield plain.text(item, "name"), plain.text(item, "resourceClaimTemplateName")


def applied(workloads: Sequence[Workload], gangs: Mapping[Key, Gang], folder: FilePath) -> tuple[Workload, ...]:
    """The workloads with what the gang objects say of their pods."""
    if not gangs:
        return tuple(workloads)
    members = {id(workload): named(workload, gangs, folder) for workload in workloads}
    pods: dict[Key, int] = {}
    for each in members.values():
        for gang, roles in each:
            pods[gang.key] = pods.get(gang.key, 0) + sum(role.replicas for role in roles)
    return tuple(_with(workload, members[id(workload)], pods) for workload in workloads)


def named(workload: Workload, gangs: Mapping[Key, Gang], folder: FilePath) -> list[tuple[Gang, list[Role]]]:
    """Each gang object that roles of the workload name, with those roles."""
    found: dict[Key, list[Role]] = {}
    for role in workload.roles:
        for key in _names(role.template, workload.namespace, folder):
            if key in gangs:
                found.setdefault(key, []).append(role)
    return [(gangs[key], roles) for key, roles in found.items()]


def _names(template: PodTemplate, namespace: str, folder: FilePath) -> Iterator[Key]:
    places = {"pod-label": dict(template.labels), "pod-annotation": dict(template.annotations)}
    for rule in shipped.by_kind(folder, "gangs").values():
        where = rule["named"]["in"]
        if where == "scheduling-group":
            names = [template.scheduling_group]
        else:
            names = [places[where].get(key, "") for key in rule["named"]["keys"]]
        yield from ((rule["group"], namespace, name) for name in names if name)


def _with(workload: Workload, each: Sequence[tuple[Gang, list[Role]]], pods: Mapping[Key, int]) -> Workload:
    for gang, roles in each:
        workload = _with_gang(workload, gang, roles, pods[gang.key])
    return workload


def _with_gang(workload: Workload, gang: Gang, members: Sequence[Role], pods: int) -> Workload:
    names = {role.name for role in members}
    doubts = [Unmodelled(f"{gang.title}: {path}", "what it asks of its pods") for path in gang.strange]
    if gang.minimum is not None and gang.minimum > pods:
        doubts.append(Unmodelled(gang.title, f"it waits for {gang.minimum} pods, and {pods} in these files name it"))
    workload = replace(
        workload,
        roles=tuple(_known(role) if role.name in names else role for role in workload.roles),
        unmodelled=(*workload.unmodelled, *doubts),
    )
    return workload if gang.minimum is None else _together(workload, gang, members, gang.minimum)


def _known(role: Role) -> Role:
    """Its gang is no unread request any more."""
    used = tuple(path for path in role.template.used if path != FIELD)
    return replace(role, template=replace(role.template, used=used))


def _together(workload: Workload, gang: Gang, members: Sequence[Role], minimum: int) -> Workload:
    pods = sum(role.replicas for role in members)
    whole = pods == workload.pods
    said = f"{gang.title} has {pods} of the workload's pods and starts when {minimum} of its pods can"
    if whole and workload.min_available not in (None, 0, minimum):
        said += f"; the {workload.min_available} of the workload itself do not count"
    alone = members[0].name if len(members) == 1 else ""
    return replace(
        workload,
        roles=tuple(
            replace(role, minimum=min(minimum, role.replicas)) if role.name == alone else role
            for role in workload.roles
        ),
        groups=_grouped(workload, members, partly=bool(alone) and whole),
        min_available=min(minimum, pods) if whole and pods else workload.min_available,
        notes=(*workload.notes, Note("gang", said)),
    )


def _grouped(workload: Workload, roles: Sequence[Role], partly: bool) -> tuple[GangGroup, ...]:
    """The pods of a gang object are one group; what the kind would make of those roles alone no longer counts."""
    names = {role.name for role in roles}
    members = {role.name: role.replicas for role in roles if role.replicas}
    others = tuple(group for group in workload.groups if not {*group.members} <= names)
    return (*others, GangGroup(1, members, partly=partly)) if members else workload.groups
