"""Parts of pods that stand outside a pod template are looked at all the same, and their faults keep their own place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor import files
from advisor.definitions import layers, reading
from advisor.definitions.catalog import Catalog
from advisor.errors import dotted
from advisor.workload import Workload

KIND = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: example-com-server-v1}
spec:
  structureDefinition:
    rootComponent:
      name: server
      kind: {group: example.com, version: v1, kind: Server}
      specDefinition: {podSpecPath: '{containers: [{name: "main", resources: .spec.size}]}'}
      statusDefinition: {phaseDefinition: {path: .status.phase}, statusMappings: {}}
---
apiVersion: wm-place/v1
kind: PlacementProfile
metadata: {name: example-com-server-v1}
spec:
  for: {group: example.com, kind: Server, versions: [v1]}
  rules:
    - {at: .spec.size, is: resources}
    - {at: .spec.base, is: podSpec}
    - {at: '.spec.helpers[]?', is: container}
    - {at: .spec.where.nodes, is: nodeSelector}
    - {at: .spec.where.tolerations, is: tolerations}
    - {at: .spec.where.affinity, is: affinity}
"""
TOLERATION = {"operator": "Equal"}
TERM = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": 3}]}}}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    path: Path = tmp_path_factory.mktemp("definitions") / "server.yaml"
    path.write_text(KIND)
    return Catalog([layers.from_files([str(path)])])


def read(catalog: Catalog, spec: Any) -> Workload:
    manifest = {"apiVersion": "example.com/v1", "kind": "Server", "metadata": {"name": "x"}, "spec": spec}
    (workload,) = reading.read(files.documents(files.Source("m.json", json.dumps(manifest))), catalog).workloads
    return workload


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"size": {"limits": {"cpu": "lots"}}}, "spec.size.limits.cpu: "),
        ({"base": {"nodeSelector": {"zone": 7}}}, "spec.base.nodeSelector.zone: must be text, not a number"),
        ({"base": {"containers": [{"name": "a"}] * 2}}, 'spec.base.containers[1].name: "a" is there already'),
        ({"base": {"containers": [{"image": "x"}]}}, "spec.base.containers[0].name: is required"),
        ({"helpers": [{}, {"ports": [{"containerPort": 0}]}]}, "spec.helpers[1].ports[0].containerPort: 0 is no port"),
        ({"helpers": ["x"]}, "spec.helpers[0]: must be a mapping, not text"),
        ({"where": {"nodes": {"zone": ["a"]}}}, "spec.where.nodes.zone: must be text, not a list"),
        ({"where": {"tolerations": [TOLERATION]}}, "spec.where.tolerations[0].operator: without a key must be Exists"),
        ({"where": {"tolerations": {}}}, "spec.where.tolerations: must be a list, not a mapping"),
        ({"where": {"affinity": TERM}}, "spec.where.affinity.nodeAffinity.requiredDuringSchedulingIgnored"),
    ],
)
def test_a_part_of_a_pod_is_checked_at_its_own_place(catalog: Catalog, spec: Any, fault: str) -> None:
    workload = read(catalog, spec)
    assert workload.faults
    assert all(f"{dotted(one.path)}: {one.message}".startswith(fault) for one in workload.faults)


def test_a_pod_spec_may_leave_out_what_the_controller_fills_in(catalog: Catalog) -> None:
    assert not read(catalog, {"base": {"tolerations": []}, "helpers": [{"resources": {}}], "where": None}).faults


def test_names_of_containers_may_be_left_out_where_the_kind_says_so() -> None:
    manifest = yaml.safe_load("""
      apiVersion: serving.knative.dev/v1
      kind: Service
      metadata: {name: x}
      spec: {template: {spec: {containers: [{image: a, ports: [{containerPort: 1}]}, {image: b}]}}}
    """)
    (workload,) = reading.read(files.documents(files.Source("m", json.dumps(manifest))), Catalog()).workloads
    names = [container.name for container in workload.roles[0].template.containers]
    assert names == ["user-container-0", "user-container-1", "queue-proxy"]
