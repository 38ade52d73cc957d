"""A workload beside the pods that a controller made of it: as many of each sort, and of no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.definitions import templates
from advisor.inventory import Difference
from advisor.labels import Toleration
from advisor.quantity import canonical
from advisor.resources import in_base_units
from advisor.workload import PodTemplate, Role, Workload

Pod = Mapping[str, Any]
GIVEN_TO_ALL = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""Taints that the API server lets every pod tolerate for a while (DefaultTolerationSeconds)."""


@dataclass(frozen=True, slots=True, order=True)
class Sort:
    """What decides where a pod can go, as text: pods of one sort are interchangeable here."""

    requests: str
    nodes: str
    tolerations: str
    claims: str

    def __str__(self) -> str:
        parts = (
            self.requests,
            self.nodes and f"on {self.nodes}",
            self.tolerations and f"tolerating {self.tolerations}",
        )
        return "; ".join(part for part in (*parts, self.claims) if part) or "nothing requested"


def sort_of(template: PodTemplate) -> Sort:
    amounts = in_base_units(template.effective())
    asked = ", ".join(f"{name} {canonical(name, amount)}" for name, amount in sorted(amounts.items()))
    own = sorted(str(one) for one in template.tolerations if not _is_given(one))
    nodes = ", ".join(f"{key}={value}" for key, value in template.nodes.pairs)
    claims = ", ".join(claim.template or claim.claim for claim in template.device_claims)
    return Sort(asked, nodes, ", ".join(own), claims)


def _is_given(toleration: Toleration) -> bool:
    return toleration.key in GIVEN_TO_ALL


def is_complete(workload: Workload, pods: Sequence[Pod]) -> bool:
    """Is there a pod for every one that can be there while none of them runs?"""
    return len(pods) >= sum(role.replicas for role in workload.roles if not waits(role))


def waits(role: Role) -> bool:
    """Is it made only after others run or have ended?"""
    return bool(role.starts_after) or 0 not in role.stages


def differences(workload: Workload, pods: Sequence[Pod]) -> Iterator[Difference]:
    """Sorts of pods of which there are more or fewer than the roles say."""
    expected: Counter[Sort] = Counter()
    roles: dict[Sort, list[str]] = {}
    later: Counter[Sort] = Counter()
    for role in workload.roles:
        sort = sort_of(role.template)
        (later if waits(role) else expected)[sort] += role.replicas
        roles.setdefault(sort, []).append(role.name)
    found: Counter[Sort] = Counter()
    names: dict[Sort, str] = {}
    for pod in pods:
        sort = sort_of(templates.template(pod, pod["metadata"]["namespace"]))
        found[sort] += 1
        names.setdefault(sort, str(pod["metadata"]["name"]))
    for sort in sorted({*expected, *found}):
        if not expected[sort] <= found[sort] <= expected[sort] + later[sort]:
            own = f"pods of {', '.join(roles[sort])}" if sort in roles else f"pods such as {names[sort]}"
            yield Difference(f"{own} ({sort})", str(expected[sort] or "none"), str(found[sort] or "none"))
