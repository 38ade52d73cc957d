"""The shared corpus of public definitions and manifests, which lies beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.definitions.schema import Definition
from tests.definitions.builders import Definitions, definition_in

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"


@pytest.fixture(scope="session")
def corpus() -> Path:
    if not CORPUS.is_dir():
        pytest.skip("the shared corpus is not beside the checkout")
    return CORPUS


@pytest.fixture(scope="session")
def catalogue(corpus: Path) -> Definitions:
    """Upstream's 23 catalogue definitions by (apiVersion, kind) of the objects that they read."""
    found: dict[tuple[str, str], Definition] = {}
    for path in sorted((corpus / "definitions").glob("*.yaml")):
        definition = definition_in(path)
        kind = definition.root.kind
        assert kind
        found[f"{kind.group}/{kind.version}".removeprefix("/"), kind.kind] = definition
    return found
