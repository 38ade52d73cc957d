"""The answer: reasons, placements, verdicts and the report.

Reasons carry codes and numbers; only `explain/sentences.py` turns them into English.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from advisor.cluster import Gap
from advisor.workload import Workload

FITS, REDUCED, FULL, NEVER, UNKNOWN = "fits", "fits-reduced", "full", "never", "unknown"
VERDICTS = (FITS, REDUCED, FULL, NEVER, UNKNOWN)
"""In the order of preference of model.md 1, except that `unknown` never outranks a sure answer a user can act on."""

ANY_ORDER, THIS_ASSIGNMENT = "any-order", "this-assignment"

CODES: Mapping[str, str] = {
    "insufficient-<resource>": "the nodes that may take the pod have too little of a resource left",
    "fragmentation": "the total is enough, but no packing puts every pod on a node",
    "no-such-resource": "no node offers the resource at all",
    "cordoned": "nodes are marked unschedulable",
    "not-ready": "nodes do not report Ready",
    "node-going-away": "nodes are being deleted, scaled down or replaced",
    "virtual-node": "virtual nodes stand for another cluster and say nothing of single machines",
    "taint": "a taint is not tolerated",
    "wrong-system": "nodes run another operating system than the pods",
    "node-name": "the template names another node, or one that is not there",
    "node-affinity": "nodeSelector or required node affinity does not match",
    "host-port": "a host port is taken, by a pod that is there or by another pod of the gang",
    "anti-affinity": "required anti-affinity keeps pods apart",
    "shared-gpu": "the node offers time slices of GPUs, not whole ones",
    "gpu-sharing-limit": "the node serves one shared GPU per container and no more",
    "gpu-reconfiguring": "the node's MIG layout is being changed",
    "hami-split": "HAMi splits the node's GPUs, so their count says nothing about whole ones",
    "dra-served": "a DeviceClass serves the resource on this node through DRA",
    "admission-toleration": "an admission plugin may add the toleration that is missing",
    "nominated": "room is held for a pod of equal or higher priority",
    "pvc-missing": "a PersistentVolumeClaim is missing, lost or being deleted",
    "pvc-zone": "a bound volume cannot be used from there",
    "pvc-in-use": "a claim with ReadWriteOncePod cannot serve more than one pod",
    "resource-quota": "a ResourceQuota has too little left",
    "quota-must-specify": "a ResourceQuota demands requests or limits that a container does not state",
    "limitrange": "a LimitRange refuses the pod",
    "invalid-template": "the API server refuses the pod",
    "pod-security": "the Pod Security level of the namespace refuses the pod",
    "kind-not-served": "the API server does not serve the workload's kind",
    "namespace-missing": "the namespace does not exist",
    "namespace-terminating": "the namespace is being deleted",
    "runtimeclass-missing": "the RuntimeClass does not exist",
    "runtimeclass-conflict": "the RuntimeClass asks for a node label that the template contradicts",
    "priorityclass-missing": "the PriorityClass does not exist",
    "missing-reference": "an object that the pods depend on was not found",
    "refused-there": "with the objects that the cluster has, the manifest is not valid there",
    "gang-too-small": "a gang object waits for more pods than can be there at once",
    "gang-unlike": "the pods of a gang object differ in what its scheduler wants alike",
    "unsupported": "a field is in use that no rule here evaluates",
    "unreadable": "a fact that the answer needs could not be read",
    "solver-limit": "the search for a packing stopped at its limit",
    "no-nodes": "the cluster has no nodes",
}
"""Every reason code and what it means; `insufficient-<resource>` stands for one code per resource."""


OF_THE_CLUSTER = frozenset(
    {"resource-quota", "quota-must-specify", "limitrange", "invalid-template", "pod-security", "kind-not-served"}
    | {"namespace-missing", "namespace-terminating", "runtimeclass-missing", "runtimeclass-conflict"}
    | {"priorityclass-missing", "missing-reference", "refused-there", "pvc-missing", "pvc-in-use"}
)
"""Codes of reasons that no other node would mend."""

NOTES: Mapping[str, str] = {
    "waiting-pods": "pending pods of the same or higher priority may take the room first",
    "other-scheduler": "another scheduler than kube-scheduler places the pods and may have rules of its own",
    "scheduling-gates": "the pods wait until their scheduling gates are removed",
    "skips-scheduler": "the template names its node, so the scheduler does not look at the pod",
    "bounded-toleration": "a NoExecute taint is tolerated for a limited time only, then the pod is evicted",
    "queue-not-served": "the manifest names a queue of a system that is not installed there",
    "kinds-not-recorded": "the recording holds no objects of some kinds, so there are taken to be none",
    "namespace-assumed": "the namespace is not recorded or will be created, and is taken to be there",
    "not-checked": "an object that the pods refer to was not looked up",
    "pod-security-level": "the namespace enforces a Pod Security level, and not all that it forbids was looked at",
    "mixed-architectures": "nodes of several architectures would do, which the image may not",
    "order-decides": "all pods are made unless it is made smaller, and their order decides which of them get room",
    "host-network-without-ports": "pods on the host network that declare no ports may clash when they run",
}
"""Remarks that do not change a verdict, by code."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something does not go: a code of `CODES` and numbers in base units.

    lasting   emptying the cluster of ordinary pods would not help
    subject   the taint, label expression, quota, claim or field concerned
    needs     what one pod needs of `resource` (the whole gang, where the reason is about totals)
    has       the most that there is of it, on one of the nodes or in all
    nodes     nodes that stop here first; 0 for a reason about the whole cluster
    enough    nodes that do have what one pod needs
    total     what the nodes have together
    text      the reason as a sentence, filled in last
    """

    code: str
    filter: str = ""
    subject: str = ""
    lasting: bool = True
    resource: str = ""
    needs: int | None = None
    has: int | None = None
    role: str = ""
    nodes: int = 0
    enough: int | None = None
    total: int | None = None
    text: str = ""


def hangs_on_nodes(reasons: Iterable[Reason]) -> bool:
    """Might a cluster with other nodes take what this one turns down for ever?"""
    return not any(one.lasting and one.code in OF_THE_CLUSTER for one in reasons)


@dataclass(frozen=True, slots=True)
class Change:
    """One change that would make the workload fit, re-solved and true.

    kind      add-nodes, free, uncordon, raise-quota, …
    count     nodes concerned
    detail    resource → amount in base units: of each node to add, to free in all, to be left in the quota
    nodes     node → resource → amount, where every node has its own
    """

    kind: str
    subject: str = ""
    count: int = 0
    detail: Mapping[str, int] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """Role → node → pods, and how sure it is that an ordinary scheduler arrives there."""

    assignment: Mapping[str, Mapping[str, int]]
    assurance: str = THIS_ASSIGNMENT

    @property
    def size(self) -> dict[str, int]:
        return {role: sum(nodes.values()) for role, nodes in self.assignment.items()}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one cluster can do for one workload.

    placement  present for `fits` and `fits-reduced`
    free       free units of the accelerator asked for, on nodes that may take some role; None: none was asked for
    largest    role → pods of the largest part of the gang that fits at once, in whole groups where it has several; None
               where it was not worked out
    reasons    why not, the decisive one first; doubts: what keeps it from being sure
    why        the gist of it, in one line
    """

    cluster: str
    verdict: str
    placement: Placement | None = None
    free: int | None = None
    largest: Mapping[str, int] | None = None
    reasons: tuple[Reason, ...] = ()
    doubts: tuple[Reason, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[Reason, ...] = ()
    gaps: tuple[Gap, ...] = ()
    taken_at: datetime | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """All verdicts for one workload, ranked, and the cluster chosen (None: none may be).

    `company`: others that share a gang object with it. Verdicts are about all of them, numbers of pods about it.
    """

    workload: Workload
    verdicts: tuple[Verdict, ...]
    choice: Verdict | None
    accelerator: str = ""
    company: tuple[Workload, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to a question. `as_of`: when it was asked; ages are counted from there."""

    as_of: datetime
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Unmet:
    """An expectation that was not met: of which workload, about what, what was expected and what was found."""

    workload: str
    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.workload}: {self.what} should be {self.expected}, but is {self.found}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answers before and after a step of a scenario. `edits`: what was changed, in words."""

    name: str
    edits: tuple[str, ...]
    before: Report
    after: Report
    unmet: tuple[Unmet, ...] = ()
