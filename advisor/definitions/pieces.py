"""Parts of a pod that a kind keeps outside a pod template: read as a template's, with each fault at its own place.

What a controller fills in is not missed: the containers of a pod spec, or what these lack (`fills`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from advisor.definitions import doomed, openapi, refused, templates
from advisor.definitions.refused_containers import HANDLERS, PROBES
from advisor.errors import InputError, Path
from advisor.podrules import Refusal

TEMPLATE, TOLERATIONS = "template", "tolerations"
Fills = Collection[str]
"""What the controller fills in, as in the profile."""


def check(piece: str, value: Any, namespace: str, *, fills: Fills = ()) -> None:
    """Raises InputError for what is no such part of a pod: wrong shapes, quantities and values."""
    with _placed(piece):
        templates.template(_PODS[piece](value, fills), namespace)


def check_refused(piece: str, value: Any, *, whole: bool, fills: Fills = (), volumes: Sequence[str] = ()) -> None:
    """Raises InputError for what the API server would refuse in a pod with this part; `volumes` are added to it."""
    with _placed(piece):
        pod = openapi.decoded(TYPES[TEMPLATE], _PODS[piece](value, fills))
        refused.check(pod, whole=whole, volumes=volumes)


def check_doomed(value: Any, namespace: str, *, alone: bool, fills: Fills = ()) -> None:
    """Raises InputError for a whole template of which the API server would take no pod; see `doomed.check`."""
    doomed.check(_template(value, fills), namespace, alone=alone)


def refusals(piece: str, value: Any, namespace: str, *, fills: Fills = ()) -> list[tuple[Path, Refusal]]:
    """What pods with this part will be refused for, each with its place in the part."""
    steps = _STEPS[piece]
    found = doomed.refusals(_PODS[piece](value, fills), namespace)
    return [(one.path[len(steps) :] if one.path[: len(steps)] == steps else (), one) for one in found]


@contextmanager
def _placed(piece: str) -> Iterator[None]:
    """Take the way from a pod to its part off the path of every fault."""
    steps = _STEPS[piece]
    try:
        yield
    except InputError as error:
        error.faults = tuple(
            replace(fault, path=fault.path[len(steps) :] if fault.path[: len(steps)] == steps else ())
            for fault in error.faults
        )
        raise


def _template(value: Any, fills: Fills) -> dict[str, Any]:
    if not fills or not isinstance(value.get("spec"), dict):
        return dict(value)
    return {**value, "spec": {**value["spec"], **_filled(value["spec"], fills)}}


def _pod_spec(value: Any, fills: Fills) -> dict[str, Any]:
    spec = {**value, **_filled(value, fills)}
    return {"spec": {**spec, "containers": [_PLAIN]} if spec.get("containers") in (None, []) else spec}


def _filled(spec: Mapping[str, Any], fills: Fills) -> dict[str, Any]:
    """The containers of a spec, with what their controller gives them."""
    return {
        field: [_complete(item, f"{field.lower()}-{place}", fills) for place, item in enumerate(spec[field])]
        for field in ("containers", "initContainers")
        if fills and isinstance(spec.get(field), list)
    }


def _complete(container: Any, name: str, fills: Fills) -> Any:
    named = _with_name(container, name) if "names" in fills else container
    if "probes" not in fills or not isinstance(named, dict):
        return named
    probes = {field: _asking(named[field]) for field in PROBES if isinstance(named.get(field), dict)}
    ports = named.get("ports")
    opened = {"ports": [_with_port(port, "containerPort") for port in ports]} if isinstance(ports, list) else {}
    return {**named, **probes, **opened}


def _asking(probe: Mapping[str, Any]) -> dict[str, Any]:
    """A probe that says how to ask, and where."""
    stated = {
        field: probe[field] if field == "exec" else _with_port(probe[field], "port")
        for field in HANDLERS
        if probe.get(field) is not None
    }
    return {**probe, **(stated or {"tcpSocket": {"port": _SOME_PORT}})}


def _with_port(value: Any, key: str) -> Any:
    if not isinstance(value, dict) or isinstance(value.get(key), bool) or value.get(key, 0) not in (None, 0):
        return value
    return {**value, key: _SOME_PORT}


def _with_name(container: Any, name: str) -> Any:
    unnamed = isinstance(container, dict) and container.get("name") in (None, "")
    return {**container, "name": name} if unnamed else container


def _container(value: Any, fills: Fills) -> dict[str, Any]:
    return {"spec": {"containers": [_complete(_with_name(value, "main"), "main", fills)]}}


def _resources(value: Any, _: Fills) -> dict[str, Any]:
    return {"spec": {"containers": [{**_PLAIN, "resources": value}]}}


def _field(name: str) -> Callable[[Any, Fills], dict[str, Any]]:
    return lambda value, _: {"spec": {"containers": [_PLAIN], name: value}}


_PLAIN = {"name": "main"}
_SOME_PORT = 8080
_FIELDS = ("nodeSelector", TOLERATIONS, "affinity")
_PODS: Mapping[str, Callable[[Any, Fills], dict[str, Any]]] = {
    TEMPLATE: _template,
    "podSpec": _pod_spec,
    "container": _container,
    "resources": _resources,
    **{name: _field(name) for name in _FIELDS},
}
"""Part → the pod that has it, and nothing else that could be wrong."""
_STEPS: Mapping[str, tuple[str | int, ...]] = {
    TEMPLATE: (),
    "podSpec": ("spec",),
    "container": ("spec", "containers", 0),
    "resources": ("spec", "containers", 0, "resources"),
    **{name: ("spec", name) for name in _FIELDS},
}
TYPES: Mapping[str, str] = {
    TEMPLATE: "PodTemplateSpec",
    "podSpec": "PodSpec",
    "container": "Container",
    "resources": "ResourceRequirements",
    "nodeSelector": "{}text",
    TOLERATIONS: "[]Toleration",
    "affinity": "Affinity",
}
"""Part → its form in Kubernetes' description of its types."""
NAMES = tuple(_PODS)
