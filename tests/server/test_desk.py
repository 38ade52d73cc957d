"""One decision at a time: what is promised, to whom, for how long, and what leaves no trace."""

from __future__ import annotations

from itertools import pairwise

import pytest

from advisor.server.desk import Ticket, TooLateError
from advisor.server.store import Latest
from tests.builders import Bound, bound, cluster, nodes, quota
from tests.server.asking import (
    Office,
    change,
    creation,
    cronjob,
    deployment,
    job,
    office,
    removal,
    statefulset,
    suspended,
)

UID = {"controller-uid": "5", "batch.kubernetes.io/controller-uid": "5"}
MINE = {"job-name": "a", "batch.kubernetes.io/job-name": "a", **UID}
HASH = {"pod-template-hash": "7d9c4"}


def two_nodes() -> Office:
    return office(cluster(nodes=nodes(2, gpu=8), name="eu"), expiry=300.0)


def test_two_gangs_that_each_fit_do_not_fit_together() -> None:
    here = two_nodes()
    assert here.review(creation(job("a", pods=2))).word == "fits"
    second = here.review(creation(job("b", pods=2)))
    assert second.word == "fits-nowhere"
    assert "0 nvidia.com/gpu free" in second.warnings[1]


def test_once_the_pods_are_there_nothing_is_held_and_nothing_counted_twice() -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=1)))
    assert here.held == 1
    here.read(cluster(nodes=nodes(2, gpu=8), pods=[bound(on="n0", labels=MINE, gpu=8)], name="eu"))
    assert here.held == 0
    assert here.review(creation(job("b", pods=1))).word == "fits"
    assert here.review(creation(job("c", pods=1))).word == "fits-nowhere"


def test_after_its_time_the_room_is_free() -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=2)))
    here.clock.pass_by(299)
    here.read(cluster(nodes=nodes(2, gpu=8), name="eu"), after=0)
    assert here.review(creation(job("b", pods=2), dryRun=True)).word == "fits-nowhere"
    here.clock.pass_by(1)
    assert here.review(creation(job("b", pods=2), dryRun=True)).word == "fits"


def test_a_deletion_frees_the_room_at_once() -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=2)))
    here.review(removal(job("a", pods=2)))
    assert here.review(creation(job("b", pods=2))).word == "fits"


@pytest.mark.parametrize(("facts", "held"), [({}, 2), ({"dryRun": True}, 0), ({"dryRun": False}, 2)])
def test_a_dry_run_leaves_no_trace(facts: dict[str, bool], held: int) -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=2), **facts))
    assert here.held == held


def test_a_dry_run_of_a_deletion_frees_nothing() -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=2)))
    here.review(removal(job("a", pods=2), dryRun=True))
    assert here.held == 2


def test_what_comes_too_late_leaves_no_trace() -> None:
    here, ticket = two_nodes(), Ticket()
    assert ticket.claim()
    assert here.review(creation(job("a", pods=2)), ticket=ticket).word == "fits"
    assert here.held == 0


def test_what_comes_too_late_is_not_asked_of_more_clusters() -> None:
    two = office(cluster(nodes=nodes(2, gpu=8), name="eu"), cluster(nodes=nodes(2, gpu=8), name="us"))
    ticket = Ticket()
    assert two.review(creation(job("a", pods=2)), ticket=Ticket()).word == "fits"
    assert ticket.claim()
    with pytest.raises(TooLateError):
        two.review(creation(job("b", pods=2)), ticket=ticket)
    assert two.held == 2


def test_a_deletion_that_is_heard_late_frees_all_the_same() -> None:
    here, ticket = two_nodes(), Ticket()
    here.review(creation(job("a", pods=2)))
    assert ticket.claim()
    here.review(removal(job("a", pods=2)), ticket=ticket)
    assert here.held == 0


def test_what_is_refused_or_fits_nowhere_holds_nothing() -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=3)))
    here.review(creation(job("a", pods=3)), enforced=True)
    assert here.held == 0


