"""Edits of what is asked for: the size of a role, copies of a workload."""

from __future__ import annotations

from dataclasses import dataclass, replace

from advisor.errors import InputError, likely
from advisor.question import Question
from advisor.whatif import sizes
from advisor.workload import Workload


@dataclass(frozen=True, slots=True)
class Replicas:
    """A role at another size; of one workload, or of every one that has such a role."""

    role: str
    count: int
    workload: str = ""

    def __call__(self, question: Question) -> Question:
        asked = sizes.named(question.workloads, self.workload) if self.workload else question.workloads
        found = [workload for workload in asked if sizes.has_role(workload, self.role)]
        if not found:
            every = [known for workload in asked for known in (workload, *workload.variants.values())]
            known = sorted({role.name for workload in every for role in workload.roles})
            hint = likely(self.role, known) or f"roles are {', '.join(known)}"
            raise InputError(f'no workload has a role "{self.role}"', hint=hint)
        return replace(question, workloads=tuple(self._sized(one, found) for one in question.workloads))

    def _sized(self, workload: Workload, found: list[Workload]) -> Workload:
        concerned = any(workload is one for one in found)
        return sizes.sized(workload, self.role, self.count) if concerned else workload

    def __str__(self) -> str:
        return f"{self.role} of {self.workload or 'every workload'} at {self.count} replicas"


@dataclass(frozen=True, slots=True)
class Copies:
    """A workload several times, one after the other."""

    workload: str
    count: int

    def __call__(self, question: Question) -> Question:
        found = sizes.named(question.workloads, self.workload)
        asked: list[Workload] = []
        for workload in question.workloads:
            concerned = any(workload is one for one in found)
            asked += sizes.copies(workload, self.count) if concerned else [workload]
        return replace(question, workloads=tuple(asked))

    def __str__(self) -> str:
        return f"{self.count} {'copy' if self.count == 1 else 'copies'} of {self.workload}"
