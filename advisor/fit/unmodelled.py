"""What the cluster as a whole says: the namespace, facts that were not read, and requests that no rule here evaluates.

Nothing of that kind may pass silently (capacity.md 0.3): it is a doubt, and `explain` turns a yes with a doubt into
`unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Doubt, PodShape
from advisor.fit import admission
from advisor.verdict import Reason
from advisor.workload import Workload

QUEUEING_GATES = ("kueue.x-k8s.io/", "kai.scheduler/", "jobset.x-k8s.io/", "leaderworkerset.x-k8s.io/", "volcano.sh/")
"""Prefixes of scheduling gates that are part of a pod's normal life under that controller."""

KUEUE = "kueue.x-k8s.io"
DEFAULT_SCHEDULER = "default-scheduler"


def refusals(workload: Workload, cluster: ClusterSnapshot, assume: bool) -> Iterator[Reason]:
    if not len(cluster.nodes) and not (cluster.gap("nodes") or cluster.gap("pods") or cluster.gap("cluster")):
        yield Reason("no-nodes", lasting=False)
    for one in workload.objects:
        if not _is_served(one, cluster):
            yield Reason("kind-not-served", subject=f"{one.kind} ({one.api_version})")
    for group in workload.requires:
        if not _has_group(group, cluster):
            yield Reason("kind-not-served", subject=f"{group}, which {workload.kind} needs,")
    state = _namespace(workload, cluster)
    if state == "terminating" or (state == "missing" and not assume):
        yield Reason(f"namespace-{state}", subject=workload.namespace)


def _is_served(workload: Workload, cluster: ClusterSnapshot) -> bool:
    """Is there, or may there be, an API for the workload's kind? The core's `v1` always is."""
    return not workload.api_group or cluster.api_versions is None or workload.api_version in cluster.api_versions


def _has_group(group: str, cluster: ClusterSnapshot) -> bool:
    """Is it, or may it be, served?"""
    return cluster.api_versions is None or any(one.startswith(f"{group}/") for one in cluster.api_versions)


def _namespace(workload: Workload, cluster: ClusterSnapshot) -> str:
    """Is the workload's namespace `there`, `terminating`, `missing`, or is that not known (`unread`, `unrecorded`)?"""
    name = workload.namespace
    found = cluster.namespace(name)
    if found and found.terminating:
        return "terminating"
    named = [*(p.namespace for p in cluster.pods), *(q.namespace for q in cluster.quotas)]
    if found or name in named:
        return "there"
    if cluster.gap("namespaces"):
        return "unread"
    return "unrecorded" if cluster.namespaces is None else "missing"


def doubts(workload: Workload, cluster: ClusterSnapshot, assume: bool) -> Iterator[Doubt]:
    for what in ("cluster", "nodes", "pods"):
        if cluster.gap(what):
            yield Doubt(Reason("unreadable", subject=what), restricts=False)
    for what in ("resourcequotas", "limitranges"):
        if cluster.gap(what):
            yield Doubt(Reason("unreadable", subject=what))
    if not _in_scope(workload, cluster):
        yield Doubt(Reason("unreadable", subject=f"quotas and limits of namespace {workload.namespace}"))
    if _namespace(workload, cluster) == "unread" and not assume:
        yield Doubt(Reason("unreadable", subject="namespaces"))
    yield from _named_objects(workload, cluster)
    yield from _requests(workload, cluster)


def _in_scope(workload: Workload, cluster: ClusterSnapshot) -> bool:
    return cluster.scope is None or workload.namespace in cluster.scope


def _named_objects(workload: Workload, cluster: ClusterSnapshot) -> Iterator[Doubt]:
    templates = [role.template for role in workload.roles if role.replicas]
    if cluster.gap("priorityclasses") and any(template.priority_class for template in templates):
        yield Doubt(Reason("unreadable", subject="priorityclasses"))
    if cluster.gap("runtimeclasses") and any(template.runtime_class for template in templates):
        yield Doubt(Reason("unreadable", subject="runtimeclasses"))
    claimed = any(template.volume_claims for template in templates)
    for what in ("persistentvolumeclaims", "persistentvolumes"):
        if cluster.gap(what) and claimed:
            yield Doubt(Reason("unreadable", subject=what))


