"""What the API server would refuse in a pod template, found where it is written.

Mirrors the parts of kubernetes/pkg/apis/core/validation that no controller can mend: malformed names, numbers out of
range, things named twice. What only looks incomplete may be filled in by an operator, so it is looked at (`whole`) only
where the template is known to become the pod as it is. What a cluster adds to pods is judged in `fit/invalid.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from advisor.definitions import lenient, metadata
from advisor.definitions.lenient import Data
from advisor.definitions.noticed import NAME, PREFERRED, REQUIRED
from advisor.errors import Faults, InputError, Path, likely

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
    spec, about = lenient.mapping(pod, "spec"), lenient.mapping(pod, "metadata")
    with faults.collect("metadata"):
        metadata.check_inner(about)
    with faults.collect("metadata", "annotations"):
        _annotations(lenient.pairs(about, "annotations"), spec)
    with faults.collect("spec"):
        _label_keys(spec, lenient.pairs(about, "labels"))
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
        if key == MIRROR and not lenient.text(spec, "nodeName"):
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
        yield from ((field, place, item) for place, item in lenient.items(spec, field))


def _names(spec: Data) -> None:
    """Containers and volumes, each named once. A volume with a wrong name is no fault (`noticed.malformed`)."""
    faults = Faults()
    containers = [(field, place, lenient.text(item, "name")) for field, place, item in _all_containers(spec)]
    volumes = [("volumes", place, lenient.text(item, "name")) for place, item in lenient.items(spec, "volumes")]
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
        for index, port in lenient.items(item, "ports"):
            for key in ("containerPort", "hostPort"):
                number = lenient.number(port, key)
                least = 1 if key == "containerPort" else 0
                if number is not None and not least <= number <= 65535:
                    faults.add(f"{number} is no port", field, place, "ports", index, key, hint="1 to 65535")
    faults.raise_if_any()


def _volumes(spec: Data) -> None:
    faults = Faults()
    for place, volume in lenient.items(spec, "volumes"):
        types = sorted(key for key in SOURCES & volume.keys() if volume[key] is not None)
        if len(types) > 1:
            faults.add(f"has more than one type: {', '.join(types)}", "volumes", place)
    faults.raise_if_any()


def _spread(spec: Data) -> None:
    faults = Faults()
    seen: list[tuple[str, str]] = []
    for place, item in lenient.items(spec, "topologySpreadConstraints"):
        where = ("topologySpreadConstraints", place)
        skew, least = lenient.number(item, "maxSkew"), lenient.number(item, "minDomains")
        kind = (lenient.text(item, "topologyKey"), lenient.text(item, "whenUnsatisfiable"))
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
    affinity = lenient.mapping(spec, "affinity")
    for kind in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        for place, item in lenient.items(lenient.mapping(affinity, kind), PREFERRED):
            weight = lenient.number(item, "weight")
            if weight is None or not 1 <= weight <= 100:
                faults.add("must be 1 to 100", "affinity", kind, PREFERRED, place, "weight")
    faults.raise_if_any()


def _label_keys(spec: Data, own: Mapping[str, str]) -> None:
    """(mis)matchLabelKeys: a key that the selector has too would be there twice once it is folded in."""
    faults = Faults()
    affinity = lenient.mapping(spec, "affinity")
    for place, constraint in lenient.items(spec, "topologySpreadConstraints"):
        with faults.collect("topologySpreadConstraints", place):
            _term_keys(constraint, own)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = lenient.mapping(affinity, kind)
        found: list[tuple[Path, Data]] = [
            ((kind, REQUIRED, place), term) for place, term in lenient.items(terms, REQUIRED)
        ]
        for place, item in lenient.items(terms, PREFERRED):
            found.append(((kind, PREFERRED, place, "podAffinityTerm"), lenient.mapping(item, "podAffinityTerm")))
        for where, term in found:
            with faults.collect("affinity", *where):
                _term_keys(term, own)
    faults.raise_if_any()


def _term_keys(term: Data, own: Mapping[str, str]) -> None:
    faults = Faults()
    same, other = ([key for _, key in lenient.texts(term, field)] for field in ("matchLabelKeys", "mismatchLabelKeys"))
    if term.get("labelSelector") is None and (same or other):
        faults.add("is required where matchLabelKeys or mismatchLabelKeys are given", "labelSelector")
    selector = lenient.mapping(term, "labelSelector")
    known = {*lenient.pairs(selector, "matchLabels")}
    known |= {lenient.text(item, "key") for _, item in lenient.items(selector, "matchExpressions")}
    for place, key in enumerate(same):
        if key in other:
            faults.add(f"{key} is in mismatchLabelKeys too", "matchLabelKeys", place)
        elif key in known and key in own:
            faults.add(f"{key} is in the labelSelector too", "matchLabelKeys", place, hint="leave one of them away")
        elif key in same[:place] and key in own:
            faults.add(f"{key} is there already", "matchLabelKeys", place)
    faults.raise_if_any()


def _numbers(spec: Data) -> None:
    deadline = lenient.number(spec, "activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline < 2**31:
        raise InputError("must be 1 at least", path=("activeDeadlineSeconds",))


def _node(spec: Data) -> None:
    if lenient.text(spec, "nodeName") and spec.get("schedulingGates"):
        raise InputError("cannot be set beside schedulingGates", path=("nodeName",))


def _system(spec: Data) -> None:
    if spec.get("os") is not None and lenient.text(lenient.mapping(spec, "os"), "name") not in SYSTEMS:
        raise InputError(f"must be {' or '.join(SYSTEMS)}", path=("os", "name"))


def _images(spec: Data) -> None:
    faults = Faults()
    for field, place, item in _all_containers(spec):
        if not lenient.text(item, "image"):
            faults.add("is required", field, place, "image", hint="the API server refuses a container without an image")
    faults.raise_if_any()


def _mounts(spec: Data, added: Sequence[str]) -> None:
    faults = Faults()
    known = [*(lenient.text(volume, "name") for _, volume in lenient.items(spec, "volumes")), *added]
    for field, place, container in _all_containers(spec):
        for index, mount in lenient.items(container, "volumeMounts"):
            name = lenient.text(mount, "name")
            if name not in known:
                where: Path = (field, place, "volumeMounts", index, "name")
                faults.add(f'"{name}" is no volume of the pod', *where, hint=likely(name, known))
    faults.raise_if_any()


def _paths(spec: Data) -> None:
    """Every place in a container is for one volume."""
    faults = Faults()
    for field, place, item in _all_containers(spec):
        mounts = [lenient.text(mount, "mountPath") for _, mount in lenient.items(item, "volumeMounts")]
        for index, path in enumerate(mounts):
            if path and path in mounts[:index]:
                faults.add(f"{path} is there already", field, place, "volumeMounts", index, "mountPath")
    faults.raise_if_any()


def _resolver(spec: Data) -> None:
    if lenient.text(spec, "dnsPolicy") == "None" and not lenient.mapping(spec, "dnsConfig").get("nameservers"):
        raise InputError("must name a server where dnsPolicy is None", path=("dnsConfig", "nameservers"))


Rule = Callable[[Data], None]

_ALWAYS: tuple[Rule, ...] = (_names, _ports, _volumes, _paths, _spread, _weights, _numbers, _node, _system, _resolver)
_WHOLE: tuple[Rule, ...] = (_images,)
