"""Other objects that the pods depend on: where one surely is missing no pod comes, else nobody knows which pods do.

What a cluster has may also be such that its API or the kind's controller refuses the manifest there.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.cluster import ClusterSnapshot
from advisor.diagnosis import Doubt
from advisor.errors import Fault, dotted
from advisor.verdict import Reason
from advisor.workload import Missing, Workload

REFUSED = "invalid"
"""The code of faults that the kind's own rules find; others say that something could not be understood."""


def refusals(workload: Workload) -> Iterator[Reason]:
    for missing in workload.missing:
        if missing.required and missing.absent:
            yield Reason("missing-reference", subject=missing.none)
    for fault in workload.faults:
        if fault.code == REFUSED:
            yield Reason("refused-there", subject=_said(fault))


def doubts(workload: Workload, cluster: ClusterSnapshot) -> Iterator[Doubt]:
    for missing in workload.missing:
        if not missing.absent and not cluster.gap("cluster"):
            yield Doubt(_unknown(missing, cluster), restricts=False)
    for fault in workload.faults:
        if fault.code != REFUSED:
            yield Doubt(Reason("refused-there", subject=_said(fault)), restricts=False)


def _unknown(missing: Missing, cluster: ClusterSnapshot) -> Reason:
    """Why it is not known: it could not be read there, or nobody has it."""
    unread = [one.type for one in missing.alternatives if cluster.gap(one.type)]
    if unread:
        return Reason("unreadable", subject=unread[0])
    return Reason("unreadable" if missing.others else "missing-reference", subject=missing.title)


def _said(fault: Fault) -> str:
    return f"{dotted(fault.path)} {fault.message}".strip()
