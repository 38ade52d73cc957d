"""Claims of devices (dynamic resource allocation): which devices the claims of a workload's pods ask for.

A pod names claims or templates of claims, which are objects beside it (`resource.k8s.io`, v1 and both v1beta). Some
controllers make templates: from fields of the workload, which its profile's `claims` tells, or from objects of their
own, which `catalog/claims.yaml` names. What is not at hand is not known, never zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from advisor.definitions import plain, shipped
from advisor.definitions.gangs import Gang
from advisor.definitions.plain import Data
from advisor.errors import at
from advisor.files import Document
from advisor.workload import DeviceClaim, Role, SharedClaim, Workload

GROUP = "resource.k8s.io"
CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
Devices = Mapping[str, int] | None
Known = Mapping[tuple[str, str, str], Devices]
"""Kind, namespace and name of a claim or template → its devices by DeviceClass."""


def of(documents: Iterable[Document], folder: FilePath, namespace: str) -> Known:
    """Raises InputError for a claim that cannot be read."""
    found: dict[tuple[str, str, str], Devices] = {}
    for document in documents:
        kind = plain.group_and_kind(document.data)
        maker = shipped.by_kind(folder, "claims").get(kind)
        with document.faults():
            if maker:
                found.update(_of_maker(maker, document.data, namespace))
            elif kind in ((GROUP, CLAIM), (GROUP, TEMPLATE)):
                found.update(_stated(kind[1], document.data, namespace))
    return found


def _stated(kind: str, data: Data, namespace: str) -> Known:
    with at("metadata"):
        name = plain.text(plain.mapping(data, "metadata"), "name")
    with at("spec"):
        spec = plain.mapping(data, "spec")
        if kind == CLAIM:
            return {(kind, _namespace(data, namespace), name): devices(spec)}
        inner = plain.mapping(spec, "spec")
        with at("spec"):
            return {(kind, _namespace(data, namespace), name): devices(inner)}


def _of_maker(maker: Mapping[str, Any], data: Data, namespace: str) -> Known:
    *above, key = maker["template"]
    with at(*above):
        name = plain.text(plain.below(data, above), key)
    return {(TEMPLATE, _namespace(data, namespace), name): maker["devices"]}


def _namespace(data: Data, namespace: str) -> str:
    with at("metadata"):
        return plain.text(plain.mapping(data, "metadata"), "namespace") or namespace


def devices(spec: Data) -> Devices:
    """Devices by DeviceClass that one claim with this spec takes; None where that is not one number."""
    with at("devices"):
        found: dict[str, int] = {}
        for place, request in plain.mappings(plain.mapping(spec, "devices"), "requests"):
            with at("requests", place):
                asked = _asked(request)
            if asked is None:
                return None
            name, count = asked
            if count:
                found[name] = found.get(name, 0) + count
        return found


def _asked(request: Data) -> tuple[str, int] | None:
    """DeviceClass and count: `exactly` in v1 and v1beta2, the request itself in v1beta1; alternatives if all agree."""
    alternatives = [item for _, item in plain.mappings(request, "firstAvailable")]
    if alternatives:
        each = {_exactly(item) for item in alternatives}
        return each.pop() if len(each) == 1 else None
    exactly = plain.mapping(request, "exactly")
    if not exactly:
        return _exactly(request)
    with at("exactly"):
        return _exactly(exactly)


def _exactly(asked: Data) -> tuple[str, int] | None:
    """Access for administration takes no device; how many `All` are depends on the node."""
    name = plain.text(asked, "deviceClassName")
    if plain.flag(asked, "adminAccess"):
        return name, 0
    if not name or plain.text(asked, "allocationMode") == "All":
        return None
    count = plain.number(asked, "count")
    return name, 1 if count is None else count


def applied(
    workload: Workload, known: Known, gangs: Sequence[tuple[Gang, Sequence[Role]]], made: Sequence[Data]
) -> Workload:
    """The workload with the devices of its claims. `made`: what its profile says that the controller makes.

    `gangs`: the gang objects that its roles name; a claim that such an object lists is one for all of the pods.
    """
    own = {one["name"]: one for one in made}
    of_gangs = {role.name: gang for gang, roles in gangs for role in roles}

    def resolve(role: Role, claim: DeviceClaim) -> DeviceClaim:
        gang = of_gangs.get(role.name)
        in_group = gang is not None and (claim.name, claim.template) in gang.claims
        if claim.template in own:
            one = own[claim.template]
            return replace(claim, devices=devices(one["spec"]), shared="shared" in one)
        kind, name = (TEMPLATE, claim.template) if claim.template else (CLAIM, claim.claim)
        found = known.get((kind, workload.namespace, name))
        return replace(claim, devices=found, shared=bool(claim.claim) or in_group)

    roles = tuple(_with_claims(role, resolve) for role in workload.roles)
    shared = (*_made(roles, own), *_beside(roles, own, of_gangs))
    return replace(workload, roles=roles, shared_claims=shared)


def _with_claims(role: Role, resolve: Callable[[Role, DeviceClaim], DeviceClaim]) -> Role:
    claims = tuple(resolve(role, claim) for claim in role.template.device_claims)
    return role if not claims else replace(role, template=replace(role.template, device_claims=claims))


def _made(roles: Sequence[Role], own: Mapping[str, Any]) -> Iterator[SharedClaim]:
    """Claims that the controller makes for several pods at once: as many as the profile says."""
    for name, one in own.items():
        if "shared" in one:
            yield SharedClaim(name, devices(one["spec"]), _users(roles, name), one["shared"], made=True)


def _beside(roles: Sequence[Role], own: Mapping[str, Any], gangs: Mapping[str, Gang]) -> Iterator[SharedClaim]:
    """Claims named outright, and those of gang objects."""
    found: dict[tuple[str, str], SharedClaim] = {}
    for role in roles:
        for claim in role.template.device_claims:
            if claim.shared and claim.template not in own:
                gang = "" if claim.claim else gangs[role.name].title
                key = (claim.claim or claim.name, gang)
                before = found.get(key)
                users = {**(before.roles if before else {}), role.name: role.replicas}
                found[key] = SharedClaim(f"{key[0]} of {gang}" if gang else key[0], claim.devices, users)
    yield from found.values()


def _users(roles: Sequence[Role], template: str) -> dict[str, int]:
    """Pods by role that have a claim from this template."""
    using = (role for role in roles if any(claim.template == template for claim in role.template.device_claims))
    return {role.name: role.replicas for role in using}
