"""Ask, edit, ask again: the answers before and after each step, and what was not as expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.advise import advise
from advisor.errors import at, unknown
from advisor.question import Question
from advisor.verdict import Answer, Comparison, Report, Unmet, Verdict
from advisor.whatif.scenario import Expected, Step
from advisor.whatif.sizes import named

NONE = "none"


def compare(question: Question, steps: Sequence[Step], before: Report | None = None) -> tuple[Comparison, ...]:
    """Each step starts from where the one before ended. `before`: the answer to `question`, where it is known.

    Raises InputError, with the step and the edit, for what is not there.
    """
    found = []
    before = before or advise(question)
    for number, step in enumerate(steps):
        with at(*(() if step.options else ("steps", number))):
            question = edited(question, step)
            after = advise(question)
            with at("expect"):
                unmet = tuple(_unmet(step.expect, question, after))
        found.append(Comparison(step.name, tuple(map(str, step.edits)), before, after, unmet))
        before = after
    return tuple(found)


def edited(question: Question, step: Step) -> Question:
    """The question after all edits of a step, in their order."""
    for number, edit in enumerate(step.edits):
        with at(*step.place(number)):
            question = edit(question)
    return question


def _unmet(expect: Mapping[str, Expected], question: Question, report: Report) -> Iterator[Unmet]:
    for name, expected in expect.items():
        with at(name):
            chosen = named(question.workloads, name)
        for workload, answer in zip(question.workloads, report.answers, strict=True):
            if any(workload is one for one in chosen):
                with at(name):
                    yield from _compared(expected, answer)


def _compared(expected: Expected, answer: Answer) -> Iterator[Unmet]:
    title = answer.workload.title
    decisive = answer.choice or next(iter(answer.verdicts), None)
    chosen = answer.choice.cluster if answer.choice else ""
    if expected.cluster is not None and expected.cluster != chosen:
        yield Unmet(title, "the cluster", expected.cluster or NONE, chosen or NONE)
    yield from _told(expected, decisive, title, "the ")
    verdicts = {verdict.cluster: verdict for verdict in answer.verdicts}
    for cluster, wanted in expected.clusters.items():
        if cluster not in verdicts:
            with at("clusters", cluster):
                raise unknown("cluster", cluster, verdicts)
        yield from _told(wanted, verdicts[cluster], title, f"{cluster} ")


def _told(expected: Expected, verdict: Verdict | None, title: str, whose: str) -> Iterator[Unmet]:
    found = verdict.verdict if verdict else NONE
    if expected.verdict not in (None, found):
        yield Unmet(title, f"{whose}verdict", str(expected.verdict), found)
    code = _decisive(verdict)
    if expected.reason not in (None, code):
        yield Unmet(title, f"{whose}reason", str(expected.reason), code)


def _decisive(verdict: Verdict | None) -> str:
    reasons = (*verdict.doubts, *verdict.reasons) if verdict and not verdict.placement else ()
    return reasons[0].code if reasons else NONE
