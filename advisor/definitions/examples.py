"""The examples of a placement profile: does what its definition makes of them come out as they say?

An example is read like any manifest, with the definition in question before all others. Everything that an example
states is compared, and everything that comes out must be stated, so that a role too many is a difference too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor import quantity
from advisor.definitions import profile_schema, reading
from advisor.definitions.catalog import Builtin, Catalog
from advisor.definitions.layers import BUILTIN, Entry, Layer
from advisor.definitions.profile_schema import Example
from advisor.errors import Fault, InputError, at
from advisor.files import Document
from advisor.inventory import Difference, Tried
from advisor.quantity import canonical
from advisor.resources import in_base_units
from advisor.workload import Role, Workload


@dataclass(frozen=True, slots=True)
class Trial:
    """An example with the document that holds it, and the definition that is to read it before all others."""

    example: Example
    document: Document
    definition: str
    catalog: Catalog

    def workload(self) -> Workload:
        """Raises InputError."""
        beside = [self.document.member(one, "with", place) for place, one in enumerate(self.example.with_)]
        return _read(self.document.member(dict(self.example.manifest), "manifest"), beside, self.catalog)

    def outcome(self) -> Tried:
        tried = Tried(self.definition, self.example.name, self.document.where)
        try:
            workload = self.workload()
            lacking = workload.faults or tuple(missing.fault for missing in workload.lacking)
            if lacking:
                return replace(tried, faults=lacking)
            with self.document.faults():
                return replace(tried, differences=tuple(differences(self.example, workload)))
        except InputError as error:
            return replace(tried, faults=error.faults)


def tried(entry: Entry, builtin: Builtin | None = None) -> tuple[Tried, ...]:
    """Every example of the profile that goes with a definition: its own, else that of our catalogue.

    Raises InputError for a profile that cannot be read.
    """
    return tuple(trial.outcome() for trial in trials(entry, builtin))


def workloads(entry: Entry) -> tuple[Workload, ...]:
    """What the examples come to. Raises InputError."""
    return tuple(trial.workload() for trial in trials(entry))


def trials(entry: Entry, builtin: Builtin | None = None) -> Iterator[Trial]:
    """Every example with the definition. Raises InputError for a profile that cannot be read."""
    first = () if entry.origin == BUILTIN else (Layer(entry.origin, (entry,)),)
    alone = Catalog(first, builtin)
    found = alone.find(entry.kind.api_version, entry.kind.kind)
    document = found.profile.profile_document if found and found.profile else None
    if document is None:
        return
    for place, example in enumerate(profile_schema.parse(document).spec.examples):
        own = document.member(document.data["spec"]["examples"][place], "spec", "examples", place)
        yield Trial(example, own, entry.definition.name, alone)


def _read(manifest: Document, beside: Sequence[Document], catalog: Catalog) -> Workload:
    found = reading.read([manifest], catalog, further=beside)
    if found.missing:
        raise InputError.of(found.missing)
    if len(found.workloads) != 1:
        raise InputError.of([manifest.placed(Fault(f"holds {len(found.workloads)} workloads, an example is one"))])
    return found.workloads[0]


def differences(example: Example, workload: Workload) -> Iterator[Difference]:
    """What came out otherwise than the example says."""
    roles = {role.name: role for role in workload.roles}
    for name in dict.fromkeys((*example.roles, *roles)):
        if name not in roles:
            yield Difference(f"role {name}", "is there", None)
        elif name not in example.roles:
            yield Difference(f"role {name}", None, f"{roles[name].replicas} pods")
        else:
            with at("roles", name):
                for found in _of_role(example.roles[name], roles[name]):
                    yield replace(found, what=f"role {name}, {found.what}")
    if list(example.roles) != list(roles) and sorted(example.roles) == sorted(roles):
        yield Difference("order of roles", ", ".join(example.roles), ", ".join(roles))
    if example.gang is not None:
        yield from _of_gang(example.gang, workload)


def _of_role(stated: Mapping[str, Any], role: Role) -> Iterator[Difference]:
    amounts = in_base_units(role.template.effective())
    found: dict[str, Any] = {"replicas": role.replicas, "minimum": role.minimum, "maximum": role.maximum}
    expected: dict[str, Any] = {"minimum": stated.get("replicas"), "maximum": None, "replicas": None}
    if "stage" in stated:
        found["stage"] = list(role.stage)
    if "startsAfter" in stated:
        found["startsAfter"] = role.starts_after
    if "madeAfter" in stated:
        found["madeAfter"] = list(role.made_after)
    expected.update((key, value) for key, value in stated.items() if key != "requests")
    for key in dict.fromkeys((*found, *expected)):
        if key not in found:
            yield Difference(key, "nothing by this name", "cannot be compared")
        elif found[key] != expected[key]:
            yield Difference(key, _shown(expected[key]), _shown(found[key]))
    yield from _of_requests(stated.get("requests") or {}, amounts)


def _of_requests(stated: Mapping[str, Any], found: Mapping[str, int]) -> Iterator[Difference]:
    expected = {}
    for name, value in stated.items():
        with at("requests", name):
            expected[name] = quantity.base_units(name, quantity.parse(value))
    for name in sorted({*expected, *found}):
        one, other = (canonical(name, amounts[name]) if name in amounts else None for amounts in (expected, found))
        if expected.get(name) != found.get(name):
            yield Difference(f"requests of {name}", one, other)


def _of_gang(stated: tuple[Mapping[str, Any], ...], workload: Workload) -> Iterator[Difference]:
    expected = [_group(one.get("count"), one.get("members") or {}) for one in stated]
    found = [_group(group.count, group.members) for group in workload.groups]
    if expected != found:
        yield Difference("gang", "; ".join(expected) or None, "; ".join(found) or None)


def _group(count: Any, members: Mapping[str, Any]) -> str:
    return f"{count} × ({', '.join(f'{pods} {role}' for role, pods in members.items())})"


def _shown(value: Any) -> str | None:
    return None if value is None else str(value)
