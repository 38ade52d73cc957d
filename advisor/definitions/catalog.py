"""Finds the definition of a kind: in files named by the user, the user's folder, a cluster, or our own catalogue.

The first of these that has one wins, for each group, version and kind (definitions.md 11). Our own files are found by
their names and parsed when they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path as FilePath

from advisor.definitions import layers, profile_schema, versions
from advisor.definitions.layers import BUILTIN, Entry, Layer
from advisor.definitions.shipped import builtin_folder
from advisor.errors import Fault, InputError


@dataclass(frozen=True, slots=True)
class Found:
    """The definition to use for a kind, and the entry whose profile goes with it (its own, else the next that has one).

    `note` is not empty when the definition was written for another version. `others` are those that lost.
    """

    entry: Entry
    profile: Entry | None = None
    note: str = ""
    others: tuple[Entry, ...] = ()


class Builtin:
    """Our own catalogue: a layer that parses a file when a kind is asked for whose name the file bears."""

    origin = BUILTIN
    faults: tuple[Fault, ...] = ()

    def __init__(self, folder: FilePath | None = None) -> None:
        self.folder = folder or builtin_folder()

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(entry for stem in self._stems() for entry in self._entries(stem))

    def of(self, group: str, kind: str) -> tuple[Entry, ...]:
        wanted = f"{group.replace('.', '-') or 'core'}-{kind.lower()}"
        stems = [stem for stem in self._stems() if stem.rpartition("-")[0] == wanted]
        found = (entry for stem in stems for entry in self._entries(stem))
        return tuple(entry for entry in found if (entry.kind.group, entry.kind.kind) == (group, kind))

    def _stems(self) -> list[str]:
        stems = (path.stem for path in self.folder.glob("*.yaml"))
        return sorted(stem for stem in stems if versions.rank(stem.rpartition("-")[2]))

    def _entries(self, stem: str) -> tuple[Entry, ...]:
        return _of_file(self.folder / f"{stem}.yaml")


@lru_cache(maxsize=256)
def _of_file(path: FilePath) -> tuple[Entry, ...]:
    """Raises InputError when the file is broken: that is a fault of ours, and the tests find it first."""
    layer = layers.builtin(path)
    if layer.faults:
        raise InputError.of(layer.faults)
    return layer.entries


class Catalog:
    """All definitions of a run: layers in order of precedence, our own catalogue behind them."""

    def __init__(self, above: Sequence[Layer] = (), builtin: Builtin | None = None) -> None:
        self.layers: tuple[Layer | Builtin, ...] = (*above, builtin or Builtin())
        self._broken: dict[int, tuple[Fault, ...]] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything, by precedence: for listing."""
        return tuple(entry for layer in self.layers for entry in layer.entries)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong with the definitions that were left out."""
        late = tuple(fault for faults in self._broken.values() for fault in faults)
        return (*(fault for layer in self.layers for fault in layer.faults), *late)

    @cached_property
    def made(self) -> frozenset[tuple[str, str]]:
        """(group, kind) of what controllers of the known kinds create, on the way to pods or beside them."""
        structures = [entry.definition.structure for entry in self.entries]
        kinds = [component.kind for structure in structures for component in structure.child_components]
        kinds += [kind for structure in structures for kind in structure.additional_child_kinds]
        return frozenset((kind.group, kind.kind) for kind in kinds if kind)

    def find(self, api_version: str, kind: str) -> Found | None:
        """The definition for objects of this kind; None when no version of it is known.

        Another version of the same group and kind serves when there is no exact one. Raises InputError when the origin
        that would decide has two for the same version.
        """
        group, _, version = api_version.rpartition("/")
        known = [entry for layer in self.layers for entry in layer.of(group, kind) if self._is_sound(entry)]
        known.sort(key=lambda entry: versions.distance(entry.kind.version, version))
        known = [entry for entry in known if not _is_out_of_step(entry, known)]
        if not known:
            return None
        best, *others = known
        rivals = [entry for entry in others if (entry.kind, entry.origin) == (best.kind, best.origin)]
        if rivals:
            raise _ambiguous([best, *rivals])
        profile = next((entry for entry in known if entry.profile_document), None)
        return Found(best, profile, _note(best, version), tuple(others))

    def _is_sound(self, entry: Entry) -> bool:
        """Of a cluster's definitions only those are looked at whose kind is asked for."""
        if entry.checked or entry.origin == BUILTIN:
            return True
        if id(entry) not in self._broken:
            self._broken[id(entry)] = layers.faults(entry)
        return not self._broken[id(entry)]


def _is_out_of_step(entry: Entry, known: Sequence[Entry]) -> bool:
    """A cluster's definition brings no profile, and one that speaks of other components cannot go with it.

    Without a profile it would miss what ours knows of the kind, so ours stays whole.
    """
    profile = next((one for one in known if one.profile_document), None)
    if entry.origin.kind != "cluster" or profile is None or profile.profile_document is None:
        return False
    return not profile_schema.parse(profile.profile_document).fits(entry.definition)


def _note(entry: Entry, version: str) -> str:
    if entry.kind.version == version:
        return ""
    return f"read with the definition for {entry.kind}; fields may have other places in {version}"


def _ambiguous(entries: Sequence[Entry]) -> InputError:
    places = " and ".join(str(entry.document.where) for entry in entries)
    hint = "name one of them with --definition"
    return InputError(f"{entries[0].kind} has {len(entries)} definitions: {places}", hint=hint, code="ambiguous")
