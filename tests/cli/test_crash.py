"""A fault of ours: exit code 70 and a report that holds nothing of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.commands import watch
from tests.cli import fleet
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(question: object) -> object:
        raise ZeroDivisionError("the secret of node private-7")

    monkeypatch.setattr(watch, "advise", fail)


@pytest.fixture
def flags(folder: Path) -> list[str]:
    fleet.write(folder / "private.yaml", fleet.jobset("private-job"))
    fleet.record(folder, "private-cluster", fleet.room("private"))
    return ["place", "private.yaml", "--from-snapshot", "private-cluster.json", "-ojson", "--prefer=private=1"]


def test_what_the_report_holds(run: Run, flags: list[str]) -> None:
    ran = run(*flags)
    assert (ran.code, ran.out) == (70, "")
    for text in (
        "this is a fault of wm-place, not yours",
        "Python=3.",
        "ortools=",
        "wm-place place … --from-snapshot … -o --prefer",
        "advisor/commands/watch.py:",
        " in look\n",
        "builtins.ZeroDivisionError",
        "-vv adds the whole traceback",
    ):
        assert text in ran.err


def test_what_it_does_not_hold(run: Run, flags: list[str]) -> None:
    ran = run(*flags)
    assert "private" not in "\n".join(line for line in ran.err.splitlines() if not line.startswith("note: "))
    assert "Traceback" not in ran.err
    assert str(Path(watch.__file__).parents[2]) not in ran.err


@pytest.mark.parametrize("verbose", [["-vv"], ["-v", "-v"], ["--verbose", "--verbose"]])
def test_the_traceback_is_for_those_who_ask(run: Run, flags: list[str], verbose: list[str]) -> None:
    ran = run(*flags, *verbose)
    assert ran.code == 70
    assert "Traceback (most recent call last)" in ran.err
    assert "ZeroDivisionError: the secret of node private-7" in ran.err
