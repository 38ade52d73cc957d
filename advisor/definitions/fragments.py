"""Pieces of a pod to one pod (definitions.md 5.3).

The format has no path for tolerations, node selectors and much else, so such a pod is never complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.definitions import openapi
from advisor.definitions.shapes import Shape
from advisor.errors import InputError

SHAPES: Mapping[str, Shape] = {
    "schedulerNamePath": str,
    "labelsPath": openapi.check("{}text"),
    "annotationsPath": openapi.check("{}text"),
    "resourcesPath": openapi.check("ResourceRequirements"),
    "resourceClaimsPath": openapi.check("[]PodResourceClaim"),
    "podAffinityPath": openapi.check("PodAffinity"),
    "nodeAffinityPath": openapi.check("NodeAffinity"),
    "containersPath": openapi.check("[]Container"),
    "containerPath": openapi.check("Container"),
    "priorityClassNamePath": str,
    "imagePath": str,
}
"""What each output of a path must be; upstream reads them in this order."""


def pod(component: str, pieces: Mapping[str, Any], *, strict: bool) -> dict[str, Any] | None:
    """The pod that `pieces` (field name → value, null and missing alike) describe; None when all of them are null.

    Upstream's tool counts `resources` only when there is no container at all; with `strict` they go to the container
    that has none, which is what their authors mean.
    """
    if all(piece is None for piece in pieces.values()):
        return None
    metadata = {"labels": pieces.get("labelsPath"), "annotations": pieces.get("annotationsPath")}
    affinity = {"nodeAffinity": pieces.get("nodeAffinityPath"), "podAffinity": pieces.get("podAffinityPath")}
    spec = {
        "containers": _containers(component, pieces, strict),
        "resourceClaims": pieces.get("resourceClaimsPath"),
        "affinity": _present(affinity),
        "schedulerName": pieces.get("schedulerNamePath"),
        "priorityClassName": pieces.get("priorityClassNamePath"),
    }
    return {"metadata": _present(metadata), "spec": _present(spec)}


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _containers(component: str, pieces: Mapping[str, Any], strict: bool) -> list[dict[str, Any]]:
    listed = list(pieces.get("containersPath") or ())
    single = pieces.get("containerPath")
    resources = pieces.get("resourcesPath")
    if not listed and single is None:
        made = _present({"image": pieces.get("imagePath"), "resources": resources})
        return [{"name": component, **made}] if made else []
    containers = [*listed, *([single] if single is not None else [])]
    if strict and resources and not any(_asks(container) for container in containers):
        if single is None and len(listed) > 1:
            raise InputError(f"which of {len(listed)} containers gets the resources cannot be told")
        containers[-1] = {**containers[-1], "resources": resources}
    return containers


def _asks(container: Mapping[str, Any]) -> bool:
    resources = container.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))
