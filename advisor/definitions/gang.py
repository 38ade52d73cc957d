"""Which pods must start together, as a definition says it (definitions.md 9.1 to 9.3, 9.6).

The minimum of a gang stands nowhere in the format: it is the subtree scale (`scale.py`). A pending object has no pods
on which grouping keys could be evaluated, so for it the keys are judged by their text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from advisor.definitions import pods, scale, schema, tree
from advisor.definitions.engine import Prepared
from advisor.definitions.extract import SINGLE, Extraction
from advisor.definitions.schema import Component, Definition


@dataclass(frozen=True, slots=True)
class Split:
    """Into how many gangs a member falls: one, one per instance of `level`, or one per replica of it."""

    per: Literal["constant", "instance", "replica"] = "constant"
    level: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A component in a gang. `minimum` counts all its pods; `of_instance` those of each, when split per instance."""

    component: str
    minimum: int
    split: Split = Split()
    of_instance: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gang:
    name: str
    members: tuple[Member, ...]


def pending(extraction: Extraction) -> tuple[Gang, ...]:
    """The gangs of an object without pods. Raises InputError when a scale that is needed cannot be read."""
    gang = extraction.definition.gang
    if gang is None:
        return ()
    if gang.pod_group:
        names = [sub_group.component_name for sub_group in gang.pod_group.sub_groups]
        names = names or [extraction.definition.root.name]
        return (Gang(gang.pod_group.name, tuple(Member(name, scale.subtree(extraction, name)) for name in names)),)
    return tuple(Gang(g.name, tuple(_member(extraction, member) for member in g.members)) for g in gang.pod_groups)


def _member(extraction: Extraction, member: schema.Member) -> Member:
    name = member.component_name
    found = split(extraction.definition, member)
    minimum = scale.subtree(extraction, name)
    ids = extraction.ids(found.level) if found.per == "instance" else ()
    return Member(name, minimum, found, {id_: scale.subtree(extraction, found.level, id_) for id_ in ids})


def split(definition: Definition, member: schema.Member) -> Split:
    """What the text of the key paths says (9.6): an instance's id among them, a replica's key, or neither.

    Components above and below the member are asked first, then all others: a sibling's replica key splits alike.
    """
    name = member.component_name
    for component in tree.downwards(definition, name):
        if component.instance_selector and _mentions(member.group_by_key_paths, component.instance_selector.id_path):
            return Split("instance", component.name)
    nearest = (*tree.upwards(definition, name), *tree.downwards(definition, name))
    for component in (*nearest, *definition.components):
        selector = component.pod_selector.replica_selector if component.pod_selector else None
        if selector and _mentions(member.group_by_key_paths, selector.key_path):
            return Split("replica", component.name)
    return Split()


def _mentions(texts: Sequence[str], path: str) -> bool:
    return bool(path) and any(path in text for text in texts)


@dataclass(frozen=True, slots=True)
class Place:
    """A running pod's gang: pods with equal `group` and `keys` under one owner start together, `minimum` of them."""

    group: str
    keys: tuple[str, ...]
    minimum: int


def of_pod(extraction: Extraction, pod: Prepared) -> Place | None:
    """The gang of a running pod (9.2); None when it is in no gang."""
    gang, engine = extraction.definition.gang, extraction.engine
    if gang is None:
        return None
    if gang.pod_group:
        return Place(gang.pod_group.name, (), sum(member.minimum for member in pending(extraction)[0].members))
    own = pods.component(extraction.definition, pod, engine)
    for group, member in _candidates(extraction.definition, own):
        if pods.passes(member.filters, pod, engine):
            keys = pods.keys(member.group_by_key_paths, pod, engine)
            return Place(group, keys, _minimum(extraction, own, member.component_name, pod))
    return None


def _candidates(definition: Definition, own: Component) -> Iterator[tuple[str, schema.Member]]:
    """The members naming the pod's own component, in file order over the groups; then those naming its owners."""
    for component in tree.upwards(definition, own.name):
        for group in definition.gang.pod_groups if definition.gang else ():
            for member in group.members:
                if member.component_name == component.name:
                    yield group.name, member


def _minimum(extraction: Extraction, own: Component, effective: str, pod: Prepared) -> int:
    instance = pods.instance(extraction, own, pod) if effective == own.name else SINGLE
    return scale.subtree(extraction, effective, instance or None)
