"""An example in full dress: every pod template of it asks for all that placement knows.

What a controller loses, moves or adds to becomes visible by it. Some kinds take less: `BARE` says what they refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

BARE: Mapping[str, tuple[str, ...]] = {
    "Service": ("ports", "sidecars"),
    "InferenceService": ("ports", "sidecars"),
    "RayJob": ("ports",),
}
"""Kinds whose pods cannot have everything; a head with ports of its own must name that of Ray's dashboard."""

LABELS = {"team": "judged"}
SAME_TEAM = {"labelSelector": {"matchLabels": LABELS}}
NODES = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": "zone", "operator": "In", "values": ["a", "b"]},
                    {"key": "cpus", "operator": "Gt", "values": ["8"]},
                ]
            },
            {"matchExpressions": [{"key": "reserved", "operator": "Exists"}]},
        ]
    },
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 3, "preference": {"matchExpressions": [{"key": "fast", "operator": "Exists"}]}}
    ],
}
PEERS = [{"topologyKey": "kubernetes.io/hostname", **SAME_TEAM}]
DRESS: Mapping[str, Any] = {
    "nodeSelector": {"pool": "judged"},
    "tolerations": [
        {"key": "dedicated", "operator": "Equal", "value": "judged", "effect": "NoSchedule"},
        {"key": "gpu", "operator": "Exists"},
    ],
    "affinity": {
        "nodeAffinity": NODES,
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "namespaces": ["other"]}],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": PEERS[0]}],
        },
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": PEERS},
    },
    "topologySpreadConstraints": [
        {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **SAME_TEAM}
    ],
    "priorityClassName": "judged",
    "runtimeClassName": "judged",
    "schedulerName": "judged",
}
INIT_CONTAINER = {"name": "warm", "image": "example/warm", "resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}
SIDECAR = {
    "name": "ship",
    "image": "example/ship",
    "restartPolicy": "Always",
    "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "50Mi"}},
}
VOLUME = {"name": "judged", "persistentVolumeClaim": {"claimName": "judged"}}
MOUNT = {"name": "judged", "mountPath": "/judged"}


def dressed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The object with all of this in every pod template that it holds."""
    return {**manifest, "spec": _dressed(deepcopy(manifest["spec"]), BARE.get(manifest["kind"], ()))}


def _dressed(value: Any, bare: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_dressed(one, bare) for one in value]
    if not isinstance(value, dict):
        return value
    if "containers" in value:
        return _pod(value, bare)
    found = {key: _dressed(one, bare) for key, one in value.items()}
    if isinstance(value.get("spec"), dict) and "containers" in value["spec"]:
        metadata = found.get("metadata", {})
        found["metadata"] = {
            **metadata,
            "labels": {**metadata.get("labels", {}), **LABELS},
            "annotations": {**metadata.get("annotations", {}), "example.com/note": "in full dress"},
        }
    return found


def _pod(spec: dict[str, Any], bare: tuple[str, ...]) -> dict[str, Any]:
    first, *others = spec["containers"]
    first = {**first, "volumeMounts": [*first.get("volumeMounts", ()), MOUNT]}
    if "ports" not in bare:
        first["ports"] = [*first.get("ports", ()), {"name": "judged", "containerPort": 7777, "hostPort": 7777}]
    added = [INIT_CONTAINER, *([] if "sidecars" in bare else [SIDECAR])]
    return {
        **spec,
        **deepcopy(DRESS),
        "containers": [first, *others],
        "initContainers": [*spec.get("initContainers", ()), *added],
        "volumes": [*spec.get("volumes", ()), VOLUME],
    }
