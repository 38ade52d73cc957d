"""Objects as an API server prints them, made ready to be created in another one. Pure: nothing here talks to a server.

The new server gives every object its own uid, so the references are rewritten; what only a server may set is
left out; what the admission of a pod asks for, but the objects don't hold, is added.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

Object = dict[str, Any]
Objects = list[Object]

SET_BY_SERVER = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)
HOLD = "wm-place.test/hold"
FIRST = (
    "CustomResourceDefinition",
    "Namespace",
    "PriorityClass",
    "RuntimeClass",
    "DeviceClass",
)
LAST = (
    "Node",
    "ResourceSlice",
    "StorageClass",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "ResourceClaim",
    "Pod",
    "LimitRange",
    "ResourceQuota",
)
SERVERS_OWN_CLASSES = ("", "system-node-critical", "system-cluster-critical")
ORDER = {kind: place for place, kind in enumerate((*FIRST, "", *LAST))}


def rank(obj: Object) -> int:
    """The place of a kind in the order of creation; queues and everything unknown stand in the middle.

    LimitRanges and ResourceQuotas come last: recorded pods are as they are, and admission shall neither fill in nor
    refuse or count them a second time.
    """
    return ORDER.get(obj["kind"], ORDER[""])


def flatten(objects: Iterable[Object]) -> Iterator[Object]:
    """The objects, with lists (`kubectl get -o json`) replaced by their items."""
    for obj in objects:
        if obj["kind"].endswith("List") and "items" in obj:
            kind = {"kind": obj["kind"].removesuffix("List"), "apiVersion": obj["apiVersion"]}
            yield from flatten(kind | item for item in obj["items"])
        else:
            yield obj


def name_of(obj: Object) -> str:
    """namespace/name, or the name alone where there is no namespace."""
    metadata = obj["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))


def terminating(obj: Object) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))


def bound(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName"))


def creatable(obj: Object, uids: Mapping[str, str]) -> Object:
    """What to send to create a recorded object."""
    body: Object = rewritten(deepcopy(obj), uids)
    body.pop("status", None)
    for field in SET_BY_SERVER:
        body["metadata"].pop(field, None)
    if _vanishes(obj):
        body["metadata"]["finalizers"] = [HOLD]
    prepare = PREPARED.get(obj["kind"])
    if prepare:
        prepare(body)
    return body


def _vanishes(obj: Object) -> bool:
    """Whether a DELETE would take the object away at once, where the recorded one is still being deleted.

    A bound pod waits for its kubelet and a namespace for its controller; everything else needs a finalizer.
    """
    waits = obj["kind"] == "Namespace" or (obj["kind"] == "Pod" and bound(obj))
    return terminating(obj) and not waits and not obj["metadata"].get("finalizers")


def _pod(body: Object) -> None:
    body["spec"].pop("ephemeralContainers", None)  # have their own subresource, and no requests
    priority_class = _class_of(body["spec"])
    if priority_class:
        body["spec"]["priorityClassName"] = priority_class


def _job(body: Object) -> None:
    """The selector of a Job is its uid, so the server insists on writing it itself."""
    spec = body["spec"]
    if not spec.get("manualSelector"):
        spec.pop("selector", None)
        labels = spec["template"].get("metadata", {}).get("labels", {})
        for label in [label for label in labels if label.endswith(("controller-uid", "job-name"))]:
            del labels[label]


PREPARED = {"Pod": _pod, "Job": _job}


def status_of(obj: Object, uids: Mapping[str, str]) -> Object:
    """The status to set; empty when creation has set it already."""
    status: Object = rewritten(deepcopy(obj.get("status") or {}), uids)
    if obj["kind"] == "Pod":
        status.pop("qosClass", None)  # computed from the requests, and immutable
    created = {"Pod": {"phase": "Pending"}, "Namespace": {"phase": "Active"}}
    return {} if status == created.get(obj["kind"]) else status


def rewritten(value: Any, uids: Mapping[str, str]) -> Any:
    """The value with every known uid replaced: in owner references, claimRef, reservedFor and controller-uid labels."""
    if isinstance(value, dict):
        return {key: _rewritten_field(key, item, uids) for key, item in value.items()}
    return [rewritten(item, uids) for item in value] if isinstance(value, list) else value


def _rewritten_field(key: str, value: Any, uids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return uids.get(value, value) if key.endswith("uid") else value
    return rewritten(value, uids)


def references(obj: Object) -> Iterator[str]:
    """The uids of other objects that the metadata names."""
    metadata = obj["metadata"]
    yield from (owner["uid"] for owner in metadata.get("ownerReferences") or ())
    yield from (value for label, value in (metadata.get("labels") or {}).items() if label.endswith("uid"))


def missing(objects: Iterable[Object]) -> Objects:
    """The namespaces and priority classes that the objects need and do not hold."""
    objects = list(objects)
    given = {(obj["kind"], obj["metadata"]["name"]) for obj in objects if "name" in obj["metadata"]}
    needed = [made for obj in objects for made in _needs(obj)]
    unique = {(made["kind"], made["metadata"]["name"]): made for made in needed}
    return [made for key, made in unique.items() if key not in given]


def namespaces_of(objects: Iterable[Object]) -> Objects:
    names = {obj["metadata"]["namespace"]: None for obj in objects if obj["metadata"].get("namespace")}
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]


def _needs(obj: Object) -> Iterator[Object]:
    yield from namespaces_of([obj])
    if obj["kind"] == "Pod" and _class_of(obj["spec"]) not in SERVERS_OWN_CLASSES:
        yield _priority_class(obj["spec"])


def _class_of(spec: Object) -> str:
    """The name of the pod's priority class; made up when the pod has a priority and names no class."""
    value = spec.get("priority") or 0
    made_up = f"priority-{value}".replace("--", "-minus-") if value else ""
    name: str = spec.get("priorityClassName") or made_up
    return name


def _priority_class(spec: Object) -> Object:
    policy = {"preemptionPolicy": spec["preemptionPolicy"]} if "preemptionPolicy" in spec else {}
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": _class_of(spec)},
        "value": spec.get("priority") or 0,
        **policy,
    }
