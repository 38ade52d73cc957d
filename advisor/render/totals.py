"""What the pods of a workload ask for, one by one and together, in base units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from advisor.resources import in_base_units
from advisor.workload import Role, Workload

Devices = Mapping[str, int] | None
"""Devices by DeviceClass; None where some of them are not known."""


def per_pod(role: Role) -> dict[str, int]:
    """The effective request of one pod: limits stand in for missing requests, as the API server has it."""
    return in_base_units(role.template.effective())


def total(workload: Workload) -> dict[str, int]:
    """All pods of all roles, whether or not they run at the same time."""
    found: dict[str, int] = {}
    for role in workload.roles:
        for name, amount in per_pod(role).items():
            found[name] = found.get(name, 0) + amount * role.replicas
    return {name: amount for name, amount in found.items() if amount}


def at_once(workload: Workload) -> dict[str, int]:
    """The most that those pods ask for together which run at the same time."""
    stages = (
        replace(workload, roles=tuple(role for role in workload.roles if stage in role.stages))
        for stage in workload.stages
    )
    found: dict[str, int] = {}
    for stage in stages:
        for name, amount in total(stage).items():
            found[name] = max(found.get(name, 0), amount)
    return found


def devices_per_pod(role: Role) -> Devices:
    """Devices of the claims that one pod has for itself."""
    return _added(claim.devices for claim in role.template.device_claims if not claim.shared)


def known_devices_per_pod(role: Role) -> Mapping[str, int]:
    """Those of them that are known."""
    return _added(claim.devices or {} for claim in role.template.device_claims if not claim.shared) or {}


def devices(workload: Workload) -> Devices:
    """Devices of all claims that are made for this workload; claims that exist beside it may have other users."""
    own = [_times(devices_per_pod(role), role.replicas) for role in workload.roles if role.replicas]
    shared = [_times(claim.devices, claim.count) for claim in workload.shared_claims if claim.made]
    return _added([*own, *shared])


def _times(found: Devices, count: int) -> Devices:
    return None if found is None else {name: amount * count for name, amount in found.items()}


def _added(each: Iterable[Devices]) -> Devices:
    total: dict[str, int] = {}
    for one in each:
        if one is None:
            return None
        for name, count in one.items():
            total[name] = total.get(name, 0) + count
    return dict(sorted(total.items()))
