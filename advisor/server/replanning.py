"""Room that is promised on nodes which cannot bear it any more: promised anew on others.

kube-scheduler knows nothing of our nodes: pods land where others are expected, and nodes go. What a snapshot leaves no
room for is planned once more, the oldest first, on what all others leave. Pods that come once others of their object
have ended are expected where those are: that room is theirs already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from advisor import surgery
from advisor.assume import relieved
from advisor.cluster import ClusterSnapshot
from advisor.fit.taints import untolerated
from advisor.server.coming import only
from advisor.server.holds import Hold, charged
from advisor.verdict import Placement
from advisor.workload import Workload

Plan = Callable[[Workload, ClusterSnapshot], Placement]
"""Nodes for all pods of a workload, or for as many as find room."""

Rows = Mapping[str, int]
"""Node → its row in the columns; charging a hold changes none."""


def planned_anew(holds: Sequence[Hold], cluster: ClusterSnapshot, plan: Plan) -> tuple[Hold, ...]:
    """The holds of a cluster, in the order of their age, as the cluster can bear them. The same ones where it can."""
    rows = {name: row for row, name in enumerate(cluster.nodes.names)}
    if not _is_short(holds, cluster, rows):
        return _all_drawn_near(holds, cluster, plan)
    there, kept, moved = cluster, list(holds), []
    for place, one in enumerate(holds):
        if one.workload is None or (not one.bereft and _bears(there, one, rows)):
            there = charged(there, one)
        else:
            moved.append(place)
    for place in moved:
        kept[place] = _moved(holds[place], there, plan)
        there = charged(there, kept[place])
    return _all_drawn_near(kept, cluster, plan)


def _all_drawn_near(holds: Sequence[Hold], cluster: ClusterSnapshot, plan: Plan) -> tuple[Hold, ...]:
    """With what follows other pods expected on the nodes of these, as far as they have room for it."""
    kept = list(holds)
    for place, one in enumerate(holds):
        for stage in sorted({one.alive(role)[0] for role in one.placement} - {0}) if one.workload else ():
            others = [other for other in kept if other.key != one.key]
            kept[place] = _drawn_near(kept[place], stage, others, cluster, plan)
    return tuple(kept)


def _drawn_near(one: Hold, stage: int, others: Iterable[Hold], cluster: ClusterSnapshot, plan: Plan) -> Hold:
    """Those that begin with a stage, on the nodes of those that end before; what finds no room there stays."""
    begin = {role: pods for role, pods in one.sizes.items() if one.alive(role)[0] == stage}
    ended = {role for role in (*one.placement, *one.bound) if begin and one.ends_before(role, begin)}
    near = _nodes(one.placement, ended) | _nodes(one.bound, ended)
    if not _nodes(one.bound, ended) or _nodes(one.placement, begin) <= near:
        return one
    assert one.workload
    beside = {role: nodes for role, nodes in one.placement.items() if role not in ended and role not in begin}
    gone = {role: nodes for role, nodes in one.bound.items() if role in ended}
    there = relieved(replace(surgery.only(cluster, near), quotas=()), gone, one.shapes)
    there = reduce(charged, [*others, replace(one, placement=beside, bound={})], there)
    found = plan(_of(one.workload, Counter(begin)), there).assignment
    placement = {role: Counter(nodes) for role, nodes in one.placement.items()}
    for role in begin:
        placement[role] = Counter(found.get(role, {}))
        for node in sorted(set(one.placement[role]) - near):
            placement[role][node] = min(one.placement[role][node], begin[role] - placement[role].total())
    drawn = replace(one, placement={role: dict(+nodes) for role, nodes in placement.items() if +nodes})
    return drawn if drawn.sizes == one.sizes and _pods_on(near, drawn) > _pods_on(near, one) else one


def _nodes(pods: Mapping[str, Mapping[str, int]], roles: Iterable[str]) -> frozenset[str]:
    return frozenset(node for role in roles for node in pods.get(role, ()))


def _pods_on(nodes: frozenset[str], one: Hold) -> int:
    return sum(pods for there in one.placement.values() for node, pods in there.items() if node in nodes)


def _is_short(holds: Iterable[Hold], cluster: ClusterSnapshot, rows: Rows) -> bool:
    """May there be a hold that has not all of its room? A quick look at all of them together."""
    taken: Counter[tuple[str, str]] = Counter()
    for one in holds:
        if one.bereft or not all(_stands(cluster, node, one, rows) for node in one.nodes):
            return True
        for role, nodes in one.placement.items():
            for name, amount in one.shapes[role].requests.items():
                for node, pods in nodes.items():
                    taken[name, node] += amount * pods
    free = {name: cluster.nodes.free(name) for name in {name for name, _ in taken}}
    return any(amount > free[name][rows[node]] for (name, node), amount in taken.items() if amount)


def _bears(cluster: ClusterSnapshot, one: Hold, rows: Rows) -> bool:
    """Is there room for a hold, where it is?"""
    after = charged(cluster, one).nodes
    asked = {name for role in one.placement for name, amount in one.shapes[role].requests.items() if amount}
    free = {name: after.free(name) for name in asked}
    return all(
        _stands(cluster, node, one, rows) and all(column[rows[node]] >= 0 for column in free.values())
        for node in one.nodes
    )


def _stands(cluster: ClusterSnapshot, node: str, one: Hold, rows: Rows) -> bool:
    """Is the node there, and open to the pods that are expected on it?"""
    if node not in rows:
        return False
    state, bears = cluster.nodes.states.of(rows[node]), cluster.nodes.taints.of(rows[node])
    pods = (one.shapes[role] for role, nodes in one.placement.items() if node in nodes)
    open_ = state.ready and not state.unschedulable and not state.deleting
    return open_ and not any(untolerated(pod, bears) for pod in pods)


def _moved(one: Hold, cluster: ClusterSnapshot, plan: Plan) -> Hold:
    """Quotas are left out of account: they have no other room elsewhere in the cluster, and are charged as before."""
    assert one.workload
    wanted = Counter(one.sizes) + one.bereft
    there = relieved(cluster, one.before, one.shapes)
    placement = plan(_of(one.workload, wanted), replace(there, quotas=())).assignment
    found = {role: sum(nodes.values()) for role, nodes in placement.items()}
    kept = {role: {node: pods for node, pods in nodes.items() if pods} for role, nodes in placement.items()}
    return replace(
        one,
        placement={role: nodes for role, nodes in kept.items() if nodes},
        beyond=dict(Counter(one.due) - Counter(found)),
        lost=dict(wanted - Counter(found)),
        counted={role: min(pods, found.get(role, 0)) for role, pods in one.counted.items()},
    )


def _of(workload: Workload, sizes: Counter[str]) -> Workload:
    """Of the pods of a workload those that are still to come."""
    roles = (
        replace(role, replicas=sizes[role.name], minimum=sizes[role.name], maximum=None) for role in workload.roles
    )
    left = only(workload, tuple(role for role in roles if role.replicas))
    return replace(left, there=True, variants={})
