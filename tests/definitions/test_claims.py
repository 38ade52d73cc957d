"""Claims of devices: what one pod's claims take, what is shared, and what is not known (never zero)."""

from __future__ import annotations

import pytest

from advisor import files
from advisor.definitions import claims, reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from advisor.render import totals
from advisor.workload import Workload
from tests.definitions.builders import yaml

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: team}
spec:
  replicas: 3
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
      containers: [{name: main, image: example/serve, resources: {claims: [{name: gpu}]}}]
"""
TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two, namespace: team}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: 2}}]}}}
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one, namespace: team}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}
"""
NAMED = DEPLOYMENT.replace("resourceClaimTemplateName: two", "resourceClaimName: one")


CLIQUES = """
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: serve, namespace: team}
spec:
  replicas: 2
  template:
    resourceClaimTemplates:
      - name: own
        templateSpec: {spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com, count: 4}}]}}}
    resourceSharing: [{name: two, scope: PerReplica, filter: {childScalingGroupNames: [group]}}]
    podCliqueScalingGroups:
      - {name: group, cliqueNames: [prefill], replicas: 3, resourceSharing: [{name: own, scope: AllReplicas}]}
    cliques:
      - name: prefill
        spec: &own {roleName: prefill, replicas: 5, podSpec: {containers: [{name: main, image: example/serve}]}}
      - name: decode
        resourceSharing: [{name: own, scope: PerReplica}]
        spec: {<<: *own, roleName: decode}
"""


def read(*texts: str) -> Workload:
    found = reading.read(files.documents(files.Source("x", "\n---\n".join(texts))), Catalog())
    (workload,) = found.workloads
    assert not workload.faults
    return workload


def test_a_template_makes_a_claim_for_each_pod() -> None:
    workload = read(DEPLOYMENT, TEMPLATE)
    assert totals.devices_per_pod(workload.roles[0]) == {"gpu.example.com": 2}
    assert totals.devices(workload) == {"gpu.example.com": 6}
    assert workload.shared_claims == ()


@pytest.mark.parametrize("field", ["namespace: team", "name: two"])
def test_what_is_not_at_hand_is_not_known(field: str) -> None:
    workload = read(DEPLOYMENT, TEMPLATE.replace(field, f"{field}2"))
    assert totals.devices_per_pod(workload.roles[0]) is None
    assert totals.devices(workload) is None


def test_a_claim_that_is_named_is_shared() -> None:
    workload = read(NAMED, CLAIM)
    assert totals.devices_per_pod(workload.roles[0]) == {}
    (shared,) = workload.shared_claims
    assert (shared.name, shared.devices, dict(shared.roles)) == ("one", {"gpu.example.com": 1}, {"replica": 3})
    assert totals.devices(workload) == {}


def test_a_claim_of_the_gang_is_one_for_all_its_pods() -> None:
    gang = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec:
  schedulingPolicy: {basic: {}}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
"""
    member = DEPLOYMENT.replace("resourceClaims:", "schedulingGroup: {podGroupName: g}\n      resourceClaims:")
    (shared,) = read(member, TEMPLATE, gang).shared_claims
    assert (shared.name, shared.devices) == ("gpu of PodGroup team/g", {"gpu.example.com": 2})
    assert read(member, TEMPLATE, gang.replace("name: gpu,", "name: other,")).shared_claims == ()


@pytest.mark.parametrize(
    ("request_", "devices"),
    [
        ("exactly: {deviceClassName: a}", {"a": 1}),
        ("exactly: {deviceClassName: a, count: 4}", {"a": 4}),
        ("deviceClassName: a, count: 4", {"a": 4}),
        ("exactly: {deviceClassName: a, allocationMode: All}", None),
        ("exactly: {deviceClassName: a, adminAccess: true}", {}),
        ("firstAvailable: [{name: x, deviceClassName: a}, {name: y, deviceClassName: b}]", None),
        (
            "firstAvailable: [{name: x, deviceClassName: a, count: 2}, {name: y, deviceClassName: a, count: 2}]",
            {"a": 2},
        ),
        ("exactly: {}", None),
    ],
)
def test_what_one_request_takes(request_: str, devices: dict[str, int] | None) -> None:
    assert claims.devices(yaml(f"devices: {{requests: [{{name: r, {request_}}}]}}")) == devices


def test_several_requests_of_one_class_add_up() -> None:
    each = "{name: r, exactly: {deviceClassName: a, count: 2}}"
    assert claims.devices(yaml(f"devices: {{requests: [{each}, {each.replace('r,', 's,')}]}}")) == {"a": 4}


def test_a_fault_has_its_place() -> None:
    with pytest.raises(InputError) as caught:
        read(DEPLOYMENT, TEMPLATE.replace("count: 2", "count: two"))
    (fault,) = caught.value.faults
    assert fault.path == ("spec", "spec", "devices", "requests", 0, "exactly", "count")


def test_claims_that_a_controller_makes_for_all_pods_of_a_part() -> None:
    workload = read(CLIQUES, TEMPLATE)
    claims_of = {role.name: totals.devices_per_pod(role) for role in workload.roles}
    assert claims_of == {"prefill": {}, "decode": {"gpu.example.com": 4}}
    assert [(one.name, one.devices, dict(one.roles), one.count) for one in workload.shared_claims] == [
        ("two", {"gpu.example.com": 2}, {"prefill": 30}, 2),
        ("group-own", {"gpu.example.com": 4}, {"prefill": 30}, 2),
    ]
    assert totals.devices(workload) == {"gpu.example.com": 10 * 4 + 2 * 2 + 2 * 4}


def test_a_template_of_such_claims_that_is_not_at_hand_is_not_known() -> None:
    shared = {one.name: one.devices for one in read(CLIQUES).shared_claims}
    assert shared == {"two": None, "group-own": {"gpu.example.com": 4}}


GRAPH = """
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  components:
    - name: Engine
      type: worker
      replicas: 3
      experimental: {gpuMemoryService: {}}
      podTemplate:
        spec: {containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 4}}}]}
"""


@pytest.mark.parametrize(
    ("before", "after", "devices"),
    [
        ("", "", {"gpu.nvidia.com": 12}),
        ("gpuMemoryService: {}", "gpuMemoryService: {deviceClassName: a}", {"a": 12}),
        ("limits: {nvidia.com/gpu: 4}", "requests: {nvidia.com/gpu: 1}", {"gpu.nvidia.com": 3}),
    ],
)
def test_gpus_that_a_controller_turns_into_claims(before: str, after: str, devices: dict[str, int]) -> None:
    workload = read(GRAPH.replace(before, after))
    assert totals.devices(workload) == devices
    assert not workload.roles[0].template.as_pod().requests()
