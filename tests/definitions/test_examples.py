"""The worked examples of definitions.md 12 and 15.5: upstream's definitions give upstream's numbers, wrong ones too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.definitions.extract import Extraction, Scale
from advisor.definitions.scale import subtree
from advisor.errors import InputError
from tests.definitions.builders import Definitions, definition_in, extraction, yaml

pytestmark = pytest.mark.corpus

GPUS = "{spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: %d}}}]}}"
EIGHT, FOUR = GPUS % 8, GPUS % 4

JOBSET = f"""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
spec:
  replicatedJobs:
  - {{name: leader, replicas: 1, template: {{spec: {{parallelism: 1, template: {FOUR}}}}}}}
  - {{name: worker, replicas: 1, template: {{spec: {{parallelism: 2, template: {FOUR}}}}}}}
"""
LWS = f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec: {{replicas: 2, leaderWorkerTemplate: {{size: 4, leaderTemplate: {EIGHT}, workerTemplate: {EIGHT}}}}}
"""
RAY_CLUSTER = f"""
enableInTreeAutoscaling: true
headGroupSpec: {{template: {{spec: {{containers: [{{name: head}}]}}}}}}
workerGroupSpecs:
- {{groupName: gpu, replicas: 4, minReplicas: 2, maxReplicas: 8, numOfHosts: 2, template: {EIGHT}}}
- {{groupName: cpu, minReplicas: 0, maxReplicas: 10, template: {{spec: {{containers: [{{name: worker}}]}}}}}}
"""
DYNAMO = """
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
spec:
  services:
    Frontend: {replicas: 1, extraPodSpec: {mainContainer: {image: x}}}
    VllmPrefillWorker:
      replicas: 2
      multinode: {nodeCount: 2}
      resources: {limits: {gpu: '8'}}
      extraPodSpec: {mainContainer: {image: x}}
    VllmDecodeWorker: {resources: {limits: {gpu: '4'}}}
"""
DYNAMO_BETA = f"""
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
spec:
  components:
  - {{name: Frontend, podTemplate: {{spec: {{containers: [{{name: web}}]}}}}}}
  - {{name: Prefill, replicas: 2, multinode: {{nodeCount: 2}}, podTemplate: {EIGHT}}}
  - {{name: Decode, podTemplate: {FOUR}}}
"""
CLIQUE = "{name: %s, spec: {replicas: %d, podSpec: {containers: [{name: main}]}}}"
GROVE = f"""
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
spec:
  replicas: 2
  template:
    cliques: [{CLIQUE % ("fe", 2)}, {CLIQUE % ("pl", 1)}, {CLIQUE % ("pw", 3)}]
    podCliqueScalingGroups: [{{name: prefill, cliqueNames: [pl, pw], replicas: 2, minAvailable: 1}}]
"""
PYTORCH = f"""
apiVersion: kubeflow.org/v1
kind: PyTorchJob
spec:
  elasticPolicy: {{minReplicas: 2, maxReplicas: 4}}
  pytorchReplicaSpecs: {{Worker: {{replicas: 4, template: {EIGHT}}}}}
"""
MPI = f"""
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
spec: {{mpiReplicaSpecs: {{Launcher: {{template: {{}}}}, Worker: {{replicas: 2, template: {EIGHT}}}}}}}
"""
NIM = "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, spec: {resources: {limits: {nvidia.com/gpu: 1}}}}"
KSERVE = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
spec: {predictor: {minReplicas: 2, model: {storageUri: "s3://x", resources: {limits: {nvidia.com/gpu: 1}}}}}
"""
MILVUS = "{apiVersion: milvus.io/v1beta1, kind: Milvus, spec: {mode: cluster}}"
LLM = """
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
spec:
  replicas: 2
  template: {containers: [{name: main}]}
  worker: {containers: [{name: main}]}
  prefill: {replicas: 1}
