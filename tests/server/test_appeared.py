"""Pods are found by who looks after them and by labels: all that a hold may mean, and hardly any other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.server.appeared import Alike, Appeared, Marks
from advisor.server.likeness import Likeness, Look
from tests.builders import TEAM, bound, cluster, nodes

MANY = 2000


def snapshot(*pods: Marks, namespace: str = TEAM, terminating: bool = False) -> ClusterSnapshot:
    there = [
        bound(on="n0", labels=dict(one.labels), owner=one.owner, namespace=namespace, terminating=terminating)
        for one in pods
    ]
    return cluster(nodes=nodes(1), pods=there)


def there(*pods: Marks) -> Alike:
    return Appeared(snapshot(*pods)).among(TEAM)


ONE = Marks((("a", "b"),), "Job.batch/train")
CROWD = [
    Marks((("app", "train"), ("job-name", f"train-{number}")), f"Job.batch/train-{number}") for number in range(MANY)
]


@pytest.mark.parametrize(
    ("owners", "pairs"),
    [(["Job.batch/train-1007"], []), ([], [("job-name", "train-1007")]), (["Job.batch/train-1007"], [("a", "b")])],
)
def test_among_thousands_one_is_looked_at(owners: list[str], pairs: list[tuple[str, str]]) -> None:
    assert there(*CROWD).having(owners, pairs) == [CROWD[1007]]


def test_other_namespaces_and_pods_on_their_way_out_are_not_there() -> None:
    assert not Appeared(snapshot(ONE, namespace="other")).among(TEAM).nodes
    assert not Appeared(snapshot(ONE, terminating=True)).among(TEAM).nodes


def test_pods_are_sorted_once_a_namespace() -> None:
    found = Appeared(snapshot(ONE))
    assert found.among(TEAM) is found.among(TEAM)


OWNERS = st.sampled_from(("Job.batch/x", "Job.batch/x-1", "Job.batch/x-bcd", "Pod/x", "Job.batch/y", ""))
PAIRS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(("x", "xy", "y")), max_size=3).map(
    lambda found: tuple(sorted(found.items()))
)
FORMS = st.lists(st.sampled_from(("Job.batch/x", "Job.batch/x-#", "Job.batch/x-???")), max_size=2).map(tuple)
NAMED = st.sampled_from(((), (("a", "x"),)))
LOOKS = st.builds(Look, PAIRS, PAIRS, NAMED, FORMS)


@given(pods=st.lists(st.builds(Marks, PAIRS, OWNERS), max_size=6), roles=st.lists(LOOKS, min_size=1, max_size=3))
def test_none_that_is_meant_is_passed_over(pods: list[Marks], roles: list[Look]) -> None:
    found = there(*pods)
    looks = Likeness("Job.batch/y", {f"role{number}": look for number, look in enumerate(roles)})
    assert list(looks.among(found)) == [marks for marks in sorted(found.nodes) if looks.roles(marks)]
