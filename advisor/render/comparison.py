"""A scenario as a person reads it: what each step changed, and what that does to every workload on every cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.render import table as plain
from advisor.render.layout import Cell, grid, paragraph
from advisor.render.style import BOLD, DIM, GREEN, RED, Style
from advisor.render.table import STEP, TONES
from advisor.verdict import Answer, Comparison, Verdict

ABSENT = "-"
HEADERS = ("  CLUSTER", "BEFORE", "AFTER", "FREE", "LARGEST GANG", "WHY")


def table(steps: Sequence[Comparison], style: Style) -> str:
    """Before and after, a line per cluster, for each step."""
    return _steps(steps, style, full=False)


def wide(steps: Sequence[Comparison], style: Style) -> str:
    """The same, with the whole answer after each step below it."""
    return _steps(steps, style, full=True)


def names(steps: Sequence[Comparison], style: Style) -> str:
    """The clusters chosen after the last step, a line each."""
    return plain.names(steps[-1].after, style)


def _steps(steps: Sequence[Comparison], style: Style, *, full: bool) -> str:
    blocks = ["\n".join(_step(step, style, full)) for step in steps]
    if style.headers:
        blocks.append("\n".join(plain.read(steps[-1].after, style)))
    return "\n\n".join(text for text in blocks if text) + "\n"


def _step(step: Comparison, style: Style, full: bool) -> Iterator[str]:
    if style.headers:
        changes = "; ".join(step.edits) or "nothing is changed"
        yield from paragraph(f"{step.name}: {changes}", style, tone=BOLD, hanging=STEP)
        yield ""
    before = {answer.workload.title: answer for answer in step.before.answers}
    for number, answer in enumerate(step.after.answers):
        if number and style.headers:
            yield ""
        yield from _answer(before.get(answer.workload.title), answer, style, full)
    if style.headers:
        yield from _expectations(step, style)


def _answer(before: Answer | None, after: Answer, style: Style, full: bool) -> Iterator[str]:
    if style.headers:
        yield from plain.title(after, style)
    yield from grid(list(_rows(before, after, style)), style)
    if style.headers:
        yield from plain.advice(after, style, full)
    if style.headers and full:
        for verdict in after.verdicts:
            yield from plain.details(verdict, style)


def _rows(before: Answer | None, after: Answer, style: Style) -> Iterator[list[Cell]]:
    if style.headers:
        yield [Cell(text, DIM) for text in HEADERS]
    old = {verdict.cluster: verdict for verdict in before.verdicts} if before else {}
    for verdict in after.verdicts:
        then = old.pop(verdict.cluster, None)
        yield _row(then, verdict, before or after, after)
    for lost in old.values():
        yield [Cell(f"  {lost.cluster}"), *map(Cell, (lost.verdict, ABSENT, ABSENT, ABSENT, "the cluster is gone"))]


def _row(before: Verdict | None, after: Verdict, old: Answer, answer: Answer) -> list[Cell]:
    chosen = after is answer.choice
    largest = plain.largest(after, answer.workload)
    return [
        Cell(f"{'*' if chosen else ' '} {after.cluster}", BOLD if chosen else ""),
        Cell(before.verdict if before else ABSENT),
        Cell(after.verdict, TONES.get(after.verdict, "")),
        Cell(_from_to(plain.free(before or after), plain.free(after))),
        Cell(_from_to(plain.largest(before, old.workload) if before else largest, largest)),
        Cell(after.why),
    ]


def _from_to(then: str, now: str) -> str:
    return now if then == now else f"{then} → {now}"


def _expectations(step: Comparison, style: Style) -> Iterator[str]:
    if step.unmet:
        yield ""
        yield from paragraph("Not as expected:", style, tone=f"{BOLD};{RED}")
        for unmet in step.unmet:
            yield from _difference(unmet.workload, unmet.what, unmet.expected, unmet.found, style)


def _difference(workload: str, what: str, expected: str, found: str, style: Style) -> Iterator[str]:
    yield from paragraph(f"{workload}: {what}", style, STEP, hanging=STEP)
    yield from paragraph(f"- {expected}", style, STEP * 2, RED)
    yield from paragraph(f"+ {found}", style, STEP * 2, GREEN)
