"""What the user named, to workloads: files, folders and stdin."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from advisor import files
from advisor.cluster import ClusterSnapshot
from advisor.commands import definitions, exits, selector, stored, terminal
from advisor.commands.given import Manifests, Output
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Layer
from advisor.definitions.plain import group_and_kind
from advisor.definitions.reading import Reading, members, read
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster
from advisor.definitions.variants import Again
from advisor.errors import Fault, Faults, InputError, Where
from advisor.files import Document, Source
from advisor.labels import Selector
from advisor.workload import Note, Workload

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Asked:
    """The workloads in question in their order, and what else the input held.

    missing  objects with pods inside for which there is no definition
    again    reads the sound ones again, with what a cluster holds of the objects that they refer to
    informed reads everything again, with the definitions that clusters hold; None where these have none for it
    """

    workloads: tuple[Workload, ...]
    passed_over: Mapping[str, int]
    missing: tuple[Fault, ...]
    notes: tuple[Note, ...]
    warnings: tuple[Fault, ...]
    again: Again = lambda held: ()
    informed: Callable[[Sequence[ClusterSnapshot]], Asked | None] = lambda clusters: None

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
    further = documents(given.beside) if given.beside else ()
    chosen = selector.parse(given.selector)
    return _Files(tuple(found), given, namespace, tuple(further), chosen, definitions.own(given.definition)).asked(())


@dataclass(frozen=True, slots=True)
class _Files:
    """What was named, and how it is to be read, as often as that is necessary."""

    found: tuple[Document, ...]
    given: Manifests
    namespace: str
    further: tuple[Document, ...]
    chosen: Selector
    own: tuple[Layer, ...]

    def asked(self, clusters: Sequence[ClusterSnapshot]) -> Asked:
        """With the definitions that these clusters have. Raises InputError as `asked` does."""
        settled = stored.settled(self.own, clusters, self._kinds(), self._read)
        reading = settled.reading
        places = [place for place, one in enumerate(reading.workloads) if self.chosen.matches(one.labels)]
        workloads = tuple(reading.workloads[place] for place in places)
        sound = tuple(place for place in places if not reading.workloads[place].faults)
        if reading.workloads and not workloads:
            raise InputError(f"none of the workloads ({len(reading.workloads)}) has the labels {self.chosen}")
        if not workloads and not reading.missing:
            reading = replace(reading, missing=(_nothing(self.given, reading),))
        return Asked(
            workloads,
            reading.passed_over,
            reading.missing,
            reading.notes,
            (*definitions.warnings(settled.catalog), *settled.warnings),
            partial(self._again, settled.catalog, sound),
            self._informed,
        )

    def _kinds(self) -> frozenset[tuple[str, str]]:
        heads = (document.data for document in members(self.found) if isinstance(document.data, dict))
        return frozenset(map(group_and_kind, heads))

    def _read(self, catalog: Catalog, held: InCluster = NOTHING_LOOKED_UP) -> Reading:
        return read(self.found, catalog, self.given.namespace or self.namespace, self.further, held)

    def _again(self, catalog: Catalog, places: Sequence[int], held: InCluster) -> Sequence[Workload]:
        found = self._read(catalog, held).workloads
        return tuple(found[place] for place in places)

    def _informed(self, clusters: Sequence[ClusterSnapshot]) -> Asked | None:
        """None where the clusters have no definition for what is in the files."""
        held = stored.of_clusters(clusters, self._kinds(), check=False)
        return self.asked(clusters) if held else None


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
            for path in paths(name):
                with faults.collect():
                    found += files.documents(source(path))
    faults.raise_if_any()
    return found


def paths(name: str) -> list[str]:
    """The files that an argument means. Raises InputError for a folder without any."""
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


def say(found: Asked, output: Output, *, asking: bool = False) -> None:
    """On stderr: what is wrong with the input, and what was left out of it.

    `asking`: clusters are asked as well. What depends on objects that they may have is for `say_of_clusters` to say.
    """
    terminal.say([*found.faults, *found.missing], no_color=output.no_color)
    warnings = [fault for one in found.sound if not (asking and one.missing) for fault in _of(one)]
    terminal.say([*found.warnings, *warnings], severity="warning", no_color=output.no_color)
    terminal.say([Fault(text) for text in _notes(found, output)], severity="note", no_color=output.no_color)


def say_more(found: Asked, before: Asked, output: Output) -> None:
    """On stderr: what was not said yet, once clusters have had their word."""
    fresh = replace(
        found,
        workloads=tuple(one for one in found.workloads if one not in before.workloads),
        missing=tuple(fault for fault in found.missing if fault not in before.missing),
        notes=tuple(note for note in found.notes if note not in before.notes),
        warnings=tuple(fault for fault in found.warnings if fault not in before.warnings),
        passed_over={} if found.passed_over == before.passed_over else found.passed_over,
    )
    say(fresh, output, asking=True)


def say_of_clusters(workloads: Sequence[Workload], output: Output) -> None:
    """On stderr: what a manifest says and can hardly mean, with the objects that clusters have."""
    said = [fault for workload in workloads for fault in _of_variants(workload)]
    terminal.say(said, severity="warning", no_color=output.no_color)


def _of_variants(workload: Workload) -> Iterator[Fault]:
    """Where it is so in some clusters only, they are named."""
    found: dict[Fault, list[str]] = {}
    for name, one in workload.variants.items():
        for fault in dict.fromkeys(_of(one)):
            found.setdefault(fault, []).append(name)
    for fault, names in found.items():
        everywhere = len(names) == len(workload.variants)
        yield fault if everywhere else replace(fault, message=f"{', '.join(names)}: {fault.message}")


def _of(workload: Workload) -> Iterator[Fault]:
    """What a manifest says and can hardly mean."""
    for note in workload.notes:
        if note.warns:
            about = f"{workload.title}, {note.path}" if note.path else workload.title
            yield Fault(f"{about}: {note.text}", where=note.where or workload.source)


def _notes(found: Asked, output: Output) -> Iterator[str]:
    yield from (note.text for note in found.notes)
    if found.passed_over and found.workloads:
        yield f"no pods come of these by themselves: {_counted(found.passed_over)}"
    if output.verbose:
        for workload in found.workloads:
            yield f"{workload.title} is read by {workload.definition.name} ({workload.definition.origin})"


def _counted(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
