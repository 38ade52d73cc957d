"""Is a value what upstream's Go types can hold (definitions.md 4.3)?

A shape is a type, `[shape]` for a list, `{"*": shape}` for a map, or a mapping of field names for a struct, whose other
fields are not looked at. Null fits every shape. The tables have the fields of k8s.io/api/core/v1 that bear on placement
or that people often get wrong.
"""

from __future__ import annotations

import re
from typing import Any

from advisor import quantity
from advisor.errors import InputError, at

Shape = Any
_QUOTED = re.compile(r"[-+]?[0-9.]{1,20}|true|false|yes|no|on|off")
MOST_PODS = 2**31 - 1
"""Kubernetes keeps numbers of pods in 32 bits."""

Quantity = quantity.parse

_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "null",
}

LABELS: Shape = {"*": str}
_AMOUNTS: Shape = {"*": Quantity}
RESOURCES: Shape = {"requests": _AMOUNTS, "limits": _AMOUNTS, "claims": [{"name": str, "request": str}]}
_PORT: Shape = {"name": str, "containerPort": int, "hostPort": int, "hostIP": str, "protocol": str}
CONTAINER: Shape = {
    "name": str,
    "image": str,
    "command": [str],
    "args": [str],
    "workingDir": str,
    "env": [{"name": str, "value": str}],
    "ports": [_PORT],
    "resources": RESOURCES,
    "restartPolicy": str,
    "volumeMounts": [{"name": str, "mountPath": str, "subPath": str, "readOnly": bool}],
}
_TERM: Shape = {"key": str, "operator": str, "values": [str]}
_SELECTOR: Shape = {"matchLabels": LABELS, "matchExpressions": [_TERM]}
_NODE_TERM: Shape = {"matchExpressions": [_TERM], "matchFields": [_TERM]}
NODE_AFFINITY: Shape = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODE_TERM]},
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": int, "preference": _NODE_TERM}],
}
_POD_TERM: Shape = {
    "labelSelector": _SELECTOR,
    "topologyKey": str,
    "namespaces": [str],
    "namespaceSelector": _SELECTOR,
}
POD_AFFINITY: Shape = {
    "requiredDuringSchedulingIgnoredDuringExecution": [_POD_TERM],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": int, "podAffinityTerm": _POD_TERM}],
}
_SPREAD: Shape = {
    "maxSkew": int,
    "topologyKey": str,
    "whenUnsatisfiable": str,
    "labelSelector": _SELECTOR,
    "minDomains": int,
    "nodeAffinityPolicy": str,
    "nodeTaintsPolicy": str,
    "matchLabelKeys": [str],
}
_TOLERATION: Shape = {"key": str, "operator": str, "value": str, "effect": str, "tolerationSeconds": int}
POD_CLAIM: Shape = {"name": str, "resourceClaimName": str, "resourceClaimTemplateName": str}
POD_SPEC: Shape = {
    "containers": [CONTAINER],
    "initContainers": [CONTAINER],
    "resources": RESOURCES,
    "overhead": _AMOUNTS,
    "volumes": [{"name": str}],
    "nodeSelector": LABELS,
    "nodeName": str,
    "affinity": {"nodeAffinity": NODE_AFFINITY, "podAffinity": POD_AFFINITY, "podAntiAffinity": POD_AFFINITY},
    "tolerations": [_TOLERATION],
    "topologySpreadConstraints": [_SPREAD],
    "resourceClaims": [POD_CLAIM],
    "schedulingGates": [{"name": str}],
    "schedulerName": str,
    "runtimeClassName": str,
    "priorityClassName": str,
    "priority": int,
    "serviceAccountName": str,
    "restartPolicy": str,
    "activeDeadlineSeconds": int,
    "hostNetwork": bool,
}
METADATA: Shape = {"name": str, "namespace": str, "labels": LABELS, "annotations": LABELS}
POD_TEMPLATE: Shape = {"metadata": METADATA, "spec": POD_SPEC}


def check(value: Any, shape: Shape) -> None:
    """Raise InputError, with the path inside `value`, at the first thing that does not fit."""
    if value is None:
        return
    if isinstance(shape, list):
        _wanted(value, list)
        for i, item in enumerate(value):
            with at(i):
                check(item, shape[0])
    elif isinstance(shape, dict):
        _wanted(value, dict)
        for key, member in value.items():
            with at(key):
                check(member, shape.get("*", shape.get(key, _unseen)))
    elif isinstance(shape, type):
        _wanted(value, shape)
    else:
        shape(value)


def _unseen(value: Any) -> None:
    """The shape of a field that no table has."""


def _wanted(value: Any, kind: type) -> None:
    whole = isinstance(value, float) and value.is_integer()
    if not (isinstance(value, kind) or (kind is int and whole)) or (kind is int and isinstance(value, bool)):
        name = "a whole number" if kind is int else _NAMES[kind]
        raise InputError(f"must be {name}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """What stands there in place of something else: numbers and flags in quotes are told, other text never."""
    if isinstance(value, str):
        return f'the text "{value}"' if _QUOTED.fullmatch(value) else "text"
    return f"{value!r}" if isinstance(value, float) else kind_of(value)


def kind_of(value: Any) -> str:
    """What a YAML value is, in words."""
    return _NAMES[type(value)]


def int32(value: Any) -> None:
    """What Go decodes into an int32."""
    _wanted(value, int)
    if not -(MOST_PODS + 1) <= value <= MOST_PODS:
        raise InputError(f"{value} is out of range" if abs(value) < 2**63 else "is out of range")
