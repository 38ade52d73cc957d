"""What a review says to the person behind kubectl: a few short lines, the decision first.

An API server cuts a warning after 256 characters and drops what goes beyond 4 KB in all; control characters would cost
the whole warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from advisor.errors import Fault
from advisor.quantity import readable
from advisor.render.style import visible
from advisor.render.totals import at_once, total
from advisor.verdict import FULL, NEVER, REDUCED, UNKNOWN, Answer, Verdict, hangs_on_nodes
from advisor.workload import Workload

SHORT = 120
LONGEST = 256
TOGETHER = 3500
US = "wm-place: "

RUNS, EXPECTED = "where it runs", "where its pods are expected"
"""Why only some clusters are asked: what joins an object has to go where that is."""


def fits(answer: Answer) -> tuple[str, ...]:
    """The cluster that was chosen, and which others could not be judged."""
    chosen = answer.choice
    assert chosen
    asked = answer.workload.on(chosen.cluster)
    size = _part(answer, chosen, asked) if chosen.verdict == REDUCED else f"{_size(answer, asked)} {chosen.why}"
    head = f"{chosen.verdict.replace('-', ' ')} {chosen.cluster} ({size})"
    return _lines([head, *(_line(answer, verdict) for verdict in answer.verdicts if verdict.verdict == UNKNOWN)])


def _size(answer: Answer, asked: Workload) -> str:
    amount = at_once(asked).get(answer.accelerator)
    if amount:
        stages = " at a time" if amount != total(asked)[answer.accelerator] else ""
        return f"{readable(answer.accelerator, amount)} {answer.accelerator}{stages}"
    return f"{asked.pods} pod{'s' * (asked.pods != 1)}"


def _part(answer: Answer, chosen: Verdict, asked: Workload) -> str:
    """What of it is placed where only a part is."""
    there = chosen.placement.assignment if chosen.placement else {}
    roles = (replace(role, replicas=sum(there.get(role.name, {}).values())) for role in asked.roles)
    placed = replace(asked, roles=tuple(roles))
    nodes = len({node for assigned in there.values() for node in assigned})
    pods = f"{placed.pods} of {asked.pods} pods on {nodes} node{'s' * (nodes != 1)}"
    if not total(asked).get(answer.accelerator):
        return pods
    some, all_ = (readable(answer.accelerator, at_once(one).get(answer.accelerator, 0)) for one in (placed, asked))
    return f"{some} of {all_} {answer.accelerator}: {pods}"


def nowhere(answer: Answer, tie: str = "") -> tuple[str, ...]:
    return _lines([_no(answer, tie), *(_line(answer, verdict) for verdict in answer.verdicts)])


def refusal(answer: Answer, tie: str = "") -> str:
    """The reason of a refusal, on one line: kubectl prints it behind the name of the webhook."""
    return _cut("; ".join([_no(answer, tie), *(_line(answer, verdict) for verdict in answer.verdicts)]), TOGETHER)


def _no(answer: Answer, tie: str) -> str:
    """Which clusters were asked, and what they have not. `tie`: why no others were."""
    verdicts = {verdict.verdict for verdict in answer.verdicts}
    what = "all of its new pods" if tie else "all of it"
    one = f"{answer.verdicts[0].cluster}, {tie}," if tie and len(answer.verdicts) == 1 else ""
    clusters = f"cluster {tie}" if tie else "cluster"
    if UNKNOWN in verdicts:
        return f"cannot tell whether {one or f'some {clusters}'} has room for {what}"
    if verdicts & {FULL, REDUCED}:
        return f"{one} has no room for {what} now" if one else f"no {clusters} has room for {what} now"
    nodes = (
        " with the nodes that are there" if any(hangs_on_nodes(verdict.reasons) for verdict in answer.verdicts) else ""
    )
    return f"{one} cannot take {what}{nodes}" if one else f"no {clusters} can take {what}{nodes}"


def _line(answer: Answer, verdict: Verdict) -> str:
    """One cluster: verdict, how much of the gang would fit, why not all (the middle only while it stays short)."""
    state = "not judged" if verdict.verdict == UNKNOWN else verdict.verdict
    bare = f"{verdict.cluster} {state}: {verdict.why}"
    if verdict.largest is None or verdict.verdict in (UNKNOWN, NEVER):
        return bare
    placed = f"{sum(verdict.largest.values())} of {answer.workload.on(verdict.cluster).pods} pods fit"
    whole = f"{verdict.cluster} {state}, {placed}: {verdict.why}"
    return whole if len(US + whole) <= SHORT else bare


def faulty(faults: Sequence[Fault]) -> tuple[str, ...]:
    return _lines(f"cannot be read: {replace(fault, hint='', where=None)}" for fault in faults)


def later() -> tuple[str, ...]:
    return _lines(["no room is held, because its pods come later: they are asked about when they do"])


def together(lines: Iterable[str]) -> str:
    """Warnings as the reason of a refusal."""
    return _cut("; ".join(line.removeprefix(US) for line in lines), TOGETHER)


def unscaled(why: str) -> tuple[str, ...]:
    return _lines([f"whether some cluster has room for more of its pods was not judged: {why}"])


def undecided(seconds: float) -> tuple[str, ...]:
    return _lines([f"not decided within {seconds:g} s, so it is let in without advice, and no room is held for it"])


def broken() -> tuple[str, ...]:
    return _lines(["let in without advice because of a fault of wm-place; its log says more"])


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    """As many as an API server passes on, and how many are left out."""
    lines = [_cut(f"{US}{text}", LONGEST) for text in texts]
    kept = list(_within(lines, TOGETHER))
    left = len(lines) - len(kept)
    return (*kept, f"{US}and {left} more") if left else tuple(kept)


def _within(lines: Iterable[str], most: int) -> Iterator[str]:
    for line in lines:
        most -= len(line.encode())
        if most < 0:
            return
        yield line


def _cut(text: str, most: int) -> str:
    plain = " ".join(visible(text).split())
    return plain if len(plain) <= most else f"{plain[: most - 3]}..."
