"""Containers that a controller adds have the rights that it gives them: Pod Security looks at them, too."""

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
