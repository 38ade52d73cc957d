"""One decision at a time: what is promised, to whom, for how long, and what leaves no trace."""

from __future__ import annotations

from itertools import pairwise

import pytest

from advisor.server.desk import Ticket, TooLateError
from advisor.server.store import Latest
from tests.builders import TEAM, Bound, bound, cluster, nodes
from tests.server.asking import Office, change, creation, deployment, job, office, removal, statefulset, template

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
        assert (decision.word, here.held) == ("fits", new)


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


@pytest.mark.parametrize(
    "labels",
    [
        {"team": "training"},
        {"job-name": "train-1"},
        {"job-name": "other-1", "batch.kubernetes.io/job-name": "other-1", **UID},
    ],
)
def test_pods_of_others_free_nothing(labels: dict[str, str]) -> None:
    """A CronJob without labels of its own is known by the names of its Jobs."""
    spec = {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": template(8)}}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "train", "namespace": TEAM}, "spec": spec}
    here = fleet_of(2)
    here.review(creation(cron))
    here.read(cluster(nodes=nodes(2, gpu=8), pods=[bound(on="n0", labels=labels, gpu=8)], name="eu"))
    assert here.held == 1
    own = {"job-name": "train-1", "batch.kubernetes.io/job-name": "train-1", **UID}
    here.read(cluster(nodes=nodes(2, gpu=8), pods=[bound(on="n0", labels=own, gpu=8)], name="eu"))
    assert here.held == 0
