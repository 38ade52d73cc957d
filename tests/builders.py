"""How tests make nouns: short words for nodes, pods, workloads and clusters, with defaults that disturb nothing.

    here = cluster(
        nodes=[*nodes(2, gpu=8), node("cpu-1", labels={"pool": "cpu"}, taints=[noschedule("pool", "cpu")])],
        pods=[bound(on="n0", gpu=2)],
        quotas=[quota(hard={"pods": 5})],
    )
    job = workload(role("leader", 1, cpu=4), role("worker", 4, gpu=8, tolerations=[exists("pool")]))

Amounts are written as in a manifest: `cpu=0.5`, `memory="64Gi"`, `gpu=8` (`nvidia.com/gpu`), `storage="1Ti"`; names
that are no Python words go into `also={"rdma/hca": 4}`. Everything lives in the namespace `team` unless it says
otherwise. A node has 64 cpu, 512Gi and 110 pod slots, is Ready, and bears its hostname label.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from advisor.accelerators import Accelerators, Mark
from advisor.cluster import (
    ClusterSnapshot,
    Gap,
    LimitRange,
    LimitRangeItem,
    Namespace,
    Nodes,
    NodeState,
    Nominated,
    PodSet,
    PortUse,
    PriorityClass,
    Quota,
    RuntimeClass,
    Scope,
    VolumeClaim,
    Waiting,
)
from advisor.diagnosis import PodShape
from advisor.errors import Where
from advisor.kube.nodes import NodeFacts, columns
from advisor.labels import (
    ANYWHERE,
    HOSTNAME,
    HostPort,
    NodeSelector,
    NodeTerm,
    PodAffinityTerm,
    Requirement,
    Selector,
    Taint,
    Toleration,
)
from advisor.labels import labels as sorted_labels
from advisor.problem import Apart, Budget, Group, Problem
from advisor.quantity import base_units, parse
from advisor.question import Policy, Question
from advisor.resources import PODS, is_extended
from advisor.verdict import Placement
from advisor.workload import (
    Container,
    Definition,
    GangGroup,
    PodAmounts,
    PodTemplate,
    Role,
    TopologyRequest,
    Workload,
)

Amount = int | float | str
Named = Mapping[str, Amount]

TEAM = "team"
GPU = "nvidia.com/gpu"
SHORT = {"gpu": GPU, "storage": "ephemeral-storage"}
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


# -- amounts ----------------------------------------------------------------------------------------------------------


def thousandths(amounts: Named, also: Named | None = None) -> dict[str, int]:
    """As a container states them."""
    return {SHORT.get(name, name): parse(amount) for name, amount in {**amounts, **(also or {})}.items()}


def base(amounts: Named, also: Named | None = None) -> dict[str, int]:
    """As nodes offer them and pods ask for them: millicores, bytes, counts."""
    return {name: base_units(name, amount) for name, amount in thousandths(amounts, also).items()}


# -- labels, taints, selectors ----------------------------------------------------------------------------------------


def noschedule(key: str, value: str = "") -> Taint:
    return Taint(key, value, "NoSchedule")


def noexecute(key: str, value: str = "") -> Taint:
    return Taint(key, value, "NoExecute")


def prefer_not(key: str, value: str = "") -> Taint:
    return Taint(key, value, "PreferNoSchedule")


def exists(key: str = "", effect: str = "", seconds: int | None = None) -> Toleration:
    """Tolerates any value of the key; any taint at all without a key."""
    return Toleration(key, "Exists", "", effect, seconds)


def equal(key: str, value: str = "", effect: str = "") -> Toleration:
    return Toleration(key, "Equal", value, effect)


_EXPRESSION = re.compile(
    r"(?P<absent>!)?(?P<key>[^\s=<>!]+)(?:\s*(?P<sign>[=<>])\s*(?P<value>\S*)"
    r"|\s+(?P<word>in|not in)\s+\((?P<values>[^)]*)\))?"
)


def wants(text: str) -> Requirement:
    """An expression as kubectl writes it: `a=b`, `a in (b, c)`, `a not in (b)`, `a`, `!a`, `a > 4`, `a < 4`."""
    found = _EXPRESSION.fullmatch(text)
    assert found, text
    if found["word"]:
        values = tuple(sorted(value.strip() for value in found["values"].split(",") if value.strip()))
        return Requirement(found["key"], "In" if found["word"] == "in" else "NotIn", values)
    if found["sign"]:
        return Requirement(found["key"], {"=": "In", ">": "Gt", "<": "Lt"}[found["sign"]], (found["value"],))
    return Requirement(found["key"], "DoesNotExist" if found["absent"] else "Exists")


def selector(*texts: str) -> Selector:
    """A label selector; without expressions it matches everything."""
    return Selector(tuple(wants(text) for text in texts))


def term(*texts: str, fields: Sequence[str] = ()) -> NodeTerm:
    """One alternative of required node affinity; `fields` are expressions over `metadata.name`."""
    return NodeTerm(tuple(map(wants, texts)), tuple(map(wants, fields)))


def on_nodes(*terms: NodeTerm, pairs: Mapping[str, str] | None = None) -> NodeSelector:
    """`spec.nodeSelector` pairs, and the terms of required node affinity where any are given."""
    return NodeSelector(sorted_labels(pairs), terms or None)


def against(
    *texts: str, key: str = HOSTNAME, namespaces: Sequence[str] = (TEAM,), spaces: Selector | None = None
) -> PodAffinityTerm:
    """A required (anti-)affinity term over pods that the expressions match; `spaces` selects namespaces by label."""
    return PodAffinityTerm(key, selector(*texts), tuple(namespaces), spaces)


def port(number: int, protocol: str = "TCP", ip: str = "0.0.0.0") -> HostPort:
    return HostPort(number, protocol, ip)


# -- nodes and the pods on them ---------------------------------------------------------------------------------------


def node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Taint] = (),
    ready: bool = True,
    unschedulable: bool = False,
    deleting: bool = False,
    marks: Iterable[Mark] = (),
    also: Named | None = None,
    **amounts: Amount,
) -> NodeFacts:
    """A node. `labels={HOSTNAME: ""}` takes the hostname label away."""
    named = {key: value for key, value in {HOSTNAME: name, **(labels or {})}.items() if (key, value) != (HOSTNAME, "")}
    return NodeFacts(
        name=name,
        allocatable=base({"cpu": 64, "memory": "512Gi", "pods": 110, **amounts}, also),
        labels=named,
        taints=tuple(sorted(taints, key=str)),
        state=NodeState(ready, unschedulable, deleting, frozenset(marks)),
    )


def nodes(count: int, prefix: str = "n", *, like: NodeFacts | None = None, **facts: Any) -> list[NodeFacts]:
    """`count` equal nodes, named `n0`, `n1`, …; `facts` are those of `node`."""
    names = [f"{prefix}{number}" for number in range(count)]
    if like is None:
        return [node(name, **facts) for name in names]
    return [replace(like, name=name, labels={**like.labels, HOSTNAME: name}) for name in names]


@dataclass(frozen=True)
class Bound:
    """Equal pods on one node, as `cluster` takes them."""

    on: str
    requests: Mapping[str, int]
    count: int
    pods: PodSet
    ports: tuple[HostPort, ...]


def bound(
    name: str = "",
    *,
    on: str,
    count: int = 1,
    namespace: str = TEAM,
    labels: Mapping[str, str] | None = None,
    anti_affinity: Iterable[PodAffinityTerm] = (),
    ports: Iterable[HostPort] = (),
    standing: bool = False,
    terminating: bool = False,
    priority: int = 0,
    also: Named | None = None,
    **amounts: Amount,
) -> Bound:
    """`count` equal pods on node `on`. `name` becomes a label; `standing`: they belong to the node (a DaemonSet's)."""
    own = sorted_labels({**({"name": name} if name else {}), **(labels or {})})
    asked = base(amounts, also)
    pods = PodSet(namespace, own, {on: count}, tuple(anti_affinity), standing, terminating, asked, priority)
    return Bound(on, {**asked, PODS: 1}, count, pods, tuple(ports))


def node_rows(rows: Iterable[NodeFacts], pods: Iterable[Bound] = ()) -> Nodes:
    """The nodes as columns, with what the pods on them ask for."""
    pods = list(pods)
    return columns(rows, _uses(pods), _uses([pod for pod in pods if pod.pods.standing]))


def _uses(pods: Iterable[Bound]) -> dict[str, Counter[str]]:
    uses: dict[str, Counter[str]] = {}
    for pod in pods:
        for name, amount in pod.requests.items():
            uses.setdefault(pod.on, Counter())[name] += amount * pod.count
    return uses


def cluster(
    nodes: Iterable[NodeFacts] = (),
    pods: Iterable[Bound] = (),
    *,
    name: str = "here",
    namespaces: Iterable[Namespace] | None = (Namespace(TEAM, (("kubernetes.io/metadata.name", TEAM),)),),
    gaps: Iterable[str] = (),
    **facts: Any,
) -> ClusterSnapshot:
    """A cluster at noon. `gaps` are plurals (`pods`, `limitranges`); other facts are fields of `ClusterSnapshot`."""
    pods = list(pods)
    rest: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in facts.items()}
    return ClusterSnapshot(
        name=name,
        taken_at=NOON,
        nodes=node_rows(nodes, pods),
        pods=tuple(pod.pods for pod in pods),
        ports=tuple(PortUse(pod.on, one, pod.pods.standing, pod.pods.namespace) for pod in pods for one in pod.ports),
        namespaces=None if namespaces is None else tuple(namespaces),
        gaps=tuple(gap(what) for what in gaps),
        **rest,
    )


