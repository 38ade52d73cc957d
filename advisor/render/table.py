"""The answer as a person reads it: a line per cluster, then what to do, then how far the answer can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from advisor.quantity import readable
from advisor.render.ages import age, duration, is_read, oldest
from advisor.render.layout import Cell, grid, paragraph
from advisor.render.ranges import assigned
from advisor.render.style import BOLD, CYAN, DIM, GREEN, YELLOW, Style
from advisor.render.totals import total
from advisor.verdict import ANY_ORDER, FITS, FULL, NEVER, REDUCED, UNKNOWN, Answer, Reason, Report, Verdict
from advisor.workload import Workload

TONES = {FITS: GREEN, REDUCED: CYAN, FULL: YELLOW, UNKNOWN: YELLOW}
STEP = "  "

Lines = Iterator[str]


def table(report: Report, style: Style) -> str:
    """A line per cluster, and below it the choice and the nearest miss."""
    return _report(report, style, full=False)


def wide(report: Report, style: Style) -> str:
    """The same with the assignment, all reasons, all verified changes, and notes."""
    return _report(report, style, full=True)


def names(report: Report, style: Style) -> str:
    """The chosen cluster of each workload, a line each: empty where none is chosen, so that lines keep their places."""
    return "".join(f"{answer.choice.cluster if answer.choice else ''}\n" for answer in report.answers)


def _report(report: Report, style: Style, *, full: bool) -> str:
    blocks = ["\n".join(_block(answer, report.as_of, style, full)) for answer in report.answers]
    if style.headers:
        blocks.append("\n".join(read(report, style)))
    return "\n\n".join(text for text in blocks if text) + "\n"


def _block(answer: Answer, as_of: datetime, style: Style, full: bool) -> Lines:
    """Without headers there are only the rows, for programs that read lines."""
    rows = list(_wide_rows(answer, as_of, style) if full else _rows(answer, style))
    if not style.headers:
        yield from grid(rows, style)
        return
    yield from title(answer, style)
    yield from grid(rows, style)
    yield from advice(answer, style, full)
    if full:
        for verdict in answer.verdicts:
            yield from details(verdict, style)
        yield from _notes(answer.workload, style)


def title(answer: Answer, style: Style) -> Lines:
    workload = answer.workload
    asked = "" if workload.faults else f": {_asked(answer)}"
    yield from paragraph(f"{workload.title} ({workload.source}){asked}", style, tone=BOLD, hanging=STEP)


def _asked(answer: Answer) -> str:
    """How much that is, in the resource that decides."""
    if answer.workload.is_open:
        return "how many pods is not known"
    amounts = total(answer.workload)
    names = [answer.accelerator] if answer.accelerator in amounts else [n for n in ("cpu", "memory") if n in amounts]
    return ", ".join(
        [_plural(answer.workload.pods, "pod"), *(f"{readable(name, amounts[name])} {name}" for name in names)]
    )


def _rows(answer: Answer, style: Style) -> Iterator[list[Cell]]:
    if style.headers and answer.verdicts:
        yield _headers("  CLUSTER", "VERDICT", "FREE", "LARGEST GANG", "WHY")
    for verdict in answer.verdicts:
        yield [*_standing(verdict, answer), Cell(largest(verdict, answer.workload)), Cell(verdict.why)]


def _wide_rows(answer: Answer, as_of: datetime, style: Style) -> Iterator[list[Cell]]:
    if style.headers and answer.verdicts:
        yield _headers("  CLUSTER", "VERDICT", "FREE", "LARGEST GANG", "AGE", "WHY")
    for verdict in answer.verdicts:
        by_role = Cell(_largest_by_role(verdict, answer.workload))
        yield [*_standing(verdict, answer), by_role, Cell(_age(verdict, as_of), right=True), Cell(verdict.why)]


def _headers(*texts: str) -> list[Cell]:
    return [Cell(text, DIM, right=text in ("FREE", "AGE")) for text in texts]


def _standing(verdict: Verdict, answer: Answer) -> list[Cell]:
    chosen = verdict is answer.choice
    return [
        Cell(f"{'*' if chosen else ' '} {verdict.cluster}", BOLD if chosen else ""),
        Cell(verdict.verdict, TONES.get(verdict.verdict, "")),
        Cell(free(verdict), right=True),
    ]


def free(verdict: Verdict) -> str:
    return "-" if verdict.free is None else str(verdict.free)


def largest(verdict: Verdict, workload: Workload) -> str:
    if verdict.verdict == FITS:
        return "all"
    if verdict.largest is None or workload.is_open:
        return "-"
    return f"{sum(verdict.largest.values())} of {workload.on(verdict.cluster).pods}"


def _largest_by_role(verdict: Verdict, workload: Workload) -> str:
    if verdict.verdict == FITS:
        return "all"
    if verdict.largest is None:
        return "-"
    replicas = workload.on(verdict.cluster).sizes
    return ", ".join(f"{count} of {replicas[role]} {role}" for role, count in verdict.largest.items()) or "-"


def advice(answer: Answer, style: Style, full: bool) -> Lines:
    """What to do: where to place it, and what the nearest miss would need."""
    if answer.workload.faults:
        yield from paragraph("Not judged: its manifest has faults.", style, tone=BOLD)
        return
    yield ""
    if answer.company:
        yield from paragraph(f"It goes together with {_company(answer)}.", style, hanging=STEP)
    yield from paragraph(_decision(answer, full), style, tone=f"{BOLD};{GREEN}" if answer.choice else BOLD)
    if full:
        yield from _assignment(answer, style)
    smaller = next((v for v in answer.verdicts if v.verdict == REDUCED and v is not answer.choice), None)
    if smaller and smaller.placement and not answer.choice:
        size = _sizes(smaller)
        yield from paragraph(f"Smaller: {smaller.cluster} takes {size} with --allow-reduced.", style, hanging=STEP)
    nearest = next((v for v in answer.verdicts if v.changes and v is not answer.choice), None)
    if nearest:
        text = f"Nearest miss: {nearest.cluster}. To make it fit: {nearest.changes[0].text}."
        yield from paragraph(text, style, hanging=STEP)


def _company(answer: Answer) -> str:
    """The others, and what they share."""
    keys = {gang.key for other in answer.company for gang in other.gangs}
    shared = ", ".join(gang.title for gang in answer.workload.gangs if gang.key in keys)
    return f"{', '.join(other.title for other in answer.company)}: their pods share {shared or 'gangs'}"


def _decision(answer: Answer, full: bool) -> str:
    chosen = answer.choice
    if chosen is None:
        return _refusal(answer)
    if chosen.placement is None or not chosen.placement.assignment:
        return f"Place it on {chosen.cluster}: it asks for no pods."
    if chosen.verdict == REDUCED:
        return _smaller(chosen)
    turn = " in its turn" if answer.workload.on(chosen.cluster).in_turn else ""
    if chosen.placement.assurance == ANY_ORDER:
        return f"Place it on {chosen.cluster}: every pod has a node{turn}, in whatever order they are scheduled."
    assignment = "this assignment" if full else "the assignment of -o wide"
    return f"Place it on {chosen.cluster} with {assignment}: scheduled in another order it may not fit."


def _smaller(chosen: Verdict) -> str:
    if chosen.placement and not any(chosen.placement.size.values()):
        return f"Leave it out on {chosen.cluster}: the others start there without it."
    decided = any(note.code == "order-decides" for note in chosen.notes)
    order = " As it is, all of its pods are made, and their order decides which of them get room." if decided else ""
    return f"Place it on {chosen.cluster} at a smaller size: {_sizes(chosen)}.{order}"


def _refusal(answer: Answer) -> str:
    verdicts = {verdict.verdict for verdict in answer.verdicts}
    if UNKNOWN in verdicts:
        unknown = ", ".join(verdict.cluster for verdict in answer.verdicts if verdict.verdict == UNKNOWN)
        return f"Cannot tell: {unknown} may or may not take all of it."
    if verdicts == {NEVER}:
        return "No cluster can ever take all of it: waiting does not help."
    return "No cluster can take all of it now; a retry may find room."


def _sizes(verdict: Verdict) -> str:
    sizes = verdict.placement.size if verdict.placement else {}
    named = ", ".join(f"{count} {role}" for role, count in sizes.items())
    return named if any(sizes.values()) else "the others without it"


def _assignment(answer: Answer, style: Style) -> Lines:
    placement = answer.choice.placement if answer.choice else None
    if placement:
        rows = [[Cell(role), Cell(assigned(nodes))] for role, nodes in placement.assignment.items()]
        yield from grid(rows, style, STEP)


def details(verdict: Verdict, style: Style) -> Lines:
    """Everything that is known about why a cluster does not take it, or not surely."""
    told = {doubt.text for doubt in verdict.doubts}
    facts = [
        *(("in doubt", text) for text in _facts(verdict.doubts)),
        *(("reason", text) for text in _facts(verdict.reasons)),
        *(("change", change.text) for change in verdict.changes),
        *(("not read", f"{gap.what}: {gap.text}") for gap in verdict.gaps if gap.text not in told),
        *(("note", text) for text in _facts(verdict.notes)),
    ]
    if facts:
        yield ""
        yield from paragraph(f"{verdict.cluster}: {verdict.verdict}", style, tone=BOLD)
        yield from grid([[Cell(label, DIM), Cell(text)] for label, text in facts], style, STEP)


def _facts(reasons: Sequence[Reason]) -> Lines:
    """Sentences, the roles they are about, and the filter of kube-scheduler that says so; equal ones once."""
    roles: dict[str, list[str]] = {}
    for reason in reasons:
        text = f"{reason.text} ({reason.filter})" if reason.filter else reason.text
        roles.setdefault(text, []).append(reason.role)
    for text, names in roles.items():
        about = ", ".join(dict.fromkeys(filter(None, names)))
        yield f"{about}: {text}" if about else text


def _notes(workload: Workload, style: Style) -> Lines:
    rows = [[Cell(note.path), Cell(note.text)] for note in workload.notes]
    rows += [[Cell(asked.path), Cell(f"not evaluated: {asked.text}")] for asked in workload.unmodelled]
    if rows:
        yield ""
        yield from paragraph("notes on the workload", style, tone=BOLD)
        yield from grid(rows, style, STEP)


def read(report: Report, style: Style) -> Lines:
    """Which clusters the answer rests on, and how old what was read of them is."""
    verdicts = next((answer.verdicts for answer in report.answers if answer.verdicts), ())
    if verdicts:
        yield from paragraph(f"{_how_many(verdicts)}, {_how_old(verdicts, report.as_of)}.", style, hanging=STEP)
    for verdict in sorted(verdicts, key=lambda verdict: verdict.cluster):
        missing = ", ".join(gap.what for gap in verdict.gaps)
        if missing and is_read(verdict):
            yield from paragraph(f"Not read of {verdict.cluster}: {missing}.", style, hanging=STEP)


def _how_many(verdicts: Sequence[Verdict]) -> str:
    missing = sorted(verdict.cluster for verdict in verdicts if not is_read(verdict))
    read = f"{len(verdicts) - len(missing)} of {_plural(len(verdicts), 'cluster')} read"
    return f"{read} (not {', '.join(missing)})" if missing else read


def _how_old(verdicts: Sequence[Verdict], as_of: datetime) -> str:
    """Recordings are judged as of their own time, so that time is named."""
    older = duration((as_of - (oldest(verdicts) or as_of)).total_seconds())
    moment = f"as of {as_of.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return moment if older == "0s" else f"{moment}; the oldest data is {older} older"


def _age(verdict: Verdict, as_of: datetime) -> str:
    seconds = age(verdict, as_of)
    return "-" if seconds is None or not is_read(verdict) else duration(seconds)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
