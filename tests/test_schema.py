"""The common part of the files that people write."""

from __future__ import annotations

import pytest

from advisor import schema
from advisor.errors import InputError


@pytest.mark.parametrize(
    ("text", "seconds"), [("20s", 20), ("1m30s", 90), ("1h", 3600), ("1.5s", 1.5), (".5m", 30), ("250ms", 0.25)]
)
def test_durations(text: str, seconds: float) -> None:
    assert schema.duration(text) == seconds


@pytest.mark.parametrize("text", ["", "20", "s", "-1s", "1 s", "1d", "20S", "1s2", "0s", "１s"])
def test_no_durations(text: str) -> None:
    with pytest.raises(InputError, match="is not a duration"):
        schema.duration(text)
