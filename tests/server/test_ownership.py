"""Pods of siblings, of other roles, of charts, and those that a deletion leaves behind: whose room do they take?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot
from advisor.definitions import layers
from advisor.definitions.catalog import Catalog
from tests.builders import TEAM, Bound, bound
from tests.definitions.builders import karta
from tests.server.asking import (
    Object,
    Office,
    change,
    creation,
    deployment,
    job,
    office,
    removal,
    statefulset,
    suspended,
)
from tests.server.test_promises import IN_A_SET, OF_A_SET, fleet, jobset, room_left, run_by, running, served


def pod(gpu: int) -> Object:
    limits = {"nvidia.com/gpu": gpu} if gpu else {}
    return {"spec": {"containers": [{"name": "main", "image": "example/main", "resources": {"limits": limits}}]}}


def thing(api: str, kind: str, name: str, **spec: Any) -> Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": TEAM}, "spec": spec}


def ray_cluster(workers: int, gpu: int) -> Object:
    group = {"groupName": "w", "replicas": workers, "minReplicas": workers, "maxReplicas": workers}
    workers_of = {**group, "rayStartParams": {}, "template": pod(gpu)}
    return {"headGroupSpec": {"rayStartParams": {}, "template": pod(0)}, "workerGroupSpecs": [workers_of]}


def ray_job(name: str, workers: int = 2, gpu: int = 8) -> Object:
    return thing("ray.io/v1", "RayJob", name, entrypoint="x", rayClusterSpec=ray_cluster(workers, gpu))


def ray_pods(cluster: str, workers: int, on: str, gpu: int) -> list[Bound]:
    common = {"ray.io/cluster": cluster, "ray.io/is-ray-node": "yes", "app.kubernetes.io/name": "kuberay"}
    owner = f"RayCluster.ray.io/{cluster}"
    head = {**common, "ray.io/node-type": "head", "ray.io/group": "headgroup"}
    worker = {**common, "ray.io/node-type": "worker", "ray.io/group": "w"}
    return [
        bound(on=on, labels=head, owner=owner),
        bound(on=on, labels=worker, owner=owner, count=workers, gpu=gpu),
    ]


def held(here: Office, name: str) -> dict[str, int]:
    return next((one.sizes for one in here.desk.reservations.holds if one.key.name == name), {})


def fits(here: Office, asked: Object) -> bool:
    return here.review(creation(asked, dryRun=True)).word == "fits"


# -- siblings ---------------------------------------------------------------------------------------------------------


def test_pods_of_a_sibling_release_nothing() -> None:
    here = office(fleet(3))
    here.review(creation(ray_job("llm")))
    here.review(creation(ray_job("llm-eval", 2, 1)))
    here.read(fleet(3, *ray_pods("llm-eval-x7k2p", 2, "n2", 1)))
    assert held(here, "llm") == {"head": 1, "w": 2, "submitter": 1}
    assert not fits(here, job("other", 2))
    here.read(fleet(3, *ray_pods("llm-x7k2p", 2, "n0", 4), *ray_pods("llm-eval-x7k2p", 2, "n2", 1)))
    assert held(here, "llm") == {"submitter": 1}


def test_pods_of_a_sibling_are_no_home() -> None:
    whole = ray_job("llm")
    here = office(fleet(1, *ray_pods("llm-eval-x7k2p", 2, "n0", 4), name="eu"), fleet(4, name="us"))
    asked = here.review(change(suspended(whole), whole), enforced=True)
    assert (asked.word, asked.audit["cluster"]) == ("fits", "us")


def test_what_none_of_its_pods_are_seen_of_is_asked_about_as_a_whole() -> None:
    def service(workers: int) -> Object:
        return thing("ray.io/v1", "RayService", "llm", serveConfigV2="x", rayClusterConfig=ray_cluster(workers, 8))

    full = office(fleet(2, *ray_pods("llm-eval-x7k2p", 1, "n0", 1)))
    assert full.review(change(service(2), service(3)), enforced=True).word == "refused"
    own = office(fleet(3, *ray_pods("llm-x7k2p", 1, "n0", 8), *ray_pods("llm-x7k2p", 1, "n1", 8)))
    assert own.review(change(service(2), service(3)), enforced=True).word == "fits"


# -- pods that bear no name -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("owner", ["Sandbox.agents.x-k8s.io/dev", "StatefulSet.apps/dev"])
def test_a_sandbox_is_known_by_its_owner(owner: str) -> None:
    here, sandbox = office(fleet(2)), thing("agents.x-k8s.io/v1beta1", "Sandbox", "dev", podTemplate=pod(8))
    here.review(creation(sandbox))
    labels = {"agents.x-k8s.io/sandbox-name-hash": "1c0ffee"} if "Sandbox" in owner else {"tier": "develop"}
    here.read(fleet(2, bound(on="n0", labels=labels, owner=owner, gpu=8)))
    assert here.held == (0 if "Sandbox" in owner else 1)


def test_pods_of_a_service_of_a_pipeline_are_its_own() -> None:
    image = {"repository": "example/nim", "tag": "1"}
    spec = {
        "image": image,
        "authSecret": "s",
        "storage": {"emptyDir": {}},
        "resources": {"limits": {"nvidia.com/gpu": 8}},
        "expose": {"service": {"port": 8000}},
    }
    pipeline = thing(
        "apps.nvidia.com/v1alpha1", "NIMPipeline", "rag", services=[{"name": "answer", "enabled": True, "spec": spec}]
    )
    here = office(fleet(2))
    assert here.review(creation(pipeline)).word == "fits"
    labels = {"app.kubernetes.io/name": "answer", "app.kubernetes.io/operator-version": "v3.0.2", "app": "answer"}
    here.read(fleet(2, bound(on="n0", labels=labels, owner="ReplicaSet.apps/answer-7d9c4", gpu=8)))
    assert here.held == 0


# -- roles ------------------------------------------------------------------------------------------------------------


def test_a_worker_of_a_group_leaves_its_leader_the_room() -> None:
    template = {"size": 3, "leaderTemplate": pod(8), "workerTemplate": pod(1)}
    group = thing("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "s", replicas=1, leaderWorkerTemplate=template)
    here = office(fleet(2))
    here.review(creation(group))
    prefix = "leaderworkerset.sigs.k8s.io/"
    labels = {f"{prefix}name": "s", f"{prefix}worker-index": "1", f"{prefix}group-index": "0"}
    here.read(fleet(2, bound(on="n0", labels=labels, owner="StatefulSet.apps/s-0", gpu=1)))
    assert held(here, "s") == {"leader": 1, "worker": 1}


def test_pods_of_one_clique_release_no_other() -> None:
    def clique(name: str, gpu: int) -> Object:
        return {"name": name, "spec": {"roleName": name, "replicas": 2, "minAvailable": 2, "podSpec": pod(gpu)["spec"]}}

    cliques = [clique("prefill", 8), clique("router", 0)]
    here = office(fleet(2))
    here.review(creation(thing("grove.io/v1alpha1", "PodCliqueSet", "g", replicas=1, template={"cliques": cliques})))
    labels = {"app.kubernetes.io/part-of": "g", "grove.io/podclique": "g-0-router"}
    here.read(fleet(2, bound(on="n0", count=2, labels=labels, owner="PodClique.grove.io/g-0-router")))
    assert held(here, "g") == {"prefill": 2}
    assert not fits(here, job("other", 1))


# -- charts -----------------------------------------------------------------------------------------------------------


def charted(pods: int) -> Object:
    found = deployment("llm", pods)
    found["spec"]["template"]["metadata"]["labels"] = {"app.kubernetes.io/instance": "llm"}
    found["spec"]["selector"]["matchLabels"] = {"app.kubernetes.io/instance": "llm"}
    return found


def downloads(*on: int) -> list[Bound]:
    """Pods of a Job that the same chart makes."""
    return running({**run_by("llm-download"), "app.kubernetes.io/instance": "llm"}, *on)


def test_pods_of_the_same_chart_release_nothing() -> None:
    here = office(fleet(4))
    here.review(creation(charted(2)))
    here.read(fleet(4, *downloads(2, 3)))
    assert here.held == 2


def test_pods_of_the_same_chart_are_no_home() -> None:
    here = office(fleet(1, *downloads(0), name="eu"), fleet(4, name="us"))
    assert here.review(change(charted(1), charted(2)), enforced=True).audit["cluster"] == "us"


# -- what is left behind ----------------------------------------------------------------------------------------------

ORPHAN = {"options": {"propagationPolicy": "Orphan"}}


def orphaned(pods: list[Bound], name: str) -> list[Bound]:
    """Once the garbage collector has let go of them."""
    return [replace(one, pods=replace(one.pods, owner=f"Pod/{name}-")) for one in pods]


@pytest.mark.parametrize("told", [ORPHAN, {"options": {}}, {}])
def test_pods_that_a_job_left_keep_their_room(told: Object) -> None:
    """A deletion without a word leaves the pods of a Job, too, and a new Job takes none of them over."""
    here, pods = office(fleet(3, *running(run_by("train"), 0, 1))), running(run_by("train"), 0, 1)
    here.review(removal(job("train", 2), **told))
    assert here.review(creation(job("train", 2)), enforced=True).word == "refused"
    assert here.review(creation(job("train", 1)), enforced=True).word == "fits"
    assert here.held == 1
    for read in (pods, orphaned(pods, "train"), orphaned(pods, "train")):
        here.read(fleet(3, *read), after=6)
        assert (here.held, room_left(here, 0)) == (1, True)
    new = running({**run_by("train"), "batch.kubernetes.io/controller-uid": "6"}, 2)
    here.read(fleet(3, *orphaned(pods, "train"), *new))
    assert here.held == 0


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_pods_that_go_with_their_job_make_way(policy: str) -> None:
    here = office(fleet(2, *running(run_by("train"), 0, 1)))
    here.review(removal(job("train", 2), options={"propagationPolicy": policy}))
    assert here.review(creation(job("train", 2)), enforced=True).word == "fits"


def test_a_finalizer_says_it_as_well() -> None:
    here = office(fleet(2, *served(0, 1)))
    gone = deployment(pods=2)
    gone["metadata"]["finalizers"] = ["orphan"]
    here.review(removal(gone))
    assert here.held == 0
    assert here.review(creation(deployment(pods=2)), enforced=True).word == "fits"  # a Deployment takes them over
    assert here.held == 0


@pytest.mark.parametrize("seconds", [1, 400])
@pytest.mark.parametrize("read", [False, True])
def test_pods_that_are_taken_over_need_no_room_again(seconds: float, read: bool) -> None:
    pods = running({"app": "serve", **OF_A_SET}, 0, 1)
    here = office(fleet(2, *pods))
    here.review(removal(statefulset(pods=2), **ORPHAN))
    here.read(fleet(2, *(orphaned(pods, "serve") if read else pods)), after=seconds)
    assert here.review(creation(statefulset(pods=2)), enforced=True).word == "fits"
    assert (here.held, room_left(here, 0)) == (0, True)
    assert here.review(creation(statefulset(pods=3)), enforced=True).word == "refused"


def test_where_nobody_knows_who_takes_them_over_nobody_is_refused() -> None:
    here = office(fleet(2, *ray_pods("llm-x7k2p", 1, "n0", 8), *ray_pods("llm-x7k2p", 1, "n1", 8)))
    here.review(removal(ray_job("llm"), **ORPHAN))
    asked = here.review(creation(ray_job("llm")), enforced=True)
    assert (asked.word, asked.allowed, here.held) == ("fits-nowhere", True, 0)


def test_what_is_left_of_a_ray_job_is_not_the_new_one() -> None:
    here = office(fleet(4, *ray_pods("llm-x7k2p", 1, "n0", 8), *ray_pods("llm-x7k2p", 1, "n1", 8)))
    here.review(removal(ray_job("llm"), **ORPHAN))
    assert here.review(creation(ray_job("llm")), enforced=True).word == "fits"
    assert held(here, "llm") == {"head": 1, "w": 2, "submitter": 1}


@pytest.mark.parametrize(("seconds", "word"), [(1, "fits-nowhere"), (10, "refused")])
def test_what_was_left_is_forgotten_once_a_read_shows_nothing_of_it(seconds: float, word: str) -> None:
    here = office(fleet(2, *running(IN_A_SET, 0)))
    here.review(removal(jobset(1), **ORPHAN))
    here.read(fleet(2), after=seconds)
    assert here.review(creation(jobset(9)), enforced=True).word == word


def test_what_was_left_is_remembered_as_long_as_some_cluster_may_have_it() -> None:
    here = office(fleet(2, *running(IN_A_SET, 0)), fleet(2, name="west"))
    here.review(removal(jobset(1), **ORPHAN))
    here.read(fleet(2))
    assert here.review(creation(jobset(9)), enforced=True).word == "fits-nowhere"
    here.read(fleet(2, *running(IN_A_SET, 0), name="west"))
    assert here.review(creation(jobset(9)), enforced=True).word == "fits-nowhere"
    here.read(fleet(2, name="west"))
    assert here.review(creation(jobset(9)), enforced=True).word == "refused"


def test_what_was_left_is_forgotten_once_the_new_pods_have_come() -> None:
    """A creation after that fails, and holds nothing."""
    old, new = (running({**run_by("train"), "batch.kubernetes.io/controller-uid": uid}, 0, 1) for uid in "56")
    here = office(fleet(6, *old))
    here.review(removal(job("train", 2)))
    here.review(creation(job("train", 2)))
    assert here.held == 2
    here.read(fleet(6, *orphaned(old, "train"), *new))
    assert here.held == 0
    here.review(creation(job("train", 2)))
    assert here.held == 0


# -- what exists already ----------------------------------------------------------------------------------------------


def test_what_exists_is_never_refused_and_holds_nothing_more() -> None:
    """The API server says that it does."""
    full = office(fleet(4, *served(0, 1, 2, 3)))
    for pods in (4, 9):
        asked = full.review(creation(deployment(pods=pods)), enforced=True)
        assert (asked.word, asked.allowed) == ("fits-nowhere", True)
    free = office(fleet(8, *served(0, 1)))
    assert (free.review(creation(deployment(pods=4)), enforced=True).word, free.held) == ("fits", 0)


def test_what_is_known_to_be_deleted_may_be_refused() -> None:
    here = office(fleet(4, *served(0, 1, 2, 3)))
    here.review(removal(deployment(pods=4)))
    assert here.review(creation(deployment(pods=5)), enforced=True).word == "refused"


def test_pods_that_nothing_looks_after_are_no_sign_of_an_object() -> None:
    here = office(fleet(2, *orphaned(running(run_by("train"), 0, 1), "train")))
    assert here.review(creation(job("train", 2)), enforced=True).word == "refused"


# -- kinds of which nobody says who looks after the pods --------------------------------------------------------------


def unknown(replicas: int) -> Object:
    return {**thing("example.com/v1", "Thing", "llm", workers=replicas, template=pod(8))}


def with_things(*clusters: ClusterSnapshot, folder: Path) -> Office:
    scale = "scaleDefinition: {replicasPath: .spec.workers}"
    children = f"[{{name: worker, ownerRef: thing, specDefinition: {{podTemplateSpecPath: .spec.template}}, {scale}}}]"
    path = folder / "thing.yaml"
    path.write_text(json.dumps(karta(children=children)))
    return Office(clusters, Catalog((layers.from_files([str(path)]),)))


THINGS = {"thing": "llm"}


def things(owner: str, *on: int) -> list[Bound]:
    return [bound(on=f"n{number}", labels=THINGS, owner=owner, gpu=8) for number in on]


def test_they_are_known_where_the_object_itself_looks_after_them(tmp_path: Path) -> None:
    here = with_things(fleet(3), folder=tmp_path)
    here.review(creation(unknown(2)))
    here.read(fleet(3, *things("Thing.example.com/llm", 0)))
    assert here.held == 1


def test_room_that_may_be_held_for_nothing_is_promised_to_nobody_and_refuses_nobody(tmp_path: Path) -> None:
    here = with_things(fleet(4), folder=tmp_path)
    here.review(creation(unknown(2)))
    here.read(fleet(4, *things("ReplicaSet.apps/llm-7d9c4", 0, 1)))
    assert here.held == 2
    asked = here.review(creation(job("other", 1)), enforced=True)
    assert (asked.word, asked.allowed, here.held) == ("fits-nowhere", True, 2)
    assert here.review(creation(job("other", 3)), enforced=True).word == "refused"


def test_what_cannot_be_recognised_may_be_there(tmp_path: Path) -> None:
    here = with_things(fleet(3, *things("ReplicaSet.apps/llm-7d9c4", 0, 1)), folder=tmp_path)
    assert here.review(change(unknown(2), unknown(3)), enforced=True).word == "fits"
