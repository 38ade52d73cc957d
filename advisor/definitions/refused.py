"""What the API server would refuse in a pod template, found where it is written.

Mirrors the parts of kubernetes/pkg/apis/core/validation that no controller can mend: malformed names, numbers out of
range, things named twice. What only looks incomplete may be filled in by an operator, so it is looked at (`whole`) only
where the template is known to become the pod as it is. What a cluster adds to pods is judged in `fit/invalid.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from advisor.definitions import lenient, metadata, plain
from advisor.definitions.noticed import NAME, PREFERRED, REQUIRED
from advisor.definitions.plain import Data
from advisor.errors import Faults, InputError, Path, at, likely

SYSTEMS = ("linux", "windows")
MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
COST = re.compile(r"0|-?[1-9][0-9]{0,9}")
SECCOMP, SECCOMP_OF = "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP_PROFILE = re.compile(r"runtime/default|docker/default|unconfined|localhost/(?!/)(?!(.*/)?\.\.(/|$)).*")
APPARMOR_OF = "container.apparmor.security.beta.kubernetes.io/"
APPARMOR_PROFILE = re.compile(r"(runtime/default|unconfined|localhost/.*)?")
# fmt: off
SOURCES = frozenset(
    {
        "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI",
        "emptyDir", "ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs",
        "hostPath", "image", "iscsi", "nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume",
        "projected", "quobyte", "rbd", "scaleIO", "secret", "storageos", "vsphereVolume",
    }
)
# fmt: on
"""The types of a volume, of which one may be given."""


def check(pod: Data, whole: bool, volumes: Sequence[str] = ()) -> None:
    """Raises InputError with every fault. `volumes`: names of those that are added to the pod's own."""
    faults = Faults()
    spec, about = plain.mapping(pod, "spec"), plain.mapping(pod, "metadata")
    with faults.collect("metadata"):
        metadata.check_inner(about)
    with faults.collect("metadata", "annotations"):
        _annotations(plain.pairs(about, "annotations"), spec)
    with faults.collect("spec"):
        _label_keys(spec, plain.pairs(about, "labels"))
    for rule in (*_ALWAYS, *(_WHOLE if whole else ())):
        with faults.collect("spec"):
            rule(spec)
    if whole:
        with faults.collect("spec"):
            _mounts(spec, volumes)
    faults.raise_if_any()


def _annotations(pairs: Mapping[str, str], spec: Data) -> None:
    """Annotations of a pod that mean something to the API server (`ValidatePodSpecificAnnotations`)."""
    faults = Faults()
    names = {lenient.text(container, "name") for _, container in lenient.containers(spec)}
    for key, value in pairs.items():
        if key == MIRROR and not plain.text(spec, "nodeName"):
            faults.add("is for pods with a nodeName", key)
        if key == DELETION_COST and not _is_cost(value):
            faults.add("must be a whole number", key)
        if (key == SECCOMP or key.startswith(SECCOMP_OF)) and not SECCOMP_PROFILE.fullmatch(value):
            faults.add("is no seccomp profile", key)
        if key.startswith(APPARMOR_OF) and key.removeprefix(APPARMOR_OF) not in names:
            faults.add("names no container of the pod", key)
        elif key.startswith(APPARMOR_OF) and not APPARMOR_PROFILE.fullmatch(value):
            faults.add("is no AppArmor profile", key)
    faults.raise_if_any()


def _is_cost(value: str) -> bool:
    return bool(COST.fullmatch(value)) and -(2**31) <= int(value) < 2**31


def _all_containers(spec: Data) -> Iterator[tuple[str, int, Data]]:
    for field in ("initContainers", "containers"):
        yield from ((field, place, item) for place, item in plain.mappings(spec, field))


