"""Pods that the API server refuses whatever the cluster holds, as reasons (`podrules.py` has the rules)."""

from __future__ import annotations

from collections.abc import Iterator

from advisor import podrules
from advisor.verdict import Reason
from advisor.workload import PodTemplate


def faults(template: PodTemplate) -> Iterator[Reason]:
    """`template` as the pod would be stored, defaults filled in."""
    for refusal in podrules.refusals(template):
        yield Reason("invalid-template", subject=refusal.text)
