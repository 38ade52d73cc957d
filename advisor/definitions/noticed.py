"""Fields of a pod spec that are noticed and not evaluated: what no rule reads yet, and what Pod Security looks at.

Each is told by its path, so that a message can name it. Wrong types are told with the whole template (`openapi`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.definitions import lenient
from advisor.definitions.lenient import Data
from advisor.workload import Malformed

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
SUBDOMAIN = re.compile(r"(?!.{254})[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def used(spec: Data) -> tuple[str, ...]:
    """Fields that bear on placement and that no rule evaluates yet."""
    return tuple(dict.fromkeys(_unmodelled(spec)))


def _unmodelled(spec: Data) -> Iterator[str]:
    for place, item in lenient.items(spec, "topologySpreadConstraints"):
        if lenient.text(item, "whenUnsatisfiable") != "ScheduleAnyway":
            yield f"spec.topologySpreadConstraints[{place}]"
    if lenient.mapping(spec, "affinity", "podAffinity").get(REQUIRED):
        yield f"spec.affinity.podAffinity.{REQUIRED}"
    if spec.get("resourceClaims"):
        yield "spec.resourceClaims"
    for place, item in lenient.items(spec, "volumes"):
        if item.get("ephemeral") is not None:
            yield f"spec.volumes[{place}].ephemeral"
    yield from (f"spec.{field}" for field in ("schedulingGroup", "workloadRef") if spec.get(field) is not None)
    yield from _attached_once(spec)
    yield from _declared_features(spec)


def _attached_once(spec: Data) -> Iterator[str]:
    """Disks that VolumeRestrictions keeps from two pods of a node; the volumes of pods that are there are not read."""
    for place, item in lenient.items(spec, "volumes"):
        yield from (f"spec.volumes[{place}].{kind}" for kind in _ATTACHED_ONCE if item.get(kind) is not None)


_ATTACHED_ONCE = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")


def _declared_features(spec: Data) -> Iterator[str]:
    """What takes a kubelet that declares a feature for it (component-helpers `nodedeclaredfeatures` of 1.37)."""
    if lenient.is_true(spec, "hostNetwork") and spec.get("hostUsers") is False:
        yield "spec.hostUsers"
    for field in ("containers", "initContainers"):
        for place, item in lenient.items(spec, field):
            rules = [lenient.text(rule, "action") for _, rule in lenient.items(item, "restartPolicyRules")]
            if "RestartAllContainers" in rules:
                yield f"spec.{field}[{place}].restartPolicyRules"
            if any(mount.get("bindMountOptions") for _, mount in lenient.items(item, "volumeMounts")):
                yield f"spec.{field}[{place}].volumeMounts.bindMountOptions"


def malformed(spec: Data) -> tuple[Malformed, ...]:
    """Values that the API server refuses while the rest can be read: names, which are often placeholders."""
    return tuple(_misnamed(spec))


def _misnamed(spec: Data) -> Iterator[Malformed]:
    for place, item in lenient.items(spec, "volumes"):
        name = lenient.text(item, "name")
        if not NAME.fullmatch(name):
            yield Malformed(("spec", "volumes", place, "name"), f'"{name}" is no name', is_name=True)
    for field in ("serviceAccountName", "priorityClassName", "runtimeClassName"):
        name = lenient.text(spec, field)
        if name and not SUBDOMAIN.fullmatch(name):
            yield Malformed(("spec", field), f'"{name}" is no name', is_name=True)
    if spec.get("runtimeClassName") == "":
        yield Malformed(("spec", "runtimeClassName"), "is empty: leave it away")


def exposed(spec: Data) -> tuple[str, ...]:
    """Fields that the Pod Security levels baseline and restricted forbid, of those that stand for most."""
    return tuple(_forbidden(spec))


def _forbidden(spec: Data) -> Iterator[str]:
    yield from (f"spec.{field}" for field in ("hostNetwork", "hostPID", "hostIPC") if lenient.is_true(spec, field))
    for place, item in lenient.items(spec, "volumes"):
        if item.get("hostPath") is not None:
            yield f"spec.volumes[{place}].hostPath"
    for field in ("containers", "initContainers"):
        for place, item in lenient.items(spec, field):
            yield from (f"spec.{field}[{place}].{what}" for what in _privileges(item))


def _privileges(container: Data) -> Iterator[str]:
    security = lenient.mapping(container, "securityContext")
    if lenient.is_true(security, "privileged"):
        yield "securityContext.privileged"
    if {name for _, name in lenient.texts(lenient.mapping(security, "capabilities"), "add")} - _CAPABILITIES:
        yield "securityContext.capabilities.add"
    for place, port in lenient.items(container, "ports"):
        if lenient.number(port, "hostPort"):
            yield f"ports[{place}].hostPort"


# fmt: off
_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)
# fmt: on
"""What baseline lets containers add."""
