"""Creations that fail after they were let in: of a name that is there already, or refused by somebody else."""

from __future__ import annotations

import json

from advisor.server import placing
from tests.builders import TEAM, Bound, bound
from tests.server.asking import (
    CATALOG,
    Object,
    Office,
    change,
    creation,
    deployment,
    job,
    office,
    removal,
    suspended,
    template,
)
from tests.server.test_promises import fleet, scaled, served


def created(here: Office, obj: Object) -> str:
    return here.review(creation(obj), enforced=True).word


def test_pods_that_come_back_release_nothing_after_a_creation_that_fails() -> None:
    """Six are wanted of which three are being restarted; somebody creates it once more with three."""
    here = office(fleet(8))
    created(here, deployment(pods=3))
    here.read(fleet(8, *served(0, 1, 2)))
    scaled(here, 3, 6)
    here.read(fleet(8))
    created(here, deployment(pods=3))
    here.read(fleet(8, *served(0, 1, 2)))
    assert (here.held, created(here, job("other", 5))) == (3, "fits-nowhere")


def test_a_creation_says_nothing_of_an_update_before_it() -> None:
    here, own = office(fleet(2)), job("a", 2, uid="u1")
    created(here, own)
    here.review(change(own, suspended(own)), enforced=True)
    created(here, job("a", 1))
    patient = {**own, "spec": {**own["spec"], "backoffLimit": 3}}
    here.review(change(own, patient), enforced=True)
    assert (here.held, created(here, job("b", 1))) == (2, "refused")


def test_what_a_creation_wanted_that_was_not_stored_stands_in_nobodys_way() -> None:
    """The first is denied by somebody else; two pods are stored, and come."""
    here = office(fleet(4))
    created(here, deployment(pods=4))
    created(here, deployment(pods=2))
    here.read(fleet(4, *served(0, 1)))
    assert here.held == 2
    assert (scaled(here, 2, 3), here.held, created(here, job("other", 1))) == ("fits", 1, "fits")


def test_nor_what_one_wanted_of_a_name_that_is_there() -> None:
    here = office(fleet(5))
    created(here, deployment(pods=2))
    created(here, deployment(pods=4))
    here.read(fleet(5, *served(0, 1)))
    assert (scaled(here, 2, 3), here.held) == ("fits", 1)
    here.read(fleet(5, *served(0, 1, 2)))
    assert (scaled(here, 3, 5), here.held) == ("fits", 2)


def test_a_smaller_size_of_what_is_all_there_leaves_nothing_to_come() -> None:
    here = office(fleet(4))
    created(here, deployment(pods=4))
    created(here, deployment(pods=2))
    here.read(fleet(4, *served(0, 1)))
    scaled(here, 2, 1)
    assert here.held == 0


def test_a_smaller_size_is_taken_off_once() -> None:
    """The creation was stored, and has got smaller since: that was heard."""
    here = office(fleet(8))
    created(here, deployment(pods=4))
    assert [(scaled(here, *sizes), here.held) for sizes in ((4, 3), (3, 2), (2, 5))] == [
        ("waved-through", 3),
        ("waved-through", 2),
        ("fits", 5),
    ]


def test_who_asks_over_rest_has_no_room_that_is_owed_to_others() -> None:
    """`a` lost its nodes to somebody's pods; the one that is free again is owed to it."""
    here = office(fleet(3))
    created(here, job("a", 2))
    created(here, job("x", 1))
    here.read(fleet(3, *(bound(name, on=node, owner="x", gpu=8) for name, node in (("s", "n0"), ("t", "n1")))))
    here.review(removal(job("x", 1)))
    body = placing.manifest(json.dumps(job("z", 1)).encode(), CATALOG, TEAM)
    clusters, now = here.desk.standing()
    report = placing.report(body, here.desk.question(body.reading.workloads, clusters, now, thorough=True))
    assert report["workloads"][0]["choice"] is None
    assert created(here, job("z", 1)) == "refused"


def test_pods_that_may_be_of_several_roles_come_back_as_those_of_each() -> None:
    """Their pods have no label that tells the groups apart, and none was there when the cluster was scaled."""

    def ray(pods: int) -> Object:
        groups = [
            {"groupName": name, "replicas": count, "minReplicas": 0, "maxReplicas": 9, "template": template(8)}
            for name, count in (("a", pods), ("b", 1))
        ]
        head = {"rayStartParams": {}, "template": template(0)}
        spec = {"headGroupSpec": head, "workerGroupSpecs": groups}
        metadata = {"name": "r1", "namespace": TEAM}
        return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": metadata, "spec": spec}

    def pod(node: str, what: str, gpu: int) -> Bound:
        labels = {"ray.io/cluster": "r1", "ray.io/node-type": what}
        return bound(on=node, labels=labels, owner="RayCluster.ray.io/r1", gpu=gpu)

    head, workers = pod("n0", "head", 0), [pod("n0", "worker", 8), pod("n1", "worker", 8)]
    here = office(fleet(6))
    created(here, ray(1))
    here.read(fleet(6, head, *workers))
    here.read(fleet(6, head))
    here.review(change(ray(1), ray(2)), enforced=True)
    here.read(fleet(6, head, *workers))
    assert here.held == 1
