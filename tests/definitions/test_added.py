"""What the controllers themselves showed of the containers that they add, and of those that they do not take."""

from __future__ import annotations

from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import dotted
from advisor.files import Source

PRIVILEGED = "securityContext: {privileged: true}"
RAY = f"""
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: tuning}}
spec:
  enableInTreeAutoscaling: true
  autoscalerOptions: {{{PRIVILEGED}}}
  headGroupSpec:
    rayStartParams: {{}}
    template: {{spec: {{containers: [{{name: head, image: example/ray}}]}}}}
  workerGroupSpecs:
    - groupName: gpu
      replicas: 1
      maxReplicas: 1
      rayStartParams: {{}}
      template: {{spec: {{containers: [{{name: work, image: example/ray, {PRIVILEGED}}}]}}}}
"""


def test_what_kuberay_adds_is_as_privileged_as_it_makes_it() -> None:
    (workload,) = reading.read(files.documents(Source("ray", RAY)), Catalog()).workloads
    found: dict[str, Any] = {role.name: role.template.exposed for role in workload.roles}
    assert found == {
        "head": ("spec.containers[1].securityContext.privileged",),
        "gpu": (
            "spec.containers[0].securityContext.privileged",
            "spec.initContainers[0].securityContext.privileged",
        ),
    }


def test_the_queue_proxy_of_knative_has_a_share_of_the_limits_too() -> None:
    limits = ("{cpu: 4, memory: 8Gi}", "{memory: 1Gi}", "{cpu: 100m}")
    found = [proxy(given, "resource-percentage: '10'") for given in limits]
    assert found == [{"cpu": 400, "memory": 500 * MIB}, {"memory": 200 * MIB}, {"cpu": 40}]
    assert proxy("{cpu: 4}", "cpu-resource-limit: 300m") == {"cpu": 300}


MIB = 1024**2 * 1000


def proxy(limits: str, annotation: str) -> dict[str, int]:
    """The limits of the container that Knative adds, in thousandths."""
    said = f"metadata: {{annotations: {{queue.sidecar.serving.knative.dev/{annotation}}}}}"
    spec = f"spec: {{containers: [{{image: example/vision, resources: {{limits: {limits}}}}}]}}"
    about = "apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: a}"
    text = Source("knative", f"{{{about}, spec: {{template: {{{said}, {spec}}}}}}}")
    (workload,) = reading.read(files.documents(text), Catalog()).workloads
    return dict(workload.roles[0].template.containers[-1].limits)


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("initContainers: [{name: a, image: x, restartPolicy: Always}]", "initContainers[0].restartPolicy"),
        ("volumes: []", ""),
    ],
)
@pytest.mark.parametrize("kind", ["Service", "InferenceService"])
def test_knative_takes_no_sidecar_among_the_init_containers(kind: str, part: str, path: str) -> None:
    pod = f"{{containers: [{{name: kserve-container, image: x}}], {part}}}"
    group, spec, where = {
        "Service": ("serving.knative.dev/v1", f"{{template: {{spec: {pod}}}}}", "spec.template.spec"),
        "InferenceService": ("serving.kserve.io/v1beta1", f"{{predictor: {pod}}}", "spec.predictor"),
    }[kind]
    text = f"{{apiVersion: {group}, kind: {kind}, metadata: {{name: a}}, spec: {spec}}}"
    (workload,) = reading.read(files.documents(Source("any", text)), Catalog()).workloads
    assert [dotted(fault.path) for fault in workload.faults] == ([f"{where}.{path}"] if path else [])


@pytest.mark.parametrize(
    ("ports", "warned"),
    [("[]", False), ("[{name: client, containerPort: 1}]", True), ("[{name: dashboard, containerPort: 1}]", False)],
)
def test_a_ray_job_is_not_submitted_without_a_port_for_the_dashboard(ports: str, warned: bool) -> None:
    head = f"{{rayStartParams: {{}}, template: {{spec: {{containers: [{{name: head, image: x, ports: {ports}}}]}}}}}}"
    about = "apiVersion: ray.io/v1, kind: RayJob, metadata: {name: a}"
    text = f"{{{about}, spec: {{entrypoint: x, rayClusterSpec: {{headGroupSpec: {head}}}}}}}"
    (workload,) = reading.read(files.documents(Source("any", text)), Catalog()).workloads
    assert not workload.faults
    assert any("dashboard" in note.text for note in workload.notes if note.warns) == warned
