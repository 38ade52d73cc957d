"""What statuses that real controllers write mean by our catalogue: one word for each, and the right one."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.definitions import live
from advisor.definitions.catalog import Catalog
from advisor.errors import Where
from advisor.files import Document, Source


def told(*true: str) -> dict[str, Any]:
    """A status in which these conditions are true; jobs of the Training Operator keep the first one for ever."""
    return {"conditions": [{"type": one, "status": "True"} for one in true]}


def ready(jobs: str, number: int, *true: str) -> dict[str, Any]:
    return {jobs: [{"name": "worker", "ready": number}], **told(*true)}


TRAINING = [(told("Created"), "Initializing"), (told("Created", "Restarting"), "Initializing")]
TRAINING += [(told("Created", "Running"), "Running"), (told("Created", "Succeeded"), "Completed")]
TRAINING += [(told("Created", "Failed"), "Failed"), (told("Created", "Suspended"), "Suspended")]
TRAINED = ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob")

RAY: list[tuple[dict[str, Any], str]] = [
    ({}, "Undefined"),
    ({"jobDeploymentStatus": "Initializing"}, "Initializing"),
    ({"jobDeploymentStatus": "Waiting"}, "Initializing"),
    ({"jobDeploymentStatus": "Running", "jobStatus": ""}, "Initializing"),
    ({"jobDeploymentStatus": "Running", "jobStatus": "PENDING"}, "Initializing"),
    ({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}, "Running"),
    ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "Completed"),
    ({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "Completed"),
    ({"jobDeploymentStatus": "Failed", "jobStatus": "FAILED"}, "Failed"),
    ({"jobDeploymentStatus": "ValidationFailed"}, "Failed"),
    ({"jobDeploymentStatus": "Suspended"}, "Suspended"),
]

JOBS = {"jobset.x-k8s.io/v1alpha2 JobSet": ("replicatedJobsStatus", "Completed")}
JOBS["trainer.kubeflow.org/v1alpha1 TrainJob"] = ("jobsStatus", "Complete")


@pytest.mark.parametrize(
    ("kind", "status", "word"),
    [
        *((f"kubeflow.org/v1 {kind}", status, word) for kind in TRAINED for status, word in TRAINING),
        *(("kubeflow.org/v2beta1 MPIJob", status, word) for status, word in TRAINING),
        *(("ray.io/v1 RayJob", status, word) for status, word in RAY),
        *((kind, ready(jobs, 0), "Initializing") for kind, (jobs, _) in JOBS.items()),
        *((kind, ready(jobs, 1), "Running") for kind, (jobs, _) in JOBS.items()),
        *((kind, ready(jobs, 0, done), "Completed") for kind, (jobs, done) in JOBS.items()),
        *((kind, ready(jobs, 0, "Failed"), "Failed") for kind, (jobs, _) in JOBS.items()),
        *((kind, ready(jobs, 0, "Suspended"), "Suspended") for kind, (jobs, _) in JOBS.items()),
    ],
)
def test_one_word(kind: str, status: dict[str, Any], word: str) -> None:
    api_version, name = kind.split()
    data = {"apiVersion": api_version, "kind": name, "metadata": {"name": "one"}, "spec": {}, "status": status}
    document = Document(data, Source("one.yaml", ""), 0, Where("one.yaml"))
    assert live.states(document, Catalog()) == (word,)
