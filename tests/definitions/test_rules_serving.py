"""What Grove, Dynamo, Milvus, agent sandboxes and KAITO refuse, each at its own place."""

from __future__ import annotations

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.workload import Workload

POD = "podSpec: {containers: [{name: main, image: x}]}"
TEMPLATE = "{spec: {containers: [{name: main, image: x}]}}"
KINDS = {
    "PodCliqueSet": "grove.io/v1alpha1",
    "DynamoGraphDeployment": "nvidia.com/v1alpha1",
    "Milvus": "milvus.io/v1beta1",
    "Sandbox": "agents.x-k8s.io/v1beta1",
    "SandboxWarmPool": "extensions.agents.x-k8s.io/v1beta1",
    "InferenceSet": "kaito.sh/v1beta1",
    "Workspace": "kaito.sh/v1beta1",
}
GRAPH_1 = "nvidia.com/v1beta1"


def read(kind: str, body: str, version: str = "") -> Workload:
    text = f"{{apiVersion: {version or KINDS[kind]}, kind: {kind}, metadata: {{name: x}}, {body}}}"
    (workload,) = reading.read(files.documents(files.Source("x", text)), Catalog()).workloads
    return workload


def refused(workload: Workload) -> list[str]:
    return [str(fault).split("\n")[0].split(" ", 1)[1] for fault in workload.faults]


def clique(name: str, spec: str = "", more: str = "") -> str:
    return f"{{name: {name}, spec: {{roleName: {name}, replicas: 2, {POD}, {spec}}}, {more}}}"


def cliques(*found: str, template: str = "") -> str:
    return f"spec: {{replicas: 1, template: {{cliques: [{', '.join(found)}], {template}}}}}"


A, B = clique("a"), clique("b")
NAMES = "podCliqueScalingGroups: [{name: g, cliqueNames: [a], %s}]"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (cliques(), ["spec.template.cliques: must have a clique at least"]),
        (cliques(A, A), ["spec.template.cliques[1].name", "spec.template.cliques[1].spec.roleName"]),
        (cliques(clique("a", "minAvailable: 3")), ["spec.template.cliques[0].spec.minAvailable"]),
        (cliques(A, template=NAMES % "minAvailable: 2"), ["spec.template.podCliqueScalingGroups[0].minAvailable"]),
        (
            cliques(A, template="podCliqueScalingGroups: [{name: g, cliqueNames: [z]}]"),
            ["spec.template.podCliqueScalingGroups[0].cliqueNames[0]: is not the name of a clique"],
        ),
        (
            cliques(
                clique("a", "startsAfter: [b]"),
                clique("b", "startsAfter: [a]"),
                template="cliqueStartupType: CliqueStartupTypeExplicit",
            ),
            ["spec.template.cliques: wait for each other in a ring"],
        ),
        (
            cliques(clique("a", "autoScalingConfig: {maxReplicas: 1}")),
            ["spec.template.cliques[0].spec.autoScalingConfig.maxReplicas: is required, and not below replicas"],
        ),
        (
            cliques(clique("a", "autoScalingConfig: {maxReplicas: 4}"), template=NAMES % ""),
            ["spec.template.cliques[0].spec.autoScalingConfig: cannot be set on a clique of a scaling group"],
        ),
        (
            cliques(A, B, template="topologyConstraint: {pack: {required: rack}, packDomain: rack}"),
            ["spec.template.topologyConstraint"],
        ),
    ],
)
def test_grove(body: str, expected: list[str]) -> None:
    starts_with(refused(read("PodCliqueSet", body)), expected)


def starts_with(found: list[str], expected: list[str]) -> None:
    assert [text[: len(start)] for text, start in zip(found, expected, strict=True)] == expected


