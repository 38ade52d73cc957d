"""Objects that workloads refer to, of whatever kind: looked up by name, or all of a kind; nothing else is read of it.

What containers are told is dropped where it is read, and so are annotations that repeat whole objects. Secrets are
never looked up.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from advisor import private
from advisor.cluster import Gap, Looked
from advisor.errors import InputError
from advisor.kube.answer import promised
from advisor.kube.failure import NOT_FOUND, OF_THE_KIND, ApiError
from advisor.kube.paging import Reader, items
from advisor.kube.resources import Resource, served
from advisor.workload import Reference

REPEATED = "kubectl.kubernetes.io/last-applied-configuration"
SECRET = ("", "Secret")


def looked_up(
    api: Reader, references: Sequence[Reference], groups: Collection[str] | None = None
) -> Iterator[Looked | Gap]:
    """What the server has of each, or why that is not known. Raises ApiError for what ends the conversation.

    `groups`: all API groups that it serves, where they are known. Of others there is nothing.
    """
    absent = [one for one in references if groups is not None and one.group and one.group not in groups]
    yield from (Looked(one.group, one.kind, one.name, one.namespace) for one in absent)
    left = [one for one in references if one not in absent]
    resources = served(api) if left else ()
    for reference in left:
        resource = next((one for one in resources if (one.group, one.kind) == (reference.group, reference.kind)), None)
        try:
            yield _looked_up(api, reference, resource, whole=any(one.kind == "Pod" for one in resources))
        except ApiError as error:
            if error.cause not in OF_THE_KIND:
                raise
            yield Gap(reference.type, error.cause, error.text)


def _looked_up(api: Reader, wanted: Reference, resource: Resource | None, *, whole: bool) -> Looked:
    """`whole`: is the list of resources one that can be believed? Older servers give another."""
    if (wanted.group, wanted.kind) == SECRET:
        raise ApiError(NOT_FOUND, "secrets are never looked up")
    if resource is None:
        if not whole:
            raise ApiError(NOT_FOUND, f"whether there is {wanted.title} is not known: {api.host} lists no resources")
        return Looked(wanted.group, wanted.kind, wanted.name, wanted.namespace)
    namespace = wanted.namespace if resource.namespaced else ""
    found = _one(api, resource, wanted.name, namespace) if wanted.name else _every(api, resource, namespace)
    return Looked(wanted.group, wanted.kind, wanted.name, namespace, tuple(text(one, resource) for one in found))


def _one(api: Reader, resource: Resource, name: str, namespace: str) -> Iterator[Any]:
    """Nothing where there is none of that name."""
    try:
        body = api.read(resource.path(namespace, name), f"get {resource.title} {name}")
    except ApiError as error:
        if error.cause != NOT_FOUND:
            raise
    else:
        yield promised(dict[str, Any], body, api.host)


def _every(api: Reader, resource: Resource, namespace: str) -> Iterator[Any]:
    where = f"in namespace {namespace}" if namespace else "at cluster scope"
    yield from items(api, resource.path(namespace), f"list {resource.title} {where}")


def text(found: Mapping[str, Any], resource: Resource) -> str:
    """An object as a snapshot keeps it; members of lists do not say what they are."""
    return kept({"apiVersion": resource.api_version, "kind": resource.kind, **found})


def kept(found: Mapping[str, Any]) -> str:
    """As JSON, equal for equal objects. Raises InputError for one without a name."""
    metadata = found.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise InputError("is required", path=("metadata", "name"))
    metadata = {**metadata, "managedFields": None}
    metadata["annotations"] = {k: v for k, v in (metadata.get("annotations") or {}).items() if k != REPEATED}
    public = private.without({**found, "metadata": metadata, "status": None})
    return json.dumps(public, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
