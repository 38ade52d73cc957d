"""What a trial came to, and who may remember it: for callers that ask about the same clusters again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from advisor.explain.choice import Footprint
from advisor.trial import Trial
from advisor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """What one cluster can do for a workload, and what that would do to the cluster."""

    verdict: Verdict
    footprint: Footprint


class Memo(Protocol):
    """May only ever save time: with it and without it an answer is the same."""

    def recall(self, trial: Trial, find: Callable[[Trial], Judged]) -> Judged:
        """`find(trial)`, or what that gave for an equal trial before."""


class NoMemo:
    """Remembers nothing."""

    def recall(self, trial: Trial, find: Callable[[Trial], Judged]) -> Judged:
        return find(trial)


FORGETFUL: Memo = NoMemo()
