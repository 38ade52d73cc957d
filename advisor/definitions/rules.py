"""What a kind wants of a manifest, as its profile's `rules` say it: faults and remarks at their own places.

Rules see the manifest as it is written, before any default. All of them are one jq program: paths and verdicts come out
of it and never a value, so that no message can repeat what a manifest holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from advisor.definitions import expressions, forms, pieces
from advisor.definitions.engine import NO_VARIABLES, Engine, Prepared
from advisor.definitions.profile_schema import Rule
from advisor.errors import Fault, InputError, Path, dotted
from advisor.workload import Note

_TYPES = {
    "mapping": "object",
    "list": "array",
    "text": "string",
    "flag": "boolean",
    **dict.fromkeys(pieces.NAMES, "object"),
    pieces.TOLERATIONS: "array",
    **forms.TYPES,
}
_WORDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def broken(
    rules: Sequence[Rule], library: str, given: Prepared, engine: Engine, variables: Mapping[str, Any] = NO_VARIABLES
) -> tuple[list[Fault], list[Note]]:
    """Every rule that the manifest breaks; what lies inside a place that is wrong is not judged any more."""
    faults: list[Fault] = []
    notes: list[Note] = []
    if not rules:
        return faults, notes
    (found,) = engine.evaluate(f"{library}{_program(tuple(rules))}", given, variables=variables, edits=True)
    for rule, places in zip(rules, found, strict=True):
        for path, type_, holds in places:
            message = _message(rule, type_, holds)
            if not message or any(fault.path == tuple(path[: len(fault.path)]) for fault in faults):
                continue
            if rule.note:
                notes.append(Note("kind", message, dotted(tuple(path)), warns=True))
            else:
                faults.append(Fault(message, tuple(path), hint=rule.hint))
    return faults, notes


def refers(rule: Rule) -> bool:
    """Does it look at other objects than the manifest?"""
    return "$refs" in f"{rule.at}{rule.must or ''}"


def _message(rule: Rule, type_: str, holds: bool) -> str:
    """What is wrong with a place of this type, for which the condition holds or does not; "" when nothing is."""
    if type_ == "null":
        return rule.says or "is required" if rule.required else ""
    if rule.is_ and _TYPES[rule.is_] != type_:
        return f"must be {_WORDS[_TYPES[rule.is_]]}, not {_WORDS[type_]}"
    return "" if holds else rule.says


@lru_cache(maxsize=64)
def _program(rules: tuple[Rule, ...]) -> str:
    """For each rule [path, type, does the condition hold] of every place. A path that leads nowhere has no places."""
    return f". as $object | [{', '.join(map(_judged, rules))}]"


def _judged(rule: Rule) -> str:
    """Each text is looked at alone first: within a program it must stay in its brackets."""
    must = rule.must or "true"
    for text in (rule.at, must):
        expressions.check(text, edits=True)
    return (
        f"(try [path({rule.at}\n)] catch [] | map(. as $path | $object | getpath($path) | . as $value"
        f" | [$path, type, (try ([$value | ({must}\n)] | length == 1 and .[0]) catch false)]))"
    )


def places(
    text: str, given: Prepared, engine: Engine, variables: Mapping[str, Any] = NO_VARIABLES, library: str = ""
) -> list[tuple[Path, Any]]:
    """Where in the object a jq path points, with what stands there; nothing where the text is no plain path."""
    program = f"{library}path({text}\n) as $p | [$p, getpath($p)]"
    try:
        expressions.check(text, edits=True)
        pairs = engine.evaluate(program, given, variables=variables, edits=True)
    except InputError:
        return []
    return [(tuple(path), value) for path, value in pairs]
