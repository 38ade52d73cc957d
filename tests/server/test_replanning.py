"""Room is promised once wherever pods land: kube-scheduler knows nothing of the nodes that a hold is on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.labels import Taint
from tests.builders import cluster, node
from tests.server.asking import Office, change, creation, deployment, job, office, removal
from tests.server.test_promises import HASH, fleet, room_left, run_by, running


def place_of(here: Office, name: str) -> list[str]:
    """The nodes that room is held on for an object."""
    (one,) = (hold for hold in here.desk.reservations.holds if hold.key.name == name)
    return sorted(one.nodes)


def two_promised(count: int) -> Office:
    here = office(fleet(count))
    for name in ("a", "b"):
        here.review(creation(job(name)))
    assert (place_of(here, "a"), place_of(here, "b")) == (["n0"], ["n1"])
    return here


@pytest.mark.parametrize("labels", [run_by("a"), {"whose": "nobody"}], ids=["of the first", "of nobody"])
def test_where_others_land_nothing_is_held(labels: Mapping[str, str]) -> None:
    here = two_promised(4)
    here.read(fleet(4, *running(labels, 1)))
    assert all("n1" not in hold.nodes for hold in here.desk.reservations.holds)
    assert room_left(here, 3 - here.held)


def test_what_can_stay_where_it_is_stays_there() -> None:
    here = two_promised(3)
    here.read(fleet(3, *running(run_by("a"), 2)))
    assert (here.held, place_of(here, "b")) == (1, ["n1"])


@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        ({}, True),
        ({"unschedulable": True}, False),
        ({"ready": False}, False),
        ({"taints": [Taint("repair", "", "NoSchedule")]}, False),
        ({"taints": [Taint("repair", "", "PreferNoSchedule")]}, True),
        (None, False),
    ],
)
def test_a_node_that_takes_no_pods_any_more_holds_none(facts: dict[str, Any] | None, kept: bool) -> None:
    here = two_promised(4)
    first = [] if facts is None else [node("n0", gpu=8, **facts)]
    here.read(cluster(nodes=[*first, *(node(f"n{number}", gpu=8) for number in (1, 2, 3))], name="east"))
    assert (place_of(here, "a"), place_of(here, "b")) == (["n0"] if kept else ["n2"], ["n1"])
    assert room_left(here, 2 if kept else 1)


def test_what_has_lost_its_room_gets_it_back_before_others() -> None:
    here = two_promised(2)
    here.read(fleet(2, *running({"whose": "nobody"}, 0, 1)))
    assert (here.held, [hold.due for hold in here.desk.reservations.holds]) == (0, [{"job": 1}, {"job": 1}])
    here.read(fleet(2, *running({"whose": "nobody"}, 0)))
    assert (here.held, place_of(here, "a")) == (1, ["n1"])
    assert room_left(here, 0)
    here.read(fleet(2, *running({"whose": "nobody"}, 0), *running(run_by("a"), 1)))
    assert [(hold.key.name, hold.pods, hold.due) for hold in here.desk.reservations.holds] == [("b", 0, {"job": 1})]


def test_what_never_had_room_gets_none_later() -> None:
    """It waits in no queue of ours."""
    here = office(fleet(2))
    here.review(creation(deployment(pods=1)))
    here.review(change(deployment(pods=1), deployment(pods=3)))
    here.read(fleet(4))
    assert (here.held, room_left(here, 3)) == (1, True)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "scale", "come", "come", "delete"]),
        st.sampled_from("abc"),
        st.integers(0, 5),
        st.randoms(use_true_random=False),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_each_pod_is_promised_a_node_and_none_twice(steps: list[tuple[str, str, int, Any]]) -> None:
    """Six nodes for a pod each; pods land on any free one. What is let in is exactly what there is room for."""
    here, sizes, pods = office(fleet(6)), dict[str, int](), dict[tuple[str, int], int]()

    def read() -> ClusterSnapshot:
        bound = [pod for (name, _), on in pods.items() for pod in running({"app": name, **HASH}, on)]
        return fleet(6, *bound)

    for what, name, number, chance in steps:
        total = sum(sizes.values())
        if what == "create" and name not in sizes and number:
            allowed = here.review(creation(deployment(name, number)), enforced=True).allowed
            assert allowed == (total + number <= 6)
            sizes |= {name: number} if allowed else {}
        elif what == "scale" and name in sizes:
            asked = change(deployment(name, sizes[name]), deployment(name, number))
            allowed = here.review(asked, enforced=True).allowed
            assert allowed == (number <= sizes[name] or total - sizes[name] + number <= 6)
            sizes |= {name: number} if allowed else {}
        elif what == "come" and name in sizes:
            free = [on for on in range(6) if on not in pods.values()]
            missing = [(name, pod) for pod in range(sizes[name]) if (name, pod) not in pods][:number]
            pods |= dict(zip(missing, chance.sample(free, len(missing)), strict=True))
        elif what == "delete" and sizes.pop(name, 0):
            here.review(removal(deployment(name, 1)))
        pods = {(owner, pod): on for (owner, pod), on in pods.items() if pod < sizes.get(owner, 0)}
        here.read(read())
        assert here.held == sum(sizes.values()) - len(pods)