def test_who_asks_again_competes_not_with_himself() -> None:
    here = two_nodes()
    for _ in range(3):
        assert here.review(creation(job("a", pods=2))).word == "fits"
    assert here.held == 2


def test_what_joins_is_held_on_top() -> None:
    here = two_nodes()
    here.review(creation(deployment("a", pods=1)))
    here.review(change(deployment("a", pods=1), deployment("a", pods=2)))
    assert here.held == 2
    here.review(removal(deployment("a", pods=2)))
    assert here.held == 0


def test_an_update_that_adds_nothing_holds_nothing_more() -> None:
    here = two_nodes()
    here.review(creation(deployment("a", pods=2)))
    here.review(change(deployment("a", pods=2), deployment("a", pods=2, version="2")))
    assert here.held == 2


def test_a_cluster_whose_reads_fail_is_judged_by_what_was_read_last() -> None:
    here = two_nodes()
    (before,) = here.snapshots.latest()
    here.snapshots.put(Latest("eu", before.good, failed=cluster(nodes=[], name="eu", gaps=["cluster"])))
    assert here.review(creation(job("a"))).word == "fits"
    here.clock.pass_by(61)
    decision = here.review(creation(job("b")))
    assert decision.warnings[1] == "wm-place: eu not judged: was last read 61s ago; since then: cluster: forbidden"
    here.read(cluster(nodes=nodes(2, gpu=8), name="eu"))
    assert here.review(creation(job("b"))).word == "fits"


def test_the_uid_of_the_object_here_is_not_looked_for_there() -> None:
    here, stamped = two_nodes(), job("a", uid="17")
    stamped["spec"]["template"]["metadata"]["labels"] = {"controller-uid": "17"}
    here.review(creation(stamped))
    here.read(cluster(nodes=nodes(2, gpu=8), pods=[bound(on="n0", labels=MINE, gpu=8)], name="eu"))
    assert here.held == 0


def test_a_subresource_of_the_same_name_frees_nothing() -> None:
    here = two_nodes()
    here.review(creation(job("a", pods=2)))
    here.review(removal(job("a", pods=2), subResource="status"))
    assert here.held == 2


@pytest.mark.parametrize(("before", "held"), [(0, 0), (1, 1)])
def test_what_lands_in_another_cluster_is_not_waited_for(before: int, held: int) -> None:
    """Where pods of that name were before, they are of a namesake."""
    mine, full = [bound(on="u0", labels=MINE, gpu=1)], bound(on="u0", gpu=4)
    there = [
        cluster(nodes=nodes(1, "u", gpu=8), pods=[full, *mine * count], name="us") for count in (before, before + 1)
    ]
    here = office(cluster(nodes=nodes(2, gpu=8), name="eu"), there[0])
    assert here.review(creation(job("a"))).audit["cluster"] == "eu"
    here.read(there[1])
    assert here.held == held


# -- what changes after it was let in ---------------------------------------------------------------------------------


def fleet_of(count: int, *pods: Bound, gpu: int = 8) -> Office:
    return office(cluster(nodes=nodes(count, gpu=gpu), pods=pods, name="eu"))


@pytest.mark.parametrize("sizes", [(2, 1, 2), (1, 3, 1), (4, 1, 4)])
def test_what_is_not_there_yet_is_planned_anew_when_it_changes(sizes: tuple[int, ...]) -> None:
    """Its own hold stands in nobody's way, and follows its size."""
    here = fleet_of(4)
    here.review(creation(statefulset(pods=sizes[0])))
    for old, new in pairwise(sizes):
        decision = here.review(change(statefulset(pods=old), statefulset(pods=new)), enforced=True)
        assert (decision.word, here.held) == ("fits" if new > old else "waved-through", new)


def test_a_suspended_job_that_is_let_go_with_other_tolerations_keeps_its_room() -> None:
    here, plain = fleet_of(1), job("a")
    here.review(creation(plain))
    tolerant = job("a")
    tolerant["spec"]["template"]["spec"]["tolerations"] = [{"key": "pool", "operator": "Exists"}]
    assert here.review(change(plain, tolerant), enforced=True).word == "fits"
    assert here.held == 1


