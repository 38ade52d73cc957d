"""The shared corpus beside the checkout: public manifests with the right values, and capacity cases with verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor import files

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
