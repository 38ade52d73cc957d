"""Reads definitions from one origin: the usable ones, and the faults of the others.

One broken file or object never stops the rest. What the user or a cluster brings is validated; our own catalogue is
validated by the tests. A placement profile behind a definition is kept with it, uninterpreted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Literal

from advisor import files
from advisor.definitions import engine, sandbox, schema
from advisor.definitions.engine import Engine
from advisor.definitions.profile_checks import about_profile
from advisor.definitions.schema import Definition, GroupVersionKind
from advisor.definitions.validate import Findings, validate
from advisor.errors import Fault, InputError, Where
from advisor.files import Document, Source

PROFILE = ("wm-place/v1", "PlacementProfile")
_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a definition comes from; `name` is the folder, file or cluster."""

    kind: Literal["file", "folder", "cluster", "builtin"]
    name: str = ""

    @property
    def engine(self) -> Engine:
        """Only what we wrote runs in this process."""
        return engine.TRUSTED if self.kind == "builtin" else sandbox.SANDBOX

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


BUILTIN = Origin("builtin")


@dataclass(frozen=True, slots=True)
class Entry:
    """A usable definition, the document that holds it, and the document of the profile that follows it there.

    `checked`: else only its form is known to be right, and `faults` says whether it can be used.
    """

    definition: Definition
    origin: Origin
    document: Document
    profile_document: Document | None = None
    warnings: tuple[Fault, ...] = ()
    checked: bool = True

    @property
    def kind(self) -> GroupVersionKind:
        kind = self.definition.root.kind
        if kind is None:
            raise InputError("the root component has no kind")
        return kind


@dataclass(frozen=True, slots=True)
class Layer:
    """The definitions of one origin, and the faults of those that cannot be used."""

    origin: Origin
    entries: tuple[Entry, ...] = ()
    faults: tuple[Fault, ...] = ()

    def of(self, group: str, kind: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if (entry.kind.group, entry.kind.kind) == (group, kind))


def from_files(paths: Sequence[str]) -> Layer:
    """Definitions in files that the user named."""
    return _read(Origin("file", ", ".join(paths)), paths, check=True)


def from_folder(folder: str) -> Layer:
    """Definitions in a folder of the user's; files in it that hold something else are passed over."""
    origin = Origin("folder", folder)
    try:
        paths = sorted(str(path) for path in FilePath(folder).iterdir() if path.suffix in _ENDINGS)
    except OSError as error:
        return Layer(origin, faults=(Fault(f"cannot be read: {error.strerror or error}", where=Where(folder)),))
    return _read(origin, paths, check=True)


def from_documents(name: str, documents: Iterable[Document]) -> Layer:
    """Definitions that are in memory already, as if they had been read from a file of this name."""
    return _usable(Origin("file", name), documents, check=True)


def from_cluster(cluster: str, objects: Iterable[Mapping[str, Any]], *, check: bool = True) -> Layer:
    """Definitions that a cluster has. Without `check`, expressions wait until their kind is asked for."""
    return _usable(Origin("cluster", cluster), (_of_cluster(cluster, data) for data in objects), check=check)


def _of_cluster(cluster: str, data: Mapping[str, Any]) -> Document:
    name = f"cluster {cluster}, {data.get('kind')} {(data.get('metadata') or {}).get('name')}"
    return Document(data, Source(name, ""), 0, Where(name))


def faults(entry: Entry) -> tuple[Fault, ...]:
    """What keeps a definition from being used whose expressions nobody has looked at yet."""
    with sandbox.SANDBOX.together():
        return tuple(map(entry.document.placed, validate(entry.definition, entry.origin.engine).errors))


def builtin(path: FilePath) -> Layer:
    """One file of our own catalogue."""
    return _read(BUILTIN, [str(path)], check=False)


def _read(origin: Origin, paths: Iterable[str], *, check: bool) -> Layer:
    layers = [_file(origin, path, check=check) for path in paths]
    return Layer(
        origin,
        tuple(entry for layer in layers for entry in layer.entries),
        tuple(fault for layer in layers for fault in layer.faults),
    )


def _file(origin: Origin, path: str, *, check: bool) -> Layer:
    try:
        return _usable(origin, files.documents(files.read(path)), check=check)
    except InputError as error:
        return Layer(origin, faults=error.faults)


def _usable(origin: Origin, documents: Iterable[Document], *, check: bool) -> Layer:
    entries: list[Entry] = []
    faults: list[Fault] = []
    for document, profile in pairs(documents, faults):
        try:
            with document.faults():
                entries.append(_entry(origin, document, profile, check))
        except InputError as error:
            faults += error.faults
    return Layer(origin, tuple(entries), tuple(faults))


def pairs(documents: Iterable[Document], faults: list[Fault]) -> list[tuple[Document, Document | None]]:
    """Each definition with the profile behind it."""
    found: list[tuple[Document, Document | None]] = []
    for document in _members(documents):
        if schema.is_definition(document.data):
            found.append((document, None))
        elif _is_profile(document.data):
            if found and found[-1][1] is None:
                found[-1] = (found[-1][0], document)
            else:
                message = "a placement profile stands behind the definition that it belongs to, one for each"
                faults.append(document.placed(Fault(message, ("kind",))))
    return found


def _members(documents: Iterable[Document]) -> Iterator[Document]:
    for document in documents:
        items = document.data.get("items") if schema.is_list(document.data) else None
        if isinstance(items, list):
            yield from (document.member(item, "items", i) for i, item in enumerate(items))
        else:
            yield document


def _is_profile(data: Any) -> bool:
    return isinstance(data, Mapping) and (data.get("apiVersion"), data.get("kind")) == PROFILE


def _entry(origin: Origin, document: Document, profile: Document | None, check: bool) -> Entry:
    """Raises InputError for a definition that cannot be used, or whose profile cannot: nobody would count right."""
    definition, warnings = schema.parse(document.data)
    if check:
        with sandbox.SANDBOX.together():
            findings = validate(definition, origin.engine)
            of_profile = about_profile(profile, definition, origin.engine) if profile else Findings()
        faults = (*map(document.placed, findings.errors), *of_profile.errors)
        if faults:
            raise InputError.of(faults)
        warnings = (*warnings, *findings.warnings)
    return Entry(definition, origin, document, profile, tuple(map(document.placed, warnings)), checked=check)