def gap(what: str, why: str = "forbidden") -> Gap:
    return Gap(what, why, f"{what}: {why}")


def nominated(
    on: str,
    *,
    priority: int = 0,
    namespace: str = TEAM,
    labels: Mapping[str, str] | None = None,
    anti_affinity: Iterable[PodAffinityTerm] = (),
    ports: Iterable[HostPort] = (),
    scheduler: str = "default-scheduler",
    also: Named | None = None,
    **amounts: Amount,
) -> Nominated:
    """A pending pod whose place the scheduler holds on node `on`."""
    requests, own = base(amounts, also), sorted_labels(labels)
    return Nominated(on, namespace, priority, requests, tuple(ports), own, tuple(anti_affinity), scheduler)


def waiting(
    count: int = 1, *, priority: int = 0, namespace: str = TEAM, also: Named | None = None, **amounts: Amount
) -> Waiting:
    return Waiting(priority, base(amounts, also), count, namespace)


# -- what admission looks at ------------------------------------------------------------------------------------------


def quota(
    name: str = "limit",
    *,
    hard: Named,
    used: Named | None = None,
    uncounted: bool = False,
    scopes: Iterable[Scope | str] = (),
    namespace: str = TEAM,
) -> Quota:
    """A ResourceQuota; keys that `used` leaves out are at 0. `uncounted`: its status is not filled in yet."""
    counted = {**dict.fromkeys(hard, 0), **(used or {})}
    found = tuple(Scope(scope) if isinstance(scope, str) else scope for scope in scopes)
    return Quota(namespace, name, _by_key(hard), None if uncounted else _by_key(counted), found)


