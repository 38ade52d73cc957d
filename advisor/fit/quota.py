"""ResourceQuota of the workload's namespace: what is left, what each pod takes, and pods it refuses outright.

Mirrors kubernetes/pkg/quota/v1/evaluator/core (pods.go). Pods are created one by one, so a quota that covers a part of
the gang leaves that part hanging: the whole gang is held against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.cluster import ClusterSnapshot, Quota, Scope
from advisor.diagnosis import Charge, Doubt, PodShape
from advisor.resources import PODS, is_extended
from advisor.verdict import Reason
from advisor.workload import Workload

COMPUTE = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage"}


def charges(workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Charge]:
    """One entry per quota and key that the workload's pods, or the object itself, are charged to."""
    for quota in _quotas(workload, cluster):
        for key, hard in sorted(quota.hard.items()):
            per_pod = {role: amount(key, pod) for role, pod in shapes.items() if applies(quota.scopes, pod)}
            fixed = _object(key, workload) if not quota.scopes else 0
            if fixed or any(per_pod.values()):
                left = None if quota.used is None else hard - quota.used.get(key, 0)
                yield Charge(quota.name, key, hard, left, per_pod, fixed)


def _quotas(workload: Workload, cluster: ClusterSnapshot) -> list[Quota]:
    return [quota for quota in cluster.quotas if quota.namespace == workload.namespace]


def amount(key: str, pod: PodShape) -> int:
    """What one pod is charged under a key of a quota; 0 for keys that pods do not count towards."""
    key = _SHORT.get(key, key)
    if key in (PODS, "count/pods"):
        return 1
    what, _, name = key.partition(".")
    if what == "requests" and (name in pod.requests) and (not is_extended(name) or "/" in name):
        return pod.requests[name]
    if what == "limits" and name in ("cpu", "memory", "ephemeral-storage"):
        return pod.limits.get(name, 0)
    return pod.requests.get(key, 0) if key.startswith("hugepages-") else 0


def applies(scopes: Sequence[Scope], pod: PodShape) -> bool:
    """A quota counts a pod when every one of its scopes matches."""
    return all(_matches(scope, pod) for scope in scopes)


def _matches(scope: Scope, pod: PodShape) -> bool:
    match scope.name:
        case "Terminating":
            return pod.has_deadline
        case "NotTerminating":
            return not pod.has_deadline
        case "BestEffort":
            return pod.best_effort
        case "NotBestEffort":
            return not pod.best_effort
        case "PriorityClass":
            return _priority_matches(scope, pod.priority_class)
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(pod)
    return False


def _priority_matches(scope: Scope, name: str) -> bool:
    match scope.operator:
        case "Exists":
            return bool(name)
        case "DoesNotExist":
            return not name
        case "In":
            return name in scope.values
        case "NotIn":
            return name not in scope.values
    return False


def _crosses_namespaces(pod: PodShape) -> bool:
    terms = (*pod.affinity, *pod.anti_affinity)
    return any(term.namespace_selector is not None or term.namespaces != (pod.namespace,) for term in terms)


def refusals(workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Reason]:
    """Pods that a quota refuses because a container leaves a quantity open that the quota counts."""
    for quota in _quotas(workload, cluster):
        counted = {_SHORT.get(key, key) for key in quota.hard} & set(COMPUTE)
        for role, pod in shapes.items():
            for key in sorted(counted & pod.unstated):
                if applies(quota.scopes, pod):
                    yield Reason("quota-must-specify", role=role, subject=f"{quota.name}: {key}")


def doubts(workload: Workload, cluster: ClusterSnapshot) -> Iterator[Doubt]:
    """Keys that count objects which the controller may create and whose number no definition states."""
    children = {_plural(kind, group) for group, kind in workload.definition.child_kinds}
    for quota in _quotas(workload, cluster):
        if quota.used is None:
            yield Doubt(Reason("unreadable", subject=f"status of ResourceQuota {quota.name}"))
            continue
        for key, hard in sorted(quota.hard.items()):
            left = hard - quota.used.get(key, 0)
            if key.removeprefix("count/") in children and left <= workload.pods and key != "count/pods":
                yield Doubt(Reason("unsupported", subject=f"{key} in ResourceQuota {quota.name}", has=left))


def _object(key: str, workload: Workload) -> int:
    """1 for the key that counts the workload's own kind."""
    return int(key == f"count/{_plural(workload.kind, workload.api_group)}")


def _plural(kind: str, group: str) -> str:
    """The API's resource name by the usual rule (all kinds of the catalogue obey it)."""
    word = kind.lower()
    plural = (
        f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word[:-1]}ies" if word[-1:] == "y" else f"{word}s"
    )
    return f"{plural}.{group}" if group else plural
