"""Other objects that the pods depend on: where one surely is missing no pod comes, else nobody knows which pods do."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.diagnosis import Doubt
from advisor.verdict import Reason
from advisor.workload import Missing, Workload


def refusals(workload: Workload) -> Iterator[Reason]:
    for missing in workload.missing:
        if missing.required and missing.absent:
            yield _reason(missing)


def doubts(workload: Workload) -> Iterator[Doubt]:
    for missing in workload.missing:
        if not missing.absent:
            yield Doubt(_reason(missing), restricts=False)


def _reason(missing: Missing) -> Reason:
    return Reason("missing-reference", subject=missing.title)