"""


def read(catalogue: Definitions, manifest: str, *, strict: bool = False) -> Extraction:
    data = yaml(manifest)
    return extraction(catalogue[data["apiVersion"], data["kind"]], data, strict=strict)


def ray(kind: str, field: str) -> str:
    spec = RAY_CLUSTER if not field else f"{field}:\n" + RAY_CLUSTER.replace("\n", "\n  ")
    return f"apiVersion: ray.io/v1\nkind: {kind}\nspec:\n  " + spec.replace("\n", "\n  ")


def gpus(found: Extraction, component: str) -> dict[str, Any]:
    """Instance id → the limits of each container."""
    return {
        instance.id: [(c.get("resources") or {}).get("limits") for c in instance.pod["spec"].get("containers", ())]
        for instance in found.part(component).instances
        if instance.pod is not None
    }


@pytest.mark.parametrize(
    ("manifest", "scales"),
    [
        (JOBSET, {"jobset": 3, "replicatedjob": 3, "replicatedjob/leader": 1, "replicatedjob/worker": 2}),
        (LWS, {"leaderworkerset": 32, "group": 32, "leader": 2, "worker": 6}),
        (ray("RayCluster", ""), {"raycluster": 3, "head": 1, "worker": 2, "worker/gpu": 2, "worker/cpu": 0}),
        (ray("RayJob", "rayClusterSpec"), {"rayjob": 3, "head": 1, "worker": 2}),
        (DYNAMO, {"dynamographdeployment": 6, "service/VllmPrefillWorker": 4, "service/Frontend": 1}),
        (GROVE, {"podcliqueset": 16, "clique": 12, "clique/pw": 6, "scalinggroup": 4}),
        (PYTORCH, {"pytorchjob": 3, "master": 1, "worker": 2}),
        (MPI, {"mpijob": 3, "launcher": 1, "worker": 2}),
        (NIM, {"nimservice": 1}),
        (KSERVE, {"inferenceservice": 2, "predictor": 2, "transformer": 0}),
        (MILVUS, {"milvus": 0}),
        (LLM, {"llminferenceservice": 5, "main": 2, "prefill": 1, "worker": 2, "router-scheduler": 0}),
    ],
)
def test_subtree_scales(catalogue: Definitions, manifest: str, scales: dict[str, int]) -> None:
    found = read(catalogue, manifest)
    for name, expected in scales.items():
        component, _, instance = name.partition("/")
        assert (name, subtree(found, component, instance or None)) == (name, expected)


@pytest.mark.parametrize(
    ("manifest", "component", "scales"),
    [
        (JOBSET, "replicatedjob", {"leader": Scale(1), "worker": Scale(2)}),
        (LWS, "worker", {"": Scale(6)}),
        (ray("RayCluster", ""), "worker", {"gpu": Scale(4, 2, 8), "cpu": Scale(None, 0, 10)}),
        (ray("RayJob", "rayClusterSpec"), "worker", {"gpu": Scale(4, 2, 8), "cpu": Scale(None, 0, 10)}),
        (DYNAMO, "service", {"Frontend": Scale(1), "VllmDecodeWorker": Scale(1), "VllmPrefillWorker": Scale(4)}),
        (GROVE, "scalinggroup", {"prefill": Scale(4)}),
        (PYTORCH, "worker", {"": Scale(4, 2, 4)}),
        (KSERVE, "predictor", {"": Scale(None, 2)}),
    ],
)
def test_scales(catalogue: Definitions, manifest: str, component: str, scales: dict[str, Scale]) -> None:
    found = read(catalogue, manifest).scales(component)
    assert list((found or {}).items()) == list(scales.items())


@pytest.mark.parametrize(
    ("manifest", "component", "reason"),
    [
        (
            JOBSET.replace("parallelism: 2, ", ""),
            "jobset",
            "replicatedjob, replicasPath, number (1) and null (null) cannot be",
        ),
        (ray("RayService", "rayClusterConfig"), "rayservice", "worker, scaleDefinition, 1 value for 2 instances"),
        (
            GROVE.replace("podCliqueScalingGroups", "other"),
            "podcliqueset",
            "scalinggroup, replicasPath, Cannot iterate over null",
        ),
        (
            "{apiVersion: ray.io/v1, kind: RayCluster, spec: {}}",
            "raycluster",
            "worker, replicasPath, Cannot iterate over null",
        ),
        (
            NIM.replace("resources:", "replicas: '3', resources:"),
            "nimservice",
            'nimservice, replicasPath, must be a whole number, not the text "3"',
        ),
    ],
)
def test_a_tree_with_a_path_that_fails_has_no_scale(
    catalogue: Definitions, manifest: str, component: str, reason: str
) -> None:
    with pytest.raises(InputError) as raised:
        subtree(read(catalogue, manifest), component)
    assert str(raised.value).startswith(f"cannot be read: {reason}")


def test_pods(catalogue: Definitions) -> None:
    four, eight = [{"nvidia.com/gpu": 4}], [{"nvidia.com/gpu": 8}]
    assert gpus(read(catalogue, JOBSET), "replicatedjob") == {"leader": four, "worker": four}
    assert gpus(read(catalogue, ray("RayCluster", "")), "worker") == {"gpu": eight, "cpu": [None]}
    assert gpus(read(catalogue, LWS), "leader") == {"": eight}
    absent = read(catalogue, LWS.replace("leaderTemplate", "other")).part("leader")
    assert absent.absent and absent.instances[0].scale == Scale(2)
    assert read(catalogue, PYTORCH).part("master").absent


def test_dynamos_own_resource_key_is_handed_on_as_it_is(catalogue: Definitions) -> None:
    compatible = {"Frontend": [None], "VllmDecodeWorker": [{"gpu": "4"}], "VllmPrefillWorker": [None]}
    assert gpus(read(catalogue, DYNAMO), "service") == compatible
    strict = {**compatible, "VllmPrefillWorker": [{"gpu": "8"}]}
    assert gpus(read(catalogue, DYNAMO, strict=True), "service") == strict


def test_two_containers_for_three_components_are_shifted_unless_we_look(catalogue: Definitions) -> None:
    shifted = {"Frontend": [{"nvidia.com/gpu": 8}], "Prefill": [{"nvidia.com/gpu": 4}], "Decode": []}
    assert gpus(read(catalogue, DYNAMO_BETA), "component") | {"Decode": []} == shifted
    with pytest.raises(InputError, match="component, imagePath, 2 values for 3 instances"):
        read(catalogue, DYNAMO_BETA, strict=True).part("component")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_services_in_any_order_give_the_same_pairs(catalogue: Definitions, order: tuple[int, ...]) -> None:
    data = yaml(DYNAMO)
    services = list(data["spec"]["services"].items())
    shuffled = {**data, "spec": {"services": dict(services[i] for i in order)}}
    definition = catalogue[data["apiVersion"], data["kind"]]
    assert extraction(definition, shuffled).part("service") == extraction(definition, data).part("service")


def test_the_old_rayjob_is_valid_and_unreadable_on_every_rayjob(catalogue: Definitions, corpus: Path) -> None:
    old = definition_in(corpus / "definitions" / "legacy-resourceinterface" / "rayjob.yaml")
    manifest = yaml(ray("RayJob", "rayClusterSpec"))
    assert catalogue[manifest["apiVersion"], manifest["kind"]].root.kind == old.root.kind
    found = extraction(old, manifest)
    with pytest.raises(InputError, match="worker, instanceIdPath, Cannot iterate over null"):
        found.part("worker")
