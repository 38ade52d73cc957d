"""Pods to what they take: a streaming fold, one page after the other, that keeps no pod (capacity.md 1, 2.2, 2.3, 2.6).

Thousands of pods come from few templates, so everything that is worked out from raw JSON (requests, labels) is worked
out once for equal bytes. The memory of one `Pods` lives as long as one reading of a cluster.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from advisor.cluster import Nominated, PodSet, PortUse, Unbound, Waiting
from advisor.errors import at
from advisor.kube import decode, wire
from advisor.kube.affinity import anti_affinity, pinned_node
from advisor.kube.podrequests import fingerprint, requests
from advisor.labels import HostPort, Labels, PodAffinityTerm
from advisor.labels import labels as canonical
from advisor.naming import titled
from advisor.quantity import Amounts
from advisor.resources import PODS

FINISHED = ("Succeeded", "Failed")
DAEMON_SET = "DaemonSet"
DEFAULT_SCHEDULER = "default-scheduler"

Asked = tuple[tuple[str, int], ...]
"""A pod's request as sorted pairs, so that equal requests are found equal."""


class _Alike(NamedTuple):
    """What can be told of a bound pod."""

    namespace: str
    labels: Labels
    anti_affinity: tuple[PodAffinityTerm, ...]
    standing: bool
    terminating: bool
    requests: Asked
    priority: int
    owner: str


class Pods:
    """`add` pods in any order; the results speak of the nodes that they are asked for."""

    def __init__(self) -> None:
        self._sets: defaultdict[_Alike, Counter[str]] = defaultdict(Counter)
        self._ports: set[tuple[str, HostPort, bool, str]] = set()
        self._nominated: list[Nominated] = []
        self._pinned: list[tuple[wire.Pod, str]] = []
        self._waiting: Counter[tuple[int, Asked, str]] = Counter()
        self._unbound: Counter[tuple[str, Labels, str, Asked]] = Counter()
        self._asked: dict[tuple[object, ...], Asked] = {}
        self._labels: dict[bytes, Labels] = {b"": (), b"null": ()}
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}
        self._owners: dict[str, str] = {}

    def add(self, pod: wire.Pod) -> None:
        """Raises InputError for an amount that is no quantity, with the pod and the field."""
        if pod.status.phase in FINISHED:
            return
        with at("Pod", pod.metadata.title):
            if pod.spec.node_name:
                self._occupies(pod, pod.spec.node_name)
            elif pod.metadata.deletion_timestamp is None:
                labels, owner = self._labels_of(pod.metadata.labels), self._owner_of(pod.metadata)
                self._unbound[pod.metadata.namespace or "", labels, owner, self._request(pod)] += 1
                if not pod.spec.scheduling_gates:
                    self._pends(pod)

    def _occupies(self, pod: wire.Pod, node: str) -> None:
        metadata = pod.metadata
        standing = _stands(metadata)
        alike = _Alike(
            metadata.namespace or "",
            self._labels_of(metadata.labels),
            self._terms(pod),
            standing,
            metadata.deletion_timestamp is not None,
            self._request(pod),
            pod.spec.priority or 0,
            "" if standing else self._owner_of(metadata),
        )
        self._sets[alike][node] += 1
        for port in host_ports(pod.spec):
            self._ports.add((node, port, standing, alike.namespace))

    def _pends(self, pod: wire.Pod) -> None:
        node = pinned_node(pod.spec.affinity)
        if node:
            self._pinned.append((pod, node))
        elif pod.status.nominated_node_name:
            self._nominated.append(self._nominee(pod, pod.status.nominated_node_name))
        else:
            self._waits(pod)

    def _waits(self, pod: wire.Pod) -> None:
        self._waiting[pod.spec.priority or 0, self._request(pod), pod.metadata.namespace or ""] += 1

    def _nominee(self, pod: wire.Pod, node: str) -> Nominated:
        return Nominated(
            node=node,
            namespace=pod.metadata.namespace or "",
            priority=pod.spec.priority or 0,
            requests=dict(self._request(pod)),
            ports=tuple(sorted(set(host_ports(pod.spec)))),
            labels=self._labels_of(pod.metadata.labels),
            anti_affinity=self._terms(pod),
            scheduler=pod.spec.scheduler_name or DEFAULT_SCHEDULER,
        )

    def _request(self, pod: wire.Pod) -> Asked:
        key = fingerprint(pod)
        found = self._asked.get(key)
        if found is None:
            found = self._asked[key] = tuple(sorted(requests(pod).items()))
        return found

    def _labels_of(self, raw: decode.Buffer) -> Labels:
        key = bytes(raw)
        found = self._labels.get(key)
        if found is None:
            with at("metadata", "labels"):
                pairs = canonical(decode.strings(raw))
            found = self._labels[key] = tuple(self._pairs.setdefault(pair, pair) for pair in pairs)
        return found

    def _owner_of(self, metadata: wire.PodMetadata) -> str:
        """One text for all pods of an owner: thousands of them have few."""
        found = _owner(metadata)
        return self._owners.setdefault(found, found)

    def _terms(self, pod: wire.Pod) -> tuple[PodAffinityTerm, ...]:
        affinity = pod.spec.affinity
        if affinity is None or affinity.pod_anti_affinity is None:
            return ()
        labels = dict(self._labels_of(pod.metadata.labels))
        return anti_affinity(affinity.pod_anti_affinity, pod.metadata.namespace or "", labels)

    def settle(self, offers: Mapping[str, Amounts]) -> None:
        """Decide about pending pods that can only go to one node, once what the nodes offer is known.

        Where there is room for it, a DaemonSet's pod on a young node is as good as there, and another has its place
        held against pods of no higher priority. One that does not fit waits like any other.
        """
        used = self.requested()
        for pod, node in sorted(self._pinned, key=_precedence):
            asked = {**dict(self._request(pod)), PODS: 1}
            there = used.setdefault(node, {})
            fits = all(there.get(name, 0) + n <= offers.get(node, {}).get(name, 0) for name, n in asked.items())
            if not fits:
                self._waits(pod)
                continue
            used[node] = {name: there.get(name, 0) + asked.get(name, 0) for name in {*there, *asked}}
            if _stands(pod.metadata):
                self._occupies(pod, node)
            else:
                self._nominated.append(self._nominee(pod, node))
        self._pinned = []

    def nodes(self) -> set[str]:
        """Every node that some pod is on, or can only go to."""
        return {node for nodes in self._sets.values() for node in nodes} | {node for _, node in self._pinned}

    def requested(self, *, standing_only: bool = False) -> dict[str, Amounts]:
        """Node → what the pods on it ask for, their slots included."""
        uses: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for alike, nodes in self._sets.items():
            if alike.standing or not standing_only:
                for node, count in nodes.items():
                    use = uses[node]
                    use[PODS] += count
                    for name, amount in alike.requests:
                        use[name] += amount * count
        return dict(uses)

    def sets(self, nodes: Collection[str]) -> tuple[PodSet, ...]:
        found = (_pod_set(alike, counts, nodes) for alike, counts in self._sets.items())
        return tuple(sorted((pods for pods in found if pods.nodes), key=_order))

    def ports(self, nodes: Collection[str]) -> tuple[PortUse, ...]:
        return tuple(PortUse(*use) for use in sorted(self._ports) if use[0] in nodes)

    def nominated(self) -> tuple[Nominated, ...]:
        return tuple(sorted(self._nominated, key=repr))

    def waiting(self) -> tuple[Waiting, ...]:
        counted = sorted(self._waiting.items())
        return tuple(Waiting(priority, dict(request), count, space) for (priority, request, space), count in counted)

    def unbound(self) -> tuple[Unbound, ...]:
        counted = sorted(self._unbound.items())
        return tuple(Unbound(space, labels, n, owner, dict(asked)) for (space, labels, owner, asked), n in counted)


