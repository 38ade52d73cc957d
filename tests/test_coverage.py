"""`docs/coverage.md` says what is true today."""

from __future__ import annotations

import pytest

from tests import corpus
from tests.coverage import page


@pytest.mark.corpus
@corpus.needed
def test_the_page_is_fresh() -> None:
    assert page.PAGE.read_text() == page.text(), "stale: make coverage writes it anew"


@pytest.mark.corpus
@corpus.needed
def test_every_public_manifest_is_read_rightly_or_refused_on_purpose() -> None:
    assert "Not right:" not in page.PAGE.read_text()


def test_no_controller_differs() -> None:
    assert not [one for one in page.judged() if one.outcome == "differs"]
