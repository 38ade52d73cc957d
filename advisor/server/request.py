"""AdmissionReview to `Request`: what an API server asks, reduced to what anything here looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from advisor.definitions import plain
from advisor.errors import Faults, InputError, at
from advisor.server.holds import Key

API = "admission.k8s.io/v1"
FINALIZERS = {"orphan": True, "foregroundDeletion": False}
"""By which an object says whether its deletion leaves what it owns behind."""

CREATE, UPDATE, DELETE, CONNECT = "CREATE", "UPDATE", "DELETE", "CONNECT"


@dataclass(frozen=True, slots=True)
class Resource:
    """The API's name of a kind: `jobs` of `batch/v1`."""

    group: str
    version: str
    plural: str


@dataclass(frozen=True, slots=True)
class Request:
    """An admission request, as far as anything here looks at it. `object` and `old` are plain data or None.

    `resource` is where the API server keeps the object, `user` the name of who asks. `orphans`: does a deletion leave
    the pods behind? None where neither it nor the object says so.
    """

    uid: str
    operation: str
    group: str
    kind: str
    namespace: str
    name: str
    object: Mapping[str, Any] | None = None
    old: Mapping[str, Any] | None = None
    subresource: str = ""
    dry_run: bool = False
    resource: Resource = Resource("", "", "")
    user: str = ""
    orphans: bool | None = None

    @property
    def key(self) -> Key:
        """With generateName and no name yet, the request itself is what there is to tell objects apart."""
        return Key(self.group, self.kind, self.namespace, self.name or self.uid)


def parse(body: Any) -> Request:
    """Raises InputError for anything that is not a review of a version that is known, all faults at once."""
    if not isinstance(body, dict) or body.get("kind") != "AdmissionReview":
        raise InputError("is no AdmissionReview")
    if body.get("apiVersion") != API:
        raise InputError(f"{str(body.get('apiVersion'))[:60]} is not known", path=("apiVersion",), hint=f"known: {API}")
    found = body.get("request")
    if not isinstance(found, dict):
        raise InputError("should be a mapping", path=("request",))
    faults = Faults()
    with faults.collect("request"):
        return _request(found)
    raise InputError.of(faults.found)


def _request(found: Mapping[str, Any]) -> Request:
    faults = Faults()
    texts = {key: _text(found, key, faults) for key in ("uid", "operation", "namespace", "name", "subResource")}
    group, kind = _kind(found, faults)
    resource, user = _resource(found, faults), _user(found, faults)
    new, old = (_object(found, key, faults) for key in ("object", "oldObject"))
    if texts["uid"] == "":
        faults.add("is missing", "uid")
    if texts["operation"] not in (CREATE, UPDATE, DELETE, CONNECT, None):
        faults.add("is none of CREATE, UPDATE, DELETE, CONNECT", "operation")
    if texts["operation"] in (CREATE, UPDATE) and not found.get("object"):
        faults.add("is missing", "object")
    orphans = _orphans(found, old, faults) if texts["operation"] == DELETE else None
    faults.raise_if_any()
    return Request(
        uid=texts["uid"] or "",
        operation=texts["operation"] or "",
        group=group,
        kind=kind,
        namespace=texts["namespace"] or "",
        name=texts["name"] or _name(new) or _name(old),
        object=new,
        old=old,
        subresource=texts["subResource"] or "",
        dry_run=found.get("dryRun") is True,
        resource=resource,
        user=user,
        orphans=orphans,
    )


def _orphans(found: Mapping[str, Any], old: Mapping[str, Any] | None, faults: Faults) -> bool | None:
    """The API server's order: what the request says, then finalizers of the object (`shouldOrphanDependents`)."""
    said = policy = None
    with faults.collect():
        options = plain.mapping(found, "options")
        with at("options"):
            said, policy = options.get("orphanDependents"), plain.text(options, "propagationPolicy")
    if isinstance(said, bool):
        return said
    if policy:
        return policy == "Orphan"
    metadata = old.get("metadata") if old else None
    finalizers = metadata.get("finalizers") if isinstance(metadata, dict) else None
    written = (FINALIZERS[one] for one in finalizers or () if isinstance(one, str) and one in FINALIZERS)
    return next(written, None) if isinstance(finalizers, list) else None


def _text(found: Mapping[str, Any], key: str, faults: Faults) -> str | None:
    """None where something else than text is said, which is a fault already."""
    try:
        return plain.text(found, key)
    except InputError as error:
        faults.found.extend(error.faults)
        return None


def _kind(found: Mapping[str, Any], faults: Faults) -> tuple[str, str]:
    group = kind = ""
    with faults.collect():
        stated = plain.mapping(found, "kind")
        with at("kind"):
            group, kind = plain.text(stated, "group"), plain.text(stated, "kind")
            if not kind:
                raise InputError("is missing", path=("kind",))
    return group, kind


def _resource(found: Mapping[str, Any], faults: Faults) -> Resource:
    words = ["", "", ""]
    with faults.collect():
        stated = plain.mapping(found, "resource")
        with at("resource"):
            words = [plain.text(stated, key) for key in ("group", "version", "resource")]
    return Resource(*words)


def _user(found: Mapping[str, Any], faults: Faults) -> str:
    name = ""
    with faults.collect():
        stated = plain.mapping(found, "userInfo")
        with at("userInfo"):
            name = plain.text(stated, "username")
    return name


def _object(found: Mapping[str, Any], key: str, faults: Faults) -> Mapping[str, Any] | None:
    try:
        return plain.mapping(found, key) if found.get(key) is not None else None
    except InputError as error:
        faults.found.extend(error.faults)
        return None


def _name(found: Mapping[str, Any] | None) -> str:
    metadata = found.get("metadata") if found else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
