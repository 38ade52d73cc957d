"""The gangs that we write: real API servers take them, and the real kube-scheduler holds pods together by ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from advisor import files
from advisor.advise import advise
from advisor.cluster import Namespace, PriorityClass
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.render import podgroup
from advisor.verdict import Verdict
from advisor.workload import Workload
from tests import builders, corpus
from tests.live import pods
from tests.servers import judge, objects
from tests.servers.client import RefusedError
from tests.servers.pool import Servers

CRDS = {
    "kai": "federation/kai/scheduling.run.ai_podgroups.yaml",
    "volcano": "volcanopodgroup.yaml",
    "scheduler-plugins": "schedulerplugins-podgroup.yaml",
}
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
FOLDERS = ("leaderworkerset", "jobset", "pytorchjob", "mpijob", "raycluster", "job")
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team}
spec:
  parallelism: 3
  completions: 3
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: example/train, resources: {limits: {example.com/gpu: 8}}}]
"""


def read(text: str) -> Workload:
    (workload,) = reading.read(files.documents(files.Source("job.yaml", text)), Catalog()).workloads
    return workload


def read_all(made: Sequence[Any]) -> tuple[Workload, ...]:
    text = "\n---\n".join(map(json.dumps, made))
    return reading.read(files.documents(files.Source("all.yaml", text)), Catalog()).workloads


def public() -> list[Workload]:
    """Workloads of public manifests that have a gang."""
    stated = [path for folder in FOLDERS for path in corpus.expected(folder)]
    paths = [path.with_name(path.name.replace(".expected.", ".")) for path in stated if "a4-two-pods" not in path.name]
    found = [reading.read(files.documents(files.read(str(path))), Catalog()) for path in paths]
    return [one for each in found for one in each.workloads if not one.faults and one.groups]


@pytest.mark.corpus
@corpus.needed
@pytest.mark.parametrize("scheduler", podgroup.FORMATS)
def test_a_server_takes_the_objects(servers: Servers, scheduler: str) -> None:
    server = servers.server()
    if scheduler in CRDS:
        server.install(corpus.FOLDER / "crds" / CRDS[scheduler])
    made = {
        (one["kind"], one["metadata"]["namespace"], one["metadata"]["name"]): one
        for workload in public()
        for one in podgroup.objects(workload, scheduler)
    }
    classes = {one["spec"].get("priorityClassName") for one in made.values()} - {None}
    server.load([*objects.namespaces_of(made.values()), *(HIGH | {"metadata": {"name": name}} for name in classes)])
    for one in made.values():
        assert holds(server.create(one)["spec"], one["spec"])


def holds(taken: Any, stated: Any) -> bool:
    """Is all that was stated there, whatever the server added?"""
    if isinstance(stated, dict):
        return all(key in taken and holds(taken[key], value) for key, value in stated.items())
    if isinstance(stated, list):
        return len(taken) == len(stated) and all(map(holds, taken, stated))
    return bool(taken == stated)


def members(workload: Workload, gang: podgroup.Gang) -> list[Any]:
    """The pods of a workload, as members of the gang's PodGroup."""
    made = [pod for _, pod in pods.of(workload)]
    for pod in made:
        pod["spec"]["schedulingGroup"] = {"podGroupName": gang.name}
    return made


@pytest.mark.parametrize(("nodes", "bound"), [(2, 0), (3, 3)])
def test_the_scheduler_binds_all_or_none(servers: Servers, nodes: int, bound: int) -> None:
    workload = read(JOB)
    (gang,) = podgroup.gangs(workload)
    server = servers.server()
    made = podgroup.objects(workload, "kubernetes")
    server.load([*objects.namespaces_of(made), *(pods.node(f"node-{number}", 8) for number in range(nodes))])
    for one in made:
        server.create(one)
    assert len(judge.rule(server, members(workload, gang)).bound) == bound


