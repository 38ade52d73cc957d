"""What is preferred among valid packings, as weights so that a nearer objective never gives way to a farther one."""

from __future__ import annotations

from typing import Any

from advisor.model.variables import Variables
from advisor.problem import Problem


def most_pods(v: Variables, p: Problem) -> Any:
    """As many pods as can be; of equal totals the one with more pods of the roles named first."""
    total = sum(v.most) or 1
    roles = len(v.most)
    return sum((roles * total + roles - role) * size for role, size in enumerate(v.size))


def least_disturbance(v: Variables, p: Problem) -> Any:
    """As few whole bins broken as can be, then as few bins used."""
    return sum((p.bins + 1 if fresh else 1) * used for fresh, used in v.used)
