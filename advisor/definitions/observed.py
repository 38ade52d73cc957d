"""What there is of a live object: its status in upstream's words, and which of its pods belong to which role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from advisor.definitions import pods, status
from advisor.definitions.catalog import Catalog
from advisor.definitions.engine import Engine, prepare
from advisor.definitions.schema import Definition
from advisor.errors import InputError
from advisor.files import Document
from advisor.workload import Role, RoleState, State, Workload

FAILED = "Failed"
FINISHED = ("Succeeded", FAILED)
Pod = Mapping[str, Any]


def state(document: Document, workload: Workload, catalog: Catalog, found: Sequence[Pod]) -> State:
    """Raises InputError for a status that the definition cannot read. A pod that fits no role is a stranger, as all are
    of a workload that has no roles because of what is missing.
    """
    known = catalog.find(workload.api_version, workload.kind)
    assert known is not None
    definition, engine = known.entry.definition, known.entry.origin.engine
    given = prepare(document.data)
    told = status.read(definition, given, engine)
    of_roles: dict[str, list[Pod]] = {role.name: [] for role in workload.roles}
    strangers: list[Pod] = []
    for pod in found:
        role = role_of(definition, engine, workload.roles, pod)
        (of_roles[role.name] if role else strangers).append(pod)
    roles = {name: _counted(members) for name, members in of_roles.items()}
    return State(told.phase, told.matched, roles, _counted(strangers))


def role_of(definition: Definition, engine: Engine, roles: Sequence[Role], pod: Pod) -> Role | None:
    """By the definition's selectors; a pod that several roles of one component could claim is nobody's.

    The instances are those of the roles: a profile may find them in other objects than the one that is written.
    """
    prepared = prepare(pod)
    try:
        component = pods.component(definition, prepared, engine)
        ids = [role.instance for role in roles if role.component == component.name]
        instance = pods.instance_among(ids, component, prepared, engine)
    except InputError:
        return None
    fitting = [role for role in roles if (role.component, role.instance) == (component.name, instance)]
    return fitting[0] if len(fitting) == 1 else None


def _counted(members: Sequence[Pod]) -> RoleState:
    nodes: dict[str, int] = {}
    phases = [(pod.get("status") or {}).get("phase") for pod in members]
    alive = [pod for pod, phase in zip(members, phases, strict=True) if phase not in FINISHED]
    for pod in alive:
        node = (pod.get("spec") or {}).get("nodeName")
        if node:
            nodes[node] = nodes.get(node, 0) + 1
    return RoleState(len(alive), sum(map(is_ready, alive)), len(members) - len(alive), nodes, phases.count(FAILED))


def is_ready(pod: Pod) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
    return ready and not pod["metadata"].get("deletionTimestamp")
