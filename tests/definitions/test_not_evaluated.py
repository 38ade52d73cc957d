"""What a kind asks for and no rule evaluates is told by its path, and whether it can only forbid: never passed over."""

from __future__ import annotations

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.resources import in_base_units
from advisor.workload import Workload

POD = "{containers: [{name: main, image: x}]}"
KAITO = "{apiVersion: kaito.sh/v1beta1, kind: Workspace, metadata: {name: x}, "
NODES = "labelSelector: {matchLabels: {a: b}}"


def read(text: str) -> Workload:
    (workload,) = reading.read(files.documents(files.Source("x", text)), Catalog()).workloads
    assert not workload.faults
    return workload


def told(text: str) -> dict[str, bool]:
    return {one.path: one.restricts for one in read(text).unmodelled}


def cliques(set_: str = "", clique: str = "", group: str = "") -> str:
    return f"""
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {{name: x}}
spec:
  replicas: 1
  template:
    {set_}
    podCliqueScalingGroups: [{{name: g, cliqueNames: [a], {group}}}]
    cliques: [{{name: a, {clique} spec: {{roleName: a, replicas: 1, podSpec: {POD}}}}}]
"""


def graph(service: str = "", spec: str = "") -> str:
    return f"""
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: x}}
spec:
  {spec}
  services: {{a: {{componentType: worker, resources: {{limits: {{gpu: "1"}}}}, {service}}}}}
"""


def milvus(spec: str, type_: str) -> str:
    return f"""
apiVersion: milvus.io/v1beta1
kind: Milvus
metadata: {{name: x}}
spec:
  {spec}
  dependencies:
    etcd: {{external: true, endpoints: [e]}}
    storage: {{external: true, endpoint: s}}
    msgStreamType: {type_}
"""


STATEFUL = "mode: cluster\n  components: {queryNode: {statefulSet: {enabled: true}}}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (cliques(), {}),
        (cliques(set_="topologyConstraint: {packDomain: rack}"), {"spec.template.topologyConstraint": True}),
        (
            cliques(clique="topologyConstraint: {pack: {required: host}},"),
            {"spec.template.cliques[0].topologyConstraint": True},
        ),
        (cliques(clique="topologyConstraint: {pack: {preferred: host}},"), {}),
        (
            cliques(group="topologyConstraint: {packDomain: zone}"),
            {"spec.template.podCliqueScalingGroups[0].topologyConstraint": True},
        ),
        (
            cliques(clique="annotations: {grove.io/auto-mnnvl: enabled},"),
            {'spec.template.cliques[0].annotations["grove.io/auto-mnnvl"]': True},
        ),
        (graph(), {}),
        (graph(service="failover: {enabled: false}"), {}),
        (graph(service="failover: {enabled: true}"), {"spec.services.a.failover": True}),
        (
            graph(service="gpuMemoryService: {enabled: true, mode: interPod}"),
            {"spec.services.a.gpuMemoryService": True},
        ),
        (graph(spec="pvcs: [{name: a, create: true}]"), {"spec.pvcs": True}),
        (
            graph(spec="topologyConstraint: {topologyProfile: p, packDomain: rack}"),
            {"spec.topologyConstraint": True},
        ),
        (milvus("mode: cluster", "woodpecker"), {}),
        (milvus("mode: cluster", "pulsar"), {"spec.dependencies.pulsar": False}),
        (milvus(STATEFUL, "woodpecker"), {"spec.components.queryNode.statefulSet": True}),
    ],
)
def test_what_is_told(text: str, expected: dict[str, bool]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("resource", "expected", "gpus"),
    [
        ("instanceType: p5.48xlarge", {"inference.preset": True, "resource.instanceType": False}, 8),
        ("instanceType: p5.48xlarge, count: 2", {"inference.preset": False, "resource.instanceType": False}, 8),
        ("partition: {mode: accelerator, count: 3}", {"inference.preset": True}, 3),
        ("", {"inference.preset": True, "resource": True}, 1),
    ],
)
def test_the_gpus_and_pods_of_a_model_are_those_of_a_machine(
    resource: str, expected: dict[str, bool], gpus: int
) -> None:
    text = f"{KAITO}resource: {{{NODES}, {resource}}}, inference: {{preset: {{name: m}}}}}}"
    assert told(text) == expected
    assert requests(text) == {"nvidia.com/gpu": gpus}


def requests(text: str) -> dict[str, int]:
    (role,) = read(text).roles
    return in_base_units(role.template.as_pod().requests())


def test_a_machine_that_nobody_knows_has_a_gpu_at_least() -> None:
    text = f"{KAITO}resource: {{{NODES}, instanceType: huge}}, inference: {{preset: {{name: m}}}}}}"
    told_of = [(one.path, one.restricts, one.needs) for one in read(text).unmodelled]
    assert told_of == [
        ("inference.preset", True, ""),
        ("resource.instanceType", True, ""),
        ("resource.instanceType", False, "karpenter.sh"),
    ]
    assert requests(text) == {"nvidia.com/gpu": 1}


def test_a_part_of_a_gpu_is_one_pod_on_nodes_that_are_there() -> None:
    resource = f"{NODES}, partition: {{mode: mig, profile: 1g.10gb}}"
    text = f"{KAITO}resource: {{{resource}}}, inference: {{preset: {{name: m}}}}}}"
    assert told(text) == {}
    assert requests(text) == {"nvidia.com/mig-1g.10gb": 1}


def test_the_number_of_machines_that_was_worked_out_is_known() -> None:
    resource = f"resource: {{{NODES}, instanceType: p5.48xlarge, count: 4}}"
    text = f"{KAITO}{resource}, inference: {{preset: {{name: m}}}}, status: {{targetNodeCount: 3}}}}"
    assert told(text) == {"resource.instanceType": False}
    assert [role.replicas for role in read(text).roles] == [3]