def _names(spec: Data) -> None:
    """Containers and volumes, each named once. A volume with a wrong name is no fault (`noticed.malformed`)."""
    faults = Faults()
    containers = [(field, place, plain.text(item, "name")) for field, place, item in _all_containers(spec)]
    volumes = [("volumes", place, plain.text(item, "name")) for place, item in plain.mappings(spec, "volumes")]
    for field, place, name in containers:
        if not NAME.fullmatch(name):
            message = f'"{name}" is no name' if name else "is required"
            faults.add(message, field, place, "name", hint="at most 63 lower case letters, digits and - inside")
    for found in (containers, volumes):
        names = [name for _, _, name in found]
        for number, (field, place, name) in enumerate(found):
            if name and name in names[:number]:
                faults.add(f'"{name}" is there already', field, place, "name")
    faults.raise_if_any()


def _ports(spec: Data) -> None:
    faults = Faults()
    for field, place, item in _all_containers(spec):
        with at(field, place):
            for index, port in plain.mappings(item, "ports"):
                for key in ("containerPort", "hostPort"):
                    number = plain.number(port, key)
                    least = 1 if key == "containerPort" else 0
                    if number is not None and not least <= number <= 65535:
                        faults.add(f"{number} is no port", field, place, "ports", index, key, hint="1 to 65535")
    faults.raise_if_any()


def _volumes(spec: Data) -> None:
    faults = Faults()
    for place, volume in plain.mappings(spec, "volumes"):
        types = sorted(key for key in SOURCES & volume.keys() if volume[key] is not None)
        if len(types) > 1:
            faults.add(f"has more than one type: {', '.join(types)}", "volumes", place)
    faults.raise_if_any()


def _spread(spec: Data) -> None:
    faults = Faults()
    seen: list[tuple[str, str]] = []
    for place, item in plain.mappings(spec, "topologySpreadConstraints"):
        where = ("topologySpreadConstraints", place)
        skew, least = plain.number(item, "maxSkew"), plain.number(item, "minDomains")
        kind = (plain.text(item, "topologyKey"), plain.text(item, "whenUnsatisfiable"))
        if skew is None or skew < 1:
            faults.add("must be 1 at least", *where, "maxSkew")
        if kind[1] not in ("DoNotSchedule", "ScheduleAnyway"):
            faults.add("must be DoNotSchedule or ScheduleAnyway", *where, "whenUnsatisfiable")
        if not kind[0]:
            faults.add("is required", *where, "topologyKey")
        if least is not None and (least < 1 or kind[1] == "ScheduleAnyway"):
            faults.add("must be 1 at least, and needs whenUnsatisfiable DoNotSchedule", *where, "minDomains")
        if kind in seen:
            faults.add(f"{kind[0]} {kind[1]} is there already", *where, hint="one constraint for each pair of them")
        seen.append(kind)
    faults.raise_if_any()


def _weights(spec: Data) -> None:
    faults = Faults()
    affinity = plain.mapping(spec, "affinity")
    for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        for place, item in plain.mappings(plain.mapping(affinity, kind), PREFERRED):
            weight = plain.number(item, "weight")
            if weight is None or not 1 <= weight <= 100:
                faults.add("must be 1 to 100", "affinity", kind, PREFERRED, place, "weight")
    faults.raise_if_any()


def _label_keys(spec: Data, own: Mapping[str, str]) -> None:
    """(mis)matchLabelKeys: a key that the selector has too would be there twice once it is folded in."""
    faults = Faults()
    affinity = plain.mapping(spec, "affinity")
    for place, constraint in plain.mappings(spec, "topologySpreadConstraints"):
        with faults.collect("topologySpreadConstraints", place):
            _term_keys(constraint, own)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = plain.mapping(affinity, kind)
        found: list[tuple[Path, Data]] = [
            ((kind, REQUIRED, place), term) for place, term in plain.mappings(terms, REQUIRED)
        ]
        for place, item in plain.mappings(terms, PREFERRED):
            found.append(((kind, PREFERRED, place, "podAffinityTerm"), plain.mapping(item, "podAffinityTerm")))
        for where, term in found:
            with faults.collect("affinity", *where):
                _term_keys(term, own)
    faults.raise_if_any()


