"""Room is promised once wherever pods land: kube-scheduler knows nothing of the nodes that a hold is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.cluster import ClusterSnapshot, VolumeClaim
from advisor.labels import HOSTNAME, Taint
from tests.builders import Bound, bound, claim, cluster, node, nodes, on_nodes, port, term
from tests.server.asking import Object, Office, change, creation, deployment, job, office, removal, template
from tests.server.test_phases import init_on, of, staged
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


def wary(**spec: Any) -> Object:
    """A Job `a` of one pod that may not be anywhere."""
    found = job("a", 1)
    found["spec"]["template"]["spec"] |= spec
    return found


def keeping_away(key: str) -> Object:
    term = {"labelSelector": {"matchLabels": {"whose": "nobody"}}, "topologyKey": key}
    return wary(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def zoned(*zones: str, pods: Sequence[Bound] = (), **facts: Any) -> ClusterSnapshot:
    on = [node(f"n{number}", gpu=8, labels={"zone": zone}) for number, zone in enumerate(zones)]
    return cluster(nodes=on, pods=pods, name="east", **facts)


def disk(zone: str) -> VolumeClaim:
    return claim("disk", reach=on_nodes(term(f"zone={zone}")))


def nobodys(on: str) -> Bound:
    return bound(on=on, labels={"whose": "nobody"}, owner="x", ports=[port(80)])


LISTENING = template(8)["spec"]["containers"][0] | {"ports": [{"containerPort": 80, "hostPort": 80}]}
DISK = [{"name": "d", "persistentVolumeClaim": {"claimName": "disk"}}]


@pytest.mark.parametrize(
    ("asked", "first", "then"),
    [
        (wary(containers=[LISTENING]), zoned(*"aabb"), zoned(*"aabb", pods=[nobodys("n0")])),
        (wary(nodeSelector={"zone": "a"}), zoned(*"aabb"), zoned(*"babb")),
        (keeping_away(HOSTNAME), zoned(*"aabb"), zoned(*"aabb", pods=[nobodys("n0")])),
        (keeping_away("zone"), zoned(*"abab"), zoned(*"abab", pods=[nobodys("n2")])),
        (wary(volumes=DISK), zoned(*"abab", volume_claims=[disk("a")]), zoned(*"abab", volume_claims=[disk("b")])),
    ],
    ids=["host port", "selector", "anti-affinity", "anti-affinity in a zone", "volume"],
)
def test_a_node_that_a_rule_closes_to_a_pod_holds_it_no_more(
    asked: Object, first: ClusterSnapshot, then: ClusterSnapshot
) -> None:
    here = office(first)
    assert here.review(creation(asked)).word == "fits"
    assert place_of(here, "a") == ["n0"]
    here.read(then)
    assert (here.held, place_of(here, "a")) == (1, ["n1"])
    here.read(then)
    assert place_of(here, "a") == ["n1"]


def test_pods_of_its_own_that_have_come_close_a_node_as_well() -> None:
    """Each keeps away from the others; the first has come where the second was expected."""
    term = {"labelSelector": {"matchLabels": {"job-name": "a"}}, "topologyKey": HOSTNAME}
    asked = wary(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    asked["spec"] |= {"parallelism": 2, "completions": 2}
    here = office(cluster(nodes=nodes(3, gpu=16), name="east"))
    here.review(creation(asked))
    here.read(cluster(nodes=nodes(3, gpu=16), pods=running(run_by("a"), 1), name="east"))
    assert (here.held, place_of(here, "a")) == (1, ["n0"])


def test_what_waits_for_others_leaves_its_room_before_anybody_loses_his() -> None:
    """The first stage has landed where somebody else is expected, who may have its place."""
    here = office(fleet(2))
    here.review(creation(staged()))
    here.review(creation(job("x", 1)))
    here.read(fleet(2, *init_on(1)))
    assert (place_of(here, "pipe"), place_of(here, "x")) == (["n1"], ["n0"])
    assert here.review(creation(job("y", 1)), enforced=True).word == "refused"


def test_two_that_land_on_each_others_nodes_change_places() -> None:
    here, other = office(fleet(2)), staged()
    other["metadata"]["name"] = "pipe2"
    labels = {**of("init"), "jobset.sigs.k8s.io/jobset-name": "pipe2", "job-name": "pipe2-init-0"}
    here.review(creation(staged()))
    here.review(creation(other))
    here.read(fleet(2, *init_on(1), *running(labels, 0)))
    assert (here.held, place_of(here, "pipe"), place_of(here, "pipe2")) == (2, ["n1"], ["n0"])


@pytest.mark.parametrize(("pods", "word"), [(1, "fits"), (2, "refused")])
def test_what_others_leave_is_first_for_those_that_have_lost_their_room(pods: int, word: str) -> None:
    """A Deployment is created again while its two pods go: one leaves its room to a Job that was there first."""
    here, own = office(fleet(6)), {"app": "serve", **HASH}
    here.review(creation(deployment(pods=2)))
    here.read(fleet(6, *running(own, 0, 1)))
    here.review(creation(job("a", 4)))
    here.read(fleet(6, *running(own, 0, 1), *running({"whose": "nobody"}, 5)))
    assert (here.held, [one.due for one in here.desk.reservations.holds]) == (3, [{"job": 4}])
    here.review(removal(deployment(pods=2), options={"propagationPolicy": "Background"}))
    assert here.review(creation(deployment(pods=pods)), enforced=True).word == word


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
