"""Pods that the API server refuses whatever the cluster holds (capacity.md 1.3, 1.9, 4.3-4.5)."""

import pytest

from advisor.fit.admission import admit
from advisor.labels import NodeSelector, NodeTerm, Requirement, Toleration
from advisor.workload import Container, PodTemplate
from tests.builders import GPU, TEAM, cluster, container, exists, level, on_nodes, pod, port, term

HUGE = "hugepages-2Mi"


def subjects(template: PodTemplate) -> list[str]:
    _, reasons = admit(template, TEAM, cluster())
    assert {reason.code for reason in reasons} <= {"invalid-template"}
    assert all(reason.lasting for reason in reasons)
    return [reason.subject for reason in reasons]


def raw(requests: dict[str, int], limits: dict[str, int] | None = None) -> Container:
    """A container with exactly these thousandths."""
    return Container("main", requests, limits or {})


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (container(gpu=2), ""),
        (container(limits={GPU: 2}), ""),
        (container(also={GPU: "2000m"}), ""),
        (raw({GPU: 1000}), f"requests[{GPU}] needs a limit of the same amount"),
        (raw({GPU: 1000}, {GPU: 2000}), f"requests[{GPU}] must equal its limit"),
        (raw({}, {GPU: 1500}), f"[{GPU}] must be a whole number"),
        (container(cpu=1, limits={"cpu": 1}), ""),
        (container(cpu=2, limits={"cpu": 1}), "requests[cpu] is above its limit"),
        (raw({"cpu": -1}), "requests[cpu] is negative"),
        (raw({}, {"memory": -1000}), "limits[memory] is negative"),
        (container(storage=1), ""),
        (container(also={"gpu.example.com/x": 1}), ""),
        (raw({"pods": 1000}), "requests[pods] is not a resource that can be asked for here"),
        (raw({"storage": 1000}), "requests[storage] is not a resource"),
        (raw({"gpus": 1000}), "a device has a name such as nvidia.com/gpu"),
        (raw({f"requests.{GPU}": 1000}, {f"requests.{GPU}": 1000}), f"requests[requests.{GPU}] is not a resource"),
        (raw({"kubernetes.io/batch": 1500}), ""),  # Kubernetes' own names may be asked for in parts
        (container(cpu=1, also={HUGE: "4Mi"}, limits={HUGE: "4Mi"}), ""),
        (container(cpu=1, also={HUGE: "4Mi"}), f"requests[{HUGE}] needs a limit of the same amount"),
        (container(cpu=1, limits={HUGE: "3Mi"}), f"requests[{HUGE}] must be a multiple of the page size"),
        (container(cpu=1, limits={"hugepages-x": "4Mi"}), "requests[hugepages-x] must be a multiple of the page size"),
        (container(cpu=1, limits={"hugepages-0": 0}), "requests[hugepages-0] must be a multiple of the page size"),
        (container(limits={HUGE: "4Mi"}), "hugepages need cpu or memory beside them"),
    ],
)
def test_1_3_1_9_what_a_container_may_ask_for(asked: Container, fault: str) -> None:
    found = subjects(pod(asked))
    assert bool(found) == bool(fault)
    if fault:
        assert any(fault in one for one in found)
        assert all(one.startswith("spec.containers[main].resources: ") for one in found)
    init = Container("init", asked.requests, asked.limits)
    assert bool(subjects(pod(container(cpu=1), inits=[init]))) == bool(fault)


