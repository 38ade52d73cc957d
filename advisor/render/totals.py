"""What the pods of a workload ask for, one by one and together, in base units."""

from __future__ import annotations

from advisor.resources import in_base_units
from advisor.workload import Role, Workload


def per_pod(role: Role) -> dict[str, int]:
    """The effective request of one pod: limits stand in for missing requests, as the API server has it."""
    return in_base_units(role.template.as_pod().with_pod_level().requests())


def total(workload: Workload) -> dict[str, int]:
    """All pods of all roles, whether or not they run at the same time."""
    found: dict[str, int] = {}
    for role in workload.roles:
        for name, amount in per_pod(role).items():
            found[name] = found.get(name, 0) + amount * role.replicas
    return {name: amount for name, amount in found.items() if amount}
