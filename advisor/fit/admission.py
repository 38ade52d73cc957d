"""What the API server of one cluster makes of a pod template, or why it refuses it.

In its order: requests from limits (`SetDefaults_Pod`), LimitRanger, Priority and RuntimeClass admission, pod-level
defaults, then validation (`invalid.py`). A refusal here lasts: the controller would retry for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from advisor.cluster import ClusterSnapshot, LimitRange, PriorityClass, RuntimeClass
from advisor.diagnosis import PodShape
from advisor.fit import invalid, limits
from advisor.fit.versions import POD_LEVEL_DEFAULTS_LAST, POD_LEVEL_RESOURCES, before
from advisor.labels import MadeLabel, NodeSelector
from advisor.resources import PODS, in_base_units, is_extended, may_be_pod_level
from advisor.verdict import Reason
from advisor.workload import Container, PodAmounts, PodTemplate

ENFORCED = "pod-security.kubernetes.io/enforce"

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that every API server creates for itself."""


def admit(template: PodTemplate, namespace: str, cluster: ClusterSnapshot) -> tuple[PodShape, list[Reason]]:
    """The pod as the cluster would store it, and every reason for which it would not.

    The shape is meaningful also when there are reasons: it is what the template asks for as far as that can be told.
    """
    ranges = limits.of_namespace(namespace, cluster)
    template = _filled_in(template, ranges, cluster)
    own, priority_reasons = priority(template.priority_class, template.priority, cluster, template.preemption)
    runtime, runtime_reasons = _runtime(template, cluster)
    reasons = [
        *invalid.faults(template),
        *_security(template, namespace, cluster),
        *limits.violations(template, ranges),
    ]
    reasons += [*priority_reasons, *runtime_reasons]
    made = template.made if cluster.gap("priorityclasses") else _with_priority(template.made, own.value)
    return _shape(replace(template, made=made), namespace, own, runtime), reasons


def security_level(namespace: str, cluster: ClusterSnapshot) -> str:
    """The Pod Security level that the namespace enforces, "" for none. Exemptions are the API server's and not seen."""
    space = cluster.namespace(namespace)
    level = dict(space.labels).get(ENFORCED, "") if space else ""
    return level if level in ("baseline", "restricted") else ""


def _security(template: PodTemplate, namespace: str, cluster: ClusterSnapshot) -> Iterator[Reason]:
    level = security_level(namespace, cluster)
    if level and template.exposed:
        yield Reason("pod-security", subject=f"{level} forbids {', '.join(template.exposed)}")


def _with_priority(made: tuple[MadeLabel, ...], priority: int) -> tuple[MadeLabel, ...]:
    return tuple(replace(one, value=str(priority)) if one.of == "priority" else one for one in made)


def _filled_in(template: PodTemplate, ranges: Sequence[LimitRange], cluster: ClusterSnapshot) -> PodTemplate:
    """The template with every amount that the cluster adds to it."""
    if before(cluster, POD_LEVEL_RESOURCES):
        template = replace(template, pod_level=None)
    template = template.as_pod()
    if before(cluster, POD_LEVEL_DEFAULTS_LAST):
        early = template.pod_level and template.pod_level.limits
        return _ranged(template.with_pod_level() if early else template, ranges)
    return _with_pod_level_limits(_ranged(template, ranges).with_pod_level())


def _ranged(template: PodTemplate, ranges: Sequence[LimitRange]) -> PodTemplate:
    return replace(
        template,
        containers=tuple(limits.defaulted(container, ranges) for container in template.containers),
        init_containers=tuple(limits.defaulted(container, ranges) for container in template.init_containers),
    )


def _with_pod_level_limits(template: PodTemplate) -> PodTemplate:
    """A pod-level request without a limit, where every container has one: their sum or the request, the larger."""
    stated = template.pod_level
    if stated is None:
        return template
    parts = (*template.containers, *template.init_containers)
    summed = replace(template, pod_level=None).limits()
    added = {
        name: max(amount, summed.get(name, 0))
        for name, amount in stated.requests.items()
        if may_be_pod_level(name) and all(name in container.limits for container in parts)
    }
    return replace(template, pod_level=PodAmounts(stated.requests, {**added, **stated.limits}))


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
        added=template.added,
        made=template.made,
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
        crosses_namespaces=template.crosses_namespaces,
        operating_system=template.operating_system,
        best_effort=_best_effort(template),
        unstated=_unstated(template),
        most_per_container=_most((*template.containers, *template.init_containers)),
        volume_claims=template.volume_claims,
    )


def _best_effort(template: PodTemplate) -> bool:
    """QoS BestEffort: nothing states cpu or memory; extended resources do not count. The pod level speaks alone."""
    if template.pod_level and _at_pod_level(template):
        stated = [template.pod_level.requests, template.pod_level.limits]
    else:
        parts = (*template.containers, *template.init_containers)
        stated = [amounts for container in parts for amounts in (container.requests, container.limits)]
    return not any(amounts.get(name) for amounts in stated for name in ("cpu", "memory"))


def _unstated(template: PodTemplate) -> frozenset[str]:
    """`requests.cpu` and its like that some container leaves open; none when resources are set at pod level."""
    if _at_pod_level(template):
        return frozenset()
    parts = (*template.containers, *template.init_containers)
    return frozenset(
        f"{what}.{name}"
        for what in ("requests", "limits")
        for name in ("cpu", "memory")
        if any(name not in getattr(container, what) for container in parts)
    )


def _at_pod_level(template: PodTemplate) -> bool:
    stated = template.pod_level
    return stated is not None and any(may_be_pod_level(name) for name in (*stated.requests, *stated.limits))


def _most(containers: tuple[Container, ...]) -> dict[str, int]:
    """The largest request of a single container per extended resource, in whole units."""
    most: dict[str, int] = {}
    for container in containers:
        for name, amount in container.requests.items():
            if is_extended(name):
                most[name] = max(most.get(name, 0), amount // 1000)
    return most


def priority(
    wanted: str, stated: int | None, cluster: ClusterSnapshot, preemption: str = ""
) -> tuple[PriorityClass, list[Reason]]:
    """What the class that is wanted (or the default) gives, and why the API server refuses it, or what is stated beside
    it: a number and a preemption policy.
    """
    found = _classes(cluster).get(wanted) if wanted else _default_class(cluster)
    if found is None:
        missing = [] if cluster.gap("priorityclasses") else [Reason("priorityclass-missing", subject=wanted)]
        return PriorityClass(wanted, stated or 0), missing
    pairs = (("priority", stated, found.value), ("preemptionPolicy", preemption or None, found.preemption))
    return found, [
        Reason("invalid-template", subject=f"spec.{field} is {own}, its class says {given}")
        for field, own, given in pairs
        if own not in (None, given)
    ]


def _classes(cluster: ClusterSnapshot) -> Mapping[str, PriorityClass]:
    own = {name: PriorityClass(name, value) for name, value in SYSTEM_PRIORITIES.items()}
    return own | {found.name: found for found in cluster.priority_classes}


def _default_class(cluster: ClusterSnapshot) -> PriorityClass | None:
    """What a pod without a class gets: of several defaults the lowest; None when the classes could not be read."""
    if cluster.gap("priorityclasses"):
        return None
    defaults = [found for found in cluster.priority_classes if found.default]
    return min(defaults, key=lambda found: found.value, default=PriorityClass("", 0))


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
