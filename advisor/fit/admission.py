"""What the API server of one cluster makes of a pod template, or why it refuses it.

In its order: requests from limits (`SetDefaults_Pod`), LimitRanger, Priority and RuntimeClass admission, then
validation (kubernetes/pkg/apis/core/validation). A refusal here lasts: the controller would retry for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from advisor.cluster import ClusterSnapshot, PriorityClass, RuntimeClass
from advisor.diagnosis import PodShape
from advisor.fit import limits
from advisor.labels import NodeSelector
from advisor.quantity import Amounts
from advisor.resources import PODS, in_base_units, is_extended, may_be_pod_level
from advisor.verdict import Reason
from advisor.workload import Container, PodAmounts, PodTemplate

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that every API server creates for itself."""


def admit(template: PodTemplate, namespace: str, cluster: ClusterSnapshot) -> tuple[PodShape, list[Reason]]:
    """The pod as the cluster would store it, and every reason for which it would not.

    The shape is meaningful also when there are reasons: it is what the template asks for as far as that can be told.
    """
    ranges = [found for found in cluster.limit_ranges if found.namespace == namespace]
    containers = [limits.defaulted(requests_from_limits(c), ranges) for c in template.containers]
    inits = [limits.defaulted(requests_from_limits(c), ranges) for c in template.init_containers]
    template = replace(template, containers=tuple(containers), init_containers=tuple(inits))
    template = replace(template, pod_level=pod_level(template))
    priority, priority_reasons = _priority(template, cluster)
    runtime, runtime_reasons = _runtime(template, cluster)
    reasons = [*_invalid(template), *limits.violations(template, ranges), *priority_reasons, *runtime_reasons]
    return _shape(template, namespace, priority, runtime), reasons


def requests_from_limits(container: Container) -> Container:
    """A limit without a request is the request too; templates do not get this default, the pods made from them do."""
    return replace(container, requests={**container.limits, **container.requests})


def pod_level(template: PodTemplate) -> PodAmounts | None:
    """Pod-level resources with the requests that `defaultPodRequests` fills in, only where limits are given there."""
    stated = template.pod_level
    if stated is None or not stated.limits:
        return stated
    containers = replace(template, pod_level=None).requests()
    summed = {name: n for name, n in containers.items() if name in ("cpu", "memory")}
    from_limits = {name: amount for name, amount in stated.limits.items() if may_be_pod_level(name)}
    return PodAmounts({**from_limits, **summed, **stated.requests}, stated.limits)


def _shape(template: PodTemplate, namespace: str, priority: PriorityClass, runtime: RuntimeClass | None) -> PodShape:
    overhead = runtime.overhead if runtime else {}
    running = (*template.containers, *(c for c in template.init_containers if c.sidecar))
    selector = template.nodes
    if runtime and runtime.node_labels:
        selector = NodeSelector(
            tuple(sorted({**dict(selector.pairs), **dict(runtime.node_labels)}.items())), selector.terms
        )
    return PodShape(
        namespace=namespace,
        requests={**in_base_units(template.requests(overhead)), PODS: 1},
        limits=in_base_units(template.limits(overhead)),
        labels=template.labels,
        nodes=selector,
        tolerations=(*template.tolerations, *(runtime.tolerations if runtime else ())),
        affinity=template.affinity,
        anti_affinity=template.anti_affinity,
        ports=tuple(sorted({port for container in running for port in container.ports})),
        node_name=template.node_name,
        scheduler=template.scheduler,
        priority=priority.value,
        priority_class=priority.name,
        has_deadline=template.has_deadline,
        best_effort=_best_effort(template),
        unstated=_unstated(template),
        most_per_container=_most((*template.containers, *template.init_containers)),
        volume_claims=template.volume_claims,
    )


def _best_effort(template: PodTemplate) -> bool:
    """QoS BestEffort: no container states cpu or memory; extended resources do not count."""
    parts = [*template.containers, *template.init_containers]
    stated = [amounts for c in parts for amounts in (c.requests, c.limits)]
    if template.pod_level:
        stated += [template.pod_level.requests, template.pod_level.limits]
    return not any(amounts.get(name) for amounts in stated for name in ("cpu", "memory"))


def _unstated(template: PodTemplate) -> frozenset[str]:
    """`requests.cpu` and its like that some container leaves open; none when resources are set at pod level."""
    if template.pod_level and any(
        may_be_pod_level(n) for n in (*template.pod_level.requests, *template.pod_level.limits)
    ):
        return frozenset()
    parts = (*template.containers, *template.init_containers)
    return frozenset(
        f"{what}.{name}"
        for what in ("requests", "limits")
        for name in ("cpu", "memory")
        if any(name not in getattr(container, what) for container in parts)
    )


