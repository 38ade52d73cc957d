"""Objects that would take too long are let in at once with a word, and keep nobody waiting."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.errors import InputError
from advisor.server import size
from tests.builders import TEAM, cluster, nodes
from tests.server.asking import Object, change, creation, deployment, job, office, template

LARGE = "wm-place: cannot be read: is too large to be judged in time"


def jobset(jobs: int, **entries: Any) -> Object:
    one = {"replicas": 1, "template": {"spec": {"parallelism": 1, "template": template(8)}}, **entries}
    spec = {"replicatedJobs": [{"name": f"r{number}", **one} for number in range(jobs)]}
    metadata = {"name": "many", "namespace": TEAM}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": spec}


def with_env(variables: int, length: int = 1) -> Object:
    found = deployment()
    env = [{"name": f"V{number}", "value": "x" * length} for number in range(variables)]
    found["spec"]["template"]["spec"]["containers"][0]["env"] = env
    return found


@pytest.mark.parametrize(
    "found",
    [
        job(),
        jobset(40),
        with_env(300),
        with_env(1, 1_500_000),
        job(annotations={"note": "x" * 1_400_000}),
    ],
)
def test_what_people_write_is_judged(found: Object) -> None:
    size.check(found)


@pytest.mark.parametrize(
    "found",
    [
        jobset(3000),
        jobset(101),
        with_env(1001),
        with_env(900, 100),
        jobset(40, more="x" * 20_000),
        jobset(40, dependsOn=[{"name": "r0", "status": "Complete"}] * 900),
        job(annotations={"note": "x" * 4_000_000}),
        {"a": [[1] * 900] * 900},
        {"a": 10**4_000_000},
    ],
)
def test_what_would_take_too_long_is_not(found: Object) -> None:
    with pytest.raises(InputError, match="too large"):
        size.check(found)


def test_however_deep() -> None:
    found: Any = "x" * 4_000_000
    for _ in range(100_000):
        found = [found]
    with pytest.raises(InputError, match="too large"):
        size.check(found)


@pytest.mark.parametrize("enforced", [False, True])
def test_too_large_is_let_in_with_a_word(enforced: bool) -> None:
    here = office(cluster(nodes=nodes(2, gpu=8)))
    decision = here.review(creation(jobset(3000)), enforced=enforced)
    assert (decision.allowed, decision.word, decision.warnings) == (True, "not-readable", (LARGE,))
    assert here.held == 0


def test_a_change_that_adds_no_pod_is_let_in_without_a_word() -> None:
    here, large = office(cluster(nodes=nodes(2, gpu=8))), jobset(3000)
    labelled = {**large, "metadata": {**large["metadata"], "labels": {"a": "b"}}}
    assert here.review(change(large, labelled)).word == "waved-through"