def _by_key(amounts: Named) -> dict[str, int]:
    cpu = ("cpu", "requests.cpu", "limits.cpu")
    return {key: base_units("cpu" if key in cpu else key, parse(amount)) for key, amount in amounts.items()}


def limit_range(name: str = "range", *items: LimitRangeItem, namespace: str = TEAM) -> LimitRange:
    return LimitRange(namespace, name, items)


def per_container(
    *,
    default: Named | None = None,
    default_request: Named | None = None,
    least: Named | None = None,
    most: Named | None = None,
    ratio: Named | None = None,
    type: str = "Container",  # noqa: A002 - the word of the API
) -> LimitRangeItem:
    """An entry of a LimitRange, by default of type Container."""
    return LimitRangeItem(
        type,
        thousandths(default or {}),
        thousandths(default_request or {}),
        thousandths(least or {}),
        thousandths(most or {}),
        thousandths(ratio or {}),
    )


def per_pod(*, least: Named | None = None, most: Named | None = None, ratio: Named | None = None) -> LimitRangeItem:
    """An entry of type Pod."""
    return per_container(type="Pod", least=least, most=most, ratio=ratio)


def namespace(name: str = TEAM, **own: str) -> Namespace:
    return Namespace(name, sorted_labels({"kubernetes.io/metadata.name": name, **own}))


