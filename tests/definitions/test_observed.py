"""Which role a pod of a live object has: by the definition's selectors, among the roles that there are."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from advisor import files
from advisor.definitions import observed, reading
from advisor.definitions.catalog import Catalog
from advisor.files import Source
from advisor.render.describe import describe
from advisor.render.style import Style

Object = dict[str, Any]
RUNTIME: Object = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "torch"},
    "spec": {
        "mlPolicy": {"numNodes": 2, "torch": {}},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                            "spec": {"template": {"spec": {"containers": [{"name": "node", "image": "example/a"}]}}},
                        },
                    }
                ]
            }
        },
    },
}
TRAINJOB: Object = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "tune"},
    "spec": {"runtimeRef": {"name": "torch"}},
}
SERVED = {"name": "kserve-container", "image": "example/serve"}
WIDE: Object = {
    "apiVersion": "serving.kserve.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {
        "name": "wide",
        "annotations": {
            "serving.kserve.io/deploymentMode": "RawDeployment",
            "serving.kserve.io/autoscalerClass": "none",
        },
    },
    "spec": {
        "predictor": {
            "model": {"modelFormat": {"name": "huggingface"}, "storageUri": "pvc://models/wide"},
            "workerSpec": {"tensorParallelSize": 2},
        },
        "transformer": {"containers": [SERVED]},
    },
}
NARROW: Object = {
    "apiVersion": "serving.kserve.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {"name": "narrow"},
    "spec": {"predictor": {"containers": [SERVED]}, "transformer": {"containers": [SERVED]}},
}
HEAD = {"component": "predictor", "isvc.generation": "1"}


def pod(labels: dict[str, str], container: str = "kserve-container") -> Object:
    return {"metadata": {"name": "any", "labels": labels}, "spec": {"containers": [{"name": container}]}}


def role(objects: list[Object], made: Object) -> str | None:
    documents = files.documents(Source("manifest", "\n---\n".join(map(json.dumps, objects))))
    (workload,) = reading.read(documents, Catalog()).workloads
    entry = Catalog().find(workload.api_version, workload.kind)
    assert entry
    found = observed.role_of(entry.entry.definition, entry.entry.origin.engine, workload.roles, made)
    return found.name if found else None


def test_jobs_that_stand_in_another_object_are_known() -> None:
    own = pod({"jobset.sigs.k8s.io/replicatedjob-name": "node"})
    assert role([RUNTIME, TRAINJOB], own) == "node"
    assert role([RUNTIME, TRAINJOB], pod({"jobset.sigs.k8s.io/replicatedjob-name": "other"})) is None


@pytest.mark.parametrize(
    ("manifest", "made", "name"),
    [
        (WIDE, pod(HEAD), "head"),
        (WIDE, pod(HEAD, "worker-container"), "worker"),
        (WIDE, pod({"component": "transformer"}), "transformer"),
        (NARROW, pod({"component": "predictor"}), "predictor"),
        (NARROW, pod({"component": "transformer"}), "transformer"),
        (NARROW, pod({}), None),
    ],
)
def test_nodes_of_a_predictor_and_what_stands_before_it_are_told_apart(
    manifest: Object, made: Object, name: str | None
) -> None:
    assert role([manifest], made) == name


def test_an_object_whose_roles_nobody_knows_any_more_keeps_its_pods_and_its_status() -> None:
    """The runtime was deleted after the start."""
    tuning = {**TRAINJOB, "status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    documents = files.documents(Source("manifest", json.dumps(tuning)))
    (workload,) = reading.read(documents, Catalog()).workloads
    assert workload.is_open
    made = pod({"jobset.sigs.k8s.io/replicatedjob-name": "node"})
    running = {**made, "spec": {**made["spec"], "nodeName": "gpu-1"}, "status": {"phase": "Running"}}
    ended = {**made, "status": {"phase": "Failed"}}
    state = observed.state(documents[0], workload, Catalog(), [running, ended])
    assert state.matched == ("Completed",)
    assert (state.strangers.pods, state.strangers.nodes, state.strangers.failed) == (1, {"gpu-1": 1}, 1)
    text = describe([replace(workload, state=state)], Style(color=False))
    assert "status: Completed\n" in text
    assert "2 of its pods are of roles that nobody knows now: 0 ready, 1 failed, gpu-1" in text