ORDERED = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: order, namespace: team}
spec:
  startupPolicy: {startupPolicyOrder: InOrder}
  replicatedJobs:
    - name: driver
      template: &job
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: main, image: example/train, resources: {limits: {example.com/gpu: 8}}}]
    - {name: worker, replicas: 2, template: *job}
"""
LEADING = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: lead, namespace: team}
spec:
  replicas: 1
  startupPolicy: LeaderReady
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      spec: {containers: [{name: main, image: example/train, resources: {limits: {example.com/gpu: 8}}}]}
"""


@pytest.mark.parametrize("text", [ORDERED, LEADING], ids=["jobset", "leaderworkerset"])
def test_the_scheduler_binds_each_set_of_pods_as_soon_as_they_are_made(servers: Servers, text: str) -> None:
    workload = read(text)
    gangs = podgroup.gangs(workload)
    made = podgroup.objects(workload, "kubernetes")
    server = servers.server()
    server.load([*objects.namespaces_of(made), *(pods.node(f"node-{number}", 8) for number in range(3))])
    for one in made:
        server.create(one)
    found = []
    for gang in gangs:
        own = [pod for role, pod in pods.of(workload) if role.name in gang.members]
        for pod in own:
            pod["spec"]["schedulingGroup"] = {"podGroupName": gang.name}
        found.append(len(judge.rule(server, own).bound))
    assert found == [1, 2]


URGENT = JOB.replace("restartPolicy: Never", "restartPolicy: Never\n      priorityClassName: high")


def test_the_scheduler_binds_pods_of_a_class_by_the_gang_that_we_write(servers: Servers) -> None:
    workload = read(URGENT)
    (gang,) = podgroup.gangs(workload)
    server = servers.server()
    made = podgroup.objects(workload, "kubernetes")
    server.load([*objects.namespaces_of(made), HIGH, *(pods.node(f"node-{number}", 8) for number in range(3))])
    for one in made:
        server.create(one)
    assert len(judge.rule(server, members(workload, gang)).bound) == 3


GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 3}}}
"""
MEMBER = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: team}
spec:
  schedulingGroup: {podGroupName: g}
  containers: [{name: main, image: example/train, resources: {limits: {example.com/gpu: GPUS}}}]
"""
POLITE = HIGH | {"metadata": {"name": "polite"}, "preemptionPolicy": "Never"}


def bare(name: str, gpus: int = 8, **spec: Any) -> dict[str, Any]:
    (document,) = files.documents(files.Source("pod.yaml", MEMBER.replace("NAME", name).replace("GPUS", str(gpus))))
    return {**document.data, "spec": {**document.data["spec"], **spec}}


def group(**spec: Any) -> dict[str, Any]:
    (document,) = files.documents(files.Source("group.yaml", GROUP))
    return {**document.data, "spec": {**document.data["spec"], **spec}}


def advised(made: list[dict[str, Any]], nodes: list[Any]) -> list[Verdict]:
    """What we say of the pods and their PodGroup, one verdict for each pod."""
    found = read_all(made)
    classes = (PriorityClass("high", 1000), PriorityClass("polite", 1000, preemption="Never"))
    here = builders.cluster(nodes, namespaces=[Namespace("team")], priority_classes=classes)
    return [answer.verdicts[0] for answer in advise(builders.question(*found, here)).answers]


