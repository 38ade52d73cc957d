"""What is left of a hold once the pods of a snapshot are known.

Pods of a role count together, whatever else tells them apart, against the most that was ever there: one that takes the
place of another, after a rollout, a restart or an eviction, is no arrival. Where pods have gone, those that come may
just as well be the next ones, as of a Job that has done with the first: their room stays, and refuses nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from advisor.server.appeared import Alike, Marks
from advisor.server.holds import Hold, Whereabouts, begun, release, whereabouts, without_zeros
from advisor.server.likeness import Roles


@dataclass
class _Arrival:
    """Pods with the same marks, while the holds go through a snapshot.

    total   all of them
    nodes   those that no hold has taken for its own yet
    passed  how many of them the holds so far leave behind: there before, or taken
    """

    total: int
    nodes: Counter[str]
    passed: int = 0

    def before(self, known: int) -> int:
        """How many a hold leaves behind that has known so many before."""
        return min(max(known, self.passed), self.total)


class Arrivals:
    """A namespace's pods while the holds go through a snapshot; only what a hold asks for is copied."""

    def __init__(self, bound: Alike, unbound: Alike, when: datetime) -> None:
        self.bound, self.unbound, self.when = bound, unbound, when
        self._found: dict[tuple[bool, Marks], _Arrival] = {}

    def of(self, marks: Marks, *, bound: bool) -> _Arrival:
        if (bound, marks) not in self._found:
            nodes = Counter((self.bound if bound else self.unbound).nodes[marks])
            self._found[bound, marks] = _Arrival(nodes.total(), nodes)
        return self._found[bound, marks]


def after(one: Hold, arrivals: Arrivals, cluster: str) -> Hold:
    """The hold less the pods that are new to it. Its time begins anew with each, and while others must end first."""
    changed = _arrived(one, arrivals, cluster)
    if cluster == one.cluster:
        changed = _staying(_created(changed, arrivals), arrivals)
    came = sum(one.due.values()) - sum(changed.due.values())
    if came or (cluster == one.cluster and changed.is_under_way):
        until = max(one.until, arrivals.when + one.patience)
        changed = replace(changed, most=changed.most - came, until=until)
    return changed if changed.due == one.due and not changed.counted else begun(changed)


def _arrived(one: Hold, arrivals: Arrivals, cluster: str) -> Hold:
    """What there was no room for may come as well, once others have gone."""
    left = {role: dict(nodes) for role, nodes in one.placement.items()}
    beyond, risen, came = Counter(one.beyond), Counter(one.risen), list[Roles]()
    known, there = dict(one.passed.get(cluster, {})), dict(one.there.get(cluster, {}))
    groups = one.likeness.groups(arrivals.bound)
    for roles in sorted({*known, *groups}):
        due = [role for role in roles if role in one.due]
        group = _Group(arrivals, groups.get(roles, ()))
        if not due:
            known[roles], there[roles] = group.total, group.on
        else:
            most, new = _most(known, roles), group.new(there.get(roles, {}))
            before = max(min(most, group.total - new) if one.anew else most, group.passed)
            taken = group.release(left, due, group.total - before)
            taken += _let_go(beyond, due, group.total - before - taken)
            risen[due[0]] += max(0, new - taken)
            known[roles], there[roles] = before + taken, group.on
            group.leave(before + taken)
            came += [roles] if taken else []
    if (known, there) == (one.passed.get(cluster, {}), one.there.get(cluster, {})):
        return one
    changed = replace(
        one,
        placement=without_zeros(left),
        beyond=dict(+beyond),
        passed={**one.passed, cluster: known},
        there={**one.there, cluster: there},
        risen=dict(+risen),
        anew=one.anew and not came,
    )
    return _without_ended(changed, came)


def _most(known: Mapping[Roles, int], roles: Roles) -> int:
    """Of pods that may be of several roles and have not been seen, those of each role are known at best."""
    return known[roles] if roles in known else sum(known.get((role,), 0) for role in roles)


