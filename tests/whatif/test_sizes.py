"""The sizes that roles of real kinds can have, as the catalogue says them: both sides of each."""

from __future__ import annotations

from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.files import Source
from advisor.whatif import sizes
from advisor.workload import Workload

POD = "{spec: {restartPolicy: Never, containers: [{name: main, image: example/train}]}}"
LASTING = POD.replace("Never", "Always")
TORCH = POD.replace("main", "pytorch")
GROUP = f"{{groupName: gpu, replicas: 2, minReplicas: 0, maxReplicas: 9, numOfHosts: 3, template: {POD}}}"
RAY = f"{{headGroupSpec: {{rayStartParams: {{}}, template: {POD}}}, workerGroupSpecs: [{GROUP}]}}"

MANIFESTS = {
    "groups": f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: it}}
spec: {{replicas: 2, leaderWorkerTemplate: {{size: 4, workerTemplate: {LASTING}}}}}""",
    "ray": f"""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: it}}
spec: {RAY}""",
    "ray job": f"""
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: it}}
spec: {{entrypoint: python train.py, rayClusterSpec: {RAY}}}""",
    "mpi": f"""
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: it}}
spec:
  mpiReplicaSpecs:
    Launcher: {{template: {POD}}}
    Worker: {{replicas: 2, template: {POD}}}""",
    "torch": f"""
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: it}}
spec:
  pytorchReplicaSpecs:
    Master: {{template: {TORCH}}}
    Worker: {{replicas: 2, template: {TORCH}}}""",
    "graph": """
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: it}
spec:
  services:
    front: {}
    decode: {replicas: 3}
    prefill: {multinode: {nodeCount: 4}}
    far: {replicas: 2, multinode: {nodeCount: 2}}""",
    "cliques": f"""
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {{name: it}}
spec:
  replicas: 2
  template:
    podCliqueScalingGroups: [{{name: g, cliqueNames: [lead], replicas: 2}}]
    cliques:
      - {{name: front, spec: {{roleName: front, replicas: 3, minAvailable: 1, podSpec: {POD[7:-1]}}}}}
      - {{name: lead, spec: {{roleName: lead, replicas: 1, podSpec: {POD[7:-1]}}}}}""",
    "set": f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: it}}
spec: {{parallelism: 2, template: {POD}}}""",
}


def read(name: str) -> Workload:
    (found,) = reading.read(files.documents(Source("it.yaml", MANIFESTS[name])), Catalog()).workloads
    assert not found.faults, found.faults
    return found


def replicas(workload: Workload) -> dict[str, Any]:
    return {role.name: role.replicas for role in workload.roles}


@pytest.mark.parametrize(
    ("name", "role", "count"),
    [
        ("groups", "worker", 8),
        ("groups", "worker", 0),
        ("groups", "leader", 2),
        ("ray", "gpu", 9),
        ("ray", "gpu", 0),
        ("ray", "head", 1),
        ("ray job", "gpu", 3),
        ("mpi", "Worker", 5),
        ("torch", "Worker", 5),
        ("set", "job", 7),
        ("graph", "decode", 6),
        ("graph", "prefill", 8),
        ("cliques", "front", 8),
    ],
)
def test_a_size_that_can_be(name: str, role: str, count: int) -> None:
    before = read(name)
    assert replicas(sizes.sized(before, role, count)) == {**replicas(before), role: count}


@pytest.mark.parametrize(
    ("name", "role", "count", "said"),
    [
        ("groups", "worker", 7, "multiples of 2\n    the sizes next to it are 6 or 8"),
        (
            "groups",
            "leader",
            4,
            "it has 2 leader pods at any size of its other roles\n    roles of other sizes are worker",
        ),
        ("ray", "gpu", 7, "multiples of 3\n    the sizes next to it are 6 or 9"),
        ("ray", "gpu", 2, "multiples of 3\n    the least is 3"),
        ("ray", "head", 2, "it has 1 head pod at any size"),
        ("ray", "head", 0, "it has 1 head pod at any size"),
        ("ray job", "gpu", 4, "multiples of 3"),
        ("ray job", "submitter", 2, "roles of other sizes are gpu"),
        ("mpi", "Launcher", 2, "roles of other sizes are Worker"),
        ("torch", "Master", 2, "roles of other sizes are Worker"),
        ("graph", "prefill", 6, "multiples of 4\n    the sizes next to it are 4 or 8"),
        ("graph", "far", 8, "it has 4 far pods at any size of its other roles"),
        ("cliques", "front", 7, "multiples of 2"),
        ("cliques", "lead", 8, "it has 4 lead pods at any size of its other roles"),
    ],
)
def test_a_size_that_cannot_be(name: str, role: str, count: int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        sizes.sized(read(name), role, count)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "role", "count", "members"),
    [("graph", "front", 2, 2), ("graph", "decode", 6, 1), ("cliques", "front", 8, 1), ("groups", "worker", 8, 4)],
)
def test_what_does_not_start_with_all_of_its_pods_still_does_not(
    name: str, role: str, count: int, members: int
) -> None:
    assert sizes.sized(read(name), role, count).groups[0].members[role] == members
