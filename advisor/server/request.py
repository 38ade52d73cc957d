"""AdmissionReview to `Request`: what an API server asks, reduced to what anything here looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from advisor.definitions import plain
from advisor.errors import Faults, InputError, at
from advisor.server.reservations import Key

API = "admission.k8s.io/v1"
CREATE, UPDATE, DELETE, CONNECT = "CREATE", "UPDATE", "DELETE", "CONNECT"


@dataclass(frozen=True, slots=True)
class Request:
    """An admission request, as far as anything here looks at it. `object` and `old` are plain data or None."""

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
    texts: dict[str, str] = {}
    for key in ("uid", "operation", "namespace", "name", "subResource"):
        with faults.collect():
            texts[key] = plain.text(found, key)
    kind: dict[str, str] = {}
    with faults.collect():
        stated = plain.mapping(found, "kind")
        with at("kind"):
            kind = {key: plain.text(stated, key) for key in ("group", "kind")}
    objects: dict[str, Mapping[str, Any] | None] = {}
    for key in ("object", "oldObject"):
        objects[key] = found.get(key)
        if not isinstance(objects[key], dict | None):
            faults.add("should be a mapping", key)
    _check_whole(found, texts, kind, faults)
    faults.raise_if_any()
    return Request(
        uid=texts["uid"],
        operation=texts["operation"],
        group=kind["group"],
        kind=kind["kind"],
        namespace=texts["namespace"],
        name=texts["name"] or _name(objects["object"]) or _name(objects["oldObject"]),
        object=objects["object"],
        old=objects["oldObject"],
        subresource=texts["subResource"],
        dry_run=found.get("dryRun") is True,
    )


def _check_whole(found: Mapping[str, Any], texts: Mapping[str, str], kind: Mapping[str, str], faults: Faults) -> None:
    if texts.get("uid") == "":
        faults.add("is missing", "uid")
    if kind.get("kind") == "":
        faults.add("is missing", "kind", "kind")
    if texts.get("operation") not in (CREATE, UPDATE, DELETE, CONNECT):
        faults.add("is none of CREATE, UPDATE, DELETE, CONNECT", "operation")
    if texts.get("operation") in (CREATE, UPDATE) and not found.get("object"):
        faults.add("is missing", "object")


def _name(found: Mapping[str, Any] | None) -> str:
    metadata = found.get("metadata") if found else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
