"""A command line in a folder of its own, with nothing of the machine's configuration in sight."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from advisor import cli
from tests.render import schemas


@dataclass(frozen=True)
class Ran:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> Any:
        """The JSON on stdout, which must be valid."""
        return schemas.check(json.loads(self.out))

    @property
    def choices(self) -> list[str | None]:
        return [workload["choice"] and workload["choice"]["cluster"] for workload in self.report["workloads"]]

    @property
    def verdicts(self) -> dict[str, str]:
        """Cluster → verdict, of the first workload."""
        return {cluster["name"]: cluster["verdict"] for cluster in self.report["workloads"][0]["clusters"]}


Run = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's, empty; only our own program gets to see it, since test servers are built under the real one."""
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of every test here."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for name in ("KUBECONFIG", "XDG_CONFIG_HOME", "NO_COLOR", "COLUMNS", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("WM_PLACE_")]:
        monkeypatch.delenv(name)
    return here


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> Run:
    """`run("train.yaml", "-o", "json")`, in this process."""

    def run(*arguments: object, stdin: str = "") -> Ran:
        with monkeypatch.context() as patch:
            patch.setenv("HOME", str(home))
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            code = cli.run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return run