def services(*found: str, spec: str = "") -> str:
    each = ", ".join(f"s{place}: {{{one}}}" for place, one in enumerate(found))
    return f"spec: {{services: {{{each}}}, {spec}}}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (services(), ["spec.services: must have a service at least"]),
        (services(*["replicas: 1"] * 26), ["spec.services: are more than 25"]),
        (services("replicas: -1"), ["spec.services.s0.replicas: must not be negative: -1"]),
        (
            services("multinode: {nodeCount: 1}"),
            ["spec.services.s0.multinode.nodeCount: must be a whole number from 2"],
        ),
        (services("resources: {limits: {gpu: 1}}"), ["spec.services.s0.resources.limits.gpu: must be text"]),
        (services("resources: {limits: {gpu: many}}"), ["spec.services.s0.resources.limits.gpu: is no quantity"]),
        (
            services("resources: {limits: {custom: {rdma/hca: x}}}"),
            ['spec.services.s0.resources.limits.custom["rdma/hca"]: is no quantity'],
        ),
        (services("", spec="backendFramework: other"), ["spec.backendFramework: must be sglang, vllm or trtllm"]),
        (
            services("componentType: epp, replicas: 2, eppConfig: {}"),
            ["spec.services.s0.replicas: must be 1 for an endpoint picker"],
        ),
        (
            services("gpuMemoryService: {enabled: true}, resources: {limits: {gpu: '1'}}"),
            ["spec.services.s0.gpuMemoryService: is only for workers"],
        ),
        (
            services("gpuMemoryService: {enabled: true}, componentType: worker"),
            ["spec.services.s0.gpuMemoryService: needs a GPU at least"],
        ),
        (
            services("topologyConstraint: {packDomain: rack}"),
            ["spec.topologyConstraint.topologyProfile: "],
        ),
        (services("volumeMounts: [{name: a}]"), ["spec.services.s0.volumeMounts[0].mountPoint: is required"]),
    ],
)
def test_dynamo(body: str, expected: list[str]) -> None:
    starts_with(refused(read("DynamoGraphDeployment", body)), expected)


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ("[]", ["spec.components: must have a component at least"]),
        ("[{name: a}, {name: A}]", ["spec.components[1].name: is the name of an earlier component, too"]),
        ("[{name: a, replicas: 2, minAvailable: 3}]", ["spec.components[0].minAvailable: must be at least 1"]),
        (
            f"[{{name: a, frontendSidecar: z, podTemplate: {TEMPLATE}}}]",
            ["spec.components[0].frontendSidecar: is not the name of a container of the component"],
        ),
        (
            "[{name: a, podTemplate: {spec: {containers: [{name: main, resources: {limits: {cpu: x}}}]}}}]",
            ["spec.components[0].podTemplate.spec.containers[0].resources.limits.cpu"],
        ),
    ],
)
def test_dynamo_with_pod_templates(components: str, expected: list[str]) -> None:
    workload = read("DynamoGraphDeployment", f"spec: {{components: {components}}}", GRAPH_1)
    starts_with(refused(workload), expected)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("mode: large", ["spec.mode: must be cluster or standalone"]),
        ("components: {proxy: {replicas: -2}}", ["spec.components.proxy.replicas: must be a whole number, or -1"]),
        ("components: {resources: {limits: {cpu: x}}}", ["spec.components.resources.limits.cpu"]),
        (
            "components: {dataNode: {groups: [{name: a, replicas: 1}, {name: a, replicas: 1}]}}",
            ["spec.components.dataNode.groups[1].name: is the name of an earlier group, too"],
        ),
        (
            'components: {dataNode: {groups: [{name: "zone-a ", replicas: 1}]}}',
            ["spec.components.dataNode.groups[0].name: becomes part of names of objects"],
        ),
        ("dependencies: {msgStreamType: nats}", ["spec.dependencies.msgStreamType"]),
        (
            "dependencies: {etcd: {external: true}}",
            ["spec.dependencies.etcd.endpoints: is required where it is external"],
        ),
    ],
)
def test_milvus(spec: str, expected: list[str]) -> None:
    starts_with(refused(read("Milvus", f"spec: {{{spec}}}")), expected)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("Sandbox", "spec: {}", ["spec.podTemplate: is required"]),
        (
            "Sandbox",
            f"spec: {{operatingMode: Off, podTemplate: {TEMPLATE}}}",
            ["spec.operatingMode: must be Running or Suspended"],
        ),
        ("SandboxWarmPool", "spec: {replicas: 2}", ["spec.sandboxTemplateRef: is required"]),
        (
            "SandboxWarmPool",
            "spec: {replicas: -2, sandboxTemplateRef: {name: a}}",
            ["spec.replicas: must not be negative: -2"],
        ),
    ],
)
def test_sandboxes(kind: str, body: str, expected: list[str]) -> None:
    starts_with(refused(read(kind, body)), expected)


NODES = "resource: {labelSelector: {}%s}"
PRESET = "inference: {preset: {name: m}}"
TUNING = "tuning: {preset: {name: m}, method: lora, input: {image: a}, output: {image: b}}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (PRESET, ["resource: is required"]),
        (f"resource: {{}}, {PRESET}", ["resource.labelSelector: is required"]),
        (NODES % "", ["inference: is required where there is no tuning"]),
        (f"{NODES % ''}, {PRESET}, {TUNING}", ["tuning: cannot stand beside inference"]),
        (f"{NODES % ''}, inference: {{}}", ["inference.preset: or template is required"]),
        (
            f"{NODES % ''}, inference: {{preset: {{name: m}}, template: {TEMPLATE}}}",
            ["inference.template: cannot stand"],
        ),
        (f"{NODES % ', count: 2'}, {TUNING}", ["resource.count: must be 1 for tuning"]),
        (f"{NODES % ''}, {TUNING.replace('lora', 'other')}", ["tuning.method: must be lora or qlora"]),
        (f"{NODES % ', partition: {mode: mig}'}, {PRESET}", ["resource.partition.profile: is required for mig"]),
        (
            f"{NODES % ', partition: {mode: accelerator}'}, {PRESET}",
            ["resource.partition.count: must be a whole number"],
        ),
    ],
)
def test_kaito(body: str, expected: list[str]) -> None:
    starts_with(refused(read("Workspace", body)), expected)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("labelSelector: {}", ["spec.template: is required"]),
        ("labelSelector: {}, template: {}", ["spec.template.inference: is required"]),
        ("template: {inference: {preset: {name: m}}}", ["spec.labelSelector: is required"]),
    ],
)
def test_sets_of_kaito(spec: str, expected: list[str]) -> None:
    starts_with(refused(read("InferenceSet", f"spec: {{{spec}}}")), expected)
