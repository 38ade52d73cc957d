"""What belongs to a pod as a whole and is refused though it can be read: security, names of hosts, resolvers.

Mirrors kubernetes/pkg/apis/core/validation: `validatePodSpecSecurityContext`, `ValidateSecurityContext`,
`validateLinux` and `validateWindows`, `validateHostUsers`, `validatePodHostName`, `validatePodDNSConfig`,
`ValidateHostAliases` and `validateReadinessGates`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address

from advisor.definitions import lenient
from advisor.definitions.lenient import Data, Wrong, under
from advisor.definitions.noticed import NAME, SUBDOMAIN
from advisor.errors import Path
from advisor.labels import is_key
from advisor.workload import Malformed

MOST_ID = 2**31 - 1
SYSCTL = re.compile(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?")
OF_THE_NETWORK = ("net.",)
OF_IPC = ("kernel.sem", "kernel.shm", "kernel.msg", "fs.mqueue.")
SEARCHED = re.compile(r"[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?(\.[a-z0-9_]([-_a-z0-9]*[a-z0-9_])?)*")
MOST_SERVERS, MOST_SEARCHES, MOST_SEARCHED = 3, 32, 2048
LONGEST_HOST = 64
LONGEST_PROFILE = 4095
ONLY_ON_HOSTS_OF_USERS = ("hostPID", "hostIPC")


def found(spec: Data) -> Wrong:
    context = lenient.mapping(spec, "securityContext")
    yield from under(("securityContext",), _ids(context, "fsGroup", "runAsUser", "runAsGroup"))
    yield from under(("securityContext",), _profiles(context))
    yield from under(("securityContext", "sysctls"), _sysctls(context, spec))
    for place, group in enumerate(lenient.listed(context, "supplementalGroups")):
        if isinstance(group, int) and not 0 <= group <= MOST_ID:
            yield Malformed(("securityContext", "supplementalGroups", place), f"must be 0 to {MOST_ID}")
    for where, container in lenient.containers(spec):
        security = lenient.mapping(container, "securityContext")
        yield from under((*where, "securityContext"), _of_container(security, spec))
    yield from _shared(spec)
    yield from _system(spec)
    yield from _hosts(spec)
    yield from under(("dnsConfig",), _resolver(lenient.mapping(spec, "dnsConfig")))
    for place, gate in lenient.items(spec, "readinessGates"):
        if not is_key(lenient.text(gate, "conditionType")):
            yield Malformed(("readinessGates", place, "conditionType"), "is no type of a condition")
    if lenient.listed(lenient.mapping(spec, "resources"), "claims"):
        yield Malformed(("resources", "claims"), "is for containers, not for the pod")


def _ids(context: Data, *fields: str) -> Wrong:
    for field in fields:
        number = lenient.number(context, field)
        if number is not None and not 0 <= number <= MOST_ID:
            yield Malformed((field,), f"must be 0 to {MOST_ID}")


def _profiles(context: Data) -> Wrong:
    """A profile of the node's own is named where the type says so, and nowhere else."""
    for field in ("seccompProfile", "appArmorProfile"):
        profile = lenient.mapping(context, field)
        local, named = profile.get("type") == "Localhost", profile.get("localhostProfile")
        where = (field, "localhostProfile")
        if local and (named is None or (named == "" and field == "appArmorProfile")):
            yield Malformed(where, "is required for the type Localhost")
        elif not local and named is not None:
            yield Malformed(where, "is for the type Localhost only")
        elif isinstance(named, str) and not _is_profile(named, field):
            yield Malformed(where, "is no name of a profile")


def _is_profile(named: str, field: str) -> bool:
    if field == "appArmorProfile":
        return named == named.strip() and len(named) <= LONGEST_PROFILE
    return not named.startswith("/") and ".." not in named.split("/")


def _sysctls(context: Data, spec: Data) -> Wrong:
    seen: list[str] = []
    shared = [
        of for field, of in (("hostNetwork", OF_THE_NETWORK), ("hostIPC", OF_IPC)) if lenient.is_true(spec, field)
    ]
    for place, one in lenient.items(context, "sysctls"):
        name = lenient.text(one, "name")
        if not SYSCTL.fullmatch(name):
            yield Malformed((place, "name"), "is no name of a sysctl")
        elif name in seen:
            yield Malformed((place, "name"), f"{name} is there already")
        elif any(name.replace("/", ".").startswith(of) for of in shared):
            yield Malformed((place, "name"), "is the host's, whose network or IPC the pod shares")
        seen.append(name)


