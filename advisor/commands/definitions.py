"""The catalogue for a run: definitions that the user named, those of the user's own folder, and ours."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from advisor import files
from advisor.accelerators import Accelerators
from advisor.commands.given import Clusters
from advisor.definitions import layers
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Layer
from advisor.definitions.shipped import builtin_folder
from advisor.errors import Fault, InputError, Where
from advisor.kube import schema
from advisor.workload import Reference


def catalog(named: Sequence[str]) -> Catalog:
    """Raises InputError for a file that was named and cannot be used; the user's folder is only warned about."""
    return Catalog(own(named))


def names_clusters(looking: Clusters) -> bool:
    """Is a cluster or a recording named?"""
    return looking != Clusters(impersonate=looking.impersonate, timeout=looking.timeout)


def own(named: Sequence[str]) -> tuple[Layer, ...]:
    """What comes before the definitions of clusters. Raises InputError as `catalog` does."""
    above = [_named(named)] if named else []
    folder = own_folder()
    return (*above, *((layers.from_folder(str(folder)),) if folder.is_dir() else ()))


def warnings(found: Catalog) -> tuple[Fault, ...]:
    """What is wrong with definitions of the user's, whether they were left out for it or not."""
    kept = (entry for layer in found.layers if isinstance(layer, Layer) for entry in layer.entries)
    return (*found.faults, *(warning for entry in kept for warning in entry.warnings))


def _named(paths: Sequence[str]) -> Layer:
    layer = layers.from_files(paths)
    faults = list(layer.faults)
    useful = {entry.document.source.name for entry in layer.entries}
    useful |= {fault.where.file for fault in faults if fault.where}
    faults += [Fault("holds no definition", where=Where(path)) for path in paths if path not in useful]
    if faults:
        raise InputError.of(faults)
    return layer


def own_folder() -> Path:
    """Of the user, by the XDG base directory specification: a path that is not absolute is ignored."""
    stated = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    base = stated if stated.is_absolute() else Path.home() / ".config"
    return base / "wm-place" / "definitions"


def referred() -> tuple[Reference, ...]:
    """All kinds to which workloads of the catalogue refer."""
    (document,) = files.documents(files.read(str(builtin_folder() / "references.yaml")))
    return tuple(Reference(one["group"], one["kind"]) for one in document.data["kinds"])


def accelerators() -> Accelerators:
    """The catalogue of accelerators that is part of the product."""
    (document,) = files.documents(files.read(str(builtin_folder() / "accelerators.yaml")))
    return schema.accelerators(document)
