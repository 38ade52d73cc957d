"""Who owns whom among the components of a definition.

The tree lies in `ownerRef` alone; children keep the order of the file (definitions.md 5.5). Asks nothing of a manifest.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.definitions.schema import Component, Definition
from advisor.errors import InputError


def component(definition: Definition, name: str) -> Component:
    for found in definition.components:
        if found.name == name:
            return found
    raise InputError(f"the definition has no component {name}")


def children(definition: Definition, name: str) -> tuple[Component, ...]:
    return tuple(child for child in definition.components if child.owner_ref == name)


def upwards(definition: Definition, name: str) -> Iterator[Component]:
    """The component itself, its owner, and so on to the root."""
    found = component(definition, name)
    yield found
    while found.owner_ref:
        found = component(definition, found.owner_ref)
        yield found


def downwards(definition: Definition, name: str) -> Iterator[Component]:
    """The component itself and everything below it."""
    yield component(definition, name)
    for child in children(definition, name):
        yield from downwards(definition, child.name)


def leaves(definition: Definition) -> tuple[Component, ...]:
    """The components that have pods: the root first, then the children as the file lists them."""
    return tuple(found for found in definition.components if found.is_leaf)
