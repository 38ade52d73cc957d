"""Which manifests are tried: those of the shared corpus, and the examples of our own catalogue.

A corpus file is taken as it is, but for the repairs that `repairs.yaml` names. Beside that every object gets a
namespace of the test's own and is to start now: nobody here would ever let it out of a queue, and a schedule comes
every minute.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from advisor import files
from advisor.definitions import reading
from advisor.definitions.shipped import builtin_folder
from advisor.files import Document, Source
from tests import corpus
from tests.judges.dressed import dressed
from tests.servers.objects import SET_BY_SERVER

HERE = Path(__file__).parent
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
SAMPLE = 3
"""Manifests of each kind in a run that does not ask for all of them."""
CLUSTERS_OWN = ("Namespace", "LimitRange", "ResourceQuota", "CustomResourceDefinition")
"""What belongs to a cluster and not to the workload: it would change the pods of others, or of this one, on the way."""

CLUSTER_WIDE = "Cluster"
"""How the kinds of objects for a whole cluster begin, where there is one for a namespace as well."""
QUEUED = (("spec",), ("spec", "runPolicy"), ("spec", "jobTemplate", "spec"))
"""Where an object waits for a queue (`suspend`), or for the controller of another cluster (`managedBy`)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of workload, and its folder in the corpus. Files of other folders may hold objects of it, too."""

    folder: str
    api_version: str
    name: str

    def __str__(self) -> str:
        return f"{self.name} {self.api_version}"

    def fits(self, obj: Mapping[str, Any]) -> bool:
        return (obj.get("apiVersion"), obj.get("kind")) == (self.api_version, self.name)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One file of the corpus, repaired, or one example of the catalogue."""

    name: str
    kind: Kind
    text: str

    @property
    def key(self) -> str:
        """The name, and the kind where a file is tried for another one than its folder's."""
        return (
            self.name
            if self.name.startswith((f"{self.kind.folder}/", "catalog/"))
            else f"{self.name} ({self.kind.name})"
        )

    def documents(self) -> list[Document]:
        """Every object; those of a List one by one."""
        found = reading.members(files.documents(Source(self.name, self.text)))
        return [one for one in found if one.data["kind"] not in CLUSTERS_OWN]


def mended(name: str, text: str) -> str:
    for old, new in repairs().get(name, {}).get("replace", ()):
        if old not in text:
            raise LookupError(f"repairs.yaml: {old!r} does not stand in {name}")
        text = text.replace(old, new)
    return text


@cache
def argued() -> dict[str, list[dict[str, str]]]:
    """Manifest → differences (`text`) that the source of the controller explains (`source`, `why`)."""
    return yaml.safe_load((HERE / "argued.yaml").read_text()) or {}


@cache
def repairs() -> dict[str, Any]:
    """Manifest → what has to be mended before a controller takes it (`replace`, `add`), and why."""
    return yaml.safe_load((HERE / "repairs.yaml").read_text()) or {}


def of(kind: Kind) -> list[Manifest]:
    """Our own examples, the first of them in full dress, then the files of the corpus."""
    examples = list(_examples(kind))
    best = [(f"{name}, in full dress", [*objects[:-1], dressed(objects[-1])]) for name, objects in examples[:1]]
    best = [one for one in best if one[1] != examples[0][1]]  # a kind without pod templates
    return [*(Manifest(name, kind, _text(objects)) for name, objects in (*examples, *best)), *_files(kind)]