class _Group:
    """Pods that may be of the same roles."""

    def __init__(self, arrivals: Arrivals, some: Collection[Marks]) -> None:
        self._parts = {marks: arrivals.of(marks, bound=True) for marks in some}
        self.total = sum(part.total for part in self._parts.values())
        self.passed = sum(part.passed for part in self._parts.values())
        self.on: Whereabouts = whereabouts(arrivals.bound, some)

    def new(self, before: Whereabouts) -> int:
        """How many have surely come since others were there, and are those of no hold that comes first."""
        return min((Counter(self.on) - Counter(before)).total(), self.total - self.passed)

    def release(self, left: dict[str, dict[str, int]], roles: Sequence[str], new: int) -> int:
        """Room of up to `new` pods, first where they are; how many those were."""
        taken = 0
        for part in self._parts.values():
            taken += release(left, roles, part.nodes, new - taken, elsewhere=False)
        return taken + release(left, roles, Counter(), new - taken)

    def leave(self, count: int) -> None:
        """So many are behind the hold, for those that come after it."""
        more = count - self.passed
        for part in self._parts.values():
            added = max(0, min(more, part.total - part.passed))
            part.passed += added
            more -= added


def _let_go(beyond: Counter[str], roles: Sequence[str], new: int) -> int:
    """Up to `new` pods that there was no room for; how many those were."""
    taken = 0
    for role in roles:
        gone = max(0, min(new - taken, beyond[role]))
        beyond[role] -= gone
        taken += gone
    return taken


def _without_ended(one: Hold, there: Iterable[Roles]) -> Hold:
    """Pods that begin when others have ended prove that these have, though nobody has seen them."""
    ended = {role for role in one.due for later in there if all(one.ends_before(role, [name]) for name in later)}

    def left(pods: Mapping[str, int]) -> dict[str, int]:
        return {role: count for role, count in pods.items() if role not in ended}

    if not ended:
        return one
    placement = {role: nodes for role, nodes in one.placement.items() if role not in ended}
    lost, counted = left(one.lost), left(one.counted)
    return replace(one, placement=placement, beyond=left(one.beyond), lost=lost, counted=counted)


def _staying(one: Hold, arrivals: Arrivals) -> Hold:
    """Where those pods are that have come: once they end, their room is there for those of later stages."""
    if one.workload is None or len(set(one.stages.values())) < 2:
        return one
    came = Counter(one.workload.sizes) - Counter(one.due)
    there: dict[str, Counter[str]] = {role: Counter() for role in came}
    for marks in one.likeness.among(arrivals.bound):
        nodes = Counter(arrivals.bound.nodes[marks])
        for role in filter(there.__contains__, one.likeness.roles(marks)):
            for node in sorted(nodes):
                taken = min(nodes[node], came[role])
                came[role] -= taken
                nodes[node] -= taken
                there[role][node] += taken
    bound = {role: dict(+nodes) for role, nodes in there.items() if +nodes}
    return one if bound == one.bound else replace(one, bound=bound)


def _created(one: Hold, arrivals: Arrivals) -> Hold:
    """Which of its pods exist by now, and have no node yet? Quotas count them from that moment on.

    As many of them as have gone of those that were there take their place, or are the next ones: nobody can tell.
    """
    left, counted, again, unbound = one.sizes, Counter[str](), Counter[str](), {}
    came = list[Roles]()
    for roles, some in one.likeness.groups(arrivals.unbound).items():
        gone = _gone(one, roles)
        for marks in some:
            there = arrivals.of(marks, bound=False)
            unbound[marks] = there.before(one.unbound.get(marks, 0))
            new = there.total - unbound[marks]
            back = min(new, gone)
            again[roles[0]] += back
            gone -= back
            free = new - back
            for role in roles:
                taken = min(free, left.get(role, 0) - counted[role])
                counted[role] += taken
                free -= taken
            came += [roles] if free < new - back else []
            there.passed = there.total - free
    if (unbound, dict(+counted), dict(+again)) == (one.unbound, one.counted, one.again):
        return one
    return _without_ended(replace(one, unbound=unbound, counted=dict(+counted), again=dict(+again)), came)


def _gone(one: Hold, roles: Roles) -> int:
    """How many fewer are there than ever were."""
    there = one.there.get(one.cluster, {}).get(roles, {})
    return max(0, one.passed.get(one.cluster, {}).get(roles, 0) - sum(there.values()))
