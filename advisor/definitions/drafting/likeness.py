"""How well does a draft reproduce the pods that there are? What our own engine makes of it, role by role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor import files
from advisor.definitions import checking, layers, reading, templates
from advisor.definitions.catalog import Catalog
from advisor.definitions.created import sort_of
from advisor.definitions.drafting.draft import Draft, text
from advisor.definitions.drafting.found import Origins, Place
from advisor.definitions.drafting.steps import ITEM, MEMBER
from advisor.definitions.sandbox import SANDBOX
from advisor.errors import Fault, InputError, Where
from advisor.files import Document, Source
from advisor.inventory import Difference
from advisor.quantity import canonical
from advisor.resources import in_base_units
from advisor.workload import PodTemplate, Role, Workload

DRAFT = "the draft"
Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Likeness:
    """What the draft makes of the object, beside the pods: each role with its number of pods, and what differs.

    right      roles of which everything is as it was seen, with the number of their pods
    strangers  pods that come of nothing in the object, or of one of several places that are not told apart
    """

    right: tuple[tuple[str, int], ...] = ()
    differences: tuple[Difference, ...] = ()
    faults: tuple[Fault, ...] = ()
    strangers: int = 0

    @property
    def holds(self) -> bool:
        return not (self.differences or self.faults or self.strangers)


def workload(draft: Draft, data: Object, namespace: str) -> Workload:
    """The object as the draft reads it. Raises InputError for a draft that cannot be used."""
    documents = files.documents(Source(DRAFT, text(draft)))
    found = [fault for one in checking.checked(documents, SANDBOX) for fault in one.errors]
    if found:
        raise InputError.of(found)
    alone = Catalog([layers.from_documents(DRAFT, documents)])
    (read,) = reading.read([Document(data, Source(DRAFT, ""), 0, Where(DRAFT))], alone, namespace).workloads
    if read.faults:
        raise InputError.of(read.faults)
    return read


def with_expectation(draft: Draft, read: Workload) -> Draft:
    """The draft with what it makes of its example as what must come out."""
    expected = {role.name: _stated(role) for role in read.roles}
    return replace(draft, expected=expected)


def _stated(role: Role) -> dict[str, Any]:
    amounts = in_base_units(role.template.effective())
    found: dict[str, Any] = {"replicas": role.replicas}
    if role.minimum != role.replicas:
        found["minimum"] = role.minimum
    if role.maximum is not None:
        found["maximum"] = role.maximum
    return {**found, "requests": {name: canonical(name, amount) for name, amount in sorted(amounts.items())}}


def held_against(read: Workload, came: Origins, namespace: str) -> Likeness:
    """The roles beside the pods of the places that they stand for."""
    right: list[tuple[str, int]] = []
    differences: list[Difference] = []
    roles = list(read.roles)
    untold = {place for alike, _ in came.together for place in alike}
    for place, pods in came.of.items():
        if place in untold:
            continue
        role = _role(place, roles, came)
        if role is None:
            differences += [Difference(".".join(map(str, place.steps)), "a role", None)] * bool(pods)
            continue
        found = list(_differences(role, pods, namespace))
        differences += found
        if not found:
            right.append((role.name, role.replicas))
    strangers = len(came.strangers) + sum(len(pods) for _, pods in came.together)
    return Likeness(tuple(right), tuple(differences), strangers=strangers)


def _role(place: Place, roles: Sequence[Role], came: Origins) -> Role | None:
    """By the order of components and the id of the instance."""
    sites = list(dict.fromkeys(one.site for one in came.of))
    components = list(dict.fromkeys(role.component for role in roles))
    if len(sites) != len(components):
        return next((role for role in roles if place.id and role.instance == place.id), None)
    component = components[sites.index(place.site)]
    of_instance = any(step in (ITEM, MEMBER) for step in place.site.steps)
    own = (role for role in roles if role.component == component)
    return next((role for role in own if not of_instance or role.instance == place.id), None)


def _differences(role: Role, pods: Sequence[Object], namespace: str) -> Iterator[Difference]:
    if role.replicas != len(pods):
        yield Difference(f"{role.name}, pods", str(len(pods)), str(role.replicas))
    seen = {_signature(templates.template(pod, namespace)) for pod in pods}
    own = _signature(role.template)
    for one in sorted(seen - {own}):
        for what, expected, found in zip(("requests", "node selector"), one, own, strict=True):
            if expected != found:
                yield Difference(f"{role.name}, {what}", expected or "none", found or "none")


def _signature(template: PodTemplate) -> tuple[str, str]:
    """What decides where a pod can go, as far as controllers leave it alone."""
    sort = sort_of(template)
    return sort.requests, sort.nodes
