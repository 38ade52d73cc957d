"""One decision at a time: what is promised, to whom, for how long, and what leaves no trace."""

from __future__ import annotations

import pytest

from advisor.server.desk import Ticket, TooLateError
from advisor.server.store import Latest
from tests.builders import bound, cluster, nodes
from tests.server.asking import Office, change, creation, deployment, job, office, removal

MINE = {"job-name": "a", "batch.kubernetes.io/job-name": "a"}


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
