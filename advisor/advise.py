"""The story, told once: a question in, a report out. No clock, no network, no randomness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor import explain
from advisor.judge import judge
from advisor.memo import FORGETFUL, Judged, Memo
from advisor.question import Question
from advisor.trial import Trial, accelerator
from advisor.verdict import FITS, Answer, Report
from advisor.workload import Workload


def advise(question: Question, memo: Memo = FORGETFUL) -> Report:
    """Every workload on every cluster, in order of arrival; what one is given is charged before the next is asked."""
    clusters = question.clusters
    answers = []
    for workload in question.workloads:
        trials = {cluster.name: Trial(workload, cluster, question) for cluster in clusters}
        answer = decide(workload, trials, question, memo)
        answers.append(answer)
        if answer.choice and workload is not question.workloads[-1]:
            charged = trials[answer.choice.cluster].assumed(answer.choice)
            clusters = tuple(charged if cluster.name == charged.name else cluster for cluster in clusters)
    return Report(question.as_of, tuple(answers))


def decide(workload: Workload, trials: Mapping[str, Trial], question: Question, memo: Memo = FORGETFUL) -> Answer:
    """A verdict for every cluster, and the one that is chosen."""
    found = {name: memo.recall(trial, _judged) for name, trial in trials.items()}
    verdicts = {name: one.verdict for name, one in found.items()}
    footprints = {name: one.footprint for name, one in found.items()}
    labels = {cluster.name: cluster.labels for cluster in question.clusters}
    choice = explain.choose(list(verdicts.values()), footprints, labels, question.policy)
    if question.thorough and choice and choice.verdict == FITS and choice.placement and choice.placement.assignment:
        placement = trials[choice.cluster].arranged(choice.placement.assurance)
        choice = verdicts[choice.cluster] = replace(choice, placement=placement)
    ranked = explain.rank(list(verdicts.values()), choice)
    return explain.tell(Answer(workload, ranked, choice, accelerator(workload, question)))


def _judged(trial: Trial) -> Judged:
    return Judged(judge(trial), trial.footprint())
