"""Assumed placements as values: what arrives is let go of, nothing is counted twice, nothing is owed for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Charge
from advisor.server.appeared import Appeared
from advisor.server.holds import Hold, Key, charged, hold
from advisor.server.likeness import Likeness, Look
from advisor.server.reservations import Reservations
from tests.builders import GPU, NOON, TEAM, bound, cluster, nodes, placement, quota, shape

LATER = NOON + timedelta(minutes=5)
EMPTY = cluster(nodes=nodes(4, gpu=8))
OWNER = "Job.batch/train"
"""What looks after all pods here, so that they are those of every hold, unless a test says otherwise."""


def key(name: str = "train") -> Key:
    return Key("batch", "Job", TEAM, name)


def held(
    assignment: Mapping[str, Mapping[str, int]],
    *,
    name: str = "train",
    there: ClusterSnapshot = EMPTY,
    since: datetime = NOON,
    charges: tuple[Charge, ...] = (),
) -> Hold:
    pods = {role: shape(gpu=1) for role in assignment}
    return hold(key(name), there, placement(**assignment), pods, charges, since, LATER, looks(*assignment))


def looks(*roles: str) -> Likeness:
    return Likeness(OWNER, {role: Look((("role", role),), (), (), (OWNER,)) for role in roles})


def there(*pods: tuple[str, int], owner: str = OWNER, seconds: float = 10, **labels: str) -> ClusterSnapshot:
    """The cluster `seconds` later, with so many pods per node."""
    on = [bound(on=node, count=count, labels=labels, owner=owner, gpu=1) for node, count in pods]
    found = cluster(nodes=nodes(4, gpu=8), pods=on)
    return replace(found, taken_at=NOON + timedelta(seconds=seconds))


def applied(reservations: Reservations, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """The cluster as it will be once everything that it is held for is there."""
    return reduce(charged, reservations.on(snapshot.name), snapshot)


def left(reservations: Reservations) -> list[int]:
    return [one.pods for one in reservations.holds]


# -- what a hold does to a cluster ------------------------------------------------------------------------------------


def test_a_hold_takes_its_room() -> None:
    here = applied(Reservations((held({"worker": {"n0": 2, "n1": 1}}),)), EMPTY)
    assert here.nodes.free(GPU).tolist() == [6, 7, 8, 8]


def test_on_another_cluster_nothing_is_taken() -> None:
    elsewhere = cluster(nodes=nodes(4, gpu=8), name="elsewhere")
    assert applied(Reservations((held({"worker": {"n0": 2}}),)), elsewhere) is elsewhere


def test_on_a_node_that_is_gone_nothing_is_taken() -> None:
    smaller = cluster(nodes=nodes(1, gpu=8))
    assert applied(Reservations((held({"worker": {"n0": 2, "n3": 4}}),)), smaller).nodes.free(GPU).tolist() == [6]


def test_quotas_are_charged_with_the_object_and_its_pods() -> None:
    charges = (
        Charge("limit", "pods", 9, 9, {"worker": 1}),
        Charge("limit", "count/jobs.batch", 9, 9, {}, fixed=1),
    )
    here = cluster(nodes=nodes(4, gpu=8), quotas=[quota(hard={"pods": 9, "count/jobs.batch": 9})])
    waiting = Reservations((held({"worker": {"n0": 3}}, charges=charges),))
    assert applied(waiting, here).quotas[0].used == {"pods": 3, "count/jobs.batch": 1}
    begun = waiting.seen(there(("n0", 1)))
    assert applied(begun, here).quotas[0].used == {"pods": 2, "count/jobs.batch": 0}


# -- what ends it -----------------------------------------------------------------------------------------------------


def test_its_time() -> None:
    reservations = Reservations((held({"worker": {"n0": 1}}),))
    assert reservations.at(LATER - timedelta(seconds=1)).holds
    assert not reservations.at(LATER).holds


def test_the_end_of_its_object() -> None:
    reservations = Reservations((held({"worker": {"n0": 1}}), held({"worker": {"n1": 1}}, name="other")))
    assert [one.key.name for one in reservations.without(key()).holds] == ["other"]


def test_fewer_pods_are_let_go_of_from_the_last_node_on() -> None:
    two = Reservations((held({"worker": {"n0": 2, "n1": 1, "n2": 1}}), held({"worker": {"n3": 2}}, name="other")))
    assert two.resized(key(), {"worker": -1}).holds[0].placement == {"worker": {"n0": 2, "n1": 1}}
    assert left(two.resized(key(), {"worker": -3})) == [1, 2]
    assert left(two.resized(key(), {"worker": -9})) == [2]
    assert left(two.resized(key(), {"leader": -9})) == [4, 2]


def test_an_object_has_one_hold() -> None:
    two = Reservations((held({"worker": {"n0": 2}}), held({"worker": {"n3": 2}}, name="other")))
    assert left(two.plus(held({"worker": {"n1": 1}}))) == [2, 1]


def test_pods_that_there_was_no_room_for_go_before_those_that_are_held() -> None:
    grown = Reservations((held({"worker": {"n0": 3}}),)).resized(key(), {"worker": 4}).resized(key(), {"worker": 2})
    assert left(grown) == [3]
    assert left(grown.resized(key(), {"worker": -6})) == [3]
    assert left(grown.resized(key(), {"worker": -5}).resized(key(), {"worker": -2})) == [2]


def test_the_arrival_of_all_pods() -> None:
    reservations = Reservations((held({"worker": {"n0": 2}}),))
    assert left(reservations.seen(there(("n0", 2)))) == []


@pytest.mark.parametrize(
    ("pods", "kept"),
    [
        ([], {"worker": {"n0": 2, "n1": 1}}),
        ([("n0", 1)], {"worker": {"n0": 1, "n1": 1}}),
        ([("n1", 1)], {"worker": {"n0": 2}}),
        ([("n3", 1)], {"worker": {"n0": 1, "n1": 1}}),  # wherever it went, one less is expected
        ([("n3", 1), ("n1", 1)], {"worker": {"n0": 1}}),
    ],
)
def test_half_a_gang_lets_go_of_its_half(pods: list[tuple[str, int]], kept: Mapping[str, Mapping[str, int]]) -> None:
    (one,) = Reservations((held({"worker": {"n0": 2, "n1": 1}}),)).seen(there(*pods)).holds
    assert one.placement == kept


def test_nothing_is_counted_twice_while_half_a_gang_is_there() -> None:
    reservations = Reservations((held({"worker": {"n0": 2, "n1": 1}}),))
    for pods in ([], [("n0", 1)], [("n0", 2)], [("n0", 2), ("n1", 1)]):
        seen = there(*pods)
        reservations = reservations.seen(seen)
        assert applied(reservations, seen).nodes.free(GPU).tolist() == [6, 7, 8, 8]


def test_a_snapshot_that_was_begun_before_the_hold_says_nothing() -> None:
    reservations = Reservations((held({"worker": {"n0": 1}}, since=NOON + timedelta(seconds=20)),))
    assert left(reservations.seen(there(("n0", 1), seconds=10))) == [1]
    assert left(reservations.seen(there(("n0", 1), seconds=30))) == []


def test_pods_that_were_there_before_are_not_waited_for() -> None:
    before = there(("n0", 2), seconds=0)
    reservations = Reservations((held({"worker": {"n1": 1}}, there=before),))
    assert left(reservations.seen(there(("n0", 2)))) == [1]
    assert left(reservations.seen(there(("n0", 2), ("n1", 1)))) == []


def test_pods_on_their_way_out_are_no_arrival() -> None:
    leaving = cluster(nodes=nodes(4, gpu=8), pods=[bound(on="n0", owner=OWNER, gpu=1, terminating=True)])
    leaving = replace(leaving, taken_at=NOON + timedelta(seconds=10))
    assert left(Reservations((held({"worker": {"n0": 1}}),)).seen(leaving)) == [1]


# -- what turns up in another cluster ---------------------------------------------------------------------------------


def elsewhere(*pods: tuple[str, int], seconds: float = 10) -> ClusterSnapshot:
    return replace(there(*pods, seconds=seconds), name="elsewhere")


def test_pods_that_turn_up_in_another_cluster_are_not_waited_for() -> None:
    waiting = Reservations((held({"worker": {"n0": 2, "n1": 1}}),))
    some = waiting.seen(elsewhere(("n3", 1)))
    assert (left(some), some.holds[0].cluster) == ([2], "here")
    assert left(some.seen(elsewhere(("n3", 1), seconds=20))) == [2]
    assert left(some.seen(elsewhere(("n3", 2), ("n0", 1), seconds=20))) == []
    assert left(some.seen(there(("n0", 2), seconds=20))) == []


def test_pods_that_were_in_another_cluster_before_are_those_of_a_namesake() -> None:
    """And so are those that come there later."""
    before = {name: Appeared(one) for name, one in (("here", EMPTY), ("elsewhere", elsewhere(("n0", 1), seconds=0)))}
    pods = {"worker": shape(gpu=1)}
    one = hold(key(), EMPTY, placement(worker={"n0": 2}), pods, (), NOON, LATER, looks("worker"), fleet=before)
    assert left(Reservations((one,)).seen(elsewhere(("n0", 5)))) == [2]
    assert left(Reservations((one,)).seen(there(("n0", 1)))) == [1]


def test_who_is_promised_the_room_comes_first() -> None:
    """Both are named alike; the pods that come are those of the one that is expected there."""
    strayed = held({"worker": {"n0": 1}})
    expected = replace(held({"worker": {"n0": 1}}), cluster="elsewhere", passed={})
    seen = Reservations((strayed, expected)).seen(elsewhere(("n0", 1)))
    assert [one.cluster for one in seen.holds] == ["here"]


# -- whose pods they are ----------------------------------------------------------------------------------------------


def test_pods_of_another_owner_are_somebody_elses() -> None:
    reservations = Reservations((held({"worker": {"n0": 1}}),))
    assert left(reservations.seen(there(("n0", 1), owner="Job.batch/train-2"))) == [1]


def test_roles_are_told_apart_by_what_a_pod_bears() -> None:
    both = held({"leader": {"n0": 1}, "worker": {"n0": 1}})
    (one,) = Reservations((both,)).seen(there(("n0", 1), role="worker")).holds
    assert one.placement == {"leader": {"n0": 1}}


def test_the_first_that_waits_is_served_first() -> None:
    two = Reservations((held({"worker": {"n0": 2}}, name="a"), held({"worker": {"n1": 2}}, name="b")))
    assert left(two.seen(there(("n0", 1)))) == [1, 2]
    assert left(two.seen(there(("n0", 1))).seen(there(("n0", 3)))) == [1]
    assert left(two.seen(there(("n0", 4)))) == []


def test_pods_that_served_one_never_serve_another() -> None:
    two = Reservations((held({"worker": {"n0": 2}}, name="a"), held({"worker": {"n1": 2}}, name="b")))
    seen = two.seen(there(("n0", 2)))
    for seconds in (20, 30, 40):
        seen = seen.seen(there(("n0", 2), seconds=seconds))
    assert [(one.key.name, one.pods) for one in seen.holds] == [("b", 2)]


# -- laws -------------------------------------------------------------------------------------------------------------

NODES = ("n0", "n1", "n2", "n3")
COUNTS = st.dictionaries(st.sampled_from(NODES), st.integers(1, 3), max_size=4)
HOLDS = st.lists(st.tuples(st.sampled_from("abc"), COUNTS), max_size=4)


@given(holds=HOLDS, looks=st.lists(COUNTS, max_size=5))
def test_no_pod_is_an_arrival_twice_and_no_hold_is_owed_more_than_it_was(
    holds: list[tuple[str, dict[str, int]]], looks: list[dict[str, int]]
) -> None:
    """However pods come and go: those that were taken for arrivals were there, each for one hold."""
    reservations = Reservations()
    for name, assignment in holds:
        reservations = reservations.plus(held({"worker": assignment}, name=name))
    most, asked = 0, sum(left(reservations))
    for number, look in enumerate(looks, start=1):
        before = reservations
        reservations = reservations.seen(there(*look.items(), seconds=10 * number))
        released = sum(left(before)) - sum(left(reservations))
        most += max(0, sum(look.values()) - sum(looks[number - 2].values() if number > 1 else ()))
        assert 0 <= released <= sum(look.values())
        assert asked - sum(left(reservations)) <= most
        assert all(count > 0 for one in reservations.holds for n in one.placement.values() for count in n.values())


@given(holds=HOLDS, look=COUNTS)
def test_room_and_holds_add_up(holds: list[tuple[str, dict[str, int]]], look: dict[str, int]) -> None:
    """What is charged is what the pods there take and what the holds still wait for; nothing is negative."""
    reservations = Reservations()
    for name, assignment in holds:
        reservations = reservations.plus(held({"worker": assignment}, name=name))
    seen = there(*look.items())
    after = reservations.seen(seen)
    taken = applied(after, seen).nodes.requested.get(GPU)
    waiting = Counter[str]()
    for one in after.holds:
        for assigned in one.placement.values():
            waiting.update(assigned)
    if taken is not None:
        assert taken.tolist() == [look.get(node, 0) + waiting[node] for node in NODES]
        assert (taken >= 0).all()
