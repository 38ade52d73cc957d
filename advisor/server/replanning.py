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
from operator import and_

from advisor import fit, surgery
from advisor.assume import relieved
from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import CAPACITY, PodShape
from advisor.server.coming import only
from advisor.server.holds import Hold, charged
from advisor.verdict import Placement
from advisor.workload import Workload

Plan = Callable[[Workload, ClusterSnapshot], Placement]
"""Nodes for all pods of a workload, or for as many as find room."""


def planned_anew(holds: Sequence[Hold], cluster: ClusterSnapshot, plan: Plan) -> tuple[Hold, ...]:
    """The holds of a cluster, in the order of their age, as the cluster can bear them. The same ones where it can.

    Those that stay come first, and leave the room that they need no more once they are where the first of their pods
    run; then those that have lost theirs get what there is, the oldest first.
    """
    lost = _without_room(holds, cluster)
    settled = {place: one for place, one in enumerate(holds) if place not in lost}
    for place in list(settled):
        settled[place] = _near(place, settled, cluster, plan)
    there = reduce(charged, settled.values(), cluster) if lost else cluster
    for place in lost:
        settled[place] = _moved(holds[place], there, plan)
        settled[place] = _near(place, settled, cluster, plan)
        there = charged(there, settled[place])
    return tuple(settled[place] for place in range(len(holds)))


def promised_first(holds: Iterable[Hold], cluster: ClusterSnapshot, plan: Plan) -> ClusterSnapshot:
    """With as many of the pods that have lost their room as find some there, the oldest first: nobody else has it."""
    for one in holds:
        if one.workload and any(_has_room(cluster, one.shapes[role]) for role in one.bereft):
            found = plan(_of(one.workload, one.bereft), replace(cluster, quotas=())).assignment
            cluster = charged(cluster, replace(one, placement=found, charges=(), counted={}, bound={}))
    return cluster


def _has_room(cluster: ClusterSnapshot, pod: PodShape) -> bool:
    """Has some node what one such pod asks for? On a full cluster that saves the search."""
    room = [cluster.nodes.free(name) >= amount for name, amount in pod.requests.items() if amount]
    return bool(reduce(and_, room).any())


def _near(place: int, settled: Mapping[int, Hold], cluster: ClusterSnapshot, plan: Plan) -> Hold:
    """With what follows other pods expected on the nodes of these, as far as they have room for it."""
    one = settled[place]
    stages = sorted({one.alive(role)[0] for role in one.placement} - {0}) if one.workload and one.bound else ()
    others = [other for where, other in settled.items() if where != place] if stages else []
    for stage in stages:
        one = _drawn_near(one, stage, others, cluster, plan)
    return one


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
    better = drawn.sizes == one.sizes and _pods_on(near, drawn) > _pods_on(near, one)
    return drawn if better and not _Ground(cluster).turns_down(drawn) else one


def _nodes(pods: Mapping[str, Mapping[str, int]], roles: Iterable[str]) -> frozenset[str]:
    return frozenset(node for role in roles for node in pods.get(role, ()))


def _pods_on(nodes: frozenset[str], one: Hold) -> int:
    return sum(pods for there in one.placement.values() for node, pods in there.items() if node in nodes)


def _without_room(holds: Sequence[Hold], cluster: ClusterSnapshot) -> list[int]:
    """Which holds have not all of their room, with all others that have it charged?"""
    there, lost = cluster, []
    if not _may_be_short(holds, cluster):
        return []
    for place, one in enumerate(holds):
        if one.workload is None or (not one.bereft and _bears(there, one)):
            there = charged(there, one)
        else:
            lost.append(place)
    return lost


def _may_be_short(holds: Iterable[Hold], cluster: ClusterSnapshot) -> bool:
    """A quick look at all of them together."""
    ground, taken = _Ground(cluster), Counter[tuple[str, str]]()
    for one in holds:
        if one.bereft or ground.turns_down(one):
            return True
        for role, nodes in one.placement.items():
            for name, amount in one.shapes[role].requests.items():
                for node, pods in nodes.items():
                    taken[name, node] += amount * pods
    free = {name: cluster.nodes.free(name) for name in {name for name, _ in taken}}
    return any(amount > free[name][ground.rows[node]] for (name, node), amount in taken.items() if amount)


def _bears(cluster: ClusterSnapshot, one: Hold) -> bool:
    """Is there room for a hold, where it is?"""
    ground = _Ground(cluster)
    if ground.turns_down(one):
        return False
    after = charged(cluster, one).nodes
    asked = {name for role in one.placement for name, amount in one.shapes[role].requests.items() if amount}
    free = {name: after.free(name) for name in asked}
    return all(column[ground.rows[node]] >= 0 for column in free.values() for node in one.nodes)


class _Ground:
    """A cluster as the rules for nodes see it.

    Places for nominated pods say nothing, as a hold's own pods may have them; most pods matter only to those that keep
    away from others, and there are many.
    """

    def __init__(self, cluster: ClusterSnapshot) -> None:
        self.rows = {name: row for row, name in enumerate(cluster.nodes.names)}
        self._whole = replace(cluster, nominated=())
        self._wary = replace(self._whole, pods=tuple(pods for pods in cluster.pods if pods.anti_affinity))

    def turns_down(self, one: Hold) -> bool:
        """Is a node gone, or surely closed to the pods that are expected on it, by any rule that has placed them?"""
        if not all(node in self.rows for node in one.nodes):
            return True
        places = ((one.shapes[role], [self.rows[node] for node in nodes]) for role, nodes in one.placement.items())
        return any(
            not rejection.doubt and rejection.nodes[rows].any()
            for pod, rows in places
            for name, examine in fit.FILTERS.items()
            if name != CAPACITY
            for rejection in examine(pod, self._whole if pod.anti_affinity else self._wary)
        )


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
