"""Faults of a manifest at their own places, before anything is made of it: rules, counts, then the parts of pods.

Each fault is told once, by whoever sees it first: the rules of the kind, then the description of the types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from advisor.definitions import (
    described,
    forms,
    metadata,
    outputs,
    pieces,
    profile,
    rules,
    shapes,
    suspend,
    tree,
)
from advisor.definitions.catalog import Found
from advisor.definitions.engine import Prepared
from advisor.definitions.profile import Context
from advisor.definitions.profile_schema import ProfileSpec
from advisor.errors import Faults, InputError, Path
from advisor.files import Document
from advisor.workload import Note

Part = tuple[str, Any, bool]
"""Which part of a pod, what is there, and must it be."""


def check(
    document: Document, given: Prepared, namespace: str, found: Found, context: Context | None, *, unsure: bool = False
) -> list[Note]:
    """Gives what is only worth a warning. `unsure`: what the object refers to is not known, so nothing is said of it.

    Raises InputError with all faults.
    """
    faults = Faults()
    own = context.profile.spec if context else None
    with faults.collect("metadata"):
        metadata.check(given.data, core=bool(own and own.literal))
    notes = list(_by_rules(context, faults, unsure=unsure)) if context else []
    judged = {fault.path for fault in faults.found}
    for path, value in suspend.misstated(found.entry.definition, given, found.entry.origin.engine):
        if path not in judged:
            faults.add(f"must be true or false, not {shapes.kind_of(value)}", *path)
    volumes = context.value(outputs.TEXTS, own.volumes, []) if context and own else []
    there: dict[Path, tuple[str, Any]] = {}
    for path, part in dict(parts(given, found, context)).items():
        if not _is_within(path, judged) and _checked(path, part, namespace, own, volumes, faults):
            there[path] = part[:2]
    return [*notes, *_by_types(document, given, there, own, faults)]


def _checked(
    path: Path, part: Part, namespace: str, own: ProfileSpec | None, volumes: Sequence[str], faults: Faults
) -> bool:
    """Is the part of a pod there? What is wrong with it is collected."""
    piece, value, needed = part
    fills, whole = (own.fills, own.literal) if own else ((), False)
    there = False
    with faults.collect(*path):
        there = _is_there(piece, value, needed=needed)
    if there:
        with faults.collect(*path):
            pieces.check(piece, value, namespace, fills=fills)
        told, further = {fault.path for fault in faults.found}, Faults()
        with further.collect(*path):
            pieces.check_refused(piece, value, whole=whole, fills=fills, volumes=volumes)
            if whole and piece == pieces.TEMPLATE:
                pieces.check_doomed(value, namespace, alone=not path, fills=fills)
        faults.found += (fault for fault in further.found if not _is_within(fault.path, told))
    return there


def _by_types(
    document: Document, given: Prepared, there: dict[Path, tuple[str, Any]], own: ProfileSpec | None, faults: Faults
) -> Iterator[Note]:
    """What the description of the types says beside that. Raises what was collected."""
    seen = described.findings(given.data, there)
    quoted, free, knows = (own.quoted, own.free, own.knows) if own else ((), (), ())
    refused = described.refused(seen, given.data, quoted, free, whole=bool(own and own.literal and not own.fills))
    judged = {fault.path for fault in faults.found}
    further = [fault for fault in refused if not _is_within(fault.path, judged)]
    told = {fault.path for fault in further}
    faults.found = [*(fault for fault in faults.found if not _is_within(fault.path, told)), *further]
    faults.raise_if_any()
    return described.unknown(seen, document, knows)


def _is_within(path: Path, others: Iterable[Path]) -> bool:
    return any(path[: len(one)] == one for one in others)


def _by_rules(context: Context, faults: Faults, *, unsure: bool) -> Iterator[Note]:
    """What the profile's rules and counts say of the object: faults are collected, warnings given."""
    spec, given = context.profile.spec, context.document
    every = profile.whole(spec.rules)
    wanted = [rule for rule in every if not (unsure and rules.refers(rule))]
    library = profile.library(spec.uses)
    try:
        broken, notes = rules.broken(wanted, library, given, context.engine, context.variables)
    except InputError as error:
        raise context.blamed(error, ("spec", "rules")) if context.source else error from None
    faults.found += broken
    yield from notes

    def places(text: str) -> list[tuple[Path, Any]]:
        return rules.places(text, given, context.engine, context.variables, library)

    for path, value in (place for text in spec.counts for place in places(text)):
        with faults.collect(*path):
            _whole_count(value)
    formed = [(rule.is_, place) for rule in every if rule.is_ in forms.TYPES for place in places(rule.at)]
    for form, (path, value) in formed:
        with faults.collect(*path):
            forms.check(str(form), value)


def parts(given: Prepared, found: Found, context: Context | None) -> Iterator[tuple[Path, Part]]:
    """Places of pod templates and of parts of pods: which part, what is there, must it be.

    Where a path says so, not where one is built.
    """
    engine = found.entry.origin.engine
    for component in tree.leaves(found.entry.definition):
        text = component.spec_definition.pod_template_spec_path if component.spec_definition else None
        for path, pod in rules.places(text, given, engine) if text else ():
            yield path, (pieces.TEMPLATE, pod, component.instance_id_path is not None)
    if context is None:
        return
    library = profile.library(context.profile.spec.uses)
    for rule in profile.whole(context.profile.spec.rules):
        if rule.is_ in pieces.NAMES:
            for path, value in rules.places(rule.at, given, context.engine, context.variables, library):
                yield path, (rule.is_, value, False)


def _whole_count(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"must be a whole number, not {value if isinstance(value, float) else shapes.kind_of(value)}")
    if value < 0:
        raise InputError(f"must not be negative: {value}" if -value < shapes.MOST_PODS else "must not be negative")
    if value > shapes.MOST_PODS:
        raise InputError(f"is out of range: at most {shapes.MOST_PODS}")


def _is_there(piece: str, value: Any, *, needed: bool) -> bool:
    if value is None and needed:
        raise InputError("is required", hint="nothing else says what these pods are")
    wanted, words = (list, "a list") if piece == pieces.TOLERATIONS else (dict, "a mapping")
    if value is not None and not isinstance(value, wanted):
        raise InputError(f"must be {words}, not {shapes.kind_of(value)}")
    return value is not None
