"""A cluster with other nodes or other pods than were read, as a snapshot like any other.

Whatever a snapshot says of a node (pods on it, ports, room held for a nominated pod) goes and comes with the node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeVar

import numpy as np

from advisor.cluster import ClusterSnapshot, Coded, Column, Mask, Nodes, PodSet, Quota, Waiting, coded
from advisor.errors import InputError
from advisor.labels import HOSTNAME, LEAVING, PASSING, Taint
from advisor.resources import PODS

T = TypeVar("T")


def drained(cluster: ClusterSnapshot, which: Mask) -> ClusterSnapshot:
    """As after `kubectl drain`: only the nodes' own pods are left, the others wait for a place elsewhere."""
    names = _names(cluster, which)
    nodes = cluster.nodes
    requested = {name: np.where(which, nodes.standing.get(name, 0), column) for name, column in nodes.requested.items()}
    return replace(
        cluster,
        nodes=replace(nodes, requested=requested),
        pods=tuple(_left(cluster.pods, names)),
        ports=tuple(use for use in cluster.ports if use.standing or use.node not in names),
        nominated=tuple(pod for pod in cluster.nominated if pod.node not in names),
        waiting=_together([*cluster.waiting, *_displaced(cluster, names)]),
    )


def without(cluster: ClusterSnapshot, which: Mask) -> ClusterSnapshot:
    """The cluster without these nodes; their ordinary pods wait for a place elsewhere."""
    names = _names(cluster, which)
    left = drained(cluster, which)
    pods = (replace(one, nodes=_but(one.nodes, names)) for one in left.pods)
    return replace(
        left,
        nodes=left.nodes.take(np.flatnonzero(~which)),
        pods=tuple(one for one in pods if one.nodes),
        ports=tuple(use for use in left.ports if use.node not in names),
    )


def only(cluster: ClusterSnapshot, names: Set[str]) -> ClusterSnapshot:
    """The cluster without all other nodes."""
    return without(cluster, np.array([name not in names for name in cluster.nodes.names], dtype=np.bool_))


def with_copies(cluster: ClusterSnapshot, like: str, count: int) -> ClusterSnapshot:
    """`count` nodes more that are as `like` was on its first day: ready, open, with the node's own pods only."""
    nodes = cluster.nodes
    row = nodes.names.index(like)
    names = _new_names(nodes.names, f"{like}-new", count)
    fresh = nodes.take(np.full(count, row), names)
    fresh = replace(
        fresh,
        requested=fresh.standing,
        labels={**fresh.labels, HOSTNAME: coded(names)},
        taints=coded([_lasting(nodes.taints.of(row))] * count),
        states=coded([replace(nodes.states.of(row), ready=True, unschedulable=False, deleting=False)] * count),
    )
    pods = (_also_on(one, like, names) if one.standing else one for one in cluster.pods)
    ports = [replace(use, node=name) for use in cluster.ports if use.standing and use.node == like for name in names]
    return replace(cluster, nodes=joined(nodes, fresh), pods=tuple(pods), ports=(*cluster.ports, *ports))


def with_nodes(cluster: ClusterSnapshot, shape: Nodes, count: int) -> ClusterSnapshot:
    """`count` nodes more, each as the one row of `shape`, with no pod on them."""
    names = _new_names(cluster.nodes.names, shape.names[0], count)
    fresh = shape.take(np.zeros(count, dtype=np.int64), names)
    fresh = replace(fresh, labels={**fresh.labels, HOSTNAME: coded(names)})
    return replace(cluster, nodes=joined(cluster.nodes, fresh))


def joined(one: Nodes, other: Nodes) -> Nodes:
    """The nodes of both, sorted by name."""
    both = Nodes(
        names=(*one.names, *other.names),
        allocatable=_stacked(one, other, one.allocatable, other.allocatable),
        requested=_stacked(one, other, one.requested, other.requested),
        standing=_stacked(one, other, one.standing, other.standing),
        labels={key: _appended(one.label(key), other.label(key)) for key in sorted({*one.labels, *other.labels})},
        taints=_appended(one.taints, other.taints),
        states=_appended(one.states, other.states),
    )
    return both.take(np.array(sorted(range(len(both)), key=both.names.__getitem__), dtype=np.int64))