@pytest.mark.parametrize(
    ("stated", "specs", "bound"),
    [
        pytest.param({}, [{}] * 3, 3, id="alike"),
        pytest.param({"priorityClassName": "high"}, [{"priorityClassName": "high"}] * 3, 3, id="one class"),
        pytest.param({"priorityClassName": "high"}, [{}] * 3, 0, id="the group's"),
        pytest.param({}, [{"priorityClassName": "high"}] * 3, 0, id="the pods'"),
        pytest.param({}, [{}, {}, {"priorityClassName": "high"}], 0, id="one pod's"),
        pytest.param(
            {"priorityClassName": "high"},
            [{"priorityClassName": "high"}] * 2 + [{"priorityClassName": "polite"}],
            0,
            id="preemption policies",
        ),
    ],
)
def test_the_scheduler_starts_no_pods_that_differ(
    servers: Servers, stated: dict[str, Any], specs: list[dict[str, Any]], bound: int
) -> None:
    server = servers.server()
    server.load([*objects.namespaces_of([group()]), HIGH, POLITE, *(pods.node(f"node-{n}", 8) for n in range(3))])
    server.create(group(**stated))
    made = [bare(f"pod-{number}", **spec) for number, spec in enumerate(specs)]
    assert len(judge.rule(server, made).bound) == bound
    room = builders.nodes(3, also={"example.com/gpu": 8})
    said = {one.verdict for one in advised([*made, group(**stated)], room)}
    assert said == ({"fits"} if bound else {"unknown"})


@pytest.mark.parametrize(
    "spec",
    [
        {"schedulingPolicy": {"gang": {"minCount": 0}}},
        {"schedulingPolicy": {"gang": {"minCount": -1}}},
        {"schedulingPolicy": {"gang": {}}},
        {"schedulingPolicy": {}},
        {"schedulingPolicy": {"basic": {}, "gang": {"minCount": 1}}},
        {"disruptionMode": "foo"},
        {"disruptionMode": {}},
        {"disruptionMode": {"single": {}, "all": {}}},
        {"disruptionMode": {"all": {}}},
        {"workloadRef": {"workloadName": "a"}},
        {"priorityClassName": "A_b"},
        {"priorityClassName": "nope"},
        {"priorityClassName": "high"},
        {"priority": 5},
        {"priority": 0},
        {"priorityClassName": "high", "priority": 1000},
        {"priority": 1000000001},
        {"schedulingPolicy": {"basic": {}}},
    ],
    ids=str,
)
def test_what_a_server_refuses_of_a_pod_group_we_refuse(servers: Servers, spec: dict[str, Any]) -> None:
    server = servers.server()
    server.load([*objects.namespaces_of([group()]), HIGH])
    asked = group(**spec)
    try:
        server.create(asked)
        taken = True
    except RefusedError:
        taken = False
    try:
        found = advised([bare("pod", priorityClassName=spec.get("priorityClassName", "")), asked], [])
        refusing = {"priorityclass-missing", "refused-there"}
        ours = not {reason.code for one in found for reason in one.reasons} & refusing
    except InputError:
        ours = False
    assert ours == taken


def test_a_server_takes_the_gangs_of_more_stages_than_a_workload_holds(servers: Servers) -> None:
    (document,) = files.documents(files.Source("set.yaml", ORDERED))
    first, _ = document.data["spec"]["replicatedJobs"]
    jobs = [{**first, "name": f"stage-{number}"} for number in range(10)]
    for before, job in pairwise(jobs):
        job["dependsOn"] = [{"name": before["name"], "status": "Ready"}]
    asked = {**document.data, "spec": {"replicatedJobs": jobs}}
    (workload,) = read_all([asked])
    assert not workload.faults
    server = servers.server()
    made = podgroup.objects(workload, "kubernetes")
    server.load(objects.namespaces_of(made))
    assert [server.create(one)["kind"] for one in made] == ["PodGroup"] * 10


def test_the_scheduler_binds_as_many_pods_as_the_gang_waits_for(servers: Servers) -> None:
    server = servers.server()
    server.load([*objects.namespaces_of([group()]), *(pods.node(f"node-{n}", 8) for n in range(3))])
    server.create(group())
    made = [bare(f"pod-{number}") for number in range(4)]
    assert len(judge.rule(server, made).bound) == 3
    found = advised([*made, group()], builders.nodes(3, also={"example.com/gpu": 8}))
    assert [one.verdict for one in found] == ["fits-reduced"] * 4