def _most(containers: tuple[Container, ...]) -> dict[str, int]:
    """The largest request of a single container per extended resource, in whole units."""
    most: dict[str, int] = {}
    for container in containers:
        for name, amount in container.requests.items():
            if is_extended(name):
                most[name] = max(most.get(name, 0), amount // 1000)
    return most


def _priority(template: PodTemplate, cluster: ClusterSnapshot) -> tuple[PriorityClass, list[Reason]]:
    known = {found.name: found for found in cluster.priority_classes}
    known |= {n: PriorityClass(n, value) for n, value in SYSTEM_PRIORITIES.items() if n not in known}
    wanted = template.priority_class
    if not wanted:
        default = max((c for c in known.values() if c.default), key=lambda c: c.value, default=PriorityClass("", 0))
        return default, []
    if wanted in known:
        return known[wanted], []
    if cluster.gap("priorityclasses"):
        return PriorityClass(wanted, template.priority or 0), []
    return PriorityClass(wanted, 0), [Reason("priorityclass-missing", subject=wanted)]


def _runtime(template: PodTemplate, cluster: ClusterSnapshot) -> tuple[RuntimeClass | None, list[Reason]]:
    if not template.runtime_class:
        lonely = (
            [Reason("invalid-template", subject="spec.overhead without a RuntimeClass")] if template.overhead else []
        )
        return None, lonely
    found = next((c for c in cluster.runtime_classes if c.name == template.runtime_class), None)
    if found is None:
        missing = (
            [] if cluster.gap("runtimeclasses") else [Reason("runtimeclass-missing", subject=template.runtime_class)]
        )
        return None, missing
    pairs = dict(template.nodes.pairs)
    reasons = [
        Reason("runtimeclass-conflict", subject=f"{key}={value} (the template says {pairs[key]})")
        for key, value in found.node_labels
        if pairs.get(key, value) != value
    ]
    if template.overhead and dict(template.overhead) != dict(found.overhead):
        reasons.append(Reason("invalid-template", subject=f"spec.overhead differs from RuntimeClass {found.name}"))
    return found, reasons


def _invalid(template: PodTemplate) -> Iterator[Reason]:
    """Faults for which the API server answers 422, named by the field."""
    if not template.containers:
        yield Reason("invalid-template", subject="spec.containers is empty")
    for field, containers in (("containers", template.containers), ("initContainers", template.init_containers)):
        for container in containers:
            for message in _resource_faults(container.requests, container.limits):
                yield Reason("invalid-template", subject=f"spec.{field}[{container.name}].resources: {message}")
    if template.pod_level:
        for message in _resource_faults(template.pod_level.requests, template.pod_level.limits):
            yield Reason("invalid-template", subject=f"spec.resources: {message}")
        yield from _below_containers(template)


def _resource_faults(requests: Amounts, limits: Amounts) -> Iterator[str]:
    for what, amounts in (("requests", requests), ("limits", limits)):
        for name, amount in amounts.items():
            if amount < 0:
                yield f"{what}[{name}] is negative"
            elif "/" not in name and not may_be_pod_level(name) and name != "ephemeral-storage":
                yield f"{what}[{name}] is no resource of a container; a device has a name such as nvidia.com/gpu"
            elif _counted(name) and amount % 1000:
                yield f"{what}[{name}] must be a whole number"
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is None and _rigid(name):
            yield f"requests[{name}] needs a limit of the same amount"
        elif limit is not None and amount != limit and _rigid(name):
            yield f"requests[{name}] must equal its limit"
        elif limit is not None and amount > limit:
            yield f"requests[{name}] is above its limit"
    names = {*requests, *limits}
    if any(name.startswith("hugepages-") for name in names) and not names & {"cpu", "memory"}:
        yield "hugepages need cpu or memory beside them"


def _counted(name: str) -> bool:
    return is_extended(name) or name.startswith("hugepages-")


def _rigid(name: str) -> bool:
    """Resources that cannot be overcommitted: the request must equal the limit (`IsOvercommitAllowed`)."""
    return _counted(name)


def _below_containers(template: PodTemplate) -> Iterator[Reason]:
    assert template.pod_level is not None
    summed = replace(template, pod_level=None).requests()
    for name, amount in template.pod_level.requests.items():
        if may_be_pod_level(name) and amount < summed.get(name, 0):
            yield Reason(
                "invalid-template", subject=f"spec.resources: requests[{name}] is below the sum of the containers"
            )
