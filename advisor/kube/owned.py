"""A live object, and the pods that come of it: followed from each pod through its controllers up to the object.

Env, args and commands of pods are dropped where they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor import private
from advisor.kube.answer import promised
from advisor.kube.client import Api
from advisor.kube.failure import FORBIDDEN, OF_THE_KIND, ApiError
from advisor.kube.paging import items
from advisor.kube.resources import Resource, of_kind

Object = dict[str, Any]
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
GENERATIONS = 8
"""Controllers above one another that are followed at most."""


def read(api: Api, resource: Resource, namespace: str, name: str) -> Object:
    """One object. Raises ApiError."""
    return promised(Object, api.read(resource.path(namespace, name), f"get {resource.title} {name}"), api.host)


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of an object. `unread`: why owners of some kind could not be looked at, so that pods may be missing."""

    pods: tuple[Object, ...]
    unread: tuple[str, ...] = ()


def pods_of(api: Api, resources: Sequence[Resource], root: Object) -> Pods:
    """The pods of `root`, from those of its namespace. Raises ApiError where no pod can be listed at all."""
    metadata = root["metadata"]
    namespace, uid = metadata["namespace"], metadata["uid"]
    if root.get("kind") == "Pod" and root.get("apiVersion") == "v1":
        return Pods((_without_private(root),))
    pods = items(api, f"/api/v1/namespaces/{namespace}/pods", f"list pods in namespace {namespace}")
    lineage = _Lineage(api, resources, namespace)
    for _ in range(GENERATIONS):
        lineage.look_at({owner for pod in pods if (owner := lineage.above(pod["metadata"], uid))})
    mine = [pod for pod in pods if lineage.leads_to(pod["metadata"], uid)]
    return Pods(tuple(map(_without_private, mine)), lineage.unread)


class _Lineage:
    """Who controls whom in a namespace, as far as it was looked at: lists of metadata, one for each kind."""

    def __init__(self, api: Api, resources: Sequence[Resource], namespace: str) -> None:
        self._api, self._resources, self._namespace = api, resources, namespace
        self._known: dict[str, Mapping[str, Any]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._forbidden: list[str] = []
        self._failed: list[str] = []

    @property
    def unread(self) -> tuple[str, ...]:
        """What may not be listed is one cause, however many kinds are concerned."""
        kinds = ", ".join(self._forbidden)
        text = f"may not list {kinds} in namespace {self._namespace} (403), which are owners of pods there"
        return (*[text] * bool(kinds), *self._failed)

    def above(self, metadata: Mapping[str, Any], uid: str) -> tuple[str, str] | None:
        """apiVersion and kind of the first owner upwards that was not looked at yet; None past the top or the root."""
        owner = self._highest(metadata, uid)
        return (owner["apiVersion"], owner["kind"]) if owner and owner["uid"] != uid else None

    def leads_to(self, metadata: Mapping[str, Any], uid: str) -> bool:
        owner = self._highest(metadata, uid)
        return bool(owner and owner["uid"] == uid)

    def _highest(self, metadata: Mapping[str, Any], uid: str) -> Mapping[str, Any] | None:
        """The root, or the first owner upwards that was not looked at yet; None past the top."""
        owner = _controller(metadata)
        while owner and owner["uid"] != uid and owner["uid"] in self._known:
            owner = _controller(self._known[owner["uid"]])
        return owner

    def look_at(self, kinds: set[tuple[str, str]]) -> None:
        for api_version, kind in sorted(kinds - self._seen):
            self._seen.add((api_version, kind))
            resource = of_kind(self._resources, api_version, kind)
            if resource and resource.namespaced:
                try:
                    self._learn(resource)
                except ApiError as error:
                    if error.cause not in OF_THE_KIND:
                        raise
                    if error.cause == FORBIDDEN:
                        self._forbidden.append(resource.title)
                    else:
                        self._failed.append(error.text)

    def _learn(self, resource: Resource) -> None:
        errand = f"list {resource.title} in namespace {self._namespace}"
        for item in items(self._api, resource.path(self._namespace), errand, accept=METADATA):
            self._known[item["metadata"]["uid"]] = item["metadata"]


def _controller(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The owner that controls it; where none says so, the first one (some controllers leave that out)."""
    owners = metadata.get("ownerReferences") or []
    return next((owner for owner in owners if owner.get("controller")), owners[0] if owners else None)


def _without_private(pod: Object) -> Object:
    spec = dict(pod.get("spec") or {})
    for key in ("containers", "initContainers", "ephemeralContainers"):
        if spec.get(key):
            spec[key] = [{name: value for name, value in one.items() if name not in private.TOLD} for one in spec[key]]
    return {**pod, "spec": spec}
