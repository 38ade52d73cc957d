"""What the user named, to workloads: files, folders and stdin."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from advisor import files
from advisor.commands import definitions, exits, selector, terminal
from advisor.commands.given import Manifests, Output
from advisor.definitions.reading import Reading, read
from advisor.definitions.references import InCluster
from advisor.definitions.variants import Again
from advisor.errors import Fault, Faults, InputError, Where
from advisor.files import Document, Source
from advisor.workload import Note, Workload

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Asked:
    """The workloads in question in their order, and what else the input held.

    missing  objects with pods inside for which there is no definition
    again    reads the sound ones again, with what a cluster holds of the objects that they refer to
    """

    workloads: tuple[Workload, ...]
    passed_over: Mapping[str, int]
    missing: tuple[Fault, ...]
    notes: tuple[Note, ...]
    warnings: tuple[Fault, ...]
    again: Again = lambda held: ()

    @property
    def codes(self) -> list[int]:
        """Exit codes that the input earns, whatever the clusters say."""
        return [exits.INPUT] * bool(self.faults) + [exits.NO_DEFINITION] * bool(self.missing)

    @property
    def open(self) -> tuple[Fault, ...]:
        """What keeps workloads that have no faults from being known."""
        return tuple(missing.fault for workload in self.sound for missing in workload.lacking)

    @property
    def sound(self) -> tuple[Workload, ...]:
        return tuple(workload for workload in self.workloads if not workload.faults)

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(fault for workload in self.workloads for fault in workload.faults)


def asked(found: Sequence[Document], given: Manifests, namespace: str) -> Asked:
    """Raises InputError for documents that are no objects, and where no workload is chosen."""
    chosen = selector.parse(given.selector)
    catalog = definitions.catalog(given.definition)
    further = documents(given.beside) if given.beside else ()
    reading = read(found, catalog, given.namespace or namespace, further)
    workloads = tuple(workload for workload in reading.workloads if chosen.matches(workload.labels))
    sound = [place for place, one in enumerate(reading.workloads) if chosen.matches(one.labels) and not one.faults]

    def again(held: InCluster) -> Sequence[Workload]:
        read_with = read(found, catalog, given.namespace or namespace, further, held).workloads
        return tuple(read_with[place] for place in sound)

    if reading.workloads and not workloads:
        raise InputError(f"none of the workloads ({len(reading.workloads)}) has the labels {chosen}")
    if not workloads and not reading.missing:
        reading = replace(reading, missing=(_nothing(given, reading),))
    warnings = definitions.warnings(catalog)
    return Asked(workloads, reading.passed_over, reading.missing, reading.notes, warnings, again)


def _nothing(given: Manifests, reading: Reading) -> Fault:
    """Objects without pods are as good as a kind without a definition; no object at all is a mistake."""
    if not reading.passed_over:
        raise InputError(f"there is no object in {', '.join(given.sources)}")
    named, held = ", ".join(given.sources), _counted(reading.passed_over)
    message = f"no workload in {named}: there is no definition for what it holds ({held})"
    return Fault(message, hint="a kind that creates pods needs a definition: --definition FILE", code="no-definition")


def documents(names: Sequence[str]) -> list[Document]:
    """Everything in the order in which it is named. Raises InputError, all faults of all files at once."""
    if not names:
        raise InputError("no manifest is named", hint="name a file, a folder, or - for stdin")
    faults = Faults()
    found: list[Document] = []
    for name in names:
        with faults.collect():
            for path in _paths(name):
                with faults.collect():
                    found += files.documents(source(path))
    faults.raise_if_any()
    return found


def _paths(name: str) -> list[str]:
    if name == STDIN or not Path(name).is_dir():
        return [name]
    found = sorted(_below(name))
    if not found:
        hint = f"files whose names end in {', '.join(ENDINGS)} are read"
        raise InputError.of([Fault("is a folder without manifests", where=Where(name), hint=hint)])
    return found


def _below(folder: str) -> Iterator[str]:
    """Manifests in a folder and all folders in it; hidden ones (`.git`) hold none."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (str(Path(parent, name)) for name in names if name.endswith(ENDINGS) and not name.startswith("."))


def source(path: str) -> Source:
    """The text of a file, or of stdin. Raises InputError."""
    if path == STDIN:
        if sys.stdin is None:
            raise InputError("stdin is closed")
        return files.decode(sys.stdin.buffer.read(files.MANIFEST_LIMIT + 1), "<stdin>")
    return files.read(path)


def say(found: Asked, output: Output) -> None:
    """On stderr: what is wrong with the input, and what was left out of it."""
    terminal.say([*found.faults, *found.missing], no_color=output.no_color)
    terminal.say([*found.warnings, *_warnings(found)], severity="warning", no_color=output.no_color)
    terminal.say([Fault(text) for text in _notes(found, output)], severity="note", no_color=output.no_color)


def say_of_clusters(workloads: Sequence[Workload], output: Output) -> None:
    """On stderr: what a manifest says and can hardly mean, with the objects that clusters have."""
    found: dict[Fault, list[str]] = {}
    for workload in workloads:
        for name, one in workload.variants.items():
            for fault in set(_of(one)) - set(_of(workload)):
                found.setdefault(fault, []).append(name)
    terminal.say(
        [
            replace(fault, message=f"{', '.join(names)}: {fault.message}")
            for fault, names in sorted(found.items(), key=str)
        ],
        severity="warning",
        no_color=output.no_color,
    )


def _warnings(found: Asked) -> Iterator[Fault]:
    """What a manifest says and can hardly mean."""
    for workload in found.sound:
        yield from _of(workload)


def _of(workload: Workload) -> Iterator[Fault]:
    for note in workload.notes:
        if note.warns:
            about = f"{workload.title}, {note.path}" if note.path else workload.title
            yield Fault(f"{about}: {note.text}", where=workload.source)


def _notes(found: Asked, output: Output) -> Iterator[str]:
    yield from (note.text for note in found.notes)
    if found.passed_over and found.workloads:
        yield f"passed over, since no pods come of them: {_counted(found.passed_over)}"
    if output.verbose:
        for workload in found.workloads:
            yield f"{workload.title} is read by {workload.definition.name} ({workload.definition.origin})"


def _counted(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
