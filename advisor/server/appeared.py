"""The pods that a snapshot shows, sorted so that a hold finds its own without a look at all the others."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice

from advisor.cluster import ClusterSnapshot, PodSet
from advisor.labels import Labels


class Alike:
    """The label sets of one namespace's pods, in their order, and the nodes of the pods that have them."""

    def __init__(self, pods: Iterable[PodSet]) -> None:
        found: dict[Labels, Counter[str]] = {}
        for one in pods:
            found.setdefault(one.labels, Counter()).update(one.nodes)
        self.labels = sorted(found)
        self.nodes: Mapping[Labels, Mapping[str, int]] = found

    @cached_property
    def _by_pair(self) -> Mapping[tuple[str, str], list[int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for number, labels in enumerate(self.labels):
            for pair in labels:
                found.setdefault(pair, []).append(number)
        return found

    @cached_property
    def _by_value(self) -> list[tuple[str, int]]:
        return sorted({(value, number) for number, labels in enumerate(self.labels) for _, value in labels})

    def having(self, wanted: Iterable[Labels], name: str) -> list[Labels]:
        """The label sets that may be meant: those with the rarest pair of one that is wanted.

        One without any pair means those with a value that begins with the name.
        """
        numbers: set[int] = set()
        for labels in set(wanted):
            numbers.update(self._rarest(labels) if labels else self._beginning(name))
        return [self.labels[number] for number in sorted(numbers)]

    def _rarest(self, labels: Labels) -> list[int]:
        return min((self._by_pair.get(pair, []) for pair in labels), key=len)

    def _beginning(self, name: str) -> Iterator[int]:
        for value, number in islice(self._by_value, bisect_left(self._by_value, (name, -1)), None):
            if not value.startswith(name):
                return
            yield number


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
            nowhere = PodSet(some.namespace, some.labels, {"": some.count})
            self._unbound.setdefault(some.namespace, []).append(nowhere)
        self.among = cache(self._among)
        self.unbound = cache(self._without_a_node)
        self.values = cache(self._values)

    def is_younger_than(self, other: Appeared) -> bool:
        return self.taken_at is not None and (other.taken_at is None or self.taken_at > other.taken_at)

    def _among(self, namespace: str) -> Alike:
        return Alike(self._pods.get(namespace, ()))

    def _without_a_node(self, namespace: str) -> Alike:
        """Pods that exist and are bound nowhere yet, as if all were on one node without a name."""
        return Alike(self._unbound.get(namespace, ()))

    def _values(self, namespace: str) -> frozenset[str]:
        """All values of labels of a namespace's pods: a look at them says whether a closer look is worth it."""
        return frozenset(value for pods in self._pods.get(namespace, ()) for _, value in pods.labels)
