"""A workload that is another one in every cluster: each is judged by its own, and told with the pods of the chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.advise import advise
from advisor.errors import Fault
from advisor.question import Question
from advisor.render import table
from advisor.verdict import Answer
from advisor.whatif.edits import Copies, Replicas
from advisor.workload import Missing, Reference, Workload
from tests.builders import cluster, gang, nodes, question, role, workload

RUNTIME = Reference("example.com", "Runtime", "small")
OPEN = workload(missing=(Missing((RUNTIME,)),))
LACKING = workload(missing=(Missing((RUNTIME,), absent=True),))
EU, US = cluster(nodes(2, gpu=8), name="eu"), cluster(nodes(2, gpu=8), name="us")


def of(pods: int, gpu: int = 8, name: str = "worker") -> Workload:
    return workload(role(name, pods, gpu=gpu), groups=[gang(**{name: pods})])


def varied(**variants: Workload) -> Workload:
    return replace(OPEN, variants=variants)


def answer(asked: Question) -> Answer:
    return advise(asked).answers[0]


def verdicts(found: Answer) -> dict[str, str]:
    return {verdict.cluster: verdict.verdict for verdict in found.verdicts}


def test_every_cluster_is_judged_by_its_own() -> None:
    found = answer(question(varied(eu=of(3), us=of(2)), EU, US))
    assert verdicts(found) == {"us": "fits", "eu": "never"}
    assert found.choice and found.choice.cluster == "us"
    assert found.workload.pods == 2
    assert found.accelerator == "nvidia.com/gpu"


def test_a_note_says_where_the_pods_are_others() -> None:
    found = answer(question(varied(eu=of(1), us=of(2)), EU, US)).workload
    (note,) = [note for note in found.notes if note.rule == "reference"]
    assert note.text in (
        "these are its pods in eu; in us they are others",
        "these are its pods in us; in eu they are others",
    )
    assert answer(question(varied(eu=of(2), us=of(2)), EU, US)).workload.notes == ()


def test_the_largest_gang_is_one_of_the_clusters_own() -> None:
    found = answer(question(varied(eu=of(9), us=of(7)), EU, US))
    shown = {verdict.cluster: table.largest(verdict, found.workload) for verdict in found.verdicts}
    assert shown == {"eu": "2 of 9", "us": "2 of 7"}


def test_one_that_lacks_the_object_is_a_no_and_one_that_was_not_asked_is_unknown() -> None:
    found = answer(question(varied(eu=LACKING, us=OPEN), EU, US))
    assert verdicts(found) == {"eu": "never", "us": "unknown"}
    assert found.choice is None
    assert [verdict.why for verdict in found.verdicts] == [
        "its pods depend on Runtime small, which was not found: --with FILE names it",
        "there is no Runtime small, on which its pods depend",
    ]
    assert found.workload.is_open


def test_what_could_not_be_read_is_said() -> None:
    blind = cluster(nodes(2, gpu=8), name="eu", gaps=["Runtime.example.com"])
    (verdict,) = answer(question(varied(eu=OPEN), blind)).verdicts
    assert (verdict.verdict, verdict.doubts[0].code) == ("unknown", "unreadable")
    assert verdict.why == "Runtime.example.com: forbidden"


def test_an_unreachable_cluster_is_only_that() -> None:
    (verdict,) = answer(question(varied(eu=OPEN), cluster(name="eu", gaps=["cluster"]))).verdicts
    assert [doubt.subject for doubt in verdict.doubts] == ["cluster"]


@pytest.mark.parametrize(
    ("code", "verdict", "why"),
    [
        ("invalid", "never", "the manifest is not valid there: spec.pods is too large"),
        ("unreadable", "unknown", "the manifest is not valid there: spec.pods is too large"),
    ],
)
def test_where_it_is_not_valid_it_is_never_a_workload_without_pods(code: str, verdict: str, why: str) -> None:
    wrong = replace(workload(), faults=(Fault("is too large", ("spec", "pods"), code=code),))
    found = answer(question(varied(eu=wrong, us=of(1)), EU, US))
    assert verdicts(found) == {"us": "fits", "eu": verdict}
    assert found.verdicts[1].why == why


def test_what_is_placed_is_charged_as_it_is_there() -> None:
    first, second = varied(eu=of(2)), of(1)
    found = advise(question(first, replace(second, name="next"), EU)).answers
    assert [verdicts(one) for one in found] == [{"eu": "fits"}, {"eu": "full"}]


class TestEdits:
    def test_another_size_is_one_in_every_cluster_that_has_the_role(self) -> None:
        asked = question(varied(eu=of(1), us=of(1, name="other")), EU, US)
        (edited,) = Replicas("worker", 3)(asked).workloads
        assert (edited.on("eu").pods, edited.on("us").pods) == (3, 1)
        assert edited.on("eu").groups == (gang(worker=3),)
        with pytest.raises(Exception, match='no workload has a role "leader"\n    roles are other, worker'):
            Replicas("leader", 3)(asked)

    def test_copies_are_copies_everywhere(self) -> None:
        asked = question(varied(eu=of(1), us=of(2)), EU, US)
        found = Copies("train", 2)(asked).workloads
        assert [(one.name, one.on("eu").name, one.on("us").pods) for one in found] == [
            ("train-1", "train-1", 2),
            ("train-2", "train-2", 2),
        ]