def test_a_pod_needs_a_container() -> None:
    assert subjects(PodTemplate(containers=())) == ["spec.containers is empty"]


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        (pod(cpu=2, pod_level=level({"cpu": 2})), ""),
        (pod(cpu=2, pod_level=level({"memory": 0})), ""),
        (pod(cpu=2, pod_level=level({"cpu": 1})), "requests[cpu] is below the sum of the containers"),
        (
            pod(container(cpu=1), container("b", cpu=1), pod_level=level({"cpu": "1500m"})),
            "requests[cpu] is below the sum",
        ),
        (pod(container(cpu=1), inits=[container("i", cpu=3)], pod_level=level({"cpu": 2})), "requests[cpu] is below"),
        (pod(cpu=1, pod_level=level(limits={GPU: 1})), f"[{GPU}] is not a resource that can be asked for here"),
        (pod(cpu=1, pod_level=level({"ephemeral-storage": 1})), "requests[ephemeral-storage] is not a resource"),
        (pod(cpu=1, pod_level=level({"cpu": 2}, {"cpu": 1})), "requests[cpu] is above its limit"),
        (pod(cpu=1, limits={"cpu": 4}, pod_level=level(limits={"cpu": 4})), ""),
        (
            pod(cpu=1, limits={"cpu": 5}, pod_level=level(limits={"cpu": 4})),
            "limits[cpu] is above the limit of the pod",
        ),
        (
            pod(container(cpu=1), inits=[container("i", cpu=1, limits={"cpu": 5})], pod_level=level(limits={"cpu": 4})),
            "",
        ),
        (pod(cpu=1, pod_level=level({HUGE: "4Mi", "cpu": 1})), f"requests[{HUGE}] needs a limit of the same amount"),
        (pod(cpu=1, pod_level=level({HUGE: "4Mi"}, {HUGE: "4Mi"})), ""),
    ],
)
def test_1_5_pod_level_resources(template: PodTemplate, fault: str) -> None:
    found = subjects(template)
    assert bool(found) == bool(fault)
    assert all(any(fault in one for one in found) for _ in found)


def test_1_5_a_cluster_that_drops_pod_level_resources_does_not_refuse_them() -> None:
    template = pod(cpu=2, pod_level=level({"cpu": 1}))
    shape, reasons = admit(template, TEAM, cluster(version="v1.33.1"))
    assert (shape.requests["cpu"], reasons) == (2000, [])


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        (pod(container("a", ports=[port(80)]), container("b", ports=[port(81)])), []),
        (pod(container("a", ports=[port(80)]), container("b", ports=[port(80, "UDP")])), []),
        (pod(container("a", ports=[port(80)]), container("b", ports=[port(80, ip="10.0.0.1")])), []),
        (
            pod(container("a", ports=[port(80)]), container("b", ports=[port(80)])),
            ["spec.containers: host port 80/TCP is named twice"],
        ),
        (pod(container("a", ports=[port(80)]), inits=[container("i", ports=[port(80)], sidecar=True)]), []),
        (
            pod(container("a"), inits=[container("i", ports=[port(80), port(80)])]),
            ["spec.initContainers: host port 80/TCP is named twice"],
        ),
    ],
)
def test_4_5_a_host_port_is_named_once(template: PodTemplate, fault: list[str]) -> None:
    assert subjects(template) == fault


@pytest.mark.parametrize(
    ("toleration", "fault"),
    [
        (exists(), ""),
        (exists("a", "NoExecute", seconds=30), ""),
        (Toleration("a", "Equal", "x", "PreferNoSchedule"), ""),
        (Toleration("", "Equal", "x"), "without a key the operator must be Exists"),
        (Toleration("", "", ""), "without a key the operator must be Exists"),
        (Toleration("a", "Exists", "x"), "with operator Exists the value must be empty"),
        (Toleration("a", "Exists", "", "Evict"), "effect must be one of NoSchedule, PreferNoSchedule, NoExecute"),
        (exists("a", "NoSchedule", seconds=30), "tolerationSeconds needs the effect NoExecute"),
        (exists("a", seconds=30), "tolerationSeconds needs the effect NoExecute"),
    ],
)
def test_4_3_tolerations_that_are_refused(toleration: Toleration, fault: str) -> None:
    found = subjects(pod(cpu=1, tolerations=[exists("first"), toleration]))
    assert found == ([f"spec.tolerations[1]: {fault}"] if fault else [])


@pytest.mark.parametrize(
    ("nodes", "faults"),
    [
        (on_nodes(term("a > 1"), term(fields=["metadata.name=n"])), []),
        (on_nodes(term()), []),  # an empty term is allowed, and matches nothing
        (NodeSelector(terms=(NodeTerm((Requirement("a", "Gt", ("1", "2")),)),)), ["term 0: a Gt needs one value"]),
        (
            on_nodes(term("a"), term(fields=["metadata.name in (n, m)"])),
            ["term 1: matchFields needs"],
        ),
        (on_nodes(term(fields=["metadata.name"])), ["term 0: matchFields needs In or NotIn and one value"]),
        (on_nodes(term(fields=["spec.unschedulable=true"])), ["term 0: matchFields knows metadata.name only"]),
    ],
)
def test_4_4_terms_that_are_refused(nodes: NodeSelector, faults: list[str]) -> None:
    found = subjects(pod(cpu=1, nodes=nodes))
    assert len(found) == len(faults)
    assert all(fault in one for fault, one in zip(faults, found, strict=True))
