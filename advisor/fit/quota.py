"""ResourceQuota of the workload's namespace: what is left, what each pod takes, and pods it refuses outright.

Mirrors kubernetes/pkg/quota/v1/evaluator/core (pods.go). Pods are created one by one, so a quota that covers a part of
the gang leaves that part hanging: the whole gang is held against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.cluster import ClusterSnapshot, Quota, Scope
from advisor.diagnosis import Charge, Doubt, PodShape
from advisor.resources import MOST, PODS, is_extended
from advisor.verdict import Reason
from advisor.workload import Workload

COUNT = "count/"
IMPLICIT_DEVICES = "deviceclass.resource.kubernetes.io/"
COMPUTE = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage"}


def charges(workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Charge]:
    """One entry per quota and key that the workload's pods, or the object itself, are charged to.

    Pods of the workload that are there already are part of what is used, and not charged again.
    """
    objects = workload.objects
    there = {role: sum(_there(pod, one, cluster) for one in objects) for role, pod in shapes.items()}
    for quota in _quotas(workload, cluster):
        for key, hard in sorted(quota.hard.items()):
            per_pod = {role: amount(key, pod) for role, pod in shapes.items() if applies(quota.scopes, pod)}
            new = not quota.scopes and not any(there.values())
            fixed = sum(_object(key, one) for one in objects) if new else 0
            if fixed or any(per_pod.values()):
                left = _left(quota, key)
                own = sum(there[role] * n for role, n in per_pod.items())
                yield Charge(quota.name, key, min(hard, MOST), left if left is None else left + own, per_pod, fixed)


def _there(pod: PodShape, workload: Workload, cluster: ClusterSnapshot) -> int:
    """How many pods of a role are bound there; known only where the controller's own label names the workload.

    Where these pods join others of the workload, none of them is.
    """
    named = any(_by_controller(key) and value == workload.name for key, value in pod.labels)
    if workload.generated or workload.there or not named:
        return 0
    replicas = next((role.replicas for role in workload.roles if role.template.labels == pod.labels), 0)
    alike = (one for one in cluster.pods if one.namespace == pod.namespace and set(pod.labels) <= set(one.labels))
    return min(replicas, sum(sum(one.nodes.values()) for one in alike))


def _by_controller(key: str) -> bool:
    """Is it a label of a domain, and not one of those recommended for people?"""
    return "/" in key and not key.startswith("app.kubernetes.io/")


def _left(quota: Quota, key: str) -> int | None:
    """None while the quota controller has not counted the key: until then the API server refuses what it concerns."""
    used = (quota.used or {}).get(key)
    return None if used is None else max(-MOST, min(quota.hard[key] - used, MOST))


def _quotas(workload: Workload, cluster: ClusterSnapshot) -> list[Quota]:
    return [quota for quota in cluster.quotas if quota.namespace == workload.namespace]


def amount(key: str, pod: PodShape) -> int:
    """What one pod is charged under a key of a quota; 0 for keys that pods do not count towards."""
    if key in (PODS, COUNT + PODS):
        return 1
    what, _, name = _SHORT.get(key, key).partition(".")
    if what == "limits" and name in ("cpu", "memory", "ephemeral-storage"):
        return pod.limits.get(name, 0)
    if what == "requests" and _has_a_key(name):
        return pod.requests.get(name, 0)
    return pod.requests.get(key, 0) if key.startswith("hugepages-") else 0


def _has_a_key(name: str) -> bool:
    """Is there a quota key `requests.<name>` that counts what pods ask for?"""
    own = name in ("cpu", "memory", "ephemeral-storage") or name.startswith("hugepages-")
    return own or is_extended(name) or name.startswith(IMPLICIT_DEVICES)


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
            return pod.crosses_namespaces
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


def refusals(workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Reason]:
    """Pods that a quota refuses because a container leaves a quantity open that the quota counts."""
    for quota in _quotas(workload, cluster):
        counted = {_SHORT.get(key, key) for key in quota.hard} & set(COMPUTE)
        for role, pod in shapes.items():
            for key in sorted(counted & pod.unstated):
                if applies(quota.scopes, pod):
                    yield Reason("quota-must-specify", role=role, subject=f"{quota.name}: {key}")


def doubts(workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Doubt]:
    """Use that is not counted yet, and keys for objects that the controller may create in numbers nobody states."""
    children = {_plural(kind, group) for group, kind in workload.definition.child_kinds}
    uncounted = {charge.quota for charge in charges(workload, shapes, cluster) if charge.left is None}
    for quota in _quotas(workload, cluster):
        if quota.name in uncounted:
            yield Doubt(Reason("unreadable", subject=f"status of ResourceQuota {quota.name}"))
            continue
        for key in sorted(quota.hard):
            left = _left(quota, key)
            counts_children = key.removeprefix(COUNT) in children and key not in (PODS, COUNT + PODS)
            if counts_children and (left is None or left <= workload.pods):
                yield Doubt(Reason("unsupported", subject=f"{key} in ResourceQuota {quota.name}", has=left))
    if cluster.gap("priorityclasses") and any(_by_default_class(quota, shapes) for quota in _quotas(workload, cluster)):
        yield Doubt(Reason("unreadable", subject="priorityclasses"), restricts=False)


def _by_default_class(quota: Quota, shapes: Mapping[str, PodShape]) -> bool:
    """Does it depend on the class that pods without one are given whether the quota counts them?"""
    by_class = any(scope.name == "PriorityClass" for scope in quota.scopes)
    return by_class and not all(pod.priority_class for pod in shapes.values())


def _object(key: str, workload: Workload) -> int:
    """1 for the key that counts the workload's own kind, unless it has done so; a pod is counted as a pod."""
    own = _plural(workload.kind, workload.api_group)
    return int(own != PODS and key == COUNT + own and not workload.there)


def _plural(kind: str, group: str) -> str:
    """The API's resource name by the usual rule (all kinds of the catalogue obey it)."""
    word = kind.lower()
    plural = (
        f"{word}es" if word.endswith(("s", "x", "ch", "sh")) else f"{word[:-1]}ies" if word[-1:] == "y" else f"{word}s"
    )
    return f"{plural}.{group}" if group else plural
