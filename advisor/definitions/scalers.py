"""Objects in the same files that own a workload's number of replicas, as `catalog/scalers.yaml` names them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from advisor.definitions import plain, shipped
from advisor.errors import at
from advisor.files import Document

Target = tuple[str, str, str, str]
"""Group, kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Scaler:
    """Keeps its target at `minimum` replicas or more; `title` names it to the user.

    `to_zero`: it takes the last pod away as well while there is nothing to do. `from_zero`: it raises a target that has
    no pods, which others leave alone.
    """

    title: str
    minimum: int
    to_zero: bool = False
    from_zero: bool = False


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
    *above, key = rule["minimum"]
    with at(*above):
        minimum = plain.number(plain.below(data, above), key)
    minimum = rule["otherwise"] if minimum is None else minimum
    zero = bool(rule.get("zero"))
    least = max(minimum, 1) if zero else minimum
    yield owned, Scaler(f"{rule['kind']} {name}", least, zero and minimum <= 0, zero and minimum > 0)
