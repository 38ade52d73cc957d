"""Pods of an object that go, or that it has left behind: what was heard of them, and which of those seen they are.

Values only. Reads show pods that go as if they were to stay, until they have begun to end. Their room is there for the
object's own new pods and for nobody else's, so it must not be promised twice: beyond those that the object keeps, no
more make way than were heard to go, those first that take least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from advisor import surgery
from advisor.cluster import ClusterSnapshot, PodSet, Unbound
from advisor.quantity import Amounts
from advisor.server.appeared import Marks
from advisor.server.likeness import ALONE, Likeness
from advisor.workload import Workload

LINGER = timedelta(seconds=5)
"""For so long after a change was heard, reads still show the pods that it ends as if they were to stay."""


@dataclass(frozen=True, slots=True)
class Fewer:
    """So many pods of each role go until then at the latest."""

    until: datetime
    pods: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Left:
    """Pods that a deletion has left behind, of what was then this workload; reads begun after `since` show what is left
    of them. `adopts`: does a new object of that name take them over? None where nobody knows.
    """

    workload: Workload
    since: datetime
    adopts: bool | None


@dataclass(frozen=True, slots=True)
class Heard:
    """What was heard of an object. `gone`: until then, all pods that it had are to go."""

    gone: datetime | None = None
    fewer: tuple[Fewer, ...] = ()
    left: Left | None = None

    def with_fewer(self, pods: Mapping[str, int], now: datetime) -> Heard:
        return replace(self, fewer=(*self.fewer, Fewer(now + LINGER, pods)))

    def all_gone(self, until: datetime) -> Heard:
        """Those that are there go with the object; what an earlier one has left behind stays."""
        return Heard(gone=until, left=replace(self.left, since=until) if self.left else None)

    def at(self, young: datetime) -> Heard:
        """Less what is older than that; what was left behind stays as long as it is there."""
        fewer = tuple(one for one in self.fewer if one.until > young)
        gone = self.gone if self.gone and self.gone > young else None
        return self if (gone, fewer) == (self.gone, self.fewer) else replace(self, gone=gone, fewer=fewer)

    def anew(self) -> Heard:
        """Once pods have come that the object waited for: what there was before it was made is over."""
        return replace(self, gone=None, left=None)

    @property
    def last(self) -> datetime | None:
        """Reads begun after it show no pods any more that go."""
        return max((*filter(None, [self.gone]), *(one.until for one in self.fewer)), default=None)

    @property
    def is_alive(self) -> bool:
        """Is it still there, as far as was heard?"""
        return self.gone is None and self.left is None

    @property
    def takes_over(self) -> bool:
        """Are pods there for a new object of the same name?"""
        return self.left is not None and self.left.adopts is True

    def all_go(self, taken: datetime | None) -> bool:
        """Are all pods of the object to go that a read shows which was begun then?"""
        return self.gone is not None and taken is not None and taken <= self.gone

    def so_many_go(self, taken: datetime | None) -> Counter[str]:
        """Role → pods that such a read may show, and that go."""
        going: Counter[str] = Counter()
        for one in self.fewer:
            if taken is None or taken <= one.until:
                going.update(one.pods)
        return going


NOTHING_HEARD = Heard()


@dataclass(frozen=True, slots=True)
class Staying:
    """Of an object's pods those that do not go. `there`: role → pods that are taken to be there; `counted`: role → pods
    still to come that exist without a node. `new`: the object is created, and none of them is its own.
    """

    there: Mapping[str, int] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    new: bool = False


Leaving = Mapping[Marks, int]
"""Pods that are seen as if they were to stay, and go."""


@dataclass(frozen=True, slots=True)
class _Some:
    """Pods of the object that are alike: where the snapshot has them, what one asks for, of which roles they may be."""

    place: int
    marks: Marks
    requests: Amounts
    roles: Sequence[str]
    count: int


def may_make_way(cluster: ClusterSnapshot, namespace: str, heard: Heard, *, new: bool) -> bool:
    """A quick look: may pods of an object make way for others of it, however its pods look?"""
    own = (one for one in cluster.pods if one.namespace == namespace)
    return heard != NOTHING_HEARD or any(one.terminating or (new and one.owner.startswith(ALONE)) for one in own)


def making_way(
    cluster: ClusterSnapshot, namespace: str, looks: Likeness, heard: Heard, staying: Staying
) -> tuple[ClusterSnapshot, Leaving]:
    """The cluster without the pods of an object that go, for its own new ones; a new one takes over what was left.

    Those that end already go whatever was heard. Who is taken to be there and is not seen needs room before any other.
    """
    bound, pending = _own(cluster.pods, namespace, looks), _own(cluster.unbound, namespace, looks)
    ends, alive = _parted(bound, lambda one: cluster.pods[one.place].terminating)
    over, alive = _parted(alive, lambda one: staying.new and (heard.takes_over or looks.is_left(one.marks)))
    told = None if heard.all_go(cluster.taken_at) else heard.so_many_go(cluster.taken_at)
    missing = Counter(staying.there)
    others = [one for one in alive if told is None or any(told[role] for role in one.roles)]
    goes = _surely(_told(_beyond(alive, missing), told), others)
    waits = _told(
        _beyond(pending, Counter(staying.counted) + missing), None if staying.new and heard.takes_over else told
    )
    gone: dict[int, Mapping[str, int]] = {
        one.place: _first(cluster.pods[one.place].nodes, one.count)
        for one in (*over, *_without_largest([*ends, *goes], missing.total()))
    }
    left = surgery.pods_left(cluster, gone, {one.place: one.count for one in waits}) if gone or waits else cluster
    return left, _by_marks(goes)


def _parted(pods: Iterable[_Some], test: Callable[[_Some], bool]) -> tuple[list[_Some], list[_Some]]:
    """Those of which it is true, and the others."""
    found: tuple[list[_Some], list[_Some]] = [], []
    for one in pods:
        found[0 if test(one) else 1].append(one)
    return found


def _own(pods: Sequence[PodSet | Unbound], namespace: str, looks: Likeness) -> list[_Some]:
    found = []
    for place, one in enumerate(pods):
        marks = Marks(one.labels, one.owner)
        if one.namespace == namespace and (roles := looks.roles(marks)):
            count = one.count if isinstance(one, Unbound) else sum(one.nodes.values())
            found.append(_Some(place, marks, one.requests, roles, count))
    return found


def _beyond(pods: Iterable[_Some], stay: Counter[str]) -> list[_Some]:
    """Those that are more than `stay`, the smallest; `stay` is left with those that are not among them. Of whom it is
    known best which role they are of, those are of it first.
    """
    more = []
    for one in sorted(pods, key=lambda one: (len(one.roles), -_size(one))):
        count = one.count
        for role in one.roles:
            known = min(count, stay[role])
            stay[role] -= known
            count -= known
        more.append(replace(one, count=count))
    return [one for one in more if one.count]


def _told(pods: Iterable[_Some], told: Counter[str] | None) -> list[_Some]:
    """No more of each role than were heard to go, the smallest; None: all of them were."""
    if told is None:
        return list(pods)
    going = []
    for one in sorted(pods, key=_size):
        count = 0
        for role in one.roles:
            some = min(one.count - count, told[role])
            told[role] -= some
            count += some
        going.append(replace(one, count=count))
    return [one for one in going if one.count]


def _surely(goes: Sequence[_Some], others: Iterable[_Some]) -> list[_Some]:
    """Those that leave no more room than any other would that may go in their stead."""
    going = {one.place: one.count for one in goes}
    stay = _distinct(one for one in others if one.count > going.get(one.place, 0))
    return [one for one in goes if all(_takes_no_more(one, other) for other in stay if {*one.roles} & {*other.roles})]


def _without_largest(gone: Iterable[_Some], missing: int) -> list[_Some]:
    """Less so many, that others take the room of: whichever these are, that of the rest is there."""
    kept, taken = [], []
    for one in sorted(gone, key=_size, reverse=True):
        some = min(one.count, missing)
        missing -= some
        taken += [one] if some else []
        kept += [replace(one, count=one.count - some)] if one.count > some else []
    those = _distinct(taken)
    return [one for one in kept if all(_takes_no_more(one, other) for other in those)]


def _distinct(pods: Iterable[_Some]) -> list[_Some]:
    """One for all of the same roles that ask for the same."""
    return list({(*one.roles, *sorted(one.requests.items())): one for one in pods}.values())


def _size(one: _Some) -> int:
    """What takes no more than another is no larger."""
    return sum(one.requests.values())


def _takes_no_more(one: _Some, other: _Some) -> bool:
    return all(amount <= other.requests.get(name, 0) for name, amount in one.requests.items())


def _by_marks(pods: Iterable[_Some]) -> Leaving:
    found: Counter[Marks] = Counter()
    for one in pods:
        found[one.marks] += one.count
    return found


def _first(nodes: Mapping[str, int], most: int) -> dict[str, int]:
    """So many of some pods, by node."""
    found = {}
    for node in sorted(nodes):
        taken = min(nodes[node], most)
        most -= taken
        if taken:
            found[node] = taken
    return found
