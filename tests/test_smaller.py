"""Sizes with which workloads of the catalogue start, and pods that share room because they follow one another."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.advise import advise
from advisor.explain import tell
from advisor.verdict import Verdict
from advisor.workload import Workload
from tests.builders import cluster, nodes, question
from tests.definitions.test_gangs import VOLCANO
from tests.definitions.test_gangs import read as read_files
from tests.test_kinds import read, template

Data = dict[str, Any]
POD = template(gpu=8)
CONTAINERS = POD["spec"]["containers"]
CPU = {"spec": {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}


def verdict(workload: Workload, free_nodes: int) -> Verdict:
    """On so many nodes of 8 free GPUs."""
    (answer,) = advise(question(workload, cluster(nodes(free_nodes, gpu=8)))).answers
    return tell(answer).verdicts[0]


def mpi(version: str = "v2beta1", **spec: Any) -> Workload:
    policy = {"schedulingPolicy": {"minAvailable": 3}}
    replicas = {"Launcher": {"template": CPU}, "Worker": {"replicas": 3, "template": POD}}
    return read(f"kubeflow.org/{version}", "MPIJob", {"runPolicy": policy, "mpiReplicaSpecs": replicas, **spec})


def ray(*, hosts: int = 1, replicas: int = 4, least: int = 1) -> Data:
    group = {"groupName": "g", "replicas": replicas, "minReplicas": least, "numOfHosts": hosts, "template": POD}
    return {"enableInTreeAutoscaling": True, "headGroupSpec": {"template": CPU}, "workerGroupSpecs": [group]}


def ray_job(mode: str = "K8sJobMode") -> Workload:
    return read("ray.io/v1", "RayJob", {"entrypoint": "x", "submissionMode": mode, "rayClusterSpec": ray()})


def volcano(least: int, on: Data, *tasks: tuple[str, int, Data]) -> Workload:
    made = [{"name": name, "replicas": count, "template": pod, **on.get(name, {})} for name, count, pod in tasks]
    return read("batch.volcano.sh/v1alpha1", "Job", {"minAvailable": least, "tasks": made})


STORE = ("store", 1, template(gpu=16))
SMALL = ("cache", 2, CPU)
TRAIN = ("train", 2, POD)


@pytest.mark.parametrize(
    ("workload", "room", "size"),
    [
        pytest.param(mpi(launcherCreationPolicy="WaitForWorkersReady"), 2, None, id="the launcher is not made"),
        pytest.param(mpi("v1"), 2, None, id="the launcher does not begin"),
        pytest.param(mpi(), 2, {"Launcher": 1, "Worker": 2}, id="the launcher waits for nobody"),
        pytest.param(ray_job(), 2, None, id="nothing is submitted"),
        pytest.param(ray_job("HTTPMode"), 2, None, id="nothing is submitted by KubeRay itself"),
        pytest.param(ray_job("SidecarMode"), 2, {"head": 1, "g": 2}, id="the head submits"),
        pytest.param(volcano(1, {"train": {"dependsOn": {"name": ["store"]}}}, STORE, TRAIN), 2, None, id="no store"),
        pytest.param(
            volcano(2, {"train": {"dependsOn": {"name": ["store", "cache"], "iteration": "any"}}}, STORE, SMALL, TRAIN),
            1,
            {"store": 0, "cache": 2, "train": 1},
            id="one of two is enough",
        ),
        pytest.param(
            volcano(
                1, {"train": {"dependsOn": {"name": ["pair"]}}, "pair": {"minAvailable": 1}}, ("pair", 2, POD), TRAIN
            ),
            2,
            {"pair": 2, "train": 0},
            id="of equal sizes the first tasks",
        ),
        pytest.param(
            volcano(1, {"train": {"dependsOn": {"name": ["store"]}}}, STORE, TRAIN, SMALL),
            1,
            {"store": 0, "train": 0, "cache": 2},
            id="what waits stays away",
        ),
    ],
)
def test_nobody_starts_without_those_that_it_waits_for(
    workload: Workload, room: int, size: dict[str, int] | None
) -> None:
    found = verdict(workload, room)
    assert (found.placement.size if found.placement else None) == size


def stateful(name: str, size: int) -> Data:
    return {"name": name, "replicas": 3, "podGroupSize": size, "template": POD}


def storm(least: int, *roles: Data) -> Workload:
    strategy = {"volcanoSchedulingStrategy": {"minMember": least}}
    spec = {"schedulingStrategy": strategy, "roles": list(roles)}
    metadata = {"labels": {"app": "x"}}
    whole = {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": metadata, "spec": spec}}
    return read("orchestration.aibrix.ai/v1alpha1", "StormService", whole)


def partitions(least: int) -> Workload:
    policy = {"totalPartitions": 3, "partitionSize": 2, "minPartitions": least}
    return volcano(2, {"rank": {"partitionPolicy": policy}}, ("rank", 6, POD))


@pytest.mark.parametrize(
    ("workload", "room", "size"),
    [
        pytest.param(read("ray.io/v1", "RayCluster", ray(hosts=2)), 3, {"head": 1, "g": 2}, id="RayCluster"),
        pytest.param(
            read("ray.io/v1", "RayCluster", ray(hosts=2, replicas=1, least=0)), 1, {"head": 1, "g": 0}, id="none"
        ),
        pytest.param(
            read("ray.io/v1", "RayService", {"rayClusterConfig": ray(hosts=2)}), 3, {"head": 1, "g": 2}, id="RayService"
        ),
        pytest.param(storm(2, stateful("a", 2)), 3, {"a": 2}, id="StormService"),
        pytest.param(storm(2, stateful("a", 2), stateful("b", 1)), 3, {"a": 2, "b": 1}, id="StormService of two roles"),
        pytest.param(partitions(1), 5, {"rank": 4}, id="partitions of Volcano"),
    ],
)
def test_replicas_of_several_pods_come_whole(workload: Workload, room: int, size: dict[str, int]) -> None:
    found = verdict(workload, room)
    assert found.verdict == "fits-reduced"
    assert found.placement and found.placement.size == size


def grove(*, sets: int = 1, times: int = 3, least: int = 1) -> Workload:
    cliques = [
        {"name": "rank", "spec": {"roleName": "rank", "replicas": 2, "podSpec": {"containers": CONTAINERS}}},
        {"name": "web", "spec": {"roleName": "web", "replicas": 3, "minAvailable": 1, "podSpec": CPU["spec"]}},
    ]
    group = {"name": "pair", "cliqueNames": ["rank"], "replicas": times, "minAvailable": least}
    spec = {"replicas": sets, "template": {"cliques": cliques, "podCliqueScalingGroups": [group]}}
    return read("grove.io/v1alpha1", "PodCliqueSet", spec)


def dynamo(replicas: int, hosts: int) -> Workload:
    part = {
        "componentType": "worker",
        "replicas": replicas,
        "multinode": {"nodeCount": hosts},
        "resources": {"limits": {"gpu": "8"}},
        "extraPodSpec": {"mainContainer": {"image": "x"}},
    }
    return read("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"p": part}})


def fleet() -> Workload:
    labels = {"app": "x"}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": ray(replicas=3)},
    }
    return read("orchestration.aibrix.ai/v1alpha1", "RayClusterFleet", spec)


def leader_worker_set() -> Workload:
    spec = {"replicas": 3, "leaderWorkerTemplate": {"size": 2, "workerTemplate": POD}}
    return read("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


@pytest.mark.parametrize(
    ("workload", "room", "size"),
    [
        pytest.param(grove(), 3, {"rank": 2, "web": 3}, id="a base gang of Grove"),
        pytest.param(grove(), 5, {"rank": 4, "web": 3}, id="and a further one"),
        pytest.param(grove(), 1, None, id="no base gang"),
        pytest.param(grove(least=2), 3, None, id="a base gang of two groups"),
        pytest.param(grove(sets=2, times=2), 7, {"rank": 6, "web": 6}, id="two sets"),
        pytest.param(grove(sets=2, times=3), 5, {"rank": 4, "web": 6}, id="pods come with their set"),
        pytest.param(dynamo(3, 2), 3, {"p": 2}, id="Dynamo"),
        pytest.param(dynamo(3, 2), 1, None, id="not one replica of Dynamo"),
        pytest.param(fleet(), 1, {"head": 1, "g": 1}, id="a fleet of one cluster"),
        pytest.param(leader_worker_set(), 3, {"leader": 1, "worker": 1}, id="LeaderWorkerSet"),
    ],
)
def test_only_the_first_gang_must_start(workload: Workload, room: int, size: dict[str, int] | None) -> None:
    found = verdict(workload, room)
    assert (found.placement.size if found.placement else None) == size


@pytest.mark.parametrize(("room", "parts"), [(1, (0, 0)), (3, (1, 1)), (5, (2, 2))])
def test_the_largest_gang_is_made_of_whole_groups(room: int, parts: tuple[int, int]) -> None:
    assert verdict(leader_worker_set(), room).largest == dict(zip(("leader", "worker"), parts, strict=True))


def test_a_pod_group_of_the_files_may_want_fewer_pods_than_there_are() -> None:
    metadata = {"labels": {"app": "x"}, "annotations": {"scheduling.k8s.io/group-name": "g"}}
    spec = {"replicas": 5, "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": metadata, **POD}}
    manifest = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "x", "namespace": "team"}}
    (workload,) = read_files(f"{ {**manifest, 'spec': spec}!r}\n---\n", VOLCANO)
    assert [verdict(workload, room).verdict for room in (2, 3, 4, 5)] == [
        "never",
        "fits-reduced",
        "fits-reduced",
        "fits",
    ]


def job(name: str, gpu: int, *after: str, status: str = "Complete") -> Data:
    spec = {"template": {"spec": {"template": template(gpu=gpu)}}}
    return {"name": name, **spec, "dependsOn": [{"name": one, "status": status} for one in after]}


def job_set(*jobs: Data) -> Workload:
    made = [{key: value for key, value in one.items() if value != []} for one in jobs]
    return read("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": made})


CHAINS = job_set(job("fetch", 0), job("teach", 8), job("train", 8, "fetch"), job("report", 0, "teach"))
LINE = job_set(job("load", 8), job("split", 8, "load"), job("train", 8, "split"))
ASIDE = job_set(job("serve", 8), job("load", 8), job("train", 8, "load"))
READY = job_set(job("load", 8), job("serve", 8, "load", status="Ready"), job("train", 8, "serve"))


@pytest.mark.parametrize(
    ("workload", "stages", "least"),
    [
        pytest.param(CHAINS, [(0, 1), (0, 2), (2, 3), (1, 3)], 2, id="chains do not run in lock-step"),
        pytest.param(LINE, [(0,), (1,), (2,)], 1, id="one after the other"),
        pytest.param(ASIDE, [(0, 1), (0,), (1,)], 2, id="one that stays"),
        pytest.param(READY, [(0, 1), (0,), (1,)], 2, id="who is Ready has not ended"),
        pytest.param(
            job_set(job("a", 8), job("b", 8, "a"), job("c", 8, "b", status="Ready")),
            [(0,), (1,), (1,)],
            2,
            id="after b",
        ),
    ],
)
def test_pods_share_room_only_where_some_have_surely_ended(
    workload: Workload, stages: list[tuple[int, ...]], least: int
) -> None:
    assert [role.stages for role in workload.roles] == stages
    assert verdict(workload, least).verdict == "fits"
    assert verdict(workload, least).why.endswith("in turn and in any order")
    assert verdict(workload, least - 1).verdict == "never"


def test_what_is_needed_is_said_of_the_busiest_moment() -> None:
    assert verdict(ASIDE, 1).why == "8 nvidia.com/gpu free on 1 usable node, 16 needed at once"


def test_of_very_many_orders_none_is_relied_on() -> None:
    chains = [one for n in range(8) for one in (job(f"a{n}", 1), job(f"b{n}", 1, f"a{n}"))]
    assert {role.stages for role in job_set(*chains).roles} == {(0,)}


def test_a_smaller_size_is_one_that_is_made() -> None:
    """Pods of `b` come when those of `a` run: of two of `a` the gang of three never has its third."""
    tasks = ("a", 4, template(gpu=4)), ("b", 4, template(gpu=2))
    waits = {"a": {"minAvailable": 1}, "b": {"dependsOn": {"name": ["a"]}}}
    asked = volcano(3, waits, *tasks)
    assert verdict(asked, 1).verdict == "never"
    found = verdict(asked, 2)
    assert found.placement and found.placement.size["a"] >= 3