def _precedence(pinned: tuple[wire.Pod, str]) -> tuple[int, str]:
    pod, _ = pinned
    return -(pod.spec.priority or 0), pod.metadata.title


def _pod_set(alike: _Alike, counts: Counter[str], nodes: Collection[str]) -> PodSet:
    there = {node: counts[node] for node in sorted(counts) if node in nodes}
    return PodSet(**{**alike._asdict(), "nodes": there, "requests": dict(alike.requests)})


def _order(pods: PodSet) -> tuple[str, Labels, bool, bool, str]:
    rest = repr((pods.anti_affinity, sorted(pods.requests.items()), pods.priority, pods.owner))
    return pods.namespace, pods.labels, pods.standing, pods.terminating, rest


def _stands(metadata: wire.PodMetadata) -> bool:
    """Does the pod belong to the node itself: a DaemonSet's, or the mirror of a static pod?"""
    if metadata.annotations is not None and metadata.annotations.mirror is not None:
        return True
    return any(owner.kind == DAEMON_SET for owner in metadata.owner_references or ())


def _owner(metadata: wire.PodMetadata) -> str:
    """The controller that looks after the pod, or the pod itself: by what all of its kind have of their names."""
    owner = next((one for one in metadata.owner_references or () if one.controller), None)
    if owner is None:
        return titled("", "Pod", metadata.generate_name or metadata.name)
    group, _, _ = owner.api_version.rpartition("/")
    return titled(group, owner.kind, owner.name)


def host_ports(spec: wire.PodSpec) -> Iterator[HostPort]:
    """Those of containers and sidecars; in the host's network every container port is one."""
    sidecars = [init for init in spec.init_containers or () if init.restart_policy == "Always"]
    for container in (*(spec.containers or ()), *sidecars):
        for port in container.ports or ():
            number = port.host_port or (port.number if spec.host_network else 0)
            if number:
                yield HostPort(number, port.protocol or "TCP", port.host_ip or "0.0.0.0")
