"""LimitRange: the defaults that it gives to containers, and the pods that it refuses.

Mirrors kubernetes/plugin/pkg/admission/limitranger. Amounts are thousandths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from advisor.cluster import LimitRange, LimitRangeItem
from advisor.quantity import Amounts
from advisor.verdict import Reason
from advisor.workload import Container, PodTemplate


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
        yield "the pod", template.requests(), template.limits()


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
