"""What a scenario file says, checked and understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from advisor.files import Document
from advisor.whatif.edits import Edit


@dataclass(frozen=True, slots=True)
class Expected:
    """What shall come out for a workload. None: nothing is expected; a cluster of "" : none shall be chosen.

    verdict   of the cluster chosen, or of the best one where none is
    reason    the code that decides there
    clusters  the same for clusters by name
    """

    verdict: str | None = None
    cluster: str | None = None
    reason: str | None = None
    clusters: Mapping[str, Expected] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """Edits made together, in their order. `expect`: name of a workload, or of its file → what shall come out.

    `options`: those that the edits were given by, where it was not a file.
    """

    name: str
    edits: tuple[Edit, ...] = ()
    expect: Mapping[str, Expected] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    def place(self, edit: int) -> tuple[str | int, ...]:
        """Where the user wrote an edit down, within the step or on the command line."""
        return (self.options[edit],) if self.options else ("edits", edit)


@dataclass(frozen=True, slots=True)
class Asked:
    """A manifest of the scenario, and how often its workloads are asked for."""

    file: str
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """A whole file; `document` is what it was read from. Without `clusters` and `snapshots` the user names the base."""

    document: Document = field(repr=False)
    workloads: tuple[Asked, ...]
    clusters: str = ""
    snapshots: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