def pods_gone(cluster: ClusterSnapshot, namespace: str) -> ClusterSnapshot:
    """The cluster without any pod of a namespace, waiting ones included, and its quotas accordingly.

    Raises InputError where the snapshot does not say what each pod asks for.
    """
    gone = [pods for pods in cluster.pods if pods.namespace == namespace]
    standing = [pods for pods in gone if pods.standing]
    _check_accounts(cluster)
    nodes = cluster.nodes
    return replace(
        cluster,
        nodes=replace(
            nodes,
            requested=_less(nodes.requested, _uses(nodes, gone)),
            standing=_less(nodes.standing, _uses(nodes, standing)),
        ),
        pods=tuple(pods for pods in cluster.pods if pods.namespace != namespace),
        ports=tuple(use for use in cluster.ports if use.namespace != namespace),
        nominated=tuple(pod for pod in cluster.nominated if pod.namespace != namespace),
        waiting=tuple(pods for pods in cluster.waiting if pods.namespace != namespace),
        unbound=tuple(pods for pods in cluster.unbound if pods.namespace != namespace),
        quotas=tuple(_unused(quota) if quota.namespace == namespace else quota for quota in cluster.quotas),
    )


def pods_left(
    cluster: ClusterSnapshot, going: Mapping[int, Mapping[str, int]], waiting: Mapping[int, int]
) -> ClusterSnapshot:
    """The cluster without some of its pods: place in `pods` → node → how many, and place in `unbound` → how many.

    Quotas without scopes have back what the pods ask for, others nothing.
    """
    there = frozenset(cluster.nodes.names)
    away = {place: {node: count for node, count in nodes.items() if node in there} for place, nodes in going.items()}
    gone = [replace(cluster.pods[place], nodes=nodes) for place, nodes in away.items()]
    pending = [(cluster.unbound[place], count) for place, count in waiting.items()]
    unbound = [PodSet(one.namespace, one.labels, {"": count}, requests=one.requests) for one, count in pending]
    left = (
        replace(pods, nodes=dict(Counter(pods.nodes) - Counter(away.get(place, {}))))
        for place, pods in enumerate(cluster.pods)
    )
    rest = (replace(pods, count=pods.count - waiting.get(place, 0)) for place, pods in enumerate(cluster.unbound))
    return replace(
        cluster,
        nodes=replace(cluster.nodes, requested=_less(cluster.nodes.requested, _uses(cluster.nodes, gone))),
        pods=tuple(pods for pods in left if pods.nodes),
        unbound=tuple(pods for pods in rest if pods.count),
        quotas=tuple(_relieved(quota, [*gone, *unbound]) for quota in cluster.quotas),
    )


def _relieved(quota: Quota, gone: Iterable[PodSet]) -> Quota:
    if quota.used is None or quota.scopes:
        return quota
    back: Counter[str] = Counter()
    for pods in gone:
        if pods.namespace == quota.namespace:
            for name, amount in {**pods.requests, PODS: 1}.items():
                for key in (name, f"requests.{name}", f"count/{name}"):
                    back[key] += amount * sum(pods.nodes.values())
    return replace(quota, used={key: max(0, used - back[key]) for key, used in quota.used.items()})


def _names(cluster: ClusterSnapshot, which: Mask) -> frozenset[str]:
    return frozenset(cluster.nodes.names[row] for row in np.flatnonzero(which))


def _left(pods: Iterable[PodSet], drained: frozenset[str]) -> Iterator[PodSet]:
    for one in pods:
        nodes = one.nodes if one.standing else _but(one.nodes, drained)
        if nodes:
            yield replace(one, nodes=nodes)


