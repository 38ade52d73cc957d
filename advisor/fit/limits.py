"""LimitRange: the defaults that it gives to containers, and the pods that it refuses.

Mirrors kubernetes/plugin/pkg/admission/limitranger. Amounts are thousandths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from advisor.cluster import ClusterSnapshot, LimitRange, LimitRangeItem
from advisor.diagnosis import Doubt
from advisor.quantity import Amounts
from advisor.verdict import Reason
from advisor.workload import Container, PodAmounts, PodTemplate, Workload


def of_namespace(namespace: str, cluster: ClusterSnapshot) -> list[LimitRange]:
    return [found for found in cluster.limit_ranges if found.namespace == namespace]


def defaulted(container: Container, ranges: Sequence[LimitRange]) -> Container:
    """Fill in what the container leaves open; the first LimitRange that names a resource wins."""
    for found in ranges:
        limits: dict[str, int] = {}
        requests: dict[str, int] = {}
        for item in found.items:
            if item.type == "Container":
                limits |= _default(item)
                requests |= _default_request(item)
        container = replace(
            container, requests={**requests, **container.requests}, limits={**limits, **container.limits}
        )
    return container


def _default(item: LimitRangeItem) -> Amounts:
    return {**item.maximum, **item.default}


def _default_request(item: LimitRangeItem) -> Amounts:
    return {**item.minimum, **_default(item), **item.default_request}


def doubts(workload: Workload, cluster: ClusterSnapshot) -> Iterator[Doubt]:
    """Where several LimitRanges give one container different defaults, it is chance which of them comes first."""
    ranges = of_namespace(workload.namespace, cluster)
    for role in workload.roles:
        pod = role.template.as_pod()
        for container in (*pod.containers, *pod.init_containers):
            as_listed = defaulted(container, ranges)
            if role.replicas and any(defaulted(container, [first, *ranges]) != as_listed for first in ranges):
                names = " and ".join(found.name for found in ranges)
                subject = f"LimitRanges {names} have different defaults for container {container.name}"
                yield Doubt(Reason("unsupported", subject=subject, role=role.name), restricts=False)


def violations(template: PodTemplate, ranges: Sequence[LimitRange]) -> Iterator[Reason]:
    for found in ranges:
        for item in found.items:
            for who, requests, limits in _subjects(template, item.type):
                for message in _broken(item, requests, limits):
                    yield Reason("limitrange", subject=f"{found.name}: {who} {message}")


def _subjects(template: PodTemplate, kind: str) -> Iterator[tuple[str, Amounts, Amounts]]:
    if kind == "Container":
        for container in (*template.containers, *template.init_containers):
            yield f"container {container.name}", container.requests, container.limits
    elif kind == "Pod":
        pod = replace(template, pod_level=_seen(template.pod_level))
        yield "the pod", pod.requests(), pod.limits()


def _seen(stated: PodAmounts | None) -> PodAmounts | None:
    """What LimitRanger looks at of pod-level resources: cpu and memory, not the hugepages that PodRequests counts."""
    if stated is None:
        return None
    requests, limits = (
        {name: amount for name, amount in amounts.items() if name in ("cpu", "memory")}
        for amounts in (stated.requests, stated.limits)
    )
    return PodAmounts(requests, limits)


def _broken(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for name, least in item.minimum.items():
        if name not in requests:
            yield f"must request {name} (there is a minimum)"
        elif requests[name] < least or limits.get(name, least) < least:
            yield f"asks for less {name} than the minimum"
    for name, most in item.maximum.items():
        if name not in limits:
            yield f"must limit {name} (there is a maximum)"
        elif limits[name] > most or requests.get(name, 0) > most:
            yield f"asks for more {name} than the maximum"
    for name, ratio in item.ratio.items():
        request, limit = requests.get(name, 0), limits.get(name, 0)
        if not request or not limit:
            yield f"needs a request and a limit of {name} (their ratio is limited)"
        elif limit * 1000 > ratio * request:
            yield f"has a larger ratio of limit to request of {name} than is allowed"
