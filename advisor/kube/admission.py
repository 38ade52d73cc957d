"""Objects that API server and admission hold a new pod against: quotas, limit ranges, classes, namespaces, queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from advisor.cluster import LimitRange, LimitRangeItem, Namespace, PriorityClass, Quota, RuntimeClass, Scope
from advisor.errors import at
from advisor.kube import decode, wire
from advisor.labels import Toleration, labels
from advisor.quantity import base_units, limit_units

NODE_SELECTOR = "scheduler.alpha.kubernetes.io/node-selector"
"""The annotation of a namespace that the admission plugin PodNodeSelector reads."""

TOLERATIONS = (
    "scheduler.alpha.kubernetes.io/defaultTolerations",
    "scheduler.alpha.kubernetes.io/tolerationsWhitelist",
)
"""Those of PodTolerationRestriction."""

IMPLICIT_DEVICES = "deviceclass.resource.kubernetes.io/"
"""Every DeviceClass also answers to this prefix and its name as an extended resource (KEP-5004)."""

CPU_KEYS = ("cpu", "requests.cpu", "limits.cpu")


def quota(found: wire.ResourceQuota) -> Quota:
    """What admission enforces is the status; before the controller has written it, use is unknown (capacity.md 8.1)."""
    metadata, spec, status = found.metadata, found.spec, found.status
    with at("ResourceQuota", metadata.title):
        known = bool(status.hard)
        with at("status" if known else "spec", "hard"):
            hard = _whole(status.hard if known else spec.hard, limit_units)
        with at("status", "used"):
            used = _whole(status.used, base_units) if known and status.used is not None else None
    return Quota(metadata.namespace or "", metadata.name, hard, used, tuple(_scopes(spec)))


def _whole(found: wire.Quantities | None, rounded: Callable[[str, int], int]) -> dict[str, int]:
    amounts = decode.thousandths(found)
    return {key: rounded("cpu" if key in CPU_KEYS else key, amount) for key, amount in amounts.items()}


def _scopes(spec: wire.QuotaSpec) -> Iterable[Scope]:
    yield from (Scope(name) for name in spec.scopes or ())
    expressions = spec.scope_selector.match_expressions if spec.scope_selector else None
    yield from (Scope(e.scope_name, e.operator, tuple(e.values or ())) for e in expressions or ())


def limit_range(found: wire.LimitRange) -> LimitRange:
    metadata = found.metadata
    with at("LimitRange", metadata.title, "spec", "limits"):
        items = tuple(_item(item) for item in found.spec.limits or ())
    return LimitRange(metadata.namespace or "", metadata.name, items)


def _item(item: wire.LimitRangeItem) -> LimitRangeItem:
    read = decode.thousandths
    return LimitRangeItem(
        type=item.type,
        default=read(item.default),
        default_request=read(item.default_request),
        minimum=read(item.min),
        maximum=read(item.max),
        ratio=read(item.max_limit_request_ratio),
    )


def priority_class(found: wire.PriorityClass) -> PriorityClass:
    return PriorityClass(found.metadata.name, found.value, bool(found.global_default))


def runtime_class(found: wire.RuntimeClass) -> RuntimeClass:
    """The overhead is in thousandths, as a container's amounts are."""
    scheduling = found.scheduling or wire.RuntimeScheduling()
    with at("RuntimeClass", found.metadata.name, "overhead", "podFixed"):
        overhead = decode.thousandths(found.overhead.pod_fixed if found.overhead else None)
    return RuntimeClass(
        name=found.metadata.name,
        overhead=overhead,
        node_labels=labels(scheduling.node_selector),
        tolerations=tuple(map(_toleration, scheduling.tolerations or ())),
    )


def _toleration(found: wire.Toleration) -> Toleration:
    return Toleration(
        key=found.key or "",
        operator=found.operator or "Equal",
        value=found.value or "",
        effect=found.effect or "",
        seconds=found.toleration_seconds,
    )


def namespace(found: wire.Namespace) -> Namespace:
    annotations = found.metadata.annotations or {}
    return Namespace(
        name=found.metadata.name,
        labels=labels(found.metadata.labels),
        node_selector=annotations.get(NODE_SELECTOR, ""),
        tolerations=", ".join(filter(None, (annotations.get(key, "") for key in TOLERATIONS))),
        terminating=found.metadata.deletion_timestamp is not None,
    )


def extended_resources(found: wire.DeviceClass) -> Iterable[str]:
    """The extended resource names that a pod may use to ask for devices of this class."""
    yield IMPLICIT_DEVICES + found.metadata.name
    if found.spec.extended_resource_name:
        yield found.spec.extended_resource_name


def local_queue(found: wire.LocalQueue) -> tuple[str, str]:
    return found.metadata.namespace or "", found.metadata.name
