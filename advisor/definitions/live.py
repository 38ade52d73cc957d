"""What is to be told of an object beside its pods: its status, itself at another size, when its children come."""

from __future__ import annotations

from typing import Any

from advisor.definitions import outputs, reading, status
from advisor.definitions.catalog import Catalog, Found
from advisor.definitions.engine import prepare
from advisor.definitions.profile import Context
from advisor.files import Document


def states(document: Document, catalog: Catalog) -> tuple[str, ...]:
    """What the status says, in upstream's words; nothing for a kind without a definition.

    Raises InputError for a status that cannot be read.
    """
    found = catalog.find(*reading.kind_of(document))
    if found is None:
        return ()
    return status.read(found.entry.definition, prepare(document.data), found.entry.origin.engine).matched


def resized(document: Document, catalog: Catalog, replicas: int) -> Any:
    """The object as its subresource `scale` makes it; None where no profile says what that sets. Raises InputError."""
    found = catalog.find(*reading.kind_of(document))
    own = reading.profile_of(found) if found else None
    if found is None or found.profile is None or own is None or own.spec.scaled is None:
        return None
    context = Context(own, found.profile.origin.engine, prepare(document.data), "")
    return context.value(outputs.OBJECT, f"{own.spec.scaled} = $replicas", None, replicas=replicas)


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
