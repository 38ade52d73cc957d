"""A pod template as people write it, field by field, and what is wrong with one."""

from typing import Any

import pytest

from advisor import files
from advisor.definitions.templates import template
from advisor.errors import InputError
from advisor.files import Source
from advisor.labels import HostPort, NodeSelector, NodeTerm, Requirement, Selector, Toleration
from advisor.workload import DeviceClaim, PodTemplate

CONTAINERS = "containers: [{name: main}]"


def read(text: str) -> PodTemplate:
    (document,) = files.documents(Source("pod.yaml", text))
    return template(document.data, "team")


def spec(text: str) -> PodTemplate:
    return read(f"spec:\n  {CONTAINERS}\n  " + text.replace("\n", "\n  "))


def faults(text: str) -> list[str]:
    with pytest.raises(InputError) as error:
        read(text)
    return [str(fault) for fault in error.value.faults]


def test_amounts() -> None:
    found = read(
        """
        spec:
          containers:
          - {name: a, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {nvidia.com/gpu: 2}}}
          - {name: b, resources: {requests: {cpu: 1.5}}}
          initContainers:
          - {name: early, resources: {requests: {memory: 4Gi}}}
          - {name: beside, restartPolicy: Always, resources: {requests: {cpu: 1}}}
          overhead: {cpu: 250m}
          resources: {requests: {cpu: 4}}
        """
    )
    assert [dict(one.requests) for one in found.containers] == [{"cpu": 500, "memory": 2**30 * 1000}, {"cpu": 1500}]
    assert [one.sidecar for one in found.init_containers] == [False, True]
    assert dict(found.containers[0].limits) == {"nvidia.com/gpu": 2000}
    assert dict(found.overhead) == {"cpu": 250}
    assert found.pod_level
    assert dict(found.pod_level.requests) == {"cpu": 4000}


def test_where_it_may_run() -> None:
    found = spec(
        """nodeSelector: {pool: gpu}
tolerations: [{key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {key: a, value: b}]
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - {matchExpressions: [{key: zone, operator: In, values: [b, a]}]}
      - {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}"""
    )
    assert found.nodes == NodeSelector(
        (("pool", "gpu"),),
        (
            NodeTerm((Requirement("zone", "In", ("a", "b")),)),
            NodeTerm(fields=(Requirement("metadata.name", "In", ("n1",)),)),
        ),
    )
    assert found.tolerations == (Toleration("gpu", "Exists", "", "NoExecute", 5), Toleration("a", "Equal", "b"))


def test_required_affinity_without_terms_is_not_the_same_as_none() -> None:
    none = spec("affinity: {nodeAffinity: {}}")
    nothing = spec(
        "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}"
    )
    assert (none.nodes.terms, nothing.nodes.terms) == (None, ())


def anti(term: str, labels: str = "{app: x, rev: '1'}") -> PodTemplate:
    required = f"requiredDuringSchedulingIgnoredDuringExecution: [{term}]"
    affinity = f"{{podAntiAffinity: {{{required}}}}}"
    return read(f"metadata: {{labels: {labels}}}\nspec: {{{CONTAINERS}, affinity: {affinity}}}")


@pytest.mark.parametrize(
    ("term", "selector", "namespaces"),
    [
        (
            "{topologyKey: z, labelSelector: {matchLabels: {app: x}}}",
            Selector((Requirement("app", "In", ("x",)),)),
            ("team",),
        ),
        ("{topologyKey: z}", None, ("team",)),
        ("{topologyKey: z, labelSelector: {}, namespaces: [b, a]}", Selector(), ("a", "b")),
        ("{topologyKey: z, labelSelector: {}, namespaceSelector: {}}", Selector(), ()),
        (
            "{topologyKey: z, labelSelector: {}, matchLabelKeys: [rev, gone], mismatchLabelKeys: [app]}",
            Selector((Requirement("app", "NotIn", ("x",)), Requirement("rev", "In", ("1",)))),
            ("team",),
        ),
    ],
)
def test_anti_affinity(term: str, selector: Selector | None, namespaces: tuple[str, ...]) -> None:
    (found,) = anti(term).anti_affinity
    assert (found.topology_key, found.selector, found.namespaces) == ("z", selector, namespaces)


@pytest.mark.parametrize(
    ("term", "crosses"),
    [
        ("{topologyKey: z, labelSelector: {}}", False),
        ("{topologyKey: z, namespaces: [team]}", True),
        ("{topologyKey: z, namespaceSelector: {}}", True),
    ],
)
@pytest.mark.parametrize("preferred", [True, False])
def test_terms_that_name_namespaces_cross_them(term: str, crosses: bool, preferred: bool) -> None:
    """Also the own namespace, and also where they are only preferred (`usesCrossNamespacePodAffinity`)."""
    if preferred:
        weighted = f"preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, podAffinityTerm: {term}}}]"
        found = spec(f"affinity: {{podAffinity: {{{weighted}}}}}")
    else:
        found = anti(term)
    assert found.crosses_namespaces is crosses


