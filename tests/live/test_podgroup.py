"""The gangs that we write: real API servers take them, and the real kube-scheduler holds pods together by ours."""

from __future__ import annotations

from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.render import podgroup
from advisor.workload import Workload
from tests import corpus
from tests.live import pods
from tests.servers import judge, objects
from tests.servers.pool import Servers

CRDS = {
    "kai": "federation/kai/scheduling.run.ai_podgroups.yaml",
    "volcano": "volcanopodgroup.yaml",
    "scheduler-plugins": "schedulerplugins-podgroup.yaml",
}
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
    server.load(objects.namespaces_of(made.values()))
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
