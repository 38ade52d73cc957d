"""The subresource `scale` as a change of the object behind it: what comes in is a number, what is asked about are pods.

Whose subresource it is decides nothing here: the object, as the management cluster has it, is looked up by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from advisor.definitions import live, plain
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError, Where, at
from advisor.files import Document, Source
from advisor.server import size
from advisor.server.request import UPDATE, Request, Resource

SCALE = "scale"

Find = Callable[[Resource, str, str, float], Mapping[str, Any]]
"""Resource, namespace, name, seconds → the object. Raises InputError."""

NO_HUB = InputError("the server is not told where to look at the object", hint="hub in server.yaml")


def concerns(request: Request) -> bool:
    return request.subresource == SCALE and request.operation == UPDATE


def growth(request: Request) -> int:
    """Replicas that come on top; less than nothing where some go. Raises InputError."""
    return _replicas(request.object) - _replicas(request.old)


def _replicas(scale: Mapping[str, Any] | None) -> int:
    """A number that is left out is zero."""
    spec = plain.mapping(scale or {}, "spec")
    with at("spec"):
        return plain.number(spec, "replicas") or 0


def whole(request: Request, find: Find | None, catalog: Catalog, seconds: float) -> Request:
    """The same change as one of the object. Raises InputError where that cannot be told.

    Whoever asks for it: the controller of an owner writes a size into the object, this one comes from somebody else.
    """
    if find is None:
        raise NO_HUB
    stored = find(request.resource, request.namespace, request.name, seconds)
    size.check(stored)
    old, new = (_at(stored, catalog, _replicas(scale)) for scale in (request.old, request.object))
    api_version, kind = plain.text(stored, "apiVersion"), plain.text(stored, "kind")
    group = api_version.rpartition("/")[0]
    return replace(request, group=group, kind=kind, object=new, old=old, subresource="", user="")


def _at(stored: Mapping[str, Any], catalog: Catalog, replicas: int) -> Mapping[str, Any]:
    found = live.resized(Document(stored, Source("object", ""), 0, Where("object")), catalog, replicas)
    if not isinstance(found, dict):
        raise InputError("no placement profile says what it sets")
    return found