def _requests(workload: Workload, cluster: ClusterSnapshot) -> Iterator[Doubt]:
    for asked in workload.unmodelled:
        if not asked.needs or cluster.api_groups is None or asked.needs in cluster.api_groups:
            yield Doubt(Reason("unsupported", subject=asked.path), asked.restricts)
    for role in workload.roles:
        if role.replicas:
            for path in role.template.used:
                yield Doubt(Reason("unsupported", subject=path, role=role.name))
            for operator in sorted({t.operator for t in role.template.tolerations} - {"", "Equal", "Exists"}):
                subject = f"spec.tolerations with operator {operator}"
                yield Doubt(Reason("unsupported", subject=subject, role=role.name), restricts=False)
            for request in role.topology:
                yield Doubt(Reason("unsupported", subject=request.path, role=role.name))
    asks_for_queue = any(asked.needs == KUEUE for asked in workload.unmodelled)
    if (workload.namespace, "default") in cluster.queues and not asks_for_queue:
        yield Doubt(Reason("unsupported", subject="LocalQueue default, which takes workloads without a queue"), False)
    space = cluster.namespace(workload.namespace)
    annotations = "metadata.annotations of the namespace"
    if space and space.node_selector:
        yield Doubt(Reason("unsupported", subject=f"{annotations}: node selector"))
    if space and space.tolerations:
        yield Doubt(Reason("unsupported", subject=f"{annotations}: tolerations"), restricts=False)


def notes(
    workload: Workload, shapes: Mapping[str, PodShape], cluster: ClusterSnapshot, assume: bool
) -> Iterator[Reason]:
    state = _namespace(workload, cluster)
    if state == "unrecorded" or (state == "missing" and assume):
        yield Reason("namespace-assumed", subject=workload.namespace)
    priority = min((pod.priority for pod in shapes.values()), default=0)
    ahead = sum(waiting.count for waiting in cluster.waiting if waiting.priority >= priority)
    if ahead:
        yield Reason("waiting-pods", has=ahead)
    for asked in workload.unmodelled:
        if asked.needs and cluster.api_groups is not None and asked.needs not in cluster.api_groups:
            yield Reason("queue-not-served", subject=asked.needs)
    yield from _template_notes(workload)
    level = admission.security_level(workload.namespace, cluster)
    if level and not any(role.template.exposed for role in workload.roles if role.replicas):
        yield Reason("pod-security-level", subject=level)
    yield from _bounded(shapes, cluster)


def _bounded(shapes: Mapping[str, PodShape], cluster: ClusterSnapshot) -> Iterator[Reason]:
    """NoExecute taints that are tolerated for some seconds only: the pod is placed, then evicted."""
    for taint in sorted(
        {t for taints in cluster.nodes.taints.values for t in taints if t.effect == "NoExecute"}, key=str
    ):
        for role, pod in shapes.items():
            tolerating = [toleration for toleration in pod.tolerations if toleration.tolerates(taint)]
            if tolerating and all(toleration.seconds is not None for toleration in tolerating):
                yield Reason("bounded-toleration", subject=str(taint), role=role)


def _template_notes(workload: Workload) -> Iterator[Reason]:
    schedulers = {role.template.scheduler for role in workload.roles if role.replicas} - {DEFAULT_SCHEDULER, ""}
    for scheduler in sorted(schedulers):
        yield Reason("other-scheduler", subject=scheduler)
    for role in (role for role in workload.roles if role.replicas):
        gates = [gate for gate in role.template.gates if not gate.startswith(QUEUEING_GATES)]
        if gates:
            yield Reason("scheduling-gates", subject=", ".join(gates), role=role.name)
        if role.template.node_name:
            yield Reason("skips-scheduler", subject=role.template.node_name, role=role.name)
        if role.template.volume_claims:
            yield Reason("not-checked", subject="CSINode: how many volumes a node may attach")
        if role.template.service_account not in ("", "default"):
            yield Reason("not-checked", subject=f"ServiceAccount {role.template.service_account}")
        if role.template.host_network and not any(c.ports for c in role.template.containers):
            yield Reason("host-network-without-ports", role=role.name)