@pytest.mark.parametrize("kind", ["statefulset", "deployment"])
def test_fewer_pods_of_what_runs_ask_for_nothing(kind: str) -> None:
    make = {"statefulset": statefulset, "deployment": deployment}[kind]
    running = bound(on="n0", count=2, labels={"app": "serve", **HASH}, gpu=4)
    here = fleet_of(1, running)
    decision = here.review(change(make(pods=2, gpu=4), make(pods=1, gpu=4)), enforced=True)
    assert (decision.word, here.held) == ("waved-through", 0)


def test_pods_that_take_the_place_of_others_are_never_refused() -> None:
    """Old pods make room for new ones: how much, nobody can tell before."""
    running = bound(on="n0", count=2, labels={"app": "serve", **HASH}, gpu=4)
    here = fleet_of(1, running)
    decision = here.review(change(deployment(pods=2, gpu=4), deployment(pods=2, gpu=2)), enforced=True)
    assert (decision.allowed, bool(decision.warnings), here.held) == (True, True, 0)


def test_more_pods_of_what_runs_go_where_it_runs() -> None:
    running = bound(on="n0", labels={"app": "serve", **HASH}, gpu=8)
    here = office(cluster(nodes=nodes(1, gpu=8), pods=[running], name="a"), cluster(nodes=nodes(4, gpu=8), name="b"))
    decision = here.review(change(deployment(pods=1), deployment(pods=2)), enforced=True)
    assert (decision.word, decision.message.count("b never"), "a full" in decision.message) == ("refused", 0, True)


def test_a_creation_that_may_fail_frees_nothing() -> None:
    """The API server lets an object in before it finds that there is one of that name."""
    here = fleet_of(2)
    here.review(creation(job("a", pods=2)))
    assert (here.review(creation(job("a", pods=1))).word, here.held) == ("fits", 2)
    assert here.review(creation(job("b"))).word == "fits-nowhere"


# -- what comes later, or not at all ----------------------------------------------------------------------------------


def test_what_is_suspended_holds_no_room_until_it_is_resumed() -> None:
    """A queue decides when: room that waits for it would be kept from those whose pods come now."""
    here, waiting, running = two_nodes(), suspended(job("a", pods=2)), job("a", pods=2)
    first = here.review(creation(waiting))
    assert (first.word, here.held) == ("fits", 0)
    assert "no room is held" in first.warnings[-1]
    assert (here.review(change(waiting, running)).word, here.held) == ("fits", 2)
    assert here.review(creation(job("b", pods=1))).word == "fits-nowhere"


def test_what_is_resumed_is_judged_anew() -> None:
    """Long after it was created, and whatever was said then."""
    here, waiting, running = two_nodes(), suspended(job("a", pods=2)), job("a", pods=2)
    here.review(creation(waiting))
    here.clock.pass_by(10_000)
    here.read(cluster(nodes=nodes(2, gpu=8), pods=[bound(on="n0", gpu=8)], name="eu"))
    assert here.review(change(waiting, running)).word == "fits-nowhere"
    assert here.review(change(waiting, running), enforced=True).word == "refused"


def test_what_is_suspended_lets_go_of_its_room() -> None:
    here, waiting, running = two_nodes(), suspended(job("a", pods=2)), job("a", pods=2)
    here.review(creation(running))
    assert (here.review(change(running, waiting)).word, here.held) == ("waved-through", 0)


@pytest.mark.parametrize(("pods", "allowed"), [(2, True), (3, True), (4, False)])
def test_what_is_suspended_is_refused_only_where_it_could_never_run(pods: int, allowed: bool) -> None:
    """Full is no reason to keep it out of its queue, nor is it that there are too few nodes now."""
    limits = quota(hard={"requests.nvidia.com/gpu": 24}, used={"requests.nvidia.com/gpu": 8})
    full = office(cluster(nodes=nodes(2, gpu=8), pods=[bound(on="n0", gpu=8)], quotas=[limits], name="eu"))
    assert full.review(creation(suspended(job("a", pods=pods))), enforced=True).allowed == allowed
    assert not full.review(creation(job("a", pods=pods)), enforced=True).allowed


