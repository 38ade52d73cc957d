"""The shared corpus beside the checkout: public manifests with the right values, and capacity cases with verdicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from tests.servers import crds
from tests.servers.objects import Object

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "corpus"

needed = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared corpus is not beside this checkout")


def data(path: Path) -> Any:
    """The single document of a YAML file."""
    (document,) = files.documents(files.read(str(path)))
    return document.data


def expected(folder: str) -> list[Path]:
    """The expected files of one folder of workloads, sorted; none where the corpus is absent."""
    return sorted((FOLDER / "workloads" / folder).glob("*.expected.yaml"))


def cases() -> list[Path]:
    return sorted((FOLDER / "cases").glob("*.yaml"))


def definitions(kinds: Collection[tuple[str, str]]) -> list[Path]:
    """The files of CustomResourceDefinitions for those of these (group, kind) that have one here."""
    return sorted({path for kind, path in _definitions().items() if kind in kinds})


def _definitions() -> Mapping[tuple[str, str], Path]:
    return {(one["spec"]["group"], one["spec"]["names"]["kind"]): path for path, one in custom_resources()}


@cache
def custom_resources() -> Sequence[tuple[Path, Object]]:
    """Every CustomResourceDefinition with its file. They are long, so they are read once; nobody changes them."""
    return [(path, one) for path in sorted((FOLDER / "crds").glob("*.yaml")) for one in crds.read(path)]
