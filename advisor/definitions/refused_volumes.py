"""Volumes and their places in containers that the API server refuses though they can be read.

Mirrors kubernetes/pkg/apis/core/validation: `validateVolumeSource`, `ValidateVolumeMounts` and `ValidateVolumeDevices`.
Which fields a volume must have, and which words they take, is said with the types of fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.definitions import lenient, refused_sources
from advisor.definitions.lenient import Data, Wrong, under
from advisor.definitions.noticed import SUBDOMAIN
from advisor.workload import Malformed

MOST_MODE = 0o777
MODE = f"must be {MOST_MODE} at most: modes are octal in YAML only with a 0 before them, as 0644"
SOONEST, LATEST = 10 * 60, 2**32
"""Seconds after which a token may expire."""
LONGEST_DRIVER = 63
NAMED = {"configMap": "name", "secret": "secretName", "image": "reference"}
"""Volumes with a name that must be there, though the description of the types does not say so."""
OF_A_CLAIM = ("persistentVolumeClaim", "ephemeral")


def found(spec: Data) -> Wrong:
    for place, volume in lenient.items(spec, "volumes"):
        yield from under(("volumes", place), _volume(volume))
    volumes = {lenient.text(volume, "name"): volume for _, volume in lenient.items(spec, "volumes")}
    for where, container in lenient.containers(spec):
        yield from under(where, _mounts(container))
        yield from under(where, _devices(container, volumes))


def _volume(volume: Data) -> Wrong:
    for source, field in NAMED.items():
        if volume.get(source) is not None and not lenient.mapping(volume, source).get(field):
            yield Malformed((source, field), "is required")
    for source in ("configMap", "secret", "downwardAPI", "projected"):
        one = lenient.mapping(volume, source)
        yield from under((source,), _mode(one, "defaultMode"))
        yield from under((source,), _files(one))
    yield from under(("downwardAPI",), _fields(lenient.mapping(volume, "downwardAPI")))
    yield from under(("csi",), _csi(lenient.mapping(volume, "csi")))
    for place, one in lenient.items(lenient.mapping(volume, "projected"), "sources"):
        yield from under(("projected", "sources", place), _projected(one))
    yield from under(("emptyDir",), _size(lenient.mapping(volume, "emptyDir")))
    yield from under(
        ("hostPath", "path"), _without_steps_back(lenient.text(lenient.mapping(volume, "hostPath"), "path"))
    )
    path = lenient.text(lenient.mapping(volume, "nfs"), "path")
    if path and not path.startswith("/"):
        yield Malformed(("nfs", "path"), "must be an absolute path")
    yield from under(("ephemeral", "volumeClaimTemplate"), _claim_template(volume))


def _csi(csi: Data) -> Wrong:
    driver = lenient.text(csi, "driver")
    if driver and (len(driver) > LONGEST_DRIVER or not SUBDOMAIN.fullmatch(driver.lower())):
        yield Malformed(("driver",), f"is no name of a driver: {LONGEST_DRIVER} letters, digits, - and . at most")
    if csi.get("nodePublishSecretRef") is not None:
        name = lenient.text(lenient.mapping(csi, "nodePublishSecretRef"), "name")
        if not SUBDOMAIN.fullmatch(name):
            message = "is no name of an object" if name else "is required"
            yield Malformed(("nodePublishSecretRef", "name"), message, is_name=bool(name))


def _mode(one: Data, field: str) -> Wrong:
    mode = lenient.number(one, field)
    if mode is not None and not 0 <= mode <= MOST_MODE:
        yield Malformed((field,), MODE)


def _files(one: Data) -> Wrong:
    """Files that are made of keys or of fields of the pod."""
    for place, item in lenient.items(one, "items"):
        yield from under(("items", place, "path"), _inside(lenient.text(item, "path"), reserved=True))
        yield from under(("items", place), _mode(item, "mode"))


def _fields(downward: Data) -> Wrong:
    for place, item in lenient.items(downward, "items"):
        yield from under(("items", place), refused_sources.of_file(item))


def _projected(one: Data) -> Wrong:
    for source in ("configMap", "secret"):
        if one.get(source) is not None and not lenient.mapping(one, source).get("name"):
            yield Malformed((source, "name"), "is required")
    for source in ("configMap", "secret", "downwardAPI"):
        yield from under((source,), _files(lenient.mapping(one, source)))
    yield from under(("downwardAPI",), _fields(lenient.mapping(one, "downwardAPI")))
    token = lenient.mapping(one, "serviceAccountToken")
    seconds = lenient.number(token, "expirationSeconds")
    if seconds is not None and not SOONEST <= seconds <= LATEST:
        yield Malformed(("serviceAccountToken", "expirationSeconds"), f"must be {SOONEST} to {LATEST}")
    yield from under(("serviceAccountToken", "path"), _inside(lenient.text(token, "path"), reserved=True))
    if sum(value is not None for value in one.values()) > 1:
        yield Malformed((), "has more than one source")


def _size(empty: Data) -> Wrong:
    if (lenient.amount(empty, "sizeLimit") or 0) < 0:
        yield Malformed(("sizeLimit",), "is negative")


def _claim_template(volume: Data) -> Wrong:
    if volume.get("ephemeral") is None:
        return
    spec = lenient.mapping(volume, "ephemeral", "volumeClaimTemplate", "spec")
    if not lenient.listed(spec, "accessModes"):
        yield Malformed(("spec", "accessModes"), "is required")
    requests, storage = lenient.mapping(spec, "resources", "requests"), ("spec", "resources", "requests", "storage")
    if requests.get("storage") is None:
        yield Malformed(storage, "is required")
    elif (asked := lenient.amount(requests, "storage")) is not None and asked <= 0:
        yield Malformed(storage, "must be more than zero")


def _inside(path: str, *, reserved: bool = False) -> Wrong:
    """A path below another: not absolute, and never up again. `reserved`: names that begin with .. are not for us."""
    if path.startswith("/"):
        yield Malformed((), "must be a relative path")
    yield from _without_steps_back(path)
    if reserved and path.startswith("..") and ".." not in path.split("/"):
        yield Malformed((), "must not begin with ..")


def _without_steps_back(path: str) -> Wrong:
    if ".." in path.split("/"):
        yield Malformed((), "must not contain ..")


def _mounts(container: Data) -> Wrong:
    privileged = lenient.is_true(lenient.mapping(container, "securityContext"), "privileged")
    for place, mount in lenient.items(container, "volumeMounts"):
        yield from under(("volumeMounts", place), _mount(mount, privileged=privileged))


def _mount(mount: Data, *, privileged: bool) -> Wrong:
    for field in ("subPath", "subPathExpr"):
        yield from under((field,), _inside(lenient.text(mount, field)))
    if lenient.text(mount, "subPath") and lenient.text(mount, "subPathExpr"):
        yield Malformed(("subPathExpr",), "cannot be set beside subPath")
    propagation = lenient.text(mount, "mountPropagation")
    if propagation == "Bidirectional" and not privileged:
        yield Malformed(("mountPropagation",), "Bidirectional is for privileged containers only")
    if lenient.text(mount, "recursiveReadOnly") in ("Enabled", "IfPossible"):
        if not lenient.is_true(mount, "readOnly"):
            yield Malformed(("recursiveReadOnly",), "needs readOnly true")
        if propagation not in ("", "None"):
            yield Malformed(("recursiveReadOnly",), "needs mountPropagation None")


def _devices(container: Data, volumes: Mapping[str, Data]) -> Wrong:
    """Volumes that a container sees as block devices."""
    mounts = [mount for _, mount in lenient.items(container, "volumeMounts")]
    taken = {lenient.text(mount, "name") for mount in mounts}, {lenient.text(mount, "mountPath") for mount in mounts}
    for place, device in lenient.items(container, "volumeDevices"):
        name, path = lenient.text(device, "name"), lenient.text(device, "devicePath")
        volume = volumes.get(name)
        if volume is not None and not any(volume.get(kind) is not None for kind in OF_A_CLAIM):
            yield Malformed(("volumeDevices", place, "name"), "is no volume of a claim, as a block device must be")
        if name in taken[0]:
            yield Malformed(("volumeDevices", place, "name"), f"{name} is there already")
        if path in taken[1]:
            yield Malformed(("volumeDevices", place, "devicePath"), "is there already")
        yield from under(("volumeDevices", place, "devicePath"), _without_steps_back(path))
        taken[0].add(name)
        taken[1].add(path)
