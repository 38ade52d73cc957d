"""What a manifest takes for granted in its cluster: the classes and service accounts that it names.

Without them admission refuses the pods, or an operator waits for ever; what they contain is of no account here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.servers.objects import Object

CLASSES: Mapping[str, Object] = {
    "priorityClassName": {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1000},
    "runtimeClassName": {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "any"},
}
BUILT_IN = ("system-node-critical", "system-cluster-critical")


def needed(objects: Iterable[Object]) -> list[Object]:
    """Namespaces, classes and service accounts, in this order."""
    objects = list(objects)
    names = sorted({obj["metadata"]["namespace"] for obj in objects if "namespace" in obj["metadata"]})
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]
    found = [one for obj in objects for one in _named(obj, obj["metadata"].get("namespace", names[0]))]
    return [*spaces, *(one for n, one in enumerate(found) if one not in found[:n])]


def _named(value: Any, namespace: str) -> Iterator[Object]:
    if isinstance(value, list):
        for member in value:
            yield from _named(member, namespace)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if isinstance(member, str) and member and member not in BUILT_IN:
                yield from _object(key, member, namespace)
            yield from _named(member, namespace)


def _object(key: str, name: str, namespace: str) -> Iterator[Object]:
    if key in CLASSES:
        yield {**CLASSES[key], "metadata": {"name": name}}
    elif key == "serviceAccountName":
        yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
