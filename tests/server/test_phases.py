"""What is asked and held in each phase of an object's life: stages, an end, a pause, what comes where others are."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot, Unbound
from advisor.labels import Taint
from advisor.verdict import CODES, OF_THE_CLUSTER
from tests.builders import TEAM, Bound, cluster, node, nodes, quota
from tests.server.asking import (
    Object,
    change,
    creation,
    cronjob,
    deployment,
    job,
    office,
    owner_of,
    suspended,
    template,
)
from tests.server.test_promises import GPUS, fleet, room_left, run_by, running, served

# -- stages -----------------------------------------------------------------------------------------------------------


def staged(init: int = 1, work: int = 1, gpu: int = 8) -> Object:
    """Its work begins once `init` is complete, so that both use the same nodes."""

    def replicated(name: str, pods: int, **more: Any) -> Object:
        return {"name": name, "replicas": 1, "template": {"spec": job("x", pods, gpu)["spec"]}, **more}

    after = [{"name": "init", "status": "Complete"}]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "pipe", "namespace": TEAM},
        "spec": {"replicatedJobs": [replicated("init", init), replicated("work", work, dependsOn=after)]},
    }


def of(role: str) -> dict[str, str]:
    owner = {"jobset.sigs.k8s.io/jobset-name": "pipe", "jobset.sigs.k8s.io/replicatedjob-name": role}
    return {**owner, "jobset.sigs.k8s.io/job-key": "x", "job-name": f"pipe-{role}-0"}


def init_on(*on: int) -> list[Bound]:
    return running(of("init"), *on)


def test_what_stages_use_in_turn_is_said_once() -> None:
    (said,) = office(fleet(2)).review(creation(staged())).warnings
    assert said == "wm-place: fits east (8 nvidia.com/gpu at a time on 1 node, in turn and in any order)"
    (said,) = office(fleet(3)).review(creation(staged(2, 3))).warnings
    assert said == "wm-place: fits east (24 nvidia.com/gpu at a time on 3 nodes, in turn and in any order)"


@pytest.mark.parametrize("where", [0, 1])
@pytest.mark.parametrize(("init", "work", "free"), [(1, 1, 3), (1, 2, 2), (2, 1, 2)])
def test_a_stage_that_follows_another_has_its_room(where: int, init: int, work: int, free: int) -> None:
    """Wherever kube-scheduler puts the first one."""
    here, there = office(fleet(4)), init_on(*range(where, where + init))
    here.review(creation(staged(init, work)))
    assert room_left(here, free)
    here.read(fleet(4, *there))
    assert (here.held, room_left(here, free)) == (work, True)
    here.read(fleet(4, *there))
    assert (here.held, room_left(here, free)) == (work, True)
    here.read(fleet(4))
    assert (here.held, room_left(here, 4 - work)) == (work, True)
    here.read(fleet(4, *running(of("work"), *range(work))))
    assert (here.held, room_left(here, 4 - work)) == (0, True)


def test_a_stage_that_is_not_all_there_holds_what_is_missing() -> None:
    here = office(fleet(4))
    here.review(creation(staged(2, 1)))
    here.read(fleet(4, *init_on(3)))
    assert room_left(here, 2)


def test_where_it_was_promised_nothing_is_left_it_is_planned_where_the_first_stage_is() -> None:
    here = office(fleet(2))
    here.review(creation(staged()))
    others = running({"whose": "nobody"}, 0)
    here.read(fleet(2, *init_on(1), *others))
    (one,) = here.desk.reservations.holds
    assert (sorted(one.nodes), sum(one.bereft.values())) == (["n1"], 0)


@pytest.mark.parametrize("created", [0, 1])
@pytest.mark.parametrize(("limit", "fits"), [(8, 0), (16, 1), (24, 2)])
def test_stages_charge_a_quota_in_turn(created: int, limit: int, fits: int) -> None:
    """Whether the first one is bound or only exists: the quota counts it."""

    def limited(used: int, *pods: Bound, unbound: int = 0) -> ClusterSnapshot:
        waiting = [Unbound(TEAM, tuple(sorted(of("init").items())), unbound, owner_of(of("init")))] if unbound else []
        return fleet(6, *pods, quotas=[quota(hard={GPUS: limit}, used={GPUS: used})], unbound=waiting)

    here = office(limited(0))
    here.review(creation(staged()))
    assert room_left(here, fits)
    here.read(limited(8, unbound=1) if created else limited(8, *init_on(0)))
    assert room_left(here, fits)
    here.read(limited(0))
    assert room_left(here, fits)


# -- an end -----------------------------------------------------------------------------------------------------------


def with_status(pods: int, completions: int | None = 10, indexed: bool = False, **status: Any) -> Object:
    found = job("train", pods, 8)
    found["spec"] |= {"completions": completions, "completionMode": "Indexed" if indexed else "NonIndexed"}
    return {**found, "status": status}


def ended(kind: str) -> list[dict[str, str]]:
    return [{"type": kind, "status": "True"}]


OVER: list[tuple[Object, Object]] = [
    (with_status(1, 4, succeeded=4, conditions=ended(kind)), with_status(4, 4, succeeded=4, conditions=ended(kind)))
    for kind in ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
]


@pytest.mark.parametrize(("old", "new"), OVER)
@pytest.mark.parametrize("count", [1, 8])
def test_what_has_run_to_its_end_asks_for_nothing(count: int, old: Object, new: Object) -> None:
    here = office(fleet(count))
    assert (here.review(change(old, new), enforced=True).word, here.held) == ("waved-through", 0)


def ray_job(pods: int, status: str) -> Object:
    pod = template(8)
    group = {"groupName": "w", "replicas": pods, "minReplicas": pods, "maxReplicas": 9, "rayStartParams": {}}
    spec = {"headGroupSpec": {"rayStartParams": {}, "template": template(0)}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": "r", "namespace": TEAM},
        "spec": {"entrypoint": "run", "rayClusterSpec": {**spec, "workerGroupSpecs": [{**group, "template": pod}]}},
        "status": {"jobDeploymentStatus": status, "jobStatus": "FAILED"},
    }


def torch_job(pods: int, status: str) -> Object:
    pod = template(8)
    pod["spec"]["containers"][0]["name"] = "pytorch"
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p", "namespace": TEAM},
        "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": pods, "template": pod}}},
        "status": {"conditions": ended(status)},
    }


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (ray_job(1, "Failed"), ray_job(3, "Failed"), "waved-through"),
        (ray_job(1, "Complete"), ray_job(3, "Complete"), "waved-through"),
        (ray_job(1, "Retrying"), ray_job(3, "Retrying"), "refused"),
        (torch_job(1, "Failed"), torch_job(3, "Failed"), "waved-through"),
        (torch_job(1, "Succeeded"), torch_job(3, "Succeeded"), "waved-through"),
        (torch_job(1, "Restarting"), torch_job(3, "Restarting"), "refused"),
    ],
)
def test_each_kind_has_an_end_of_its_own(old: Object, new: Object, word: str) -> None:
    assert office(fleet(1)).review(change(old, new), enforced=True).word == word


def test_a_deployment_that_is_late_has_not_come_to_its_end() -> None:
    late = {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}
    old, new = ({**deployment(pods=pods), "status": late} for pods in (1, 3))
    assert office(fleet(2, *served(0))).review(change(old, new), enforced=True).word == "refused"


@pytest.mark.parametrize(
    ("facts", "new", "word", "held"),
    [
        ({"succeeded": 9, "active": 1}, 4, "waved-through", 0),
        ({"succeeded": 7, "active": 1}, 2, "fits", 1),
        ({"succeeded": 7, "active": 1}, 4, "fits", 2),
        ({"succeeded": 5, "active": 1}, 5, "refused", 0),
        ({"succeeded": 5, "active": 1, "indexed": True, "failedIndexes": "1,3-4"}, 5, "fits", 1),
        ({"succeeded": 1, "active": 1, "completions": None}, 4, "waved-through", 0),
        ({"active": 1, "completions": None}, 3, "fits", 2),
    ],
)
def test_a_job_that_is_nearly_done_asks_for_what_can_still_come(
    facts: dict[str, Any], new: int, word: str, held: int
) -> None:
    """As its controller has it: of the completions that are left, as many as may run at once."""
    here = office(fleet(3, *running(run_by("train"), 0)))
    decision = here.review(change(with_status(1, **facts), with_status(new, **facts)), enforced=True)
    assert (decision.word, here.held) == (word, held)


@pytest.mark.parametrize(("succeeded", "word"), [(0, "refused"), (9, "fits")])
def test_a_job_that_is_resumed_asks_for_what_is_left(succeeded: int, word: str) -> None:
    here, resumed = office(fleet(2)), with_status(4, succeeded=succeeded)
    assert here.review(change(suspended(resumed), resumed), enforced=True).word == word
    assert here.held == (word == "fits")


def test_a_set_that_is_resumed_asks_for_the_jobs_that_have_not_succeeded() -> None:
    found = staged(1, 1)
    found["spec"]["replicatedJobs"][1] |= {"dependsOn": None, "replicas": 3}
    found["status"] = {"replicatedJobsStatus": [{"name": "init", "succeeded": 1}, {"name": "work", "succeeded": 2}]}
    here = office(fleet(1))
    assert (here.review(change(suspended(found), found), enforced=True).word, here.held) == ("fits", 1)


# -- a pause ----------------------------------------------------------------------------------------------------------


def paused(obj: Object) -> Object:
    return {**obj, "spec": {**obj["spec"], "paused": True}}


def rolled_out(obj: Object) -> Object:
    annotations = {"deployment.kubernetes.io/revision": "1"}
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}, "status": {"observedGeneration": 1}}


def ray_fleet(pods: int = 2) -> Object:
    labels = {"app": "fleet"}
    head = {"rayStartParams": {}, "template": template(8)}
    return {
        "apiVersion": "orchestration.aibrix.ai/v1alpha1",
        "kind": "RayClusterFleet",
        "metadata": {"name": "serve", "namespace": TEAM},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"headGroupSpec": head}},
        },
    }


@pytest.mark.parametrize("obj", [deployment(pods=2), ray_fleet()], ids=["Deployment", "RayClusterFleet"])
def test_what_is_paused_holds_nothing_until_it_goes_on(obj: Object) -> None:
    here = office(fleet(2))
    first = here.review(creation(paused(obj)))
    assert (first.word, here.held) == ("fits", 0)
    assert "no room is held" in first.warnings[-1]
    seen = {**paused(obj), "status": {"observedGeneration": 1}}
    assert (here.review(change(seen, {**seen, **obj}), enforced=True).word, here.held) == ("fits", 2)
    assert (here.review(change(obj, paused(obj))).word, here.held) == ("waved-through", 0)


def test_what_is_paused_is_judged_when_it_goes_on() -> None:
    here = office(fleet(2, *running({"whose": "nobody"}, 0)))
    assert here.review(creation(paused(deployment(pods=2))), enforced=True).allowed
    decision = here.review(change(paused(deployment(pods=2)), deployment(pods=2)), enforced=True)
    assert decision.word == "refused"


def test_a_pause_in_the_midst_of_it_keeps_no_pods_away() -> None:
    """The ReplicaSet is there, and is scaled."""
    here = office(fleet(3, *served(0)))
    old, new = (rolled_out(paused(deployment(pods=pods))) for pods in (1, 3))
    assert (here.review(change(old, new), enforced=True).word, here.held) == ("fits", 2)
    assert here.review(change(rolled_out(deployment(pods=3)), new), enforced=True).word == "waved-through"
    assert here.held == 2


def graph(stop: str | None) -> Object:
    key = "serving.kserve.io/stop"
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {"name": "g", "namespace": TEAM, "annotations": {} if stop is None else {key: stop}},
        "spec": {
            "minReplicas": 1,
            "nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceName": "a"}]}},
        },
    }


def test_what_is_stopped_by_an_annotation_alone_is_judged_when_it_goes_on() -> None:
    here = office(fleet(2))
    assert (here.review(creation(graph("true"))).word, here.held) == ("fits", 0)
    assert (here.review(change(graph("true"), graph(None))).word, here.held) == ("fits", 1)
    assert (here.review(change(graph(None), graph("false"))).word, here.held) == ("waved-through", 1)
    assert (here.review(change(graph("false"), graph("true"))).word, here.held) == ("waved-through", 0)


@pytest.mark.parametrize(
    ("manager", "word"),
    [
        (None, "fits"),
        ("kubernetes.io/job-controller", "fits"),
        ("kueue.x-k8s.io/multikueue", "fits"),
        ("a.example/b", "fits-nowhere"),
    ],
)
def test_pods_that_another_controller_makes_are_promised_nothing(manager: str | None, word: str) -> None:
    here, found = office(fleet(2)), job("train", 2)
    found["spec"]["managedBy"] = manager
    decision = here.review(creation(found), enforced=True)
    assert (decision.word, decision.allowed, here.held) == (word, True, 2 * (word == "fits"))


# -- where it is asked ------------------------------------------------------------------------------------------------


def test_where_only_its_own_cluster_was_asked_that_is_said() -> None:
    full, free = fleet(1, *served(0), name="eu"), fleet(4, name="us")
    asked = change(deployment(pods=1), deployment(pods=2))
    refused = office(full, free).review(asked, enforced=True)
    assert refused.message.startswith("eu, where it runs, has no room for all of its new pods now; eu full")
    assert office(full, free).review(asked).warnings[0] == f"wm-place: {refused.message.partition(';')[0]}"


def test_where_it_is_only_expected_that_is_said() -> None:
    here = office(fleet(2, name="eu"), fleet(1, name="us"))
    here.review(creation(deployment(pods=2)))
    said = here.review(change(deployment(pods=2), deployment(pods=3)), enforced=True).message
    assert said.startswith("eu, where its pods are expected, ")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (1, 2, "no cluster where it runs has room for all of its new pods now"),
        (1, 9, "no cluster where it runs can take all of its new pods with the nodes that are there"),
    ],
)
def test_where_several_are_its_own_they_are_meant(old: int, new: int, said: str) -> None:
    here = office(fleet(1, *served(0), name="eu"), fleet(1, *served(0), name="us"), fleet(9, name="free"))
    decision = here.review(change(deployment(pods=old), deployment(pods=new)))
    assert decision.warnings[0] == f"wm-place: {said}"


def test_where_all_were_asked_no_cluster_is_meant() -> None:
    said = office(fleet(1, *running({}, 0))).review(creation(job()), enforced=True).message
    assert said.startswith("no cluster has room for all of it now; ")


# -- what comes later, where nodes come and go ------------------------------------------------------------------------

LEAVING = [node(f"n{number}", gpu=8, taints=[Taint("ToBeDeletedByClusterAutoscaler")]) for number in (0, 1)]
ELSEWHERE = suspended(job("a"))
ELSEWHERE["spec"]["template"] = template(8, nodeSelector={"pool": "large"})


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        (nodes(1), suspended(job("a"))),
        (nodes(1), cronjob()),
        ([], suspended(job("a"))),
        (LEAVING, suspended(job("a", 2))),
        (nodes(2, gpu=8), suspended(job("a", 3))),
        (nodes(2, gpu=4), suspended(job("a"))),
        (nodes(2, gpu=8), ELSEWHERE),
        (nodes(1), paused(deployment())),
    ],
    ids=["no GPU", "schedule", "no node", "leaving", "too few", "too small", "another pool", "paused"],
)
def test_nodes_that_an_autoscaler_may_bring_refuse_nothing_that_comes_later(there: Any, asked: Object) -> None:
    here = office(cluster(nodes=there, name="eu"))
    decision = here.review(creation(asked), enforced=True)
    assert (decision.word, decision.allowed, here.held) == ("fits-nowhere", True, 0)
    assert decision.warnings[0] == "wm-place: no cluster can take all of it with the nodes that are there"


@pytest.mark.parametrize("suspend", [False, True])
def test_what_comes_now_is_refused_for_them(suspend: bool) -> None:
    here, waiting = office(cluster(nodes=nodes(1), name="eu")), suspended(job("a"))
    asked = change(waiting, job("a")) if suspend else creation(job("a"))
    assert not here.review(asked, enforced=True).allowed


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize(("limit", "allowed"), [(8, False), (16, True)])
def test_what_no_node_would_mend_refuses_it_at_once(count: int, limit: int, allowed: bool) -> None:
    limited = fleet(count, quotas=[quota(hard={GPUS: limit}, used={GPUS: 8})])
    decision = office(limited).review(creation(suspended(job("a", 2))), enforced=True)
    assert decision.allowed == allowed


def test_where_one_cluster_could_grow_it_is_let_in() -> None:
    short = fleet(9, quotas=[quota(hard={GPUS: 8}, used={GPUS: 0})], name="eu")
    for name, gpu, allowed in (("us", 0, True), ("eu", 8, False)):
        there = cluster(nodes=nodes(1, gpu=gpu), name=name)
        both = office(short, there) if name != "eu" else office(short)
        assert both.review(creation(suspended(job("a", 2))), enforced=True).allowed == allowed


def test_reasons_that_no_node_would_mend_are_known_codes() -> None:
    assert set(CODES) >= OF_THE_CLUSTER
