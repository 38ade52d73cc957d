"""A workload as its definition sees it: the tree of its roles, what they ask for, and what must start together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.company import Shortage, shortages
from advisor.quantity import readable
from advisor.render.layout import Cell, grid, paragraph
from advisor.render.ranges import compact
from advisor.render.style import BOLD, DIM, YELLOW, Style
from advisor.render.totals import devices, known_devices_per_pod, per_pod, total
from advisor.workload import GangGroup, Role, RoleState, State, Workload

STEP = "  "
SMALL_PRINT = ("cpu", "memory", "ephemeral-storage")
"""Resources that every node has, shown after those that decide."""

Lines = Iterator[str]


def describe(workloads: Sequence[Workload], style: Style) -> str:
    return _blocks(workloads, style, full=False)


def wide(workloads: Sequence[Workload], style: Style) -> str:
    """The same with notes: every default that was applied, every pod that was added."""
    return _blocks(workloads, style, full=True)


def names(workloads: Sequence[Workload], style: Style) -> str:
    """`kind.group/name`, as kubectl -o name writes it."""
    return "".join(f"{_typed(workload)}/{workload.name}\n" for workload in workloads)


def _typed(workload: Workload) -> str:
    return ".".join(part for part in (workload.kind.lower(), workload.api_group) if part)


def _blocks(workloads: Sequence[Workload], style: Style, *, full: bool) -> str:
    short = list(shortages(workloads))
    blocks = ("\n".join(_workload(workload, style, full, short)) for workload in workloads)
    return "\n\n".join(blocks) + "\n"


def _workload(workload: Workload, style: Style, full: bool, short: Sequence[Shortage]) -> Lines:
    if style.headers:
        yield from paragraph(f"{workload.title} ({workload.source})", style, tone=BOLD, hanging=STEP)
        definition = workload.definition
        yield from paragraph(f"read by {definition.name} ({definition.origin})", style, tone=DIM, hanging=STEP)
    if workload.faults:
        theirs = any(fault.where is None or fault.where.file == workload.source.file for fault in workload.faults)
        whose = "its manifest" if theirs else "its definition"
        yield from paragraph(f"It could not be read: {whose} has faults.", style, tone=YELLOW)
        return
    if workload.is_open:
        lacked = " and ".join(missing.lacked for missing in workload.lacking)
        yield from paragraph(f"Its pods depend on {lacked}.", style, tone=YELLOW)
        yield from _state(workload, style)
        return
    yield from grid(list(_rows(workload, style)), style)
    yield from _state(workload, style)
    for line in (*_gang(workload), *_short(workload, short), *_claims(workload), *_unsupported(workload)):
        yield from paragraph(line, style, hanging=STEP)
    if full:
        yield from _notes(workload, style)


def _rows(workload: Workload, style: Style) -> Iterator[list[Cell]]:
    if style.headers:
        headers = ("ROLE", "PODS", "REQUESTS", "PER POD", "TOTAL")
        yield [Cell(text, DIM, right=text in ("PER POD", "TOTAL")) for text in headers]
    for role in workload.roles:
        last = role is workload.roles[-1]
        amounts = {**per_pod(role), **_claimed(role)}
        totals = {name: amount * role.replicas for name, amount in amounts.items()}
        yield from _part(f"{'└─' if last else '├─'} {role.name}", _pods(role), amounts, totals, "" if last else "│")
    claimed = {_device(name): count for name, count in (devices(workload) or {}).items()}
    yield from _part("total", str(workload.pods), {}, {**total(workload), **claimed}, "")


def _claimed(role: Role) -> dict[str, int]:
    return {_device(name): count for name, count in known_devices_per_pod(role).items()}


def _device(name: str) -> str:
    return f"{name} (claim)"


def _part(
    name: str, pods: str, amounts: Mapping[str, int], totals: Mapping[str, int], trunk: str
) -> Iterator[list[Cell]]:
    """A line per resource; the first of them bears the name, the others the trunk of the tree."""
    first = (name, pods)
    for resource in _by_weight(totals) or [""]:
        each, together = (_amount(resource, found) for found in (amounts, totals))
        yield [*map(Cell, first), Cell(resource), Cell(each, right=True), Cell(together, right=True)]
        first = (trunk, "")


def _by_weight(names: Mapping[str, int]) -> list[str]:
    return sorted(names, key=lambda name: (name in SMALL_PRINT, name))


def _amount(resource: str, amounts: Mapping[str, int]) -> str:
    return readable(resource, amounts[resource]) if resource in amounts else ""


def _pods(role: Role) -> str:
    most = "" if role.maximum is None else str(role.maximum)
    elastic = role.minimum != role.replicas or role.maximum not in (None, role.replicas)
    return f"{role.replicas} ({role.minimum}–{most or '…'})" if elastic else str(role.replicas)


def _state(workload: Workload, style: Style) -> Lines:
    """What there is of a live object."""
    state = workload.state
    if state is None:
        return
    phase = f" (phase {state.phase})" if state.phase and state.phase not in state.matched else ""
    yield f"status: {', '.join(state.matched)}{phase}"
    yield from grid([[Cell(text) for text in _standing(role, state)] for role in workload.roles], style, STEP)
    if state.strangers.listed:
        known = "are of roles that nobody knows now" if workload.is_open else "belong to no role"
        text = f"{state.strangers.listed} of its pods {known}: {', '.join(_without_role(state.strangers))}"
        yield from paragraph(text, style, hanging=STEP)
    for text in state.unread:
        yield from paragraph(f"pods may be missing here: {text}", style, tone=YELLOW, hanging=STEP)


def _standing(role: Role, state: State) -> tuple[str, str, str]:
    found = state.roles[role.name]
    return role.name, ", ".join([f"{found.ready}/{role.replicas} ready", *_others(found)]), compact(found.nodes)


def _without_role(found: RoleState) -> Lines:
    yield f"{found.ready} ready"
    yield from _others(found)
    if found.nodes:
        yield compact(found.nodes)


def _others(found: RoleState) -> Lines:
    """Of pods, those that do not run."""
    waiting = found.pods - sum(found.nodes.values())
    counted = ((waiting, "without a node"), (found.finished - found.failed, "finished"), (found.failed, "failed"))
    return (f"{count} {words}" for count, words in counted if count)


def _gang(workload: Workload) -> Lines:
    for group in workload.groups:
        yield f"{'further gangs' if group.further else 'gang'}: {_group(group)}"
    if workload.min_available is not None:
        yield _least(workload, workload.min_available)
    for role in workload.roles:
        if role.starts_after:
            yield f"{role.name} starts after {role.starts_after}"
        if role.injected:
            yield f"{role.name} is added by the controller, the manifest does not name it"


def _least(workload: Workload, least: int) -> str:
    """What a scheduler waits for: it may be fewer pods than those that need one another."""
    pods = f"{least} pod{'s' * (least != 1)}"
    if any(least < sum(group.members.values()) for group in workload.groups):
        return f"a gang scheduler starts {pods}, whichever they are, before the rest of the gang"
    return f"starts with {pods} or more"


def _short(workload: Workload, short: Sequence[Shortage]) -> Lines:
    for one in short:
        if any(gang in workload.gangs for gang in one.gangs):
            yield f"{one.title} {one.text}"


def _group(group: GangGroup) -> str:
    members = ", ".join(f"{count} {role}" for role, count in group.members.items())
    return members if group.count == 1 else f"{group.count} × ({members})"


def _claims(workload: Workload) -> Lines:
    for shared in workload.shared_claims:
        users = ", ".join(f"{pods} {role}" for role, pods in shared.roles.items())
        each = ", ".join(f"{count} {name}" for name, count in sorted((shared.devices or {}).items())) or "of devices"
        yield f"{shared.count} claim{'s' * (shared.count != 1)} {shared.name} ({each}) shared by {users}"
    for role in workload.roles:
        for claim in role.template.device_claims:
            if claim.devices is None:
                name = claim.template or claim.claim
                yield f"{role.name}: which devices {name} asks for is not known"


def _unsupported(workload: Workload) -> Lines:
    for asked in workload.unmodelled:
        yield f"not evaluated: {asked.path}, {asked.text}"


def _notes(workload: Workload, style: Style) -> Lines:
    if workload.notes:
        yield ""
        yield from paragraph("notes", style, tone=BOLD)
        yield from grid([[Cell(note.path), Cell(note.text)] for note in workload.notes], style, STEP)
