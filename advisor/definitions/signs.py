"""What a manifest asks for beside its pods' fields, recognised by the keys in `catalog/unmodelled.yaml`.

Also the kinds that hold templates and place nothing (`catalog/passed-over.yaml`). Names are data, this file has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from advisor import files
from advisor.errors import dotted
from advisor.labels import Labels
from advisor.workload import Role, Unmodelled


@dataclass(frozen=True, slots=True)
class Sign:
    """A key at one kind of place (`where`) whose meaning is not modelled; see the file for the other fields."""

    where: str
    key: str
    text: str
    needs: str = ""
    restricts: bool = True

    def at(self, *path: str) -> Unmodelled:
        resource = path[-1] if self.where == "resource" else ""
        return Unmodelled(dotted(path), self.text, self.restricts, self.needs, resource)


@lru_cache(maxsize=4)
def known(folder: FilePath) -> tuple[Sign, ...]:
    return tuple(
        Sign(entry["in"], entry["key"], entry["text"], entry.get("needs", ""), entry.get("restricts", True))
        for entry in _data(folder / "unmodelled.yaml")["signs"]
    )


@lru_cache(maxsize=4)
def passed_over(folder: FilePath) -> frozenset[tuple[str, str]]:
    """(group, kind) of objects that hold pod templates and create no pods to be placed."""
    return frozenset((entry["group"], entry["kind"]) for entry in _data(folder / "passed-over.yaml")["kinds"])


def _data(path: FilePath) -> Any:
    (document,) = files.documents(files.read(str(path)))
    return document.data


def found(signs: Iterable[Sign], labels: Labels, annotations: Labels, roles: Sequence[Role]) -> tuple[Unmodelled, ...]:
    """Every sign that the workload or one of its pods shows, once."""
    seen = [one for sign in signs for one in _of(sign, labels, annotations, roles)]
    return tuple(dict.fromkeys(seen))


def _of(sign: Sign, labels: Labels, annotations: Labels, roles: Sequence[Role]) -> Iterator[Unmodelled]:
    whole = {"workload-label": ("labels", labels), "workload-annotation": ("annotations", annotations)}
    if sign.where in whole:
        field, pairs = whole[sign.where]
        yield from (sign.at("metadata", field, key) for key, _ in pairs if fnmatchcase(key, sign.key))
        return
    for role in roles:
        if role.replicas:
            yield from (sign.at(*path) for path in _in_role(sign, role))


def _in_role(sign: Sign, role: Role) -> Iterator[tuple[str, ...]]:
    template = role.template
    match sign.where:
        case "pod-label":
            keys, path = [key for key, _ in template.labels], ("template", "metadata", "labels")
        case "pod-annotation":
            keys, path = [key for key, _ in template.annotations], ("template", "metadata", "annotations")
        case "node-selector":
            keys, path = sorted(template.nodes.keys), ("template", "spec", "nodeSelector")
        case _:
            keys, path = sorted(template.effective()), ("template", "spec", "resources")
    yield from ((*path, key) for key in keys if fnmatchcase(key, sign.key))
