"""The shared corpus of public definitions and manifests, which lies beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.coverage import upstream
from tests.definitions.builders import Definitions

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    if not CORPUS.is_dir():
        pytest.skip("the shared corpus is not beside the checkout")
    return CORPUS


@pytest.fixture(scope="session")
def catalogue(corpus: Path) -> Definitions:
    return upstream.definitions(corpus)
