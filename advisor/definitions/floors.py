"""Pods that an autoscaler among the files keeps: it undoes a smaller size, whatever the kind would start with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from advisor.definitions import outputs, profile
from advisor.definitions.engine import prepare
from advisor.definitions.extract import Extraction
from advisor.definitions.profile import Context
from advisor.definitions.scalers import Scaler
from advisor.workload import Role


def kept(context: Context, extraction: Extraction, scaler: Scaler | None, made: Sequence[Role]) -> tuple[Role, ...]:
    """The roles with what the scaler's minimum keeps of those that follow the number which it sets: so many times what
    one replica starts with. It leaves a target without pods alone, and one replica is what every kind keeps.
    """
    path = context.profile.spec.scaled
    if path is None or scaler is None or scaler.minimum < 2 or not context.value(outputs.MAXIMUM, path, None):
        return tuple(made)
    one, two = (_with_replicas(context, extraction, path, number) for number in (1, 2))
    floors = {
        name: scaler.minimum * role.minimum
        for name, role in one.items()
        if name in two and two[name].replicas > role.replicas
    }
    return tuple(_with(role, floors.get(role.name, 0)) for role in made)


def _with_replicas(context: Context, extraction: Extraction, path: str, wanted: int) -> dict[str, Role]:
    """The roles by name, of the object with so many replicas."""
    document = prepare(profile.resized(context, path, wanted))
    other = Extraction(extraction.definition, document, extraction.engine)
    return {role.name: role for role in profile.roles(replace(context, document=document), other).roles}


def _with(role: Role, floor: int) -> Role:
    floor = min(floor, role.replicas)
    return replace(role, floor=floor, minimum=max(role.minimum, floor))
