"""Objects in the same files that own a workload's number of replicas, as `catalog/scalers.yaml` names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from advisor.definitions import plain, shipped
from advisor.errors import InputError, at
from advisor.files import Document

Target = tuple[str, str, str, str]
"""Group, kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Scaler:
    """Keeps its target between `minimum` and `maximum` replicas, also while it reads no metrics; `title` names it.

    `to_zero`: it takes the last pod away as well while there is nothing to do. `from_zero`: it raises a target that has
    no pods, which others leave alone.
    """

    title: str
    minimum: int
    maximum: int
    to_zero: bool = False
    from_zero: bool = False

    def wants(self, begins: int | None) -> int:
        """Replicas of a target that begins with so many; None: nobody says with how many."""
        if begins == 0 and not self.from_zero:
            return 0
        return min(max(1 if begins is None else begins, self.minimum), self.maximum)

    def says(self, stated: int | None, wanted: int) -> str:
        """Why the target has `wanted` replicas and not those that it states."""
        if stated is not None:
            return f"becomes {wanted} (it says {stated}): {self.title} keeps it at {self.minimum} to {self.maximum}"
        idle = ", which may also take it to 0 while there is nothing to do" if self.to_zero else ""
        bound = "minimum" if wanted == self.minimum else "maximum" if wanted == self.maximum else "default"
        return f"is {wanted}, the {bound} of {self.title}{idle}"


def of(documents: Iterable[Document], folder: FilePath, namespace: str) -> Mapping[Target, Scaler]:
    """What each scaler among the documents owns. Raises InputError for a scaler that cannot be read."""
    known = shipped.by_kind(folder, "scalers")
    found: dict[Target, Scaler] = {}
    for document in documents:
        rule = known.get(plain.group_and_kind(document.data))
        if rule:
            with document.faults():
                found.update(_owned(rule, document.data, namespace))
    return found


def _owned(rule: Mapping[str, Any], data: Mapping[str, Any], namespace: str) -> Iterator[tuple[Target, Scaler]]:
    with at("metadata"):
        metadata = plain.mapping(data, "metadata")
        namespace, name = plain.text(metadata, "namespace") or namespace, plain.text(metadata, "name")
    *above, key = rule["target"]
    with at(*above):
        target = plain.mapping(plain.below(data, above), key)
    with at(*rule["target"]):
        usual = rule.get("usual", {})
        group = (plain.text(target, "apiVersion") or usual.get("apiVersion", "")).rpartition("/")[0]
        kind = plain.text(target, "kind") or usual.get("kind", "")
        owned = (group, kind, namespace, plain.text(target, "name"))
    minimum, maximum = (_number(rule, bound, data) for bound in ("minimum", "maximum"))
    zero = bool(rule.get("zero"))
    least = max(minimum, 1) if zero else minimum
    if maximum < least:
        raise InputError(f"is below the {rule['minimum'][-1]}", path=tuple(rule["maximum"]))
    yield owned, Scaler(f"{rule['kind']} {name}", least, maximum, zero and minimum <= 0, zero and minimum > 0)


def _number(rule: Mapping[str, Any], bound: str, data: Mapping[str, Any]) -> int:
    *above, key = rule[bound]
    with at(*above):
        number = plain.number(plain.below(data, above), key)
    return int(rule["otherwise"][bound]) if number is None else number
