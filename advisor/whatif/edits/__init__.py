"""The edits: each takes a question and returns another, and says in words what it does."""

from __future__ import annotations

from typing import Protocol

from advisor.question import Question
from advisor.whatif.edits.clusters import LoseCluster, RemovePods, SetQuota
from advisor.whatif.edits.nodes import (
    AddNodes,
    Cordon,
    Drain,
    Gone,
    LabelNodes,
    RemoveNodes,
    Shape,
    TaintNodes,
    Uncordon,
)
from advisor.whatif.edits.target import Which
from advisor.whatif.edits.workloads import Copies, Replicas

__all__ = [
    "AddNodes",
    "Copies",
    "Cordon",
    "Drain",
    "Edit",
    "Gone",
    "LabelNodes",
    "LoseCluster",
    "RemoveNodes",
    "RemovePods",
    "Replicas",
    "SetQuota",
    "Shape",
    "TaintNodes",
    "Uncordon",
    "Which",
]


class Edit(Protocol):
    """An edit, and what it does in words. Raises InputError for what is not there."""

    def __call__(self, question: Question) -> Question: ...

    def __str__(self) -> str: ...
