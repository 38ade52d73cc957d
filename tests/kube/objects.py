"""Raw objects as an API server prints them, and the snapshot that they come to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from advisor import files
from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.kube import schema
from advisor.kube.kubectl import Recording
from advisor.kube.texts import Text

Object = dict[str, Any]
CATALOGUE = Path(__file__).parents[2] / "catalog" / "accelerators.yaml"


def shipped() -> Accelerators:
    """The catalogue of accelerators that is part of the product."""
    (document,) = files.documents(files.read(str(CATALOGUE)))
    return schema.accelerators(document)


def merged(base: Object, *changes: Object) -> Object:
    """Changes laid over a base, mapping into mapping."""
    result = dict(base)
    for change in changes:
        for key, value in change.items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if both else value
    return result


def node(name: str = "n1", *changes: Object, **allocatable: str) -> Object:
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110", **allocatable}
    base = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }
    return merged(base, *changes)


def pod(name: str = "p1", *changes: Object, on: str | None = "n1", **requests: str) -> Object:
    """A running pod of one container; `on=None`: pending."""
    base: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"containers": [container("main", **requests)]},
        "status": {"phase": "Running" if on else "Pending"},
    }
    return merged(base, {"spec": {"nodeName": on}} if on else {}, *changes)


def container(name: str = "main", **requests: str) -> Object:
    return {"name": name, "resources": {"requests": requests}}


def namespaced(kind: str, name: str = "it", *changes: Object, version: str = "v1", namespace: str = "team") -> Object:
    return merged({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": namespace}}, *changes)


def clusterwide(kind: str, name: str = "it", *changes: Object, version: str = "v1") -> Object:
    return merged({"apiVersion": version, "kind": kind, "metadata": {"name": name}}, *changes)


def snapshot(*objects: Object, accelerators: Accelerators | None = None) -> ClusterSnapshot:
    """Raises InputError, as a recording with these objects would."""
    recording = Recording(accelerators or Accelerators())
    for obj in objects:
        recording.take(Text(json.dumps(obj).encode(), "test", lambda: 1))
    return recording.snapshot("test", None)


def requested(of: ClusterSnapshot, node: str = "n1", *, standing: bool = False) -> dict[str, int]:
    """What pods ask of a node, by resource, zeros left out."""
    row = of.nodes.names.index(node)
    table = of.nodes.standing if standing else of.nodes.requested
    return {name: int(column[row]) for name, column in table.items() if column[row]}
