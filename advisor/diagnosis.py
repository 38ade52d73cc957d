"""What `fit` found out about one workload on one cluster, for `model` and `explain` to use.

The name is kube-scheduler's (`framework.Diagnosis`): which nodes were turned down, by which filter, and why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from advisor.cluster import Column, Mask
from advisor.labels import ANYWHERE, HostPort, Labels, MadeLabel, NodeSelector, PodAffinityTerm, Toleration
from advisor.quantity import Amounts
from advisor.verdict import Reason
from advisor.workload import Role

CAPACITY = "NodeResourcesFit"
"""The filter that compares amounts; all others are about what a node is."""


@dataclass(frozen=True, slots=True)
class PodShape:
    """A pod as this cluster would admit it; pods of equal shape are interchangeable.

    requests, limits  base units; requests include one `pods` slot
    labels, made      those whose values are known, and those that a controller makes with values that are not
    added             keys of `labels` that the controller adds
    one_of_many       the pod is part of a gang in which other pods hold the same accelerator
    unstated          of cpu and memory: requests and limits that some container leaves open (`requests.cpu`, …)
    """

    namespace: str
    requests: Amounts
    limits: Amounts = field(default_factory=dict)
    labels: Labels = ()
    added: tuple[str, ...] = ()
    made: tuple[MadeLabel, ...] = ()
    nodes: NodeSelector = ANYWHERE
    tolerations: tuple[Toleration, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    ports: tuple[HostPort, ...] = ()
    node_name: str = ""
    scheduler: str = "default-scheduler"
    priority: int = 0
    priority_class: str = ""
    has_deadline: bool = False
    crosses_namespaces: bool = False
    operating_system: str = ""
    best_effort: bool = False
    one_of_many: bool = False
    unstated: frozenset[str] = frozenset()
    most_per_container: Amounts = field(default_factory=dict)
    volume_claims: tuple[str, ...] = ()


ANTI_AFFINITY = "anti-affinity"
OWN_TERMS = "own-anti-affinity"
"""The rule, and that part of it that is the workload's own to drop: terms of pods that are there are not."""


@dataclass(frozen=True, slots=True, eq=False)
class Rejection:
    """The nodes that one rule turns down for one role, whatever the other rules say.

    `doubt`: the nodes are not surely unfit, a fact is missing; a yes may not use them, a no may not rest on them.
    `own`: it comes of an anti-affinity term of the pod itself.
    """

    reason: Reason
    nodes: Mask
    doubt: bool = False
    own: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RoleFit:
    """One role on one cluster: its shape there and every rejection, in the order of kube-scheduler's filters."""

    role: Role
    shape: PodShape
    rejections: tuple[Rejection, ...]

    def allowed(
        self, nodes: int, *, without: Collection[str] = (), lasting_only: bool = False, hopeful: bool = False
    ) -> Mask:
        """The nodes left when the rules in `without` are lifted; an entry is a code, or `code=subject` for one case.

        What a node has left is not looked at: that is the supply's business.

        lasting_only  as if the cluster were empty of ordinary pods
        hopeful       doubts are resolved in the pod's favour
        """
        mask = np.ones(nodes, dtype=np.bool_)
        for rejection in self.rejections:
            code, subject = rejection.reason.code, rejection.reason.subject
            if (
                rejection.reason.filter == CAPACITY
                or code in without
                or f"{code}={subject}" in without
                or (hopeful and rejection.doubt)
                or (rejection.own and OWN_TERMS in without)
            ):
                continue
            if lasting_only and not rejection.reason.lasting:
                continue
            mask &= ~rejection.nodes
        return mask


@dataclass(frozen=True, slots=True)
class Charge:
    """What a key of a ResourceQuota has left, and what one pod of each role takes of it (`fixed`: the object itself).

    `left` is None while the quota's use is not known yet; `hard` is its ceiling.
    """

    quota: str
    key: str
    hard: int
    left: int | None
    per_pod: Mapping[str, int]
    fixed: int = 0

    def of(self, sizes: Mapping[str, int]) -> int:
        return self.fixed + sum(amount * sizes.get(role, 0) for role, amount in self.per_pod.items())


@dataclass(frozen=True, slots=True)
class Doubt:
    """A fact that is missing or not modelled. `restricts`: whatever it is, it can only forbid, so a no stays a no."""

    reason: Reason
    restricts: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Supply:
    """Resource → base units per node that a pod of the workload may take, never negative.

    now      what is free, less room held for nominated pods
    hopeful  the same with every doubt about an amount resolved in the pod's favour
    emptied  what would be free without ordinary pods
    overdrawn  by how much pods, and room held, exceed what a node offers
    """

    now: Mapping[str, Column]
    hopeful: Mapping[str, Column]
    emptied: Mapping[str, Column]
    overdrawn: Mapping[str, Column]


SURE, HOPEFUL, EMPTIED = "now", "hopeful", "emptied"


@dataclass(frozen=True, slots=True)
class World:
    """Which facts hold when a gang is tried on a cluster.

    supply   SURE: as read; HOPEFUL: doubts resolved in favour; EMPTIED: that, and as if no ordinary pod were there
    without  rules that are lifted, as `code` or `code=subject`, or OWN_TERMS
    added    (row, count): so many further empty nodes like the one in that row
    freed    (row, resource, amount): so much more of it is free there
    sizes    (role, pods): other numbers than the workload's own
    """

    supply: str = SURE
    without: frozenset[str] = frozenset()
    added: tuple[tuple[int, int], ...] = ()
    freed: tuple[tuple[int, str, int], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()


AS_READ = World()


@dataclass(frozen=True, slots=True)
class KeepApart:
    """Pods of two roles (or two pods of one) may not share a domain of `key`; "" is the node itself."""

    roles: tuple[str, str]
    key: str
    code: str


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """Everything `fit` says about a workload on a cluster.

    refusals  reasons about the cluster as a whole: pods of some role cannot be created there at all
    notes     codes of `verdict.NOTES` with their numbers, none of which changes the verdict
    """

    roles: tuple[RoleFit, ...]
    supply: Supply
    apart: tuple[KeepApart, ...] = ()
    charges: tuple[Charge, ...] = ()
    refusals: tuple[Reason, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[Reason, ...] = ()
