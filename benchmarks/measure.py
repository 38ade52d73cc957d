"""Wall time, processor time and peak memory of a whole process: the median of several runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

PYTHON = sys.executable


@dataclass(frozen=True)
class Run:
    wall: float
    cpu: float
    peak: float
    """Megabytes."""

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s wall  {self.cpu:6.2f} s cpu  {self.peak:6.0f} MB"


def once(command: Sequence[str]) -> Run:
    """One run; its output is thrown away, its exit code is not looked at."""
    done = subprocess.run([PYTHON, "-m", "benchmarks.once", *command], capture_output=True, check=True)
    return Run(**json.loads(done.stdout))


def process(command: Sequence[str], runs: int = 5) -> Run:
    """The median of each figure over `runs` runs, after one that is not counted."""
    once(command)
    found = [once(command) for _ in range(runs)]
    return Run(median(r.wall for r in found), median(r.cpu for r in found), median(r.peak for r in found))


def wm_place(*words: str) -> list[str]:
    return [PYTHON, "-m", "advisor", *words]
