"""Kinds registered with a Run:ai control plane as workload types: the request, and what became of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from advisor import files
from advisor.commands import exits, terminal
from advisor.commands.given import Clusters, Output, Registering, Result
from advisor.commands.kinds import examples, listing, platform
from advisor.commands.kinds.platform import CONFLICT, Platform
from advisor.definitions import versions
from advisor.definitions.layers import Entry
from advisor.errors import Fault, InputError
from advisor.render import json

TIMEOUT = 20.0
MOST_VERSIONS = 4
_NAME = re.compile(r"[A-Z][a-z0-9]*([A-Z][a-z0-9]*)*")
_GROUP = re.compile(r"[a-z](?:[a-z0-9.-]*[a-z0-9])?")
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Ids:
    """Of the category and the priority; None: not looked up."""

    category: str | None = None
    priority: str | None = None


def run(given: Registering, output: Output) -> Result:
    """Prints the requests, or sends them. Exit code 1 where a type exists there already. Raises InputError."""
    _refuse(given)
    entries = _entries(given, output)
    bodies = _bodies(entries)
    _say_what_stays(entries, output)
    if not given.to:
        return _printed(bodies, _stated(given), output)
    door = platform.open_platform(given.to, given.token_file, given.authority, given.timeout or TIMEOUT)
    ids = _looked_up(given, door)
    if given.dry_run:
        terminal.note(f"nothing was sent to {door.host}", no_color=output.no_color)
        return _printed(bodies, ids, output)
    return _sent(bodies, ids, door, output)


def _refuse(given: Registering) -> None:
    if given.to and not given.token_file:
        raise InputError(
            "--to needs a token", hint="--token-file FILE: a token is never an argument, which others can see"
        )
    if given.to and not (given.category and given.priority):
        raise InputError("a workload type has a category and a priority", hint="--category NAME --priority NAME")
    lonely = [name for name, one in (("--token-file", given.token_file), ("--dry-run", given.dry_run)) if one]
    if lonely and not given.to:
        raise InputError(f"{lonely[0]} has no effect without --to", hint="without --to the request is only printed")


def _entries(given: Registering, output: Output) -> list[Entry]:
    of_files = [word for word in given.words if examples.is_file(word)]
    found = list(examples.in_files(of_files)) if of_files else []
    names = [word for word in given.words if word not in of_files]
    if names:
        found += listing.chosen(names, listing.at_hand(given.definition, Clusters(), output))
    if not found:
        raise InputError("name a file or a definition", hint="wm-place definitions list shows those that there are")
    return found


def _bodies(entries: Sequence[Entry]) -> list[Body]:
    """One request for each kind, with a definition for each of its versions, the most mature first."""
    of: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        of.setdefault((entry.kind.group, entry.kind.kind), []).append(entry)
    return [_body(group, kind, found) for (group, kind), found in of.items()]


def _body(group: str, kind: str, entries: Sequence[Entry]) -> Body:
    if not _NAME.fullmatch(kind) or not _GROUP.fullmatch(group):
        hint = "a type's name is a kind in CamelCase, and the core group has no name"
        raise InputError(f"{kind} of group {group or chr(34) * 2} cannot be registered", hint=hint)
    if len(entries) > MOST_VERSIONS:
        raise InputError(f"{kind} has {len(entries)} versions, {MOST_VERSIONS} at most can be registered")
    ordered = sorted(entries, key=lambda entry: versions.maturity(entry.kind.version), reverse=True)
    return {
        "name": kind,
        "group": group,
        "categoryId": None,
        "priorityId": None,
        "resourceInterfaces": [{"spec": entry.document.data["spec"]} for entry in ordered],
    }


def _say_what_stays(entries: Sequence[Entry], output: Output) -> None:
    """A platform knows definitions only."""
    with_profile = [entry.definition.name for entry in entries if entry.profile_document]
    if with_profile:
        text = f"the placement profile stays here, a control plane knows none: {', '.join(with_profile)}"
        terminal.note(text, no_color=output.no_color)


def _stated(given: Registering) -> _Ids:
    return _Ids(*(one if _is_id(one) else None for one in (given.category, given.priority)))


def _looked_up(given: Registering, door: Platform) -> _Ids:
    known = _stated(given)
    category = known.category or door.named(platform.CATEGORIES, "categories", given.category, "category")
    priority = known.priority or door.named(platform.PRIORITIES, "priorities", given.priority, "priority")
    return _Ids(category, priority)


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _printed(bodies: Sequence[Body], ids: _Ids, output: Output) -> Result:
    if None in (ids.category, ids.priority):
        text = "categoryId and priorityId are looked up by their names when it is sent (--to URL)"
        terminal.say([Fault(text)], severity="note", no_color=output.no_color)
    whole = [_with(body, ids) for body in bodies]
    if output.output == "yaml":
        return Result("---\n".join(map(files.dump, whole)), exits.PLACED)
    return Result("".join(map(json.text, whole)), exits.PLACED)


def _with(body: Body, ids: _Ids) -> Body:
    return {**body, "categoryId": ids.category, "priorityId": ids.priority}


def _sent(bodies: Sequence[Body], ids: _Ids, door: Platform, output: Output) -> Result:
    """Each on its own: what one came to is told whatever becomes of the next."""
    lines: list[str] = []
    codes: list[int] = []
    for body in bodies:
        title = f"workloadtype {body['name']}.{body['group']}"
        try:
            answer = door.create(_with(body, ids))
        except InputError as error:
            faults = [Fault(f"{title}: {fault.message}", hint=fault.hint) for fault in error.faults]
            terminal.say(faults, no_color=output.no_color)
            codes.append(exits.INPUT)
            continue
        if answer.status == CONFLICT:
            hint = "delete it there first, or add versions to it; nothing was changed"
            fault = Fault(f"{title} exists already in {door.host}", hint=hint)
            terminal.say([fault], severity="warning", no_color=output.no_color)
            codes.append(exits.NOT_NOW)
        else:
            lines.append(f"{title} registered{''.join(_id(answer.data))}\n")
    return Result("".join(lines), exits.worst(codes))


def _id(data: Any) -> Iterator[str]:
    made = data.get("id") if isinstance(data, dict) else None
    if isinstance(made, str) and _is_id(made):
        yield f" as {made}"
