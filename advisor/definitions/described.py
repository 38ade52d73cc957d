"""What Kubernetes' description of its types says of a manifest: what is refused, and fields that nobody knows.

An object of Kubernetes itself is looked at as a whole. Of any other, the parts of pods are; their types are told
with the part (`pieces.check`), their words with the pods that have them (`PodTemplate.malformed`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from advisor.definitions import openapi, pieces
from advisor.definitions.openapi import Finding
from advisor.definitions.profile_schema import is_below
from advisor.errors import Fault, Path, dotted
from advisor.files import Document
from advisor.workload import Note

RULE = "unknown-field"
QUOTES = "put it in quotes: the API server takes no other number here"


def findings(data: Any, parts: Mapping[Path, tuple[str, Any]]) -> list[Finding]:
    """`parts`: places of parts of pods, each with which part it is and what is there."""
    if type_ := openapi.type_of(data):
        return openapi.found(type_, data)
    return [
        replace(one, path=(*path, *one.path))
        for path, (piece, value) in parts.items()
        for one in openapi.found(pieces.TYPES[piece], value)
    ]


def refused(
    found: Sequence[Finding], data: Any, quoted: Sequence[str], free: Sequence[str], *, whole: bool
) -> Iterator[Fault]:
    """`quoted`: below these paths the kind takes no quantity such as 0.5 or " 1". `free`: below these it takes null in
    lists. `whole`: nobody fills in what the templates lack before the API server looks at them; of their metadata it
    misses nothing."""
    wanted = ("type", "word", "lacking") if openapi.type_of(data) else ("lacking",) if whole else ()
    for one in found:
        if one.what == "fraction":
            counts = is_below(one.path, quoted)
        elif one.what == "null":
            counts = not is_below(one.path, free)
        else:
            counts = one.what in wanted and not (one.what == "lacking" and "metadata" in one.path[1:])
        if counts:
            yield Fault(one.message, one.path, hint=one.hint or (QUOTES if one.what == "fraction" else ""))


def unknown(found: Sequence[Finding], document: Document, knows: Collection[str]) -> Iterator[Note]:
    """A warning for each field that has no effect; another Kubernetes than ours may know it. `knows`: fields of the
    kind's own."""
    for one in found:
        if one.what == "unknown" and one.path[-1] not in knows:
            text = f"Kubernetes {openapi.version()} has no such field here: kubectl refuses it, or it has no effect"
            where = document.placed(Fault("", one.path)).where
            yield Note(RULE, f"{text}; {one.hint}" if one.hint else text, dotted(one.path), warns=True, where=where)