def _of_container(context: Data, spec: Data) -> Wrong:
    yield from _ids(context, "runAsUser", "runAsGroup")
    yield from _profiles(context)
    if context.get("procMount") == "Unmasked" and spec.get("hostUsers") is not False:
        yield Malformed(("procMount",), "Unmasked needs hostUsers false")
    if context.get("allowPrivilegeEscalation") is False:
        if lenient.is_true(context, "privileged"):
            yield Malformed(("allowPrivilegeEscalation",), "cannot be false for a privileged container")
        if "CAP_SYS_ADMIN" in lenient.listed(lenient.mapping(context, "capabilities"), "add"):
            yield Malformed(("allowPrivilegeEscalation",), "cannot be false beside the capability CAP_SYS_ADMIN")
    windows = lenient.mapping(context, "windowsOptions")
    if lenient.is_true(windows, "hostProcess") and not lenient.is_true(spec, "hostNetwork"):
        yield Malformed(("windowsOptions", "hostProcess"), "needs the host's network")


def _shared(spec: Data) -> Wrong:
    if lenient.is_true(spec, "shareProcessNamespace") and lenient.is_true(spec, "hostPID"):
        yield Malformed(("shareProcessNamespace",), "cannot be true beside hostPID")
    if spec.get("hostUsers") is not False:
        return
    for field in ONLY_ON_HOSTS_OF_USERS:
        if lenient.is_true(spec, field):
            yield Malformed((field,), "cannot be true where hostUsers is false")
    for where, container in lenient.containers(spec):
        if lenient.listed(container, "volumeDevices"):
            yield Malformed((*where, "volumeDevices"), "cannot be there where hostUsers is false")


def _system(spec: Data) -> Wrong:
    """What the operating system that the pod names does not know."""
    name = lenient.text(lenient.mapping(spec, "os"), "name")
    if name not in _NOT_ON:
        return
    of_pod, of_containers = _NOT_ON[name]
    if name == "windows":
        for field in ("hostUsers", "shareProcessNamespace"):
            if spec.get(field) is not None:
                yield Malformed((field,), "cannot be set for a windows pod")
    contexts: list[tuple[Path, tuple[str, ...], Data]] = [
        (("securityContext",), of_pod, lenient.mapping(spec, "securityContext"))
    ]
    for where, container in lenient.containers(spec):
        contexts.append(((*where, "securityContext"), of_containers, lenient.mapping(container, "securityContext")))
    for where, unknown, context in contexts:
        for field in unknown:
            if context.get(field) not in (None, []):
                yield Malformed((*where, field), f"cannot be set for a {name} pod")


_PROFILED = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_NOT_ON: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "linux": (("windowsOptions",), ("windowsOptions",)),
    "windows": (
        (*_PROFILED, "fsGroup", "fsGroupChangePolicy", "sysctls", "supplementalGroups", "supplementalGroupsPolicy"),
        (*_PROFILED, "capabilities", "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount"),
    ),
}
"""Operating system → fields of the security context of a pod, and of a container, that are not for it."""


def _hosts(spec: Data) -> Wrong:
    for field in ("hostname", "subdomain"):
        name = lenient.text(spec, field)
        if name and not NAME.fullmatch(name):
            yield Malformed((field,), "is no name: at most 63 lower case letters, digits and - inside")
    yield from under(("hostnameOverride",), _override(spec))
    for place, alias in lenient.items(spec, "hostAliases"):
        if not is_address(lenient.text(alias, "ip")):
            yield Malformed(("hostAliases", place, "ip"), "is no IP address")
        for index, name in lenient.texts(alias, "hostnames"):
            if not SUBDOMAIN.fullmatch(name):
                yield Malformed(("hostAliases", place, "hostnames", index), "is no name of a host")


def _override(spec: Data) -> Wrong:
    name = spec.get("hostnameOverride")
    if not isinstance(name, str):
        return
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if lenient.is_true(spec, field):
            yield Malformed((), f"cannot be set beside {field}")
    if len(name) > LONGEST_HOST or not SUBDOMAIN.fullmatch(name):
        yield Malformed((), f"is no name of a host: {LONGEST_HOST} lower case letters, digits, - and . at most")


def _resolver(config: Data) -> Wrong:
    servers, searches = lenient.listed(config, "nameservers"), list(lenient.texts(config, "searches"))
    if len(servers) > MOST_SERVERS:
        yield Malformed(("nameservers",), f"must be {MOST_SERVERS} at most")
    for place, server in lenient.texts(config, "nameservers"):
        if not is_address(server):
            yield Malformed(("nameservers", place), "is no IP address")
    if len(searches) > MOST_SEARCHES or len(" ".join(name for _, name in searches)) > MOST_SEARCHED:
        yield Malformed(("searches",), f"must be {MOST_SEARCHES} at most, with {MOST_SEARCHED} characters")
    for place, name in searches:
        if name != "." and not SEARCHED.fullmatch(name.removesuffix(".")):
            yield Malformed(("searches", place), "is no name of a domain")
    for place, option in lenient.items(config, "options"):
        if not lenient.text(option, "name"):
            yield Malformed(("options", place, "name"), "is required")


def is_address(text: str) -> bool:
    """Four numbers without zeros before them, or an IPv6 address without a zone."""
    try:
        return "%" not in text and bool(ip_address(text))
    except ValueError:
        return False
