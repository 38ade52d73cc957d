"""Containers that the API server refuses though they can be read: ports, probes, hooks and restarts.

Mirrors kubernetes/pkg/apis/core/validation: `validateContainerPorts`, `validateProbe`, `validateHandler`,
`validateLifecycle`, `validateResizePolicy` and `validateInitContainers`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from advisor.definitions import lenient, refused_sources
from advisor.definitions.lenient import Data, Wrong, under
from advisor.definitions.noticed import NAME
from advisor.errors import Path
from advisor.workload import Malformed

PORT = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?")
"""The name of a port (`IsValidPortName`)."""
NO_PORT = "is no name of a port: at most 15 lower case letters, digits and single - inside, one letter at least"
HEADER = re.compile(r"[-A-Za-z0-9]+")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
HOOKS = ("exec", "httpGet", "tcpSocket", "sleep")
COUNTED = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
MOST_PORT = 65535
GRACE = 30
"""Seconds that a pod has to end where it does not say."""


def found(spec: Data) -> Wrong:
    grace = lenient.number(spec, "terminationGracePeriodSeconds")
    claims = [lenient.text(claim, "name") for _, claim in lenient.items(spec, "resourceClaims")]
    for where, container in lenient.containers(spec):
        image = lenient.text(container, "image")
        if image != image.strip():
            yield Malformed((*where, "image"), "has blanks around it")
        once = where[0] == "initContainers" and container.get("restartPolicy") != "Always"
        yield from under(where, _ports(container))
        yield from under(where, _only_beside_others(container) if once else _watched(container, grace))
        yield from under(where, _resizes(container, never=spec.get("restartPolicy") == "Never", once=once))
        yield from under(where, _restarts(container))
        yield from under(where, _claims(container, claims))
        yield from under(where, refused_sources.of_container(container))
    if lenient.listed(spec, "ephemeralContainers"):
        yield Malformed(("ephemeralContainers",), "cannot be there from the start")


def _ports(container: Data) -> Wrong:
    seen: set[str] = set()
    for place, port in lenient.items(container, "ports"):
        name = lenient.text(port, "name")
        if name and not PORT.fullmatch(name):
            yield Malformed(("ports", place, "name"), NO_PORT)
        elif name and name in seen:
            yield Malformed(("ports", place, "name"), f"{name} is there already")
        seen.add(name)


def _only_beside_others(container: Data) -> Wrong:
    """What a container that runs before the others cannot have."""
    for field in ("lifecycle", *PROBES):
        if container.get(field) is not None:
            yield Malformed((field,), "is not for init containers whose restartPolicy is not Always")


def _watched(container: Data, grace: int | None) -> Wrong:
    for field in PROBES:
        if container.get(field) is not None:
            yield from under((field,), _probe(lenient.mapping(container, field), field))
    for hook in ("postStart", "preStop"):
        lifecycle = lenient.mapping(container, "lifecycle")
        if lifecycle.get(hook) is not None:
            yield from under(("lifecycle", hook), _hook(lenient.mapping(lifecycle, hook), grace))


def _probe(probe: Data, field: str) -> Wrong:
    yield from _handler(probe, HANDLERS)
    for counted in COUNTED:
        if (lenient.number(probe, counted) or 0) < 0:
            yield Malformed((counted,), "is negative")
    if field != "readinessProbe" and lenient.number(probe, "successThreshold") not in (None, 0, 1):
        yield Malformed(("successThreshold",), "must be 1")
    grace = lenient.number(probe, "terminationGracePeriodSeconds")
    if grace is not None and field == "readinessProbe":
        yield Malformed(("terminationGracePeriodSeconds",), "is not for readiness probes")
    elif grace is not None and grace < 1:
        yield Malformed(("terminationGracePeriodSeconds",), "must be 1 at least")


def _hook(hook: Data, grace: int | None) -> Wrong:
    yield from _handler(hook, HOOKS)
    seconds = lenient.number(lenient.mapping(hook, "sleep"), "seconds")
    most = GRACE if grace is None else grace
    if seconds is not None and not 0 <= seconds <= max(most, 1):
        yield Malformed(("sleep", "seconds"), f"must be 0 to the terminationGracePeriodSeconds, {most}")


def _handler(one: Data, known: tuple[str, ...]) -> Wrong:
    stated = [field for field in known if one.get(field) is not None]
    if len(stated) != 1:
        more = f"has more than one of {', '.join(stated)}" if stated else f"must have one of {', '.join(known)}"
        yield Malformed((), more, lacks=not stated)
    if "exec" in stated and not lenient.listed(lenient.mapping(one, "exec"), "command"):
        yield Malformed(("exec", "command"), "is required", lacks=True)
    for field in ("httpGet", "tcpSocket"):
        if field in stated:
            yield from under((field, "port"), _port(lenient.mapping(one, field).get("port")))
    port = lenient.number(lenient.mapping(one, "grpc"), "port")
    if "grpc" in stated and port is not None and not 1 <= port <= MOST_PORT:
        yield Malformed(("grpc", "port"), f"must be 1 to {MOST_PORT}", lacks=port == 0)
    for place, header in lenient.items(lenient.mapping(one, "httpGet"), "httpHeaders"):
        if not HEADER.fullmatch(lenient.text(header, "name")):
            yield Malformed(("httpGet", "httpHeaders", place, "name"), "is no name of a header")


def _port(port: Any) -> Wrong:
    if isinstance(port, str) and not PORT.fullmatch(port):
        yield Malformed((), "is a number in quotes, which counts as a name" if port.isdigit() else NO_PORT)
    elif isinstance(port, int) and not isinstance(port, bool) and not 1 <= port <= MOST_PORT:
        yield Malformed((), f"must be 1 to {MOST_PORT}, or the name of a port", lacks=port == 0)


def _resizes(container: Data, *, never: bool, once: bool) -> Wrong:
    seen: list[str] = []
    for place, policy in lenient.items(container, "resizePolicy"):
        where: Path = ("resizePolicy", place)
        name = lenient.text(policy, "resourceName")
        if name not in ("cpu", "memory"):
            yield Malformed((*where, "resourceName"), "must be cpu or memory")
        elif name in seen:
            yield Malformed((*where, "resourceName"), f"{name} is there already")
        seen.append(name)
        if (never or once) and policy.get("restartPolicy") == "RestartContainer":
            whose = "pods whose restartPolicy is Never" if never else "init containers that end"
            yield Malformed((*where, "restartPolicy"), f"must be NotRequired in {whose}")


def _restarts(container: Data) -> Wrong:
    if lenient.listed(container, "restartPolicyRules") and container.get("restartPolicy") is None:
        yield Malformed(("restartPolicy",), "is required where there are restartPolicyRules")
    for place, rule in lenient.items(container, "restartPolicyRules"):
        if rule.get("exitCodes") is None:
            yield Malformed(("restartPolicyRules", place, "exitCodes"), "is required")


def _claims(container: Data, known: Sequence[str]) -> Wrong:
    """A claim of the pod is asked for once, whole or by its requests."""
    seen: set[tuple[str, str]] = set()
    for place, claim in lenient.items(lenient.mapping(container, "resources"), "claims"):
        name, request = lenient.text(claim, "name"), lenient.text(claim, "request")
        if name not in known:
            yield Malformed(("resources", "claims", place, "name"), "is none of spec.resourceClaims")
        if request and not NAME.fullmatch(request):
            yield Malformed(("resources", "claims", place, "request"), "is no name")
        if name and ((name, "") in seen or (name, request) in seen):
            yield Malformed(("resources", "claims", place), f"{name} is there already")
        seen.add((name, request))
