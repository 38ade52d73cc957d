"""All that an answer depends on, so that a question can be saved, replayed and edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.workload import Workload


@dataclass(frozen=True, slots=True)
class Policy:
    """How to choose among clusters that fit. `prefer`: label pairs of cluster entries, the first match wins."""

    strategy: str = "pack"
    prefer: tuple[tuple[str, str], ...] = ()
    allow_reduced: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a solve may take, in the solver's own deterministic time, and its random seed."""

    deterministic_seconds: float = 10.0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    """Workloads in the order of arrival, and the clusters as they were. Equal questions have equal answers.

    `thorough`: is it worth working out which changes would make room, and which of the possible assignments disturbs
    least? Both cost more than to know that there is one.
    """

    workloads: tuple[Workload, ...]
    clusters: tuple[ClusterSnapshot, ...]
    policy: Policy
    as_of: datetime
    accelerators: Accelerators = field(default_factory=Accelerators)
    limits: Limits = field(default_factory=Limits)
    assume_namespaces: frozenset[str] = frozenset()
    thorough: bool = True
