"""Objects in the same files that say which pods start together, as `catalog/gangs.yaml` names them.

Their word counts more than what a workload's kind would have (definitions.md 14.10); where the two contradict each
other a note says so. Whether a group has pods enough to start is judged where it is known which workloads are asked
about (`company.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from advisor.definitions import metadata, plain, rules, shipped
from advisor.definitions.engine import TRUSTED, prepare
from advisor.definitions.profile_schema import Rule
from advisor.errors import Faults, at
from advisor.files import Document
from advisor.workload import GangGroup, GangObject, Note, PodTemplate, Role, Unmodelled, Workload

FIELD = "spec.schedulingGroup"
Key = tuple[str, str, str]
"""Group of the API, namespace and name of a gang object."""


@dataclass(frozen=True, slots=True)
class Gang:
    """`minimum` is None where the object asks for no gang. `alike`: as in `GangObject`.

    `claims`: (name, template) of the claims that its pods share. `strange`: paths of what is not understood.
    """

    key: Key
    title: str
    minimum: int | None
    claims: frozenset[tuple[str, str]]
    strange: tuple[str, ...]
    alike: bool = False
    priority_class: str = ""
    priority: int | None = None


def of(documents: Iterable[Document], folder: FilePath, namespace: str) -> Mapping[Key, Gang]:
    """The gang objects among the documents. Raises InputError for one that cannot be read, or that its API refuses."""
    found: dict[Key, Gang] = {}
    for document in documents:
        rule = shipped.by_kind(folder, "gangs").get(plain.group_and_kind(document.data))
        if rule:
            with document.faults():
                _check(document, folder)
                gang = _gang(rule, document.data, namespace)
                found[gang.key] = gang
    return found


@lru_cache(maxsize=16)
def _rules(folder: FilePath, kind: tuple[str, str]) -> tuple[Rule, ...]:
    return tuple(map(Rule.model_validate, shipped.by_kind(folder, "gangs")[kind].get("rules", ())))


def _check(document: Document, folder: FilePath) -> None:
    """What the API server refuses, as the rules of its kind say it. Raises InputError, all faults at once."""
    faults = Faults()
    with faults.collect("metadata"):
        metadata.check(document.data)
    wanted = _rules(folder, plain.group_and_kind(document.data))
    found, _ = rules.broken(wanted, "", prepare(document.data), TRUSTED)
    faults.found += found
    faults.raise_if_any()


def _gang(rule: Mapping[str, Any], data: Mapping[str, Any], namespace: str) -> Gang:
    with at("metadata"):
        own = plain.mapping(data, "metadata")
        name, namespace = plain.text(own, "name"), plain.text(own, "namespace") or namespace
    *above, key = rule["minimum"]
    with at(*above):
        minimum = plain.number(plain.below(data, above), key)
    with at("spec"):
        spec = plain.mapping(data, "spec")
        priority = plain.text(spec, "priorityClassName"), plain.number(spec, "priority")
    return Gang(
        (rule["group"], namespace, name),
        f"{rule['kind']} {namespace}/{name}",
        minimum,
        frozenset(_claims(rule.get("claims", ()), data)),
        tuple(f"spec.{key}" for key in sorted({*spec} - {*rule["understood"]})),
        bool(rule.get("alike")),
        *priority,
    )


def _claims(path: Sequence[str], data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if path:
        *above, key = path
        with at(*above):
            for _, item in plain.mappings(plain.below(data, above), key):
                yield plain.text(item, "name"), plain.text(item, "resourceClaimTemplateName")


def applied(workloads: Sequence[Workload], gangs: Mapping[Key, Gang], folder: FilePath) -> tuple[Workload, ...]:
    """The workloads with what the gang objects say of their pods."""
    members = [_members(workload, folder) for workload in workloads]
    pods: dict[Key, int] = {}
    for each in members:
        for key, roles in each.items():
            pods[key] = pods.get(key, 0) + sum(role.replicas for role in roles)
    return tuple(_with(*one, gangs, pods, folder) for one in zip(workloads, members, strict=True))


def named(workload: Workload, gangs: Mapping[Key, Gang], folder: FilePath) -> list[tuple[Gang, list[Role]]]:
    """Each gang object among `gangs` that roles of the workload name, with those roles."""
    return [(gangs[key], roles) for key, roles in _members(workload, folder).items() if key in gangs]


def _members(workload: Workload, folder: FilePath) -> dict[Key, list[Role]]:
    """The roles that name each gang object, be it among the files or not."""
    found: dict[Key, list[Role]] = {}
    for role in workload.roles:
        for key in dict.fromkeys(_names(role.template, workload.namespace, folder)):
            found.setdefault(key, []).append(role)
    return found


def _names(template: PodTemplate, namespace: str, folder: FilePath) -> Iterator[Key]:
    places = {"pod-label": dict(template.labels), "pod-annotation": dict(template.annotations)}
    for rule in shipped.by_kind(folder, "gangs").values():
        where = rule["named"]["in"]
        if where == "scheduling-group":
            names = [template.scheduling_group]
        else:
            names = [places[where].get(key, "") for key in rule["named"]["keys"]]
        yield from ((rule["group"], namespace, name) for name in names if name)


def _with(
    workload: Workload,
    members: Mapping[Key, Sequence[Role]],
    gangs: Mapping[Key, Gang],
    pods: Mapping[Key, int],
    folder: FilePath,
) -> Workload:
    for key, roles in members.items():
        gang = gangs.get(key)
        made = _object(key, gang, roles, folder)
        workload = replace(workload, gangs=(*workload.gangs, made))
        if gang:
            workload = _with_gang(workload, gang, roles, pods[key])
    return workload


def _object(key: Key, gang: Gang | None, roles: Sequence[Role], folder: FilePath) -> GangObject:
    group, namespace, name = key
    kind = next(kind for one, kind in shipped.by_kind(folder, "gangs") if one == group)
    names = tuple(role.name for role in roles if role.replicas)
    title = gang.title if gang else f"{kind} {namespace}/{name}"
    made = GangObject(f"{group} {title}", title, name, names, given=gang is not None)
    if gang is None:
        return made
    return replace(
        made, minimum=gang.minimum, alike=gang.alike, priority_class=gang.priority_class, priority=gang.priority
    )


def _with_gang(workload: Workload, gang: Gang, members: Sequence[Role], pods: int) -> Workload:
    names = {role.name for role in members}
    doubts = [Unmodelled(f"{gang.title}: {path}", "what it asks of its pods") for path in gang.strange]
    workload = replace(
        workload,
        roles=tuple(_known(role) if role.name in names else role for role in workload.roles),
        unmodelled=(*workload.unmodelled, *doubts),
    )
    return workload if gang.minimum is None else _together(workload, gang, members, pods)


def _known(role: Role) -> Role:
    """Its gang is no unread request any more."""
    used = tuple(path for path in role.template.used if path != FIELD)
    return replace(role, template=replace(role.template, used=used))


def _together(workload: Workload, gang: Gang, members: Sequence[Role], pods: int) -> Workload:
    """`pods` name the gang in all. What these have to be of its minimum is what all others cannot be."""
    own = sum(role.replicas for role in members)
    minimum = gang.minimum or 0
    floor = max(0, min(minimum - (pods - own), own))
    whole = own == workload.pods
    said = f"{gang.title} has {own} of the workload's pods and starts when {minimum} of its pods can"
    if whole and workload.min_available not in (None, 0, minimum):
        said += f"; the {workload.min_available} of the workload itself do not count"
    alone = members[0].name if len(members) == 1 else ""
    return replace(
        workload,
        roles=tuple(
            replace(role, minimum=max(floor, role.floor, min(role.minimum, 1))) if role.name == alone else role
            for role in workload.roles
        ),
        groups=_grouped(workload, members, bool(alone) and whole),
        min_available=(floor or None) if whole and own else workload.min_available,
        notes=(*workload.notes, Note("gang", said)),
    )


def _grouped(workload: Workload, roles: Sequence[Role], alike: bool) -> tuple[GangGroup, ...]:
    """The pods of a gang object are one group; what the kind would make of those roles alone no longer counts.

    Its minimum may be any of them where they are `alike` and the kind does not group them.
    """
    partly = alike and sum(group.count for group in workload.groups) < 2
    names = {role.name for role in roles}
    members = {role.name: role.replicas for role in roles if role.replicas}
    others = tuple(group for group in workload.groups if not {*group.members} <= names)
    return (*others, GangGroup(1, members, partly=partly)) if members else workload.groups
