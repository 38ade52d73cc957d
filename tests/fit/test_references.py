"""Objects that the pods depend on: surely missing is a no, not found is a doubt (definitions.md 14.2 d)."""

import pytest

from advisor.advise import advise
from advisor.fit import examine
from advisor.verdict import NEVER, UNKNOWN
from advisor.workload import Missing, Reference
from tests.builders import cluster, gpus, nodes, question, role, workload

RUNTIME = Reference("example.com", "Runtime", "small")
FURTHER = Reference("example.com", "ClusterRuntime", "small")


@pytest.mark.parametrize(
    ("missing", "refused", "doubted"),
    [
        (Missing((RUNTIME,)), False, True),
        (Missing((RUNTIME,), absent=True), True, False),
        (Missing((RUNTIME,), required=False), False, True),
        (Missing((RUNTIME,), required=False, absent=True), False, False),
    ],
)
def test_what_it_means(missing: Missing, refused: bool, doubted: bool) -> None:
    found = examine(workload(missing=(missing,)), cluster(nodes(1)), gpus())
    assert [reason.subject for reason in found.refusals] == ["Runtime small"] * refused
    assert [(doubt.reason.code, doubt.restricts) for doubt in found.doubts] == [("missing-reference", False)] * doubted


def test_others_that_nobody_looked_for_are_not_called_missing() -> None:
    every = Missing((Reference("example.com", "Runtime"),), required=False, others=True, that="is large")
    verdict_, why = verdict(every, pods=1)
    assert (verdict_, why) == (UNKNOWN, "could not read any other Runtime that is large")


def test_what_none_of_all_does_is_said() -> None:
    every = tuple(Reference("example.com", kind) for kind in ("Runtime", "ClusterRuntime"))
    assert verdict(Missing(every, absent=True, that="is large")) == (
        NEVER,
        "there is no Runtime or ClusterRuntime that is large, on which its pods depend",
    )


def verdict(*missing: Missing, pods: int = 0) -> tuple[str, str]:
    roles = [role(replicas=pods, cpu=1)] if pods else []
    (answer,) = advise(question(workload(*roles, missing=missing), cluster(nodes(1)))).answers
    assert answer.choice is None
    return answer.verdicts[0].verdict, answer.verdicts[0].why


def test_without_it_nobody_can_tell() -> None:
    asked = Missing((RUNTIME, FURTHER))
    assert verdict(asked) == (
        UNKNOWN,
        "its pods depend on Runtime small or ClusterRuntime small, which was not found: --with FILE names it",
    )


def test_where_it_surely_is_not_no_pod_ever_comes() -> None:
    assert verdict(Missing((RUNTIME,), absent=True)) == (NEVER, "there is no Runtime small, on which its pods depend")


def test_a_yes_that_it_could_turn_is_none() -> None:
    assert verdict(Missing((RUNTIME,), required=False), pods=1)[0] == UNKNOWN
