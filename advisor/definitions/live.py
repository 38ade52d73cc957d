"""What is to be told of an object beside its pods: its status, what that leaves, another size, when they come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.definitions import outputs, profile, reading, status
from advisor.definitions.catalog import Catalog, Found
from advisor.definitions.engine import prepare
from advisor.definitions.profile import Context
from advisor.files import Document

COMPLETED = "Completed"
"""The state of what has run to its end, of kinds whose profile says no more of it."""


def states(document: Document, catalog: Catalog) -> tuple[str, ...]:
    """What the status says, in upstream's words; nothing for a kind without a definition.

    Raises InputError for a status that cannot be read.
    """
    found = catalog.find(*reading.kind_of(document))
    if found is None:
        return ()
    return status.read(found.entry.definition, prepare(document.data), found.entry.origin.engine).matched


def is_over(document: Document, catalog: Catalog) -> bool:
    """Has it run to its end, so that no pod of it comes any more? Raises InputError for what cannot be read."""
    context = _context(document, catalog)
    if context is None or context.profile.spec.over is None:
        return COMPLETED in states(document, catalog)
    return bool(context.value(outputs.FLAG, context.profile.spec.over, None))


def left(document: Document, catalog: Catalog) -> Mapping[str, int]:
    """Role → pods that may still be alive, by the status; a role that is left out has all. Raises InputError."""
    context = _context(document, catalog)
    if context is None or context.profile.spec.left is None or not document.data.get("status"):
        return {}
    context, _ = profile.with_defaults(context)
    found: Mapping[str, int] = context.value(outputs.SIZES, context.profile.spec.left, {})
    return found


def is_kept_away(document: Document, catalog: Catalog) -> bool:
    """Does something in it keep its pods away until it is changed? Raises InputError for what cannot be read."""
    found = catalog.find(*reading.kind_of(document))
    return (
        found is not None and reading.keeping_away(prepare(document.data), found, reading.profile_of(found)) is not None
    )


def resized(document: Document, catalog: Catalog, replicas: int) -> Any:
    """The object as its subresource `scale` makes it; None where no profile says what that sets. Raises InputError."""
    context = _context(document, catalog)
    if context is None or context.profile.spec.scaled is None:
        return None
    return profile.resized(context, context.profile.spec.scaled, replicas)


def _context(document: Document, catalog: Catalog) -> Context | None:
    """The profile of its kind with the object as it is; None for a kind without one."""
    found = catalog.find(*reading.kind_of(document))
    own = reading.profile_of(found) if found else None
    if found is None or found.profile is None or own is None:
        return None
    return Context(own, found.profile.origin.engine, prepare(document.data), "")


def leaves_behind(found: Found, told: bool | None) -> bool:
    """Does its deletion leave the pods? `told`: what the deletion or the object says of it."""
    own = reading.profile_of(found)
    return told if told is not None else own is not None and own.spec.orphans


def adopts(found: Found) -> bool | None:
    """Does another object of its name take over what it left behind? None where nobody knows."""
    own = reading.profile_of(found)
    return own.spec.adopts if own else None


def is_scheduled(found: Found) -> bool:
    """Does it make its children at times of its own, so that they are workloads by themselves?"""
    own = reading.profile_of(found)
    return own is not None and own.spec.scheduled