def priority_class(name: str, value: int, *, default: bool = False) -> PriorityClass:
    return PriorityClass(name, value, default)


def runtime_class(
    name: str,
    *,
    node_labels: Mapping[str, str] | None = None,
    tolerations: Iterable[Toleration] = (),
    **overhead: Amount,
) -> RuntimeClass:
    return RuntimeClass(name, thousandths(overhead), sorted_labels(node_labels), tuple(tolerations))


def claim(
    name: str,
    *,
    phase: str = "Bound",
    modes: Sequence[str] = ("ReadWriteMany",),
    deleting: bool = False,
    reach: NodeSelector | None = None,
    zones: Mapping[str, Sequence[str]] | None = None,
    namespace: str = TEAM,
) -> VolumeClaim:
    """A PersistentVolumeClaim; `reach` and `zones` are those of the volume that it is bound to."""
    volume = f"pv-{name}" if phase == "Bound" else ""
    found = tuple((key, tuple(values)) for key, values in (zones or {}).items())
    return VolumeClaim(namespace, name, phase, tuple(modes), deleting, volume, reach, found)


# -- what is asked for ------------------------------------------------------------------------------------------------


def container(
    name: str = "main",
    *,
    limits: Named | None = None,
    ports: Iterable[HostPort] = (),
    sidecar: bool = False,
    also: Named | None = None,
    **requests: Amount,
) -> Container:
    """A container that requests these amounts. Devices are limited to what is requested, as the API server demands."""
    return _container(name, thousandths(requests, also), thousandths(limits or {}), tuple(ports), sidecar)


def _container(
    name: str,
    asked: Mapping[str, int],
    limits: Mapping[str, int],
    ports: tuple[HostPort, ...] = (),
    sidecar: bool = False,
) -> Container:
    devices = {name: amount for name, amount in asked.items() if is_extended(name)}
    return Container(name, asked, {**devices, **limits}, ports, sidecar)


def pod(
    *containers: Container,
    inits: Iterable[Container] = (),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    nodes: NodeSelector = ANYWHERE,
    tolerations: Iterable[Toleration] = (),
    anti_affinity: Iterable[PodAffinityTerm] = (),
    affinity: Iterable[PodAffinityTerm] = (),
    pod_level: PodAmounts | None = None,
    overhead: Named | None = None,
    volume_claims: Iterable[str] = (),
    limits: Named | None = None,
    ports: Iterable[HostPort] = (),
    also: Named | None = None,
    fields: Mapping[str, Any] | None = None,
    **requests: Amount,
) -> PodTemplate:
    """A template, of one container with these amounts where no containers are given.

    `fields` are other fields of `PodTemplate`: `fields={"priority_class": "high", "runtime_class": "kata"}`.
    """
    only = _container("main", thousandths(requests, also), thousandths(limits or {}), tuple(ports))
    return PodTemplate(
        containers=containers or (only,),
        init_containers=tuple(inits),
        pod_level=pod_level,
        overhead=thousandths(overhead or {}),
        labels=sorted_labels(labels),
        annotations=sorted_labels(annotations),
        nodes=nodes,
        tolerations=tuple(tolerations),
        affinity=tuple(affinity),
        anti_affinity=tuple(anti_affinity),
        volume_claims=tuple(volume_claims),
        **(fields or {}),
    )


def level(requests: Named | None = None, limits: Named | None = None) -> PodAmounts:
    """Pod-level resources."""
    return PodAmounts(thousandths(requests or {}), thousandths(limits or {}))


def shape(
    *,
    namespace: str = TEAM,
    labels: Mapping[str, str] | None = None,
    limits: Named | None = None,
    also: Named | None = None,
    fields: Mapping[str, Any] | None = None,
    **requests: Amount,
) -> PodShape:
    """A pod as a cluster would store it, made without asking one; `fields` are other fields of `PodShape`."""
    asked = {name: amount for name, amount in base(requests, also).items() if amount}
    return PodShape(namespace, {**asked, PODS: 1}, base(limits or {}), sorted_labels(labels), **(fields or {}))


