"""What a pod that exists asks of its node: its containers' requests, widened by resizes (capacity.md 1.1, 1.6).

Mirrors k8s.io/component-helpers/resource `PodRequests` with UseStatusResources. While a resize is under way the kubelet
holds the larger of what was, what is and what is wanted; a resize that can never happen is not wanted any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from advisor.errors import at
from advisor.kube import decode, wire
from advisor.resources import Init, pod_total

Thousandths = dict[str, int]


def fingerprint(pod: wire.Pod) -> tuple[object, ...]:
    """Equal for pods whose requests are equal because the same bytes say so."""
    spec, status = pod.spec, pod.status
    return (
        _resize_is_infeasible(status),
        bytes(spec.overhead),
        bytes(spec.resources),
        bytes(status.resources),
        bytes(status.allocated_resources),
        tuple([(c.name, bytes(c.resources)) for c in spec.containers or ()]),
        tuple([(c.name, bytes(c.resources), c.restart_policy) for c in spec.init_containers or ()]),
        tuple([(s.name, bytes(s.resources), bytes(s.allocated_resources)) for s in _statuses(status)]),
    )


def requests(pod: wire.Pod) -> dict[str, int]:
    """Base units, the pod's slot not included. Raises InputError with the path of an amount that is no quantity."""
    infeasible = _resize_is_infeasible(pod.status)
    reported = {
        status.name: _reported(status.resources, status.allocated_resources) for status in _statuses(pod.status)
    }

    def held(field: str, containers: Sequence[wire.Container] | None) -> Iterator[Thousandths]:
        for position, container in enumerate(containers or ()):
            with at("spec", field, position, "resources"):
                wanted = decode.requests(container.resources)
            yield _held(wanted, reported.get(container.name, {}), infeasible)

    containers = list(held("containers", pod.spec.containers))
    sidecars = [init.restart_policy == "Always" for init in pod.spec.init_containers or ()]
    inits = list(map(Init, held("initContainers", pod.spec.init_containers), sidecars))
    with at("spec", "overhead"):
        overhead = decode.amounts(pod.spec.overhead)
    with at("spec", "resources"):
        pod_level = decode.requests(pod.spec.resources)
    if pod_level:
        pod_level = _held(pod_level, _reported(pod.status.resources, pod.status.allocated_resources), infeasible)
    return {name: amount for name, amount in pod_total(containers, inits, pod_level, overhead).items() if amount}


def _statuses(status: wire.PodStatus) -> Iterable[wire.ContainerStatus]:
    return (*(status.container_statuses or ()), *(status.init_container_statuses or ()))


def _resize_is_infeasible(status: wire.PodStatus) -> bool:
    return any(c.type == "PodResizePending" and c.reason == "Infeasible" for c in status.conditions or ())


def _reported(resources: decode.Buffer, allocated: decode.Buffer) -> Thousandths:
    with at("status"):
        return _larger(decode.requests(resources), decode.amounts(allocated))


def _held(wanted: Thousandths, reported: Thousandths, infeasible: bool) -> Thousandths:
    return {**wanted, **reported} if infeasible else _larger(wanted, reported)


def _larger(one: Mapping[str, int], other: Mapping[str, int]) -> Thousandths:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in {**one, **other}}
