"""Workloads whose pods share a gang object go together: they are placed as one, and answered one by one.

A gang object is in one cluster, and a scheduler counts the pods of all objects that name it. Whether it has enough of
them, and at once, is judged here as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from advisor.labels import MadeLabel
from advisor.verdict import FITS, Answer, Reason, Verdict
from advisor.workload import GangGroup, GangObject, Role, SharedClaim, Wait, Workload


def companies(workloads: Sequence[Workload]) -> list[tuple[int, ...]]:
    """The places of workloads that go together, because they share a gang object in some cluster."""
    found: list[tuple[set[str], tuple[int, ...]]] = []
    for place, workload in enumerate(workloads):
        keys = {gang.key for one in (workload, *workload.variants.values()) for gang in one.gangs if gang.key}
        mates = [each for each in found if each[0] & keys]
        found = [each for each in found if each not in mates]
        found.append((keys.union(*(each[0] for each in mates)), tuple(sorted([*chain(*(m[1] for m in mates)), place]))))
    return sorted(places for _, places in found)


def joined(workloads: Sequence[Workload]) -> Workload:
    """As one workload, in every cluster, with the roles titled by their object; a single one stays as it is."""
    if len(workloads) == 1:
        return workloads[0]
    clusters = sorted({name for workload in workloads for name in workload.variants})
    variants = {name: _one([workload.on(name) for workload in workloads]) for name in clusters}
    return replace(_one(workloads), variants=variants)


def _one(parts: Sequence[Workload]) -> Workload:
    """What the first of them is in general, and all of them in their pods."""
    first = parts[0]
    facts: dict[str, Any] = {name: _all(parts, name) for name in ("unmodelled", "references", "missing", "faults")}
    roles = _with_minimums(parts, [role for each in zip(parts, titles(parts), strict=True) for role in _roles(*each)])
    kinds = {kind for part in parts for kind in part.definition.child_kinds}
    return replace(
        first,
        definition=replace(first.definition, child_kinds=tuple(sorted(kinds))),
        roles=tuple(_staged(parts, roles)),
        groups=(GangGroup(1, {role.name: role.minimum for role in roles if role.minimum}),),
        order=tuple(_order(parts)),
        gangs=(),
        min_available=_least(parts),
        shared_claims=tuple(_claims(parts)),
        labels=(),
        notes=(),
        variants={},
        requires=_all(parts, "requires"),
        waits=any(part.waits for part in parts),
        there=all(part.there for part in parts),
        state=None,
        parts=tuple(parts),
        **facts,
    )


def _all(parts: Sequence[Workload], name: str) -> Any:
    return tuple(dict.fromkeys(chain.from_iterable(getattr(part, name) for part in parts)))


def titles(parts: Sequence[Workload]) -> list[dict[str, str]]:
    """For each object: its roles → what they are called where all go together."""
    names = [f"{part.kind} {part.name}" for part in parts]
    own = [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]
    return [{role.name: f"{name}/{role.name}" for role in part.roles} for part, name in zip(parts, own, strict=True)]


def _roles(part: Workload, names: Mapping[str, str]) -> Iterator[Role]:
    """What a controller makes of its object's name is of that object's pods alone."""
    of = "role" if len(part.roles) == 1 else "group"
    for role in part.roles:
        made = tuple(_made(label, of) for label in role.template.made)
        yield replace(
            role,
            name=names[role.name],
            template=replace(role.template, made=made),
            made_after=tuple(names[other] for other in role.made_after),
        )


def _made(label: MadeLabel, of: str) -> MadeLabel:
    return replace(label, of=of) if label.of == "workload" else label


def _sole(parts: Sequence[Workload]) -> GangObject | None:
    """The one gang object that all of their pods name, and no object has pods of two sorts for it."""
    keys = {gang.key for part in parts for gang in part.gangs}
    whole = all(len(part.roles) == 1 and part.gangs and part.gangs[0].roles for part in parts if part.pods)
    gangs = [gang for part in parts for gang in part.gangs if gang.minimum is not None]
    return gangs[0] if len(keys) == 1 and whole and gangs else None


def _with_minimums(parts: Sequence[Workload], roles: Sequence[Role]) -> list[Role]:
    """Fewer pods than there are will do where one object says how many, of several nobody adds up the words; and where
    none says so, of objects that start with any of their pods. A pod that is alone in its object may be left out.
    """
    if _sole(parts):
        return [replace(role, minimum=role.floor) if role.replicas == 1 else role for role in roles]
    free = not any(gang.minimum is not None for part in parts for gang in part.gangs)
    loose = [free and not (part.groups or part.min_available or part.order) for part in parts for _ in part.roles]
    return [role if one else replace(role, minimum=role.replicas) for role, one in zip(roles, loose, strict=True)]


def _least(parts: Sequence[Workload]) -> int | None:
    gang = _sole(parts)
    return min(gang.minimum or 0, sum(part.pods for part in parts)) if gang else None


def _staged(parts: Sequence[Workload], roles: Sequence[Role]) -> Iterator[Role]:
    """The stages of one object say nothing of another: beside the only one that has some, all others stay; of several
    that have some, nothing is known to make room for anything else.
    """
    staged = [part for part in parts if part.in_turn]
    every = staged[0].stages if len(staged) == 1 else (0,)
    own = [part for part in parts for _ in part.roles]
    for role, part in zip(roles, own, strict=True):
        yield role if staged == [part] else replace(role, stages=every)


def _order(parts: Sequence[Workload]) -> Iterator[Wait]:
    for part, names in zip(parts, titles(parts), strict=True):
        for wait in part.order:
            yield Wait(names[wait.role], {names[role]: pods for role, pods in wait.one_of.items()})


def _claims(parts: Sequence[Workload]) -> Iterator[SharedClaim]:
    """A claim that is there, or that a gang object shares out, is one for the pods of all objects."""
    found: dict[tuple[object, ...], SharedClaim] = {}
    for place, (part, names) in enumerate(zip(parts, titles(parts), strict=True)):
        for claim in part.shared_claims:
            key = (claim.name, place if claim.made else None)
            users = {names[role]: pods for role, pods in claim.roles.items()}
            before = found.get(key)
            found[key] = replace(claim, roles={**(before.roles if before else {}), **users})
    yield from found.values()


def parted(
    answer: Answer, own: Workload, names: Mapping[str, Mapping[str, str]], company: Sequence[Workload]
) -> Answer:
    """The answer for all of them as that for one: its own pods, and the same cluster.

    `names`: for each cluster, its own roles as `titles` has them.
    """
    back = {cluster: {title: role for role, title in each.items()} for cluster, each in names.items()}
    verdicts = tuple(_part(verdict, back[verdict.cluster]) for verdict in answer.verdicts)
    chosen = answer.choice.cluster if answer.choice else None
    choice = next((verdict for verdict in verdicts if verdict.cluster == chosen), None)
    return replace(answer, workload=own, verdicts=verdicts, choice=choice, company=tuple(company))


def _part(verdict: Verdict, back: Mapping[str, str]) -> Verdict:
    """What is largest is so for all of them: one of them alone is no part of a gang."""
    placement = verdict.placement
    if placement:
        placement = replace(placement, assignment=_own(placement.assignment, back))
    return replace(
        verdict,
        placement=placement,
        largest=_own(verdict.largest or {}, back) if verdict.verdict == FITS else None,
        reasons=_of(verdict.reasons, back),
        doubts=_of(verdict.doubts, back),
        notes=_of(verdict.notes, back),
    )


def _own(by_role: Mapping[str, Any], back: Mapping[str, str]) -> dict[str, Any]:
    return {back[title]: value for title, value in by_role.items() if title in back}


def _of(reasons: Sequence[Reason], back: Mapping[str, str]) -> tuple[Reason, ...]:
    return tuple(replace(reason, role=back.get(reason.role, reason.role)) for reason in reasons)


@dataclass(frozen=True, slots=True)
class Shortage:
    """A gang object that waits for more pods than come at once: it `needs` some, of its `total` come `first` so many.

    gangs  what each workload says of it
    later  pods of objects that are suspended or on a schedule: they come at a time of their own
    """

    gangs: tuple[GangObject, ...]
    needs: int
    first: int
    total: int
    later: int = 0

    @property
    def title(self) -> str:
        return self.gangs[0].title

    @property
    def text(self) -> str:
        pods = f"waits for {self.needs} pods"
        if self.needs > self.total:
            return f"{pods}, and {self.total} of what is asked for name it"
        if self.later:
            return f"{pods}, and {self.later} of its {self.total} come later, when they are resumed or on a schedule"
        return f"{pods}, and only {self.first} of its {self.total} come before others of them run: lower its minimum"


@dataclass(frozen=True, slots=True)
class Share:
    """What one workload has of a gang object: the roles whose pods name it, and how many of each are made at first.

    place  of the workload among those asked about
    waits  they come later, when the workload is resumed or at the times of a schedule
    """

    gang: GangObject
    place: int
    roles: tuple[Role, ...]
    first: Mapping[str, int]
    waits: bool = False

    @property
    def at_first(self) -> int:
        return sum(self.first.values())

    @property
    def pods(self) -> int:
        return sum(role.replicas for role in self.roles)


def shares(workloads: Sequence[Workload]) -> list[list[Share]]:
    """For each gang object what each of the workloads has of it."""
    found: dict[object, list[Share]] = {}
    for place, workload in enumerate(workloads):
        by_name = {role.name: role for role in workload.roles if role.replicas}
        for gang in workload.gangs:
            roles = tuple(by_name[name] for name in gang.roles if name in by_name)
            first = {role.name: _at_first(role, roles, by_name) for role in roles}
            found.setdefault(gang.key or place, []).append(Share(gang, place, roles, first, workload.waits))
    return list(found.values())


def _at_once(each: Sequence[Share]) -> list[Share]:
    """Those whose pods come together: of objects that are held back each comes at its own time."""
    now = [share for share in each if not share.waits]
    return now or [max(each, key=lambda share: share.at_first)]


def shortages(workloads: Sequence[Workload]) -> Iterator[Shortage]:
    """Gang objects of which these workloads have too few pods, or too few that come before others must run."""
    for each in shares(workloads):
        needs, now = each[0].gang.minimum, _at_once(each)
        first = sum(share.at_first for share in now)
        if needs is not None and needs > first:
            total = sum(share.pods for share in each)
            later = total - sum(share.pods for share in now)
            yield Shortage(tuple(share.gang for share in each), needs, first, total, later)


@dataclass(frozen=True, slots=True)
class Start:
    """A gang begins with `least` pods that are made at first: any of the roles `whole`, one of each of the `single`."""

    least: int
    whole: tuple[str, ...]
    single: tuple[str, ...]


def starts(workload: Workload) -> Iterator[Start]:
    """What a smaller size must keep, so that no gang object waits for pods which come only when others of it run.

    Those that have too few pods as it is are left out: of them nobody knows which others there are.
    """
    names = role_names(workload)
    for each in shares(workload.objects):
        least, now = each[0].gang.minimum, _at_once(each)
        if least and sum(share.at_first for share in now) >= least:
            made = [
                (names[share.place][role.name], role) for share in now for role in share.roles if share.first[role.name]
            ]
            yield Start(
                least,
                tuple(name for name, role in made if not role.one_by_one),
                tuple(name for name, role in made if role.one_by_one),
            )


def role_names(workload: Workload) -> list[dict[str, str]]:
    """For each of its objects: the object's roles → what the workload calls them."""
    return titles(workload.parts) if workload.parts else [{role.name: role.name for role in workload.roles}]


def _at_first(role: Role, gang: Sequence[Role], by_name: Mapping[str, Role]) -> int:
    """Pods of a role that are made before any pod of the gang has to run."""
    before: set[str] = set()
    todo = [role.name]
    while todo:
        later = {name for name in by_name[todo.pop()].made_after if name in by_name} - before
        before |= later
        todo += later
    if any(other.name in before for other in gang if other is not role):
        return 0
    return 1 if role.one_by_one else role.replicas