def _examples(kind: Kind) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Name and objects of each, the one that is tried the last of them."""
    for path in sorted(builtin_folder().glob("*.yaml")):
        for document in yaml.load_all(path.read_text(), LOADER):
            for example in _stated(document):
                if kind.fits(example["manifest"]):
                    name = f"catalog/{path.stem}: {example['name']}"
                    yield name, [*_added(name), *example.get("with", ()), example["manifest"]]


def _stated(document: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(document, dict) or document.get("kind") != "PlacementProfile":
        return ()
    stated: Sequence[Mapping[str, Any]] = document["spec"].get("examples", ())
    return stated


def _files(kind: Kind) -> Iterator[Manifest]:
    """Those of the kind's own folder come first."""
    for file in sorted(_corpus(), key=lambda one: (one.folder != kind.folder, one.name)):
        if any(kind.fits(obj) for obj in file.objects):
            yield Manifest(file.name, kind, file.text)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the corpus, repaired, with what it needs beside it, and the objects that it holds itself."""

    name: str
    folder: str
    text: str
    objects: tuple[Mapping[str, Any], ...]


@cache
def _corpus() -> list[_File]:
    folders = sorted({path.parent.name for path in corpus.FOLDER.glob("workloads/*/*.expected.yaml")})
    return [_file(folder, path) for folder in folders for path in corpus.expected(folder)]


def _file(folder: str, expected: Path) -> _File:
    stem = expected.name.removesuffix(".expected.yaml")
    name = f"{folder}/{stem}"
    text = mended(name, expected.with_name(f"{stem}.yaml").read_text())
    objects = tuple(one for one in yaml.load_all(text, LOADER) if isinstance(one, dict))
    return _File(name, folder, "\n---\n".join((*_beside(name, expected), text)), objects)


def _beside(name: str, expected: Path) -> Iterator[str]:
    """What the file leaves to be found in the cluster: stated in the repairs, or a runtime of the corpus."""
    yield _text(_added(name))
    if "requiresRuntime" in expected.read_text():
        for workload in corpus.data(expected)["workloads"]:
            file = workload.get("requiresRuntime", {}).get("file")
            if file and (expected.parent / file).is_file():
                yield (expected.parent / file).read_text()


def _added(name: str) -> Sequence[Any]:
    added: Sequence[Any] = repairs().get(name, {}).get("add", ())
    return added


def _text(objects: Sequence[Any]) -> str:
    return "\n---\n".join(map(json.dumps, objects))


def placed(documents: Sequence[Document], namespace: str) -> list[Document]:
    """The objects in a namespace of ours (one for each that the manifest names), to be started at once."""
    stated = {document.data["metadata"].get("namespace") for document in documents}
    names = {name: namespace if n == 0 else f"{namespace}-{n}" for n, name in enumerate(sorted(stated, key=str))}
    given = [_let_in(document.data, names) for document in documents]
    shared = {obj["metadata"]["name"] for obj in given if obj["kind"].startswith(CLUSTER_WIDE)}
    own = {name: f"{name}-{namespace}" for name in shared}
    return [replace(document, data=_renamed(obj, own)) for document, obj in zip(documents, given, strict=True)]


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Objects for the whole cluster, under names of this manifest's own: others have the same, with other content."""
    if isinstance(value, dict):
        return {key: names.get(one, one) if _is_name(key, one) else _renamed(one, names) for key, one in value.items()}
    return [_renamed(one, names) for one in value] if isinstance(value, list) else value


def _is_name(key: str, value: Any) -> bool:
    return key == "name" and isinstance(value, str)


def _let_in(given: Mapping[str, Any], names: Mapping[str | None, str]) -> dict[str, Any]:
    data = deepcopy(dict(given))
    metadata = {key: value for key, value in data["metadata"].items() if key not in SET_BY_SERVER}
    if not data["kind"].startswith(CLUSTER_WIDE):
        metadata["namespace"] = names[metadata.get("namespace")]
    data["metadata"] = metadata
    for steps in QUEUED:
        part: Any = data
        for step in steps:
            part = part.get(step) if isinstance(part, dict) else None
        if not isinstance(part, dict):
            continue
        if part.get("suspend") is True:
            part["suspend"] = False
        part.pop("managedBy", None)
    if "schedule" in (data.get("spec") or {}):
        data["spec"]["schedule"] = "* * * * *"
    return data