def _term_keys(term: Data, own: Mapping[str, str]) -> None:
    faults = Faults()
    same, other = plain.texts(term, "matchLabelKeys"), plain.texts(term, "mismatchLabelKeys")
    if term.get("labelSelector") is None and (same or other):
        faults.add("is required where matchLabelKeys or mismatchLabelKeys are given", "labelSelector")
    selector = plain.mapping(term, "labelSelector")
    known = {*plain.pairs(selector, "matchLabels")}
    known |= {plain.text(item, "key") for _, item in plain.mappings(selector, "matchExpressions")}
    for place, key in enumerate(same):
        if key in other:
            faults.add(f"{key} is in mismatchLabelKeys too", "matchLabelKeys", place)
        elif key in known and key in own:
            faults.add(f"{key} is in the labelSelector too", "matchLabelKeys", place, hint="leave one of them away")
        elif key in same[:place] and key in own:
            faults.add(f"{key} is there already", "matchLabelKeys", place)
    faults.raise_if_any()


def _numbers(spec: Data) -> None:
    deadline = plain.number(spec, "activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        raise InputError("must be 1 at least", path=("activeDeadlineSeconds",))


def _node(spec: Data) -> None:
    if plain.text(spec, "nodeName") and spec.get("schedulingGates"):
        raise InputError("cannot be set beside schedulingGates", path=("nodeName",))


def _system(spec: Data) -> None:
    if spec.get("os") is not None and plain.text(plain.mapping(spec, "os"), "name") not in SYSTEMS:
        raise InputError(f"must be {' or '.join(SYSTEMS)}", path=("os", "name"))


def _images(spec: Data) -> None:
    faults = Faults()
    for field, place, item in _all_containers(spec):
        image = plain.text(item, "image")
        if not image:
            faults.add("is required", field, place, "image", hint="the API server refuses a container without an image")
        elif image != image.strip():
            faults.add("has blanks around it", field, place, "image")
    faults.raise_if_any()


def _mounts(spec: Data, added: Sequence[str]) -> None:
    volumes = [plain.text(volume, "name") for _, volume in plain.mappings(spec, "volumes")]
    _refer(spec, [*volumes, *added], "no volume of the pod", "volumeMounts")


def _paths(spec: Data) -> None:
    """Every place in a container is for one volume."""
    faults = Faults()
    for field, place, item in _all_containers(spec):
        with faults.collect(field, place):
            mounts = [plain.text(mount, "mountPath") for _, mount in plain.mappings(item, "volumeMounts")]
            for index, path in enumerate(mounts):
                if path and path in mounts[:index]:
                    faults.add(f"{path} is there already", field, place, "volumeMounts", index, "mountPath")
    faults.raise_if_any()


def _resolver(spec: Data) -> None:
    if plain.text(spec, "dnsPolicy") == "None" and not plain.mapping(spec, "dnsConfig").get("nameservers"):
        raise InputError("must name a server where dnsPolicy is None", path=("dnsConfig", "nameservers"))


def _claims(spec: Data) -> None:
    claims = [plain.text(claim, "name") for _, claim in plain.mappings(spec, "resourceClaims")]
    _refer(spec, claims, "none of spec.resourceClaims", "resources", "claims")


def _refer(spec: Data, known: list[str], wrong: str, *field: str) -> None:
    """Names of the pod's own things, in lists of its containers."""
    faults = Faults()
    for part, place, container in _all_containers(spec):
        with faults.collect(part, place, *field[:-1]):
            holder: Any = container
            for step in field[:-1]:
                holder = plain.mapping(holder, step)
            for index, item in plain.mappings(holder, field[-1]):
                name = plain.text(item, "name")
                if name not in known:
                    hint = likely(name, known)
                    faults.add(f'"{name}" is {wrong}', part, place, *field, index, "name", hint=hint)
    faults.raise_if_any()


Rule = Callable[[Data], None]

_ALWAYS: tuple[Rule, ...] = (_names, _ports, _volumes, _paths, _spread, _weights, _numbers, _node, _system, _resolver)
_WHOLE: tuple[Rule, ...] = (_images, _claims)