def role(
    name: str = "worker",
    replicas: int = 1,
    *,
    template: PodTemplate | None = None,
    minimum: int | None = None,
    stage: tuple[int, int] = (0, 0),
    topology: Iterable[TopologyRequest] = (),
    made_after: Iterable[str] = (),
    **asked: Any,
) -> Role:
    """`replicas` pods of `template`, or of `pod(**asked)`. `minimum`: how many a start needs at least (all of them)."""
    least = replicas if minimum is None else minimum
    own = template or pod(**asked)
    return Role(name, replicas, own, least, stage=stage, topology=tuple(topology), made_after=tuple(made_after))


def gang(count: int = 1, **members: int) -> GangGroup:
    return GangGroup(count, members)


def workload(
    *roles: Role,
    name: str = "train",
    kind: str = "Job",
    api_version: str = "batch/v1",
    namespace: str = TEAM,
    groups: Iterable[GangGroup] = (),
    children: Iterable[tuple[str, str]] = (),
    **facts: Any,
) -> Workload:
    """One object that makes the roles' pods; `children` are (group, kind) of what its controller creates besides."""
    return Workload(
        api_version=api_version,
        kind=kind,
        namespace=namespace,
        name=name,
        source=Where("train.yaml", 1),
        definition=Definition("test", "builtin", tuple(children)),
        roles=roles,
        groups=tuple(groups),
        **facts,
    )


def question(*asked: Workload | ClusterSnapshot, accelerators: Accelerators | None = None, **facts: Any) -> Question:
    """Workloads and clusters in any order; NVIDIA GPUs are the accelerator unless another catalogue is given."""
    return Question(
        workloads=tuple(one for one in asked if isinstance(one, Workload)),
        clusters=tuple(one for one in asked if isinstance(one, ClusterSnapshot)),
        policy=facts.pop("policy", Policy()),
        as_of=NOON,
        accelerators=accelerators or gpus(),
        **facts,
    )


def gpus() -> Accelerators:
    return Accelerators(resources=(GPU, "nvidia.com/mig-*"))


def placement(**assignment: Mapping[str, int]) -> Placement:
    """Role → node → pods."""
    return Placement(assignment)


# -- the packing problem ----------------------------------------------------------------------------------------------


def problem(
    wanted: Sequence[int],
    need: Sequence[Sequence[int]],
    free: Sequence[Sequence[int]],
    *,
    allowed: Sequence[Sequence[bool]] | None = None,
    stages: Sequence[tuple[int, int]] | None = None,
    least: Sequence[int] | None = None,
    least_total: int = 0,
    apart: Iterable[Apart] = (),
    budgets: Iterable[Budget] = (),
    groups: Iterable[Group] = (),
) -> Problem:
    """wanted[r] pods of role r; need[r][k] of resource k each; free[b][k] in bin b. All bins are whole and alike."""
    bins, roles = len(free), len(wanted)
    width = len(need[0]) if need else 0
    return Problem(
        wanted=tuple(wanted),
        need=np.array(need, dtype=np.int64).reshape(roles, width),
        free=np.array(free, dtype=np.int64).reshape(bins, width),
        allowed=np.ones((roles, bins), dtype=np.bool_) if allowed is None else np.array(allowed, dtype=np.bool_),
        stages=tuple(stages or [(0, 0)] * roles),
        fresh=np.ones(bins, dtype=np.bool_),
        slack=np.arange(bins, dtype=np.int64),
        apart=tuple(apart),
        budgets=tuple(budgets),
        least=tuple(wanted if least is None else least),
        least_total=least_total,
        groups=tuple(groups),
    )


def keep_apart(*pairs: tuple[int, int], domain: Sequence[int]) -> Apart:
    """Pairs of roles that may not share a domain; domain[b] is that of bin b, -1 for none."""
    return Apart(frozenset(pairs), np.array(domain, dtype=np.int64))
