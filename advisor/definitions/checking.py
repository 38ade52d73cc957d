"""Everything that can be said of files of definitions before they meet a manifest: all faults and all doubts.

The rules of the format are `schema.py`'s, `validate.py`'s and `doubts.py`'s; those of a placement profile are
`profile_checks.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from advisor.definitions import layers, schema
from advisor.definitions.engine import Engine
from advisor.definitions.profile_checks import about_profile
from advisor.definitions.sandbox import SANDBOX
from advisor.definitions.schema import Definition
from advisor.definitions.validate import Findings, validate
from advisor.errors import Fault, InputError
from advisor.files import Document
from advisor.inventory import Checked, Kind


def checked(documents: Sequence[Document], engine: Engine) -> tuple[Checked, ...]:
    """Every definition in the documents, and profiles that stand alone, each with all that is wrong with it."""
    lonely: list[Fault] = []
    found = []
    for definition, own in layers.pairs(documents, lonely):
        with SANDBOX.together():
            found.append(_checked(definition, own, engine))
    found += [Checked(fault.where or documents[0].where, errors=(fault,)) for fault in lonely]
    return tuple(_each_kind_once(found))


def _checked(document: Document, own: Document | None, engine: Engine) -> Checked:
    definition: Definition | None = None
    findings = Findings()
    try:
        definition, warnings = schema.parse(document.data)
        findings = validate(definition, engine)
        findings = replace(findings, warnings=(*warnings, *findings.warnings))
    except InputError as error:
        findings = Findings(error.faults)
    of_profile = about_profile(own, definition, engine) if own else Findings()
    return Checked(
        where=document.where,
        name=_name(document.data),
        kind=_kind(definition),
        errors=_in_order(*map(document.placed, findings.errors), *of_profile.errors),
        warnings=_in_order(*map(document.placed, findings.warnings), *of_profile.warnings),
    )


def _in_order(*faults: Fault) -> tuple[Fault, ...]:
    """As they stand in the file."""
    return tuple(sorted(faults, key=lambda fault: (fault.where.line or 0) if fault.where else 0))


def _name(data: Any) -> str:
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else ""


def _kind(definition: Definition | None) -> Kind | None:
    kind = definition.root.kind if definition else None
    return Kind(kind.group, kind.version, kind.kind) if kind else None


def _each_kind_once(found: Sequence[Checked]) -> Iterator[Checked]:
    """Rule 15, for files: whoever needs a kind that two definitions have is refused."""
    first: dict[Kind, Checked] = {}
    for one in found:
        before = first.setdefault(one.kind, one) if one.kind else one
        if before is one:
            yield one
        else:
            fault = Fault(f"{one.kind} has a definition in {before.where} already", where=one.where)
            yield replace(one, errors=(*one.errors, fault))
