"""Pods are found by their labels: all that a hold may mean, and hardly any other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.server.appeared import Alike, Appeared
from advisor.server.reservations import Hold, Key, hold
from tests.builders import NOON, TEAM, bound, cluster, nodes, placement, shape

MANY = 2000


def snapshot(*labels: Mapping[str, str], namespace: str = TEAM, terminating: bool = False) -> ClusterSnapshot:
    pods = [bound(on="n0", labels=one, namespace=namespace, terminating=terminating) for one in labels]
    return cluster(nodes=nodes(1), pods=pods)


def there(*labels: Mapping[str, str]) -> Alike:
    return Appeared(snapshot(*labels)).among(TEAM)


def held(name: str, *labels: Mapping[str, str]) -> Hold:
    shapes = {f"role{number}": shape(labels=one) for number, one in enumerate(labels)}
    assigned = placement(**{role: {"n0": 1} for role in shapes})
    return hold(Key("", "", TEAM, name), cluster(nodes=nodes(1)), assigned, shapes, (), NOON, NOON + timedelta(hours=1))


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("train-7", {"job-name": "train-7"}),
        ("train-7", {"app": "train", "job-name": "train-7"}),
        ("train-7", {"job-name": "train-7", "app": "train"}),
        ("train-1007", {}),
    ],
)
def test_among_thousands_one_is_looked_at(name: str, labels: Mapping[str, str]) -> None:
    pods = there(*({"app": "train", "job-name": f"train-{number}"} for number in range(MANY)))
    meant = [tuple(sorted(shape(labels=labels).labels))]
    assert len(pods.having(meant, name)) == 1


def test_all_holds_together_look_at_each_pod_about_once() -> None:
    pods = there(*({"app": "train", "job-name": f"train-{number}"} for number in range(MANY)))
    holds = (shape(labels={"app": "train", "job-name": f"train-{number}"}).labels for number in range(MANY))
    assert sum(len(pods.having([labels], "train")) for labels in holds) == MANY


def test_other_namespaces_and_pods_on_their_way_out_are_not_there() -> None:
    assert not Appeared(snapshot({"a": "b"}, namespace="other")).among(TEAM).labels
    assert not Appeared(snapshot({"a": "b"}, terminating=True)).among(TEAM).labels


def test_pods_are_sorted_once_a_namespace() -> None:
    found = Appeared(snapshot({"a": "b"}))
    assert found.among(TEAM) is found.among(TEAM)


LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(("x", "xy", "xyz", "y", "role0")), max_size=3)


@given(pods=st.lists(LABELS, max_size=6), roles=st.lists(LABELS, min_size=1, max_size=3), name=st.sampled_from("xyz"))
def test_none_that_is_meant_is_passed_over(pods: list[dict[str, str]], roles: list[dict[str, str]], name: str) -> None:
    found, one = there(*pods), held(name, *roles)
    looks = one.likeness
    assert list(looks.among(found)) == [labels for labels in found.labels if looks.roles(labels)]