def _displaced(cluster: ClusterSnapshot, names: frozenset[str]) -> Iterator[Waiting]:
    """Pods that lose their place, or the one that was held for them; what is terminating has none to lose."""
    for pods in cluster.pods:
        count = sum(count for node, count in pods.nodes.items() if node in names)
        if count and not pods.standing and not pods.terminating:
            yield Waiting(pods.priority, pods.requests, count, pods.namespace)
    for pod in cluster.nominated:
        if pod.node in names:
            yield Waiting(pod.priority, pod.requests, 1, pod.namespace)


def _together(waiting: Iterable[Waiting]) -> tuple[Waiting, ...]:
    counts: Counter[tuple[int, tuple[tuple[str, int], ...], str]] = Counter()
    for pods in waiting:
        counts[pods.priority, tuple(sorted(pods.requests.items())), pods.namespace] += pods.count
    return tuple(Waiting(priority, dict(asked), n, space) for (priority, asked, space), n in sorted(counts.items()))


def _but(nodes: Mapping[str, int], names: frozenset[str]) -> dict[str, int]:
    return {node: count for node, count in nodes.items() if node not in names}


def _new_names(taken: Sequence[str], stem: str, count: int) -> list[str]:
    found: list[str] = []
    number = 0
    there = set(taken)
    while len(found) < count:
        number += 1
        if f"{stem}-{number}" not in there:
            found.append(f"{stem}-{number}")
    return found


def _lasting(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Those that say what a node is, not how it is at the moment."""
    return tuple(taint for taint in taints if not taint.key.startswith(PASSING) and taint.key not in LEAVING)


def _also_on(pods: PodSet, like: str, names: Sequence[str]) -> PodSet:
    return replace(pods, nodes={**pods.nodes, **dict.fromkeys(names, pods.nodes[like])}) if like in pods.nodes else pods


def _stacked(one: Nodes, other: Nodes, first: Mapping[str, Column], second: Mapping[str, Column]) -> dict[str, Column]:
    zeros = np.zeros(len(one), dtype=np.int64), np.zeros(len(other), dtype=np.int64)
    names = sorted({*first, *second})
    return {n: np.concatenate([first.get(n, zeros[0]), second.get(n, zeros[1])]) for n in names}


def _appended(one: Coded[T], other: Coded[T]) -> Coded[T]:
    return coded([*(one.values[code] for code in one.codes), *(other.values[code] for code in other.codes)])


def _uses(nodes: Nodes, pods: Iterable[PodSet]) -> dict[str, Column]:
    rows = {name: row for row, name in enumerate(nodes.names)}
    uses: dict[str, Column] = {}
    for one in pods:
        for resource, amount in {**one.requests, PODS: 1}.items():
            column = uses.setdefault(resource, np.zeros(len(nodes), dtype=np.int64))
            for node, count in one.nodes.items():
                column[rows[node]] += amount * count
    return uses


def _less(columns: Mapping[str, Column], uses: Mapping[str, Column]) -> dict[str, Column]:
    return {name: column - uses[name] if name in uses else column for name, column in columns.items()}


def _check_accounts(cluster: ClusterSnapshot) -> None:
    left = _less(cluster.nodes.requested, _uses(cluster.nodes, cluster.pods))
    if any(column.any() for column in left.values()):
        hint = "record it again with this version"
        raise InputError(f"the recording of {cluster.name} does not say what each of its pods asks for", hint=hint)


def _unused(quota: Quota) -> Quota:
    if quota.used is None:
        return quota
    return replace(quota, used={key: 0 if _counts_pods(key) else used for key, used in quota.used.items()})


def _counts_pods(key: str) -> bool:
    if key == "requests.storage":
        return False
    own = key in ("cpu", "memory", "ephemeral-storage", "pods", "count/pods")
    return own or key.startswith(("requests.", "limits.", "hugepages-"))
