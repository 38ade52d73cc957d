"""What a cluster had at one moment, reduced to what an answer depends on.

Nodes are kept as columns (one array or code per fact, one row per node) because a question looks at thousands of nodes
and few facts; everything else is a plain tuple. Nothing here knows where the facts came from or what will be asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from advisor.accelerators import Mark
from advisor.labels import HostPort, Labels, MadeLabel, NodeSelector, PodAffinityTerm, Taint, Toleration
from advisor.quantity import Amounts

T = TypeVar("T")
Column = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Coded(Generic[T]):
    """A value per node, stored as a code into the distinct `values`; most facts have few of them."""

    values: tuple[T, ...]
    codes: NDArray[np.int32]

    def where(self, accepts: Callable[[T], bool]) -> Mask:
        """The nodes whose value is accepted; asks once per distinct value."""
        return np.array([accepts(value) for value in self.values], dtype=np.bool_)[self.codes]

    def of(self, row: int) -> T:
        return self.values[int(self.codes[row])]

    def take(self, rows: Column) -> Coded[T]:
        return Coded(self.values, self.codes[rows])

    def changed(self, change: Callable[[T], T], rows: Mask) -> Coded[T]:
        """With `change` made to the values of these rows."""
        return coded([change(self.of(row)) if rows[row] else self.of(row) for row in range(len(self.codes))])


def coded(values: Sequence[T]) -> Coded[T]:
    """Values as codes; the distinct ones in an order that depends on nothing but themselves."""
    distinct = sorted(set(values), key=_order)
    codes = {value: code for code, value in enumerate(distinct)}
    return Coded(tuple(distinct), np.array([codes[value] for value in values], dtype=np.int32))


def _order(value: Any) -> tuple[bool, str]:
    """None first."""
    if isinstance(value, NodeState):
        flags = (value.ready, value.unschedulable, value.deleting)
        return True, f"{flags} {sorted(map(str, value.marks))}"
    return value is not None, str(value)


@dataclass(frozen=True, slots=True)
class NodeState:
    """What a node's own status says about taking pods.

    `marks`: what its labels and annotations say about its accelerators, by the signs of `catalog/accelerators.yaml`.
    """

    ready: bool = True
    unschedulable: bool = False
    deleting: bool = False
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """All nodes, a row each, sorted by name. Amounts are base units.

    allocatable  resource → n, what the node offers to pods (`pods` is its number of slots)
    requested    resource → n, what pods on it ask for; may exceed allocatable
    standing     resource → n, the part of `requested` that belongs to the node itself (DaemonSet and static pods)
    labels       label key → value per node, None where it is missing
    """

    names: tuple[str, ...]
    allocatable: Mapping[str, Column]
    requested: Mapping[str, Column]
    standing: Mapping[str, Column]
    labels: Mapping[str, Coded[str | None]]
    taints: Coded[tuple[Taint, ...]]
    states: Coded[NodeState]

    def __len__(self) -> int:
        return len(self.names)

    def free(self, resource: str) -> Column:
        """Allocatable less requested, per node; negative where pods hold more than the node still offers."""
        return self._column(self.allocatable, resource) - self._column(self.requested, resource)

    def room(self, resource: str) -> Column:
        """What would be free if only the node's own pods were on it."""
        return self._column(self.allocatable, resource) - self._column(self.standing, resource)

    def offered(self, resource: str) -> Column:
        return self._column(self.allocatable, resource)

    def label(self, key: str) -> Coded[str | None]:
        return self.labels.get(key) or Coded((None,), np.zeros(len(self), dtype=np.int32))

    def labels_of(self, row: int) -> dict[str, str]:
        pairs = ((key, column.of(row)) for key, column in self.labels.items())
        return {key: value for key, value in pairs if value is not None}

    def take(self, rows: Column, names: Sequence[str] | None = None) -> Nodes:
        """These rows in this order, a row as often as it is named; `names` in place of their own."""
        return Nodes(
            names=tuple(names) if names is not None else tuple(self.names[row] for row in rows),
            allocatable={name: column[rows] for name, column in self.allocatable.items()},
            requested={name: column[rows] for name, column in self.requested.items()},
            standing={name: column[rows] for name, column in self.standing.items()},
            labels={key: column.take(rows) for key, column in self.labels.items()},
            taints=self.taints.take(rows),
            states=self.states.take(rows),
        )

    def _column(self, table: Mapping[str, Column], resource: str) -> Column:
        column = table.get(resource)
        return column if column is not None else np.zeros(len(self), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PodSet:
    """Bound, unfinished pods that nothing here can tell apart, and how many of them each node has.

    requests  what one of them asks for, its slot left out
    standing  they belong to their node (DaemonSet and static pods)
    made      labels whose values are not known yet: the pods are only assumed to be there (`assume.py`)
    owner     the controller that looks after them (`naming.titled`), or the pod itself where none does, which goes by
              its generateName if it has one; "" where they belong to their node, or are only assumed to be there
    """

    namespace: str
    labels: Labels
    nodes: Mapping[str, int]
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    standing: bool = False
    terminating: bool = False
    requests: Amounts = field(default_factory=dict)
    priority: int = 0
    made: tuple[MadeLabel, ...] = ()
    owner: str = ""


@dataclass(frozen=True, slots=True)
class PortUse:
    """A host port that a pod of `namespace` holds on `node`."""

    node: str
    port: HostPort
    standing: bool = False
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Nominated:
    """A pending pod for which kube-scheduler holds room on `node` against pods of its priority or lower."""

    node: str
    namespace: str
    priority: int
    requests: Amounts
    ports: tuple[HostPort, ...] = ()
    labels: Labels = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    scheduler: str = "default-scheduler"


@dataclass(frozen=True, slots=True)
class Waiting:
    """`count` pending pods of a namespace without a node, alike in priority and requests: they compete for the room."""

    priority: int
    requests: Amounts
    count: int
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Unbound:
    """`count` pods of a namespace that exist, have these labels, that owner and these requests (as those of a PodSet),
    and are on no node yet, whatever they wait for.
    """

    namespace: str
    labels: Labels
    count: int
    owner: str = ""
    requests: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """A ResourceQuota scope as scopeSelector states it; a plain `scopes` entry has operator Exists and no values."""

    name: str
    operator: str = "Exists"
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """A ResourceQuota. Keys are the API's; amounts are millicores for cpu keys and whole units otherwise.

    `used` is None while the quota controller has not filled in the status.
    """

    namespace: str
    name: str
    hard: Amounts
    used: Amounts | None
    scopes: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class LimitRangeItem:
    """One entry of a LimitRange: `type` Container or Pod; amounts in thousandths, ratios in thousandths."""

    type: str
    default: Amounts = field(default_factory=dict)
    default_request: Amounts = field(default_factory=dict)
    minimum: Amounts = field(default_factory=dict)
    maximum: Amounts = field(default_factory=dict)
    ratio: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LimitRange:
    namespace: str
    name: str
    items: tuple[LimitRangeItem, ...]


PREEMPTS = "PreemptLowerPriority"
"""What a class does that says nothing of it."""


@dataclass(frozen=True, slots=True)
class PriorityClass:
    name: str
    value: int
    default: bool = False
    preemption: str = PREEMPTS


@dataclass(frozen=True, slots=True)
class RuntimeClass:
    name: str
    overhead: Amounts = field(default_factory=dict)
    node_labels: Labels = ()
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Namespace:
    """`node_selector` and `tolerations`: annotations that admission plugins read, as written."""

    name: str
    labels: Labels = ()
    node_selector: str = ""
    tolerations: str = ""
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A PersistentVolumeClaim and, when it is bound, the nodes that its PersistentVolume can be used from."""

    namespace: str
    name: str
    phase: str
    access_modes: tuple[str, ...] = ()
    deleting: bool = False
    volume: str = ""
    reach: NodeSelector | None = None
    zones: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be read: `what` (a resource such as `pods`, or `cluster`), `why` (a code), in words."""

    what: str
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Looked:
    """Objects that were looked up because workloads refer to them: the one called `name`, or ("") all of a kind.

    namespace  where; "" for kinds without namespaces, and for all namespaces
    objects    as JSON, without what containers are told (env, args, commands)
    whole      are there surely no others?
    """

    group: str
    kind: str
    name: str = ""
    namespace: str = ""
    objects: tuple[str, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSnapshot:
    """One cluster at `taken_at`. Empty tuples mean "there are none"; what could not be read has a Gap instead.

    unbound       all pods without a node, those of `nominated` and `waiting` among them
    namespaces    None: none were recorded, so nothing is known about which exist
    api_groups    API groups seen; None: not known
    api_versions  every `group/version` served, the core's `v1` left out; None: the list is not known to be whole
    scope         namespaces whose quotas, limit ranges and claims were read; None: all of them
    served_by_dra extended resource names that some DeviceClass offers
    queues        (namespace, name) of Kueue LocalQueues
    looked_up     objects to which workloads refer, as far as they were looked up
    definitions   of kinds of workload, as JSON
    labels        those of the cluster entry in clusters.yaml, for policies
    uids          of objects that only this cluster has: two snapshots that share one are of the same cluster
    assumed       are some of the pods only promised so far, so that they may end on other nodes?
    notes         what a reader should know of how it was recorded (kinds that a file does not hold, …)
    """

    name: str
    taken_at: datetime | None
    nodes: Nodes
    pods: tuple[PodSet, ...] = ()
    ports: tuple[PortUse, ...] = ()
    nominated: tuple[Nominated, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    unbound: tuple[Unbound, ...] = ()
    quotas: tuple[Quota, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    namespaces: tuple[Namespace, ...] | None = None
    volume_claims: tuple[VolumeClaim, ...] = ()
    served_by_dra: frozenset[str] = frozenset()
    queues: tuple[tuple[str, str], ...] = ()
    api_groups: frozenset[str] | None = None
    api_versions: frozenset[str] | None = None
    version: str = ""
    scope: tuple[str, ...] | None = None
    looked_up: tuple[Looked, ...] = ()
    definitions: tuple[str, ...] = ()
    labels: Labels = ()
    uids: frozenset[str] = frozenset()
    assumed: bool = False
    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def release(self) -> tuple[int, int] | None:
        return release(self.version)

    def is_the_same_as(self, other: ClusterSnapshot) -> bool:
        return self.name == other.name or not self.uids.isdisjoint(other.uids)

    def gap(self, what: str) -> Gap | None:
        return next((gap for gap in self.gaps if gap.what == what), None)

    def namespace(self, name: str) -> Namespace | None:
        return next((space for space in self.namespaces or () if space.name == name), None)


def release(version: str) -> tuple[int, int] | None:
    """(1, 36) of v1.36.2, v1.36.0-gke.100 or v1.36+; None where that is not known."""
    found = re.match(r"v(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None