@pytest.mark.parametrize(
    ("ports", "host_network", "expected"),
    [
        ("[{containerPort: 80}]", False, ()),
        (
            "[{containerPort: 80, hostPort: 8080, protocol: UDP, hostIP: 10.0.0.1}]",
            False,
            (HostPort(8080, "UDP", "10.0.0.1"),),
        ),
        ("[{containerPort: 80}]", True, (HostPort(80),)),
        ("[{containerPort: 80, hostPort: 80}]", True, (HostPort(80),)),
    ],
)
def test_host_ports(ports: str, host_network: bool, expected: tuple[HostPort, ...]) -> None:
    found = read(f"spec: {{hostNetwork: {str(host_network).lower()}, containers: [{{name: a, ports: {ports}}}]}}")
    assert found.containers[0].ports == expected


def test_volumes_and_claims() -> None:
    found = spec(
        """volumes: [{name: a, persistentVolumeClaim: {claimName: data}}, {name: b, emptyDir: {}}]
resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}, {name: nic, resourceClaimName: shared}]"""
    )
    assert found.volume_claims == ("data",)
    assert found.device_claims == (DeviceClaim("gpu", "", "one-gpu"), DeviceClaim("nic", "shared", ""))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            "topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]",
            "spec.topologySpreadConstraints[0]",
        ),
        ("resourceClaims: [{name: a, resourceClaimName: b}]", "spec.resourceClaims"),
        ("volumes: [{name: a, ephemeral: {}}]", "spec.volumes[0].ephemeral"),
        ("schedulingGroup: {podGroupName: a}", "spec.schedulingGroup"),
    ],
)
def test_fields_that_no_rule_evaluates_are_named(text: str, path: str) -> None:
    assert spec(text).used == (path,)


def test_a_spread_that_need_not_be_is_no_request() -> None:
    constraint = "{topologyKey: z, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}"
    assert spec(f"topologySpreadConstraints: [{constraint}]").used == ()


def test_the_rest() -> None:
    names = "schedulerName: volcano\nruntimeClassName: kata\npriorityClassName: high\nserviceAccountName: runner\n"
    found = spec(f"{names}nodeName: n1\nactiveDeadlineSeconds: 5\nos: {{name: linux}}\nschedulingGates: [{{name: g}}]")
    assert (found.scheduler, found.runtime_class, found.priority_class) == ("volcano", "kata", "high")
    assert (found.service_account, found.node_name, found.has_deadline) == ("runner", "n1", True)
    assert (found.operating_system, found.gates) == ("linux", ("g",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spec: {}", ["spec.containers: has no containers"]),
        ("spec: {containers: []}", ["spec.containers: has no containers"]),
        (
            "spec: {containers: [{name: a, resources: {limits: {memory: 8Gb}}}]}",
            ['spec.containers[0].resources.limits.memory: "8Gb" is not a quantity'],
        ),
        (
            f"spec: {{{CONTAINERS}, tolerations: [{{value: a}}, {{operator: Exists, value: b, key: k}}]}}",
            ["spec.tolerations[0].operator", "spec.tolerations[1].value"],
        ),
        (
            "spec: {hostNetwork: true, containers: [{name: a, ports: [{containerPort: 80, hostPort: 81}]}]}",
            ["spec.containers[0].ports[0].hostPort: must be the containerPort"],
        ),
        (f"spec: {{{CONTAINERS}, nodeSelector: {{a: 1}}}}", ["spec.nodeSelector.a"]),
        ("metadata: {labels: [a]}\nspec: {containers: 5}", ["metadata.labels", "spec.containers"]),
    ],
)
def test_faults_come_all_at_once_with_their_path(text: str, expected: list[str]) -> None:
    found = faults(text)
    assert len(found) == len(expected)
    assert all(one.startswith(begin) for one, begin in zip(found, expected, strict=True)), found


def test_env_and_args_are_not_kept() -> None:
    kept: Any = read("spec: {containers: [{name: a, env: [{name: TOKEN, value: secret}], args: [--key=secret]}]}")
    assert "secret" not in repr(kept)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"affinity": 3}, ["spec.affinity: must be a mapping, not a number"]),
        ({"nodeSelector": []}, ["spec.nodeSelector: must be a mapping, not a list"]),
        ({"volumes": [3]}, ["spec.volumes[0]: must be a mapping, not a number"]),
        ({"containers": [5]}, ["spec.containers[0]: must be a mapping, not a number"]),
    ],
)
def test_one_fault_is_told_once_and_at_its_place(spec: dict[str, Any], expected: list[str]) -> None:
    whole = {"containers": [{"name": "a"}], **spec}
    with pytest.raises(InputError) as raised:
        template({"spec": whole}, "default")
    assert [str(fault) for fault in raised.value.faults] == expected
