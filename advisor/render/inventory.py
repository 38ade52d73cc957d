"""Definitions as lists, findings and outcomes of examples: for people, and as plain data for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.errors import Fault, Where, dotted
from advisor.inventory import Checked, Difference, Kind, Listed, Tried
from advisor.render.faults import faults
from advisor.render.json import API, Tree
from advisor.render.layout import Cell, grid, paragraph
from advisor.render.style import BOLD, DIM, GREEN, RED, YELLOW, Style

STEP = "  "


def table(listed: Sequence[Listed], style: Style) -> str:
    return _lines(grid(list(_rows(listed, style, full=False)), style))


def wide(listed: Sequence[Listed], style: Style) -> str:
    """The same with profiles, examples, warnings and files."""
    return _lines(grid(list(_rows(listed, style, full=True)), style))


def names(listed: Sequence[Listed], style: Style) -> str:
    return _lines(one.name for one in listed)


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _rows(listed: Sequence[Listed], style: Style, *, full: bool) -> Iterator[list[Cell]]:
    titles = ["KIND", "NAME", "FROM", *(("PROFILE", "EXAMPLES", "WARNINGS", "FILE") if full else ()), "OVERRIDDEN BY"]
    if style.headers:
        yield [Cell(title, DIM, right=title in ("EXAMPLES", "WARNINGS")) for title in titles]
    for one in listed:
        tone = DIM if one.overridden_by else ""
        more = [
            Cell(one.profile or "none", tone),
            Cell(str(one.examples), tone, right=True),
            Cell(str(one.warnings), tone, right=True),
            Cell(str(one.where), tone),
        ]
        yield [
            *(Cell(text, tone) for text in (str(one.kind), one.name, one.origin)),
            *(more if full else ()),
            Cell(*_fate(one)),
        ]


def _fate(one: Listed) -> tuple[str, str]:
    """Why it is not used, or where it does not agree with others."""
    if one.overridden_by:
        return one.overridden_by, DIM
    if one.rivals:
        return f"ambiguous: {one.origin} has {one.rivals + 1} of them", RED
    return (f"differs in {', '.join(one.differs)}", YELLOW) if one.differs else ("", "")


def list_tree(listed: Sequence[Listed]) -> Tree:
    return {"apiVersion": API, "kind": "DefinitionList", "definitions": [_listed(one) for one in listed]}


def _listed(one: Listed) -> Tree:
    return {
        **_kind(one.kind),
        "name": one.name,
        "from": one.origin,
        "source": _source(one.where),
        "overriddenBy": one.overridden_by or None,
        "ambiguous": bool(one.rivals),
        "profile": one.profile or None,
        "examples": one.examples,
        "warnings": one.warnings,
        "differsIn": list(one.differs),
    }


def _kind(kind: Kind) -> Tree:
    return {"group": kind.group, "version": kind.version, "kind": kind.kind}


def _source(where: Where) -> Tree:
    return {"file": where.file, "line": where.line}


def findings(checked: Sequence[Checked], style: Style) -> str:
    """Every fault on a line of its own, as compilers print them, and a sum."""
    errors = [fault for one in checked for fault in one.errors]
    warnings = [fault for one in checked for fault in one.warnings]
    text = faults(errors, style, "error") + faults(warnings, style, "warning")
    return text + (f"{_sum(checked, errors, warnings)}\n" if style.headers else "")


def _sum(checked: Sequence[Checked], errors: Sequence[Fault], warnings: Sequence[Fault]) -> str:
    found = (
        (sum(one.kind is not None for one in checked), "definition"),
        (len(errors), "error"),
        (len(warnings), "warning"),
    )
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in found)


def sound_names(checked: Sequence[Checked], style: Style) -> str:
    """The names of those that can be used."""
    return _lines(one.name for one in checked if not one.errors and one.name)


def check_tree(checked: Sequence[Checked], exit_code: int) -> Tree:
    return {
        "apiVersion": API,
        "kind": "DefinitionCheck",
        "definitions": [
            {
                "name": one.name or None,
                "for": _kind(one.kind) if one.kind else None,
                "source": _source(one.where),
                "errors": [_fault(fault) for fault in one.errors],
                "warnings": [_fault(fault) for fault in one.warnings],
            }
            for one in checked
        ],
        "exitCode": exit_code,
    }


def _fault(fault: Fault) -> Tree:
    return {
        "path": dotted(fault.path) or None,
        "text": fault.message,
        "hint": fault.hint or None,
        "file": fault.where.file if fault.where else None,
        "line": fault.where.line if fault.where else None,
    }


def tried(outcomes: Sequence[Tried], style: Style, *, full: bool) -> str:
    """What does not hold, and how it differs; `full`: also what holds."""
    lines = [line for one in outcomes if full or not one.holds for line in _outcome(one, style)]
    held, left_out = sum(one.holds for one in outcomes), sum(bool(one.untried) for one in outcomes)
    count = len(outcomes) - left_out
    total = f"{held} of {count} example{'' if count == 1 else 's'} come out as they say"
    total += f", {left_out} not tried" if left_out else ""
    return _lines(iter([*lines, *([style.paint(total, BOLD)] if style.headers else [])]))


def _outcome(one: Tried, style: Style) -> Iterator[str]:
    word, tone = ("not tried", YELLOW) if one.untried else ("holds", GREEN) if one.holds else ("FAILS", RED)
    yield f"{style.paint(word, tone)}  {one.definition}: {one.example} ({one.where})"
    for line in (*filter(None, [one.untried]), *(line for fault in one.faults for line in str(fault).split("\n"))):
        yield from paragraph(line, style, STEP)
    if one.differences:
        yield from grid([*_titles(style), *map(_difference, one.differences)], style, STEP)


def _titles(style: Style) -> Iterator[list[Cell]]:
    if style.headers:
        yield [Cell(text, DIM) for text in ("WHAT", "EXPECTED", "FOUND")]


def _difference(one: Difference) -> list[Cell]:
    return [Cell(one.what), Cell(one.expected or "nothing"), Cell(one.found or "nothing", RED)]


def test_tree(outcomes: Sequence[Tried], exit_code: int) -> Tree:
    return {
        "apiVersion": API,
        "kind": "DefinitionTest",
        "examples": [
            {
                "definition": one.definition,
                "example": one.example,
                "source": _source(one.where),
                "holds": None if one.untried else one.holds,
                "untried": one.untried or None,
                "differences": [
                    {"what": found.what, "expected": found.expected, "found": found.found} for found in one.differences
                ],
                "errors": [_fault(fault) for fault in one.faults],
            }
            for one in outcomes
        ],
        "exitCode": exit_code,
    }
