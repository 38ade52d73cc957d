"""What a controller fills in is not missed, and what it does not is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.podrules import refusals
from advisor.workload import Workload

Data = dict[str, Any]
DELAYED = {"initialDelaySeconds": 300}
OPEN = {"tcpSocket": {"port": 0}, "successThreshold": 1}


def knative(**fields: Any) -> Data:
    container = {"image": "i", "name": "user-container", **fields}
    return of("serving.knative.dev/v1", "Service", {"template": {"spec": {"containers": [container]}}})


def inference(**fields: Any) -> Data:
    container = {"image": "i", "name": "kserve-container", **fields}
    return of("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"containers": [container]}})


def llm(version: str) -> Any:
    def made(**fields: Any) -> Data:
        spec = {"model": {"uri": "hf://a/b"}, "template": {"containers": [{"name": "main", **fields}]}}
        return of(f"serving.kserve.io/{version}", "LLMInferenceService", spec)

    return made


def dynamo(**fields: Any) -> Data:
    service = {"componentType": "worker", "replicas": 1, "extraPodSpec": {"mainContainer": {"image": "i", **fields}}}
    return of("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": {"worker": service}})


def job(**fields: Any) -> Data:
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i", **fields}]}
    replicated = {"name": "worker", "template": {"spec": {"template": {"spec": spec}}}}
    return of("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [replicated]})


def of(version: str, kind: str, spec: Data) -> Data:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "k"}, "spec": spec}


def read(manifest: Data) -> Workload:
    (found,) = reading.read(files.documents(files.Source("m.json", json.dumps(manifest))), Catalog()).workloads
    return found


def told(manifest: Data) -> list[str]:
    """Everything that is said against its pods."""
    found = read(manifest)
    against = [one.text for role in found.roles for one in refusals(role.template) if one.path[-1] != "image"]
    return [*map(str, found.faults), *against]


@pytest.mark.parametrize("make", [knative, inference, llm("v1alpha1"), llm("v1alpha2"), dynamo])
@pytest.mark.parametrize(
    "fields",
    [
        {"readinessProbe": {}},
        {"readinessProbe": DELAYED},
        {"readinessProbe": OPEN},
        {"readinessProbe": {"grpc": {"port": 0}}},
        {"livenessProbe": {"httpGet": {"path": "/", "port": 0}}},
    ],
    ids=["empty", "delayed", "open", "grpc", "http"],
)
def test_probes_that_are_completed(make: Any, fields: Data) -> None:
    assert told(make(**fields)) == []


def test_a_port_that_knative_opens() -> None:
    assert told(knative(ports=[{"containerPort": 0}])) == []
    (fault,) = told(knative(ports=[{"containerPort": 70000}]))
    assert "ports[0]" in fault


@pytest.mark.parametrize(
    ("manifest", "where"),
    [
        (job(readinessProbe=DELAYED), "readinessProbe"),
        (job(livenessProbe=OPEN), "livenessProbe"),
        (knative(livenessProbe=DELAYED), "livenessProbe"),
        (knative(readinessProbe={**OPEN, "exec": {"command": ["a"]}}), "readinessProbe"),
        (llm("v1alpha2")(readinessProbe={"periodSeconds": -1}), "readinessProbe"),
    ],
    ids=["nobody", "no port", "not by Knative", "two ways", "negative"],
)
def test_what_nobody_completes_is_told(manifest: Data, where: str) -> None:
    (fault,) = told(manifest)
    assert where in fault
