"""Which resources are accelerators, and which signs on a node change what their count means.

The names themselves are data (`catalog/accelerators.yaml`); this file only says what kinds of statement there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from advisor.labels import Requirement

TIME_SLICED = "time-sliced"
ONE_PER_CONTAINER = "one-per-container"
RECONFIGURING = "reconfiguring"
SPLIT = "split"
MEANINGS = (TIME_SLICED, ONE_PER_CONTAINER, RECONFIGURING, SPLIT)


@dataclass(frozen=True, slots=True)
class Mark:
    """A node on which the counts of `resource` (a name or pattern) have the meaning `means`, one of `MEANINGS`."""

    resource: str
    means: str

    def concerns(self, resource: str) -> bool:
        return fnmatchcase(resource, self.resource)


@dataclass(frozen=True, slots=True)
class Sign:
    """Nodes whose label satisfies `label`, or that carry `annotation`, bear this mark."""

    mark: Mark
    label: Requirement | None = None
    annotation: str = ""

    def shows(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> bool:
        if self.annotation in annotations:
            return True
        return self.label is not None and self.label.accepts(labels.get(self.label.key))


@dataclass(frozen=True, slots=True)
class Accelerators:
    """`resources`: name patterns, the most telling first; `products`: node labels that name the model."""

    resources: tuple[str, ...] = ()
    products: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()

    def among(self, names: Iterable[str]) -> list[str]:
        """The accelerators among resource names, in the order of `resources`, then by name."""
        ranked = ((self._rank(name), name) for name in set(names))
        return [name for rank, name in sorted(ranked) if rank < len(self.resources)]

    def _rank(self, name: str) -> int:
        matching = (rank for rank, pattern in enumerate(self.resources) if fnmatchcase(name, pattern))
        return next(matching, len(self.resources))

    def main(self, amounts: Mapping[str, int]) -> str:
        """The accelerator that a set of amounts is about: the first of `resources` that is there; "" if none is."""
        return next(iter(self.among(name for name, amount in amounts.items() if amount)), "")

    def marks(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> frozenset[Mark]:
        """What the labels and annotations of a node say about the counts of its accelerators."""
        return frozenset(sign.mark for sign in self.signs if sign.shows(labels, annotations))
