"""Containers that a controller adds have the rights and the sizes that it gives them."""

from __future__ import annotations

from typing import Any

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
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