def test_a_resumed_object_is_not_counted_as_a_further_one() -> None:
    limits = quota(hard={"count/jobs.batch": 1}, used={"count/jobs.batch": 1})
    here = office(cluster(nodes=nodes(2, gpu=8), quotas=[limits], name="eu"))
    assert here.review(change(suspended(job("a")), job("a"))).word == "fits"
    assert here.review(creation(job("a"))).word == "fits-nowhere"


def test_a_schedule_holds_nothing_and_its_runs_do() -> None:
    here, run = two_nodes(), job("nightly-1", pods=2)
    run["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "1", "controller": True}
    ]
    controller = {"username": "system:serviceaccount:kube-system:cronjob-controller"}
    assert (here.review(creation(cronjob("nightly"))).word, here.held) == ("fits", 0)
    assert (here.review(creation(run, userInfo=controller)).word, here.held) == ("fits", 2)


@pytest.mark.parametrize("enforced", [False, True])
def test_nothing_is_held_for_what_is_scaled_to_nothing(enforced: bool) -> None:
    here = two_nodes()
    here.review(creation(deployment("a", pods=2)))
    decision = here.review(change(deployment("a", pods=2), deployment("a", pods=0)), enforced=enforced)
    assert (decision.word, here.held) == ("waved-through", 0)


def test_a_dry_run_of_scaling_to_nothing_frees_nothing() -> None:
    here = two_nodes()
    here.review(creation(deployment("a", pods=2)))
    here.review(change(deployment("a", pods=2), deployment("a", pods=0), dryRun=True))
    assert here.held == 2


def test_fewer_pods_of_what_has_begun_leave_fewer_to_wait_for() -> None:
    here = fleet_of(4)
    here.review(creation(deployment(pods=4)))
    here.read(cluster(nodes=nodes(4, gpu=8), pods=[bound(on="n0", labels={"app": "serve", **HASH}, gpu=8)], name="eu"))
    assert here.held == 3
    for pods, held in ((3, 2), (1, 0)):
        here.review(change(deployment(pods=here.held + 1), deployment(pods=pods)))
        assert here.held == held


def test_what_there_was_no_room_for_is_let_go_of_first() -> None:
    here = fleet_of(4)
    here.review(creation(deployment(pods=3)))
    for old, new in ((3, 9), (9, 4), (4, 2)):
        here.review(change(deployment(pods=old), deployment(pods=new)))
        assert here.held == min(3, new)


def test_fewer_pods_are_never_refused() -> None:
    """Not even where what was promised is not there any more."""
    here = fleet_of(2)
    here.review(creation(statefulset(pods=2)))
    here.read(cluster(nodes=nodes(0, gpu=8), name="eu"))
    decision = here.review(change(statefulset(pods=2), statefulset(pods=1)), enforced=True)
    (one,) = here.desk.reservations.holds
    assert (decision.allowed, here.held, sum(one.due.values())) == (True, 0, 1)


def test_a_refused_update_changes_no_hold() -> None:
    limits = quota(hard={"requests.nvidia.com/gpu": 16}, used={"requests.nvidia.com/gpu": 0})
    here, running = office(cluster(nodes=nodes(2, gpu=8), quotas=[limits], name="eu")), job("a", pods=2)
    here.review(creation(running))
    larger = suspended(job("a", pods=3))
    assert here.review(change(running, larger), enforced=True).word == "refused"
    assert here.held == 2


@pytest.mark.parametrize(("status", "held"), [("Complete", 0), ("Failed", 0), ("Suspended", 2)])
def test_nothing_is_held_for_what_has_run_to_its_end(status: str, held: int) -> None:
    """Its pods came and went between two reads. A Job that failed is not tried again."""
    here, done = two_nodes(), job("a", pods=2, labels={"seen": "yes"})
    here.review(creation(job("a", pods=2)))
    done["status"] = {"conditions": [{"type": status, "status": "True"}]}
    here.review(change(job("a", pods=2), done))
    assert here.held == held
