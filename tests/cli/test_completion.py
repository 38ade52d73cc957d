"""Completion, of shells and of kubectl."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from advisor import cli
from tests.cli import live
from tests.cli.conftest import Run

COMMANDS = {"completion", "definitions", "describe", "place", "serve", "snapshot", "whatif"}


def completed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[list[str], str]:
    """The choices that kubectl gets, without their descriptions, and the directive."""
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-wm_place", *words])
    cli.complete()
    *choices, directive = capsys.readouterr().out.splitlines()
    return [choice.partition("\t")[0] for choice in choices], directive


@pytest.mark.parametrize(
    ("words", "expected", "directive"),
    [
        ([""], COMMANDS, ":0"),
        ([], COMMANDS, ":0"),
        (["de"], {"definitions", "describe"}, ":0"),
        (["definitions", "sh"], {"show"}, ":4"),
        (["definitions", "list", "-o", "j"], {"json"}, ":4"),
        (["tra"], set(), ":0"),
        (["--from"], {"--from-snapshot"}, ":4"),
        (["train.yaml", "--str"], {"--strategy"}, ":4"),
        (["train.yaml", "--strategy", ""], {"pack", "spread"}, ":4"),
        (["train.yaml", "--strategy", "p"], {"pack"}, ":4"),
        (["train.yaml", ""], set(), ":0"),
        (["train.yaml", "--clusters", ""], set(), ":0"),
        (["describe", "-o", "j"], {"json"}, ":4"),
        (["-v", "describe", "--def"], {"--definition"}, ":4"),
        (["snapshot", "--all"], {"--all-namespaces", "--all-contexts"}, ":4"),
        (["completion", ""], {"bash", "fish", "zsh"}, ":4"),
    ],
)
def test_kubectls_protocol(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    expected: set[str],
    directive: str,
) -> None:
    found, told = completed(capsys, monkeypatch, *words)
    assert (set(found), told) == (expected, directive)


def test_choices_are_described(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-wm_place", "des"])
    cli.complete()
    assert capsys.readouterr().out.startswith("describe\tShow the roles, pods and gangs of workloads.\n")


def test_contexts(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    live.kubeconfig(folder / "config", {"eu-1": "http://x", "eu-2": "http://x", "us": "http://x"})
    asked = ["train.yaml", "--kubeconfig", "config", "--context"]
    assert completed(capsys, monkeypatch, *asked, "eu") == (["eu-1", "eu-2"], ":4")
    assert completed(capsys, monkeypatch, "train.yaml", "--context", "") == ([], ":4")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(run: Run, shell: str) -> None:
    ran = run("completion", shell)
    assert ran.code == 0
    assert "_WM_PLACE_COMPLETE" in ran.out
    assert run("completion", "tcsh").code == 2


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
def test_in_a_real_bash(run: Run, folder: Path) -> None:
    """Source the script and let it complete, with our own program in the path."""
    (folder / "completion.bash").write_text(run("completion", "bash").out)
    script = """
        source ./completion.bash
        COMP_WORDS=(wm-place sn) COMP_CWORD=1
        _wm_place_completion wm-place
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, env={"PATH": path}, check=False
    )
    assert done.stdout.split() == ["snapshot"]
