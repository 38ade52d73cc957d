"""The story, told once: a question in, a report out. No clock, no network, no randomness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from advisor import company, explain
from advisor.cluster import ClusterSnapshot
from advisor.judge import judge
from advisor.memo import FORGETFUL, Judged, Memo
from advisor.question import Question
from advisor.trial import Trial, accelerator, stay_assured
from advisor.verdict import ANY_ORDER, FITS, THIS_ASSIGNMENT, Answer, Report, Verdict
from advisor.workload import Workload


def advise(question: Question, memo: Memo = FORGETFUL) -> Report:
    """Every workload on every cluster, in order of arrival; what one is given is charged before the next is asked.

    Those that share a gang object are asked as one, in the place of the first of them.
    """
    clusters = question.clusters
    places = company.companies(question.workloads)
    asked = [company.joined([question.workloads[place] for place in each]) for each in places]
    answers = []
    for workload in asked:
        trials = {cluster.name: Trial(workload.on(cluster.name), cluster, question) for cluster in clusters}
        answer = decide(workload, trials, question, memo)
        answers.append(answer)
        if answer.choice and workload is not asked[-1]:
            chosen = trials[answer.choice.cluster]
            clusters = tuple(
                chosen.assumed(answer.choice, one) if one.is_the_same_as(chosen.cluster) else one for one in clusters
            )
    found = dict(zip(places, _assured_together(answers, question), strict=True))
    one_by_one = (one for each, answer in found.items() for one in _each(each, answer, question))
    return Report(question.as_of, tuple(explain.tell(answer) for _, answer in sorted(one_by_one, key=itemgetter(0))))


def _each(places: tuple[int, ...], answer: Answer, question: Question) -> Iterator[tuple[int, Answer]]:
    """The answer for each of those that were asked as one, with its place in the question."""
    if len(places) == 1:
        yield places[0], answer
        return
    clusters = [verdict.cluster for verdict in answer.verdicts]
    own = [explain.shown(question.workloads[place], clusters) for place in places]
    titles = {name: company.titles([question.workloads[place].on(name) for place in places]) for name in clusters}
    for number, (place, workload) in enumerate(zip(places, own, strict=True)):
        names = {cluster: each[number] for cluster, each in titles.items()}
        yield place, company.parted(answer, workload, names, [other for other in own if other is not workload])


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
    shown = explain.shown(workload, [verdict.cluster for verdict in ranked])
    return Answer(shown, ranked, choice, accelerator(shown, question))


def _assured_together(answers: Sequence[Answer], question: Question) -> Iterator[Answer]:
    """Workloads that share a cluster are sure of their places in any order only if that holds for all their pods."""
    clusters = {cluster.name: cluster for cluster in question.clusters}
    placed = {id(one): clusters[one.choice.cluster] for one in answers if one.choice and _has_pods(one.choice)}
    for answer in answers:
        cluster = placed.get(id(answer))
        others = [other for other in answers if cluster and _shares(cluster, placed.get(id(other)))]
        if answer.choice and len(others) > 1:
            assured = cluster and stay_assured([other.workload for other in others], cluster, question)
            yield _assured(answer, answer.choice, ANY_ORDER if assured else THIS_ASSIGNMENT)
        else:
            yield answer


def _has_pods(verdict: Verdict) -> bool:
    return verdict.placement is not None and bool(verdict.placement.assignment)


def _shares(cluster: ClusterSnapshot, other: ClusterSnapshot | None) -> bool:
    return other is not None and cluster.is_the_same_as(other)


def _assured(answer: Answer, choice: Verdict, assurance: str) -> Answer:
    assert choice.placement
    changed = replace(choice, placement=replace(choice.placement, assurance=assurance))
    verdicts = tuple(changed if verdict is choice else verdict for verdict in answer.verdicts)
    return replace(answer, verdicts=verdicts, choice=changed)


def _judged(trial: Trial) -> Judged:
    return Judged(judge(trial), trial.footprint())
