"""What one pod asks of a node: kube-scheduler's formula over its containers.

Mirrors k8s.io/component-helpers/resource `PodRequests` and `PodLimits` (KEP-753 sidecars, KEP-2837 pod level).
All amounts are thousandths until `in_base_units` (`quantity.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.quantity import Amounts, base_units

PODS = "pods"
"""The pod slot of a node, handled as a resource of which every pod takes one."""

MOST = 1 << 60
"""Base units. Who asks for more is taken to ask for this, which no node has, so that sums stay within 64 bits."""


@dataclass(frozen=True, slots=True)
class Init:
    """An init container's amounts; `sidecar` when it has `restartPolicy: Always` and so keeps running."""

    amounts: Amounts
    sidecar: bool = False


def pod_sum(
    containers: Iterable[Amounts],
    inits: Iterable[Init] = (),
    pod_level: Amounts | None = None,
    overhead: Amounts | None = None,
) -> dict[str, int]:
    """The effective request (or limit) of a pod in thousandths; a name that some container states at zero is kept.

    Containers and sidecars add up; an ordinary init container counts with the sidecars started before it, and the
    larger of the two sides wins, resource by resource. Pod-level cpu, memory and hugepages replace that sum.
    """
    running: dict[str, int] = {}
    for amounts in containers:
        _add(running, amounts)
    peak, sidecars = _init_peak(inits)
    _add(running, sidecars)
    for name, amount in peak.items():
        running[name] = max(running.get(name, 0), amount)
    for name, amount in (pod_level or {}).items():
        if may_be_pod_level(name):
            running[name] = amount
    _add(running, overhead or {})
    return running


def pod_total(
    containers: Iterable[Amounts],
    inits: Iterable[Init] = (),
    pod_level: Amounts | None = None,
    overhead: Amounts | None = None,
) -> dict[str, int]:
    """`pod_sum` in base units: what the scheduler compares with a node."""
    return in_base_units(pod_sum(containers, inits, pod_level, overhead))


def in_base_units(thousandths: Amounts) -> dict[str, int]:
    """Rounded up once for the pod, as the scheduler does; names that come to nothing are left out."""
    return {name: min(base_units(name, amount), MOST) for name, amount in thousandths.items() if amount}


def may_be_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _init_peak(inits: Iterable[Init]) -> tuple[dict[str, int], dict[str, int]]:
    """The most that is held at once during initialisation, and what the sidecars hold after it."""
    peak: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    for init in inits:
        if init.sidecar:
            _add(sidecars, init.amounts)
            held: Mapping[str, int] = sidecars
        else:
            held = dict(sidecars)
            _add(held, init.amounts)
        for name, amount in held.items():
            peak[name] = max(peak.get(name, 0), amount)
    return peak, sidecars


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def is_native(name: str) -> bool:
    """Kubernetes' own: a plain name, or one under `kubernetes.io/`."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """An extended resource: a qualified name outside `kubernetes.io/` (nvidia.com/gpu, rdma/hca, …).

    `requests.nvidia.com/gpu` is how a quota calls it and no resource of its own.
    """
    return not is_native(name) and not name.startswith("requests.")
