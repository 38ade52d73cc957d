"""May a definition be used? Upstream's validator, and the two rules that we add (definitions.md 3, rules 3 to 17).

Rules 1 and 2 are `schema.py`'s, 15 (one definition per kind) is the catalogue's, and what is only doubtful is
`doubts.py`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from advisor.definitions import doubts, schema
from advisor.definitions.engine import Engine
from advisor.definitions.schema import Definition, places
from advisor.errors import Fault, InputError, Path

_WITHOUT_GROUP = ("Pod",)
"""Upstream's `kindsWithoutGroup`: the one name that the rules of the format themselves know."""

_GANG = ("spec", "optimizationInstructions", "gangScheduling")


@dataclass(frozen=True, slots=True)
class Findings:
    errors: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


def validate(definition: Definition, engine: Engine) -> Findings:
    """Everything that is wrong with `definition` at once; its expressions are compiled by `engine`."""
    twice = tuple(_unique_names(definition))
    if twice:
        return Findings(twice)
    structure = [fault for rule in _STRUCTURE for fault in rule(definition)]
    cycles = [] if structure else list(_no_cycle(definition))
    broken = list(_broken_expressions(definition, engine))
    return Findings(
        errors=(*structure, *cycles, *_gang_members(definition), *broken),
        warnings=tuple(doubts.about(definition, readable=not broken)),
    )


def _unique_names(definition: Definition) -> Iterator[Fault]:
    """Rule 3. Nothing else is judged while two components share a name."""
    count = Counter(component.name for component in definition.components)
    for path, component in places(definition):
        if count[component.name] > 1:
            yield Fault(f"the name {component.name} is used {count[component.name]} times", (*path, "name"))


def _root(definition: Definition) -> Iterator[Fault]:
    """Rules 4, 5 and 6."""
    path, root = next(places(definition))
    if root.kind is None:
        yield Fault("is required", (*path, "kind"))
    else:
        yield from _whole_kind(root.kind, path)
    if root.owner_ref is not None:
        yield Fault("the root component has no owner", (*path, "ownerRef"))
    if root.status_definition is None:
        yield Fault("is required", (*path, "statusDefinition"))


def _whole_kind(kind: schema.GroupVersionKind, path: Path) -> Iterator[Fault]:
    for field in ("group", "version", "kind"):
        if not getattr(kind, field) and not (field == "group" and kind.kind in _WITHOUT_GROUP):
            yield Fault("must not be empty", (*path, "kind", field))


def _owners(definition: Definition) -> Iterator[Fault]:
    """Rule 7."""
    names = {component.name for component in definition.components}
    for path, component in list(places(definition))[1:]:
        if not component.owner_ref:
            yield Fault("is required", (*path, "ownerRef"))
        elif component.owner_ref not in names:
            yield Fault(f"there is no component {component.owner_ref}", (*path, "ownerRef"))


def _no_cycle(definition: Definition) -> Iterator[Fault]:
    """Rule 8; needs every owner to exist."""
    owners = {component.name: component.owner_ref or "" for component in definition.components}
    for path, component in places(definition):
        visited, name = set[str](), component.name
        while name and name not in visited:
            visited.add(name)
            name = owners[name]
        if name == component.name:
            yield Fault(f"{name} owns itself in the end", (*path, "ownerRef"))


def _names(definition: Definition) -> Iterator[Fault]:
    """Rule 9."""
    for path, component in places(definition):
        if not component.name:
            yield Fault("must not be empty", (*path, "name"))


def _one_pod_source(definition: Definition) -> Iterator[Fault]:
    """Rule 10."""
    for path, component in places(definition):
        sources = component.spec_definition.sources if component.spec_definition else ()
        if len(sources) > 1:
            yield Fault(f"only one of {' and '.join(sources)} can be used", (*path, "specDefinition"))


def _instances(definition: Definition) -> Iterator[Fault]:
    """Rule 11."""
    for path, component in places(definition):
        if component.instance_id_path is not None and not component.instance_selector:
            yield Fault("needs podSelector.componentInstanceSelector", (*path, "instanceIdPath"))
        elif component.instance_id_path is None and component.instance_selector:
            yield Fault("needs instanceIdPath", (*path, "podSelector", "componentInstanceSelector"))


_STRUCTURE: tuple[Callable[[Definition], Iterable[Fault]], ...] = (
    _root,
    _owners,
    _names,
    _one_pod_source,
    _instances,
)


def _gang_members(definition: Definition) -> Iterator[Fault]:
    """Rules 13 and 16."""
    names = {component.name for component in definition.components}
    for path, name in _members(definition):
        if name not in names:
            yield Fault(f"there is no component {name}", (*_GANG, *path, "componentName"))


def _members(definition: Definition) -> Iterator[tuple[Path, str]]:
    if not definition.gang:
        return
    for i, group in enumerate(definition.gang.pod_groups):
        for j, member in enumerate(group.members):
            yield ("podGroups", i, "members", j), member.component_name
    if definition.gang.pod_group:
        for i, sub_group in enumerate(definition.gang.pod_group.sub_groups):
            yield ("podGroup", "subGroups", i), sub_group.component_name


def _broken_expressions(definition: Definition, engine: Engine) -> Iterator[Fault]:
    """Rules 14 and 17."""
    for path, text in schema.expressions(definition):
        try:
            if text:
                engine.compile(text)
        except InputError as error:
            yield from (replace(fault, path=path) for fault in error.faults)
