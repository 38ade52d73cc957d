from __future__ import annotations

import pytest

from advisor.errors import Fault, Where
from advisor.render.faults import faults
from advisor.render.style import Style


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("is empty"), "error: is empty\n"),
        (Fault("is empty", where=Where("a.yaml")), "error: a.yaml: is empty\n"),
        (
            Fault("is not a quantity", ("spec", "app.io/x", 0), Where("a.yaml", 7), "leave the b away"),
            'error: a.yaml:7 spec["app.io/x"][0]: is not a quantity\n    leave the b away\n',
        ),
        (Fault("[ is not closed", hint=".spec.[\n          ^"), "error: [ is not closed\n    .spec.[\n          ^\n"),
        (Fault("\x1b[2Jgone"), "error: \\x1b[2Jgone\n"),
    ],
)
def test_one(fault: Fault, expected: str) -> None:
    assert faults([fault], Style()) == expected


def test_all_at_once_and_in_colour() -> None:
    text = faults([Fault("a"), Fault("b")], Style(color=True), "warning")
    assert text == "\x1b[1;33mwarning\x1b[0m: a\n\x1b[1;33mwarning\x1b[0m: b\n"
