"""The pods that a snapshot shows, sorted so that a hold finds its own without a look at all the others."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from typing import NamedTuple

from advisor.cluster import ClusterSnapshot, PodSet
from advisor.labels import Labels


class Marks(NamedTuple):
    """What tells pods from others: their labels, and who looks after them (`PodSet.owner`)."""

    labels: Labels
    owner: str = ""


class Alike:
    """The pods of one namespace by their marks: the nodes that they are on."""

    def __init__(self, pods: Iterable[PodSet]) -> None:
        found: dict[Marks, Counter[str]] = {}
        for one in pods:
            found.setdefault(Marks(one.labels, one.owner), Counter()).update(one.nodes)
        self.nodes: Mapping[Marks, Mapping[str, int]] = found

    @cached_property
    def _by_pair(self) -> Mapping[tuple[str, str], list[Marks]]:
        found: dict[tuple[str, str], list[Marks]] = {}
        for marks in self.nodes:
            for pair in marks.labels:
                found.setdefault(pair, []).append(marks)
        return found

    @cached_property
    def _by_owner(self) -> list[tuple[str, Marks]]:
        return sorted((marks.owner, marks) for marks in self.nodes)

    def having(self, owners: Iterable[str], pairs: Iterable[tuple[str, str]]) -> list[Marks]:
        """In their order those whose owner begins with one of these, or that bear one of these labels."""
        found = {marks for beginning in owners for marks in self._owned(beginning)}
        return sorted(found.union(*(self._by_pair.get(pair, ()) for pair in pairs)))

    def _owned(self, beginning: str) -> Iterator[Marks]:
        for owner, marks in islice(self._by_owner, bisect_left(self._by_owner, (beginning,)), None):
            if not owner.startswith(beginning):
                return
            yield marks


class Appeared:
    """What is there to stay, by namespace; sorted when it is first asked for. The name and time are the snapshot's."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self.name, self.taken_at = snapshot.name, snapshot.taken_at
        self._pods: dict[str, list[PodSet]] = {}
        self._unbound: dict[str, list[PodSet]] = {}
        for pods in snapshot.pods:
            if not pods.terminating:
                self._pods.setdefault(pods.namespace, []).append(pods)
        for some in snapshot.unbound:
            nowhere = PodSet(some.namespace, some.labels, {"": some.count}, owner=some.owner)
            self._unbound.setdefault(some.namespace, []).append(nowhere)
        self.among = cache(self._among)
        self.unbound = cache(self._without_a_node)

    def is_younger_than(self, other: Appeared) -> bool:
        return self.taken_at is not None and (other.taken_at is None or self.taken_at > other.taken_at)

    def _among(self, namespace: str) -> Alike:
        return Alike(self._pods.get(namespace, ()))

    def _without_a_node(self, namespace: str) -> Alike:
        """Pods that exist and are bound nowhere yet, as if all were on one node without a name."""
        return Alike(self._unbound.get(namespace, ()))
