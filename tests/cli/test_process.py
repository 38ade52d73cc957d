"""What only a process of its own shows: streams, signals, terminals, names, and how long it takes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli import fleet, live
from tests.kube.stub import hang, serving

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(Path.cwd()), "PYTHONPATH": str(ROOT), **more}


def wm_place(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "advisor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(**more), check=False, timeout=60)


def in_terminal(
    arguments: Sequence[object], stream: str, variables: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """(exit code, what the terminal showed, what the other stream got); `stream`: the one that is a terminal."""
    master, slave = pty.openpty()
    streams: dict[str, int] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: slave}
    command = [sys.executable, "-m", "advisor", *map(str, arguments)]
    with subprocess.Popen(
        command, text=True, env=environment(**(variables or {})), stdin=subprocess.DEVNULL, **streams
    ) as process:  # type: ignore[call-overload]
        os.close(slave)
        shown: list[bytes] = []
        reader = threading.Thread(target=_drain, args=(master, shown))
        reader.start()
        out, err = process.communicate(timeout=60)
        reader.join()
    os.close(master)
    return process.returncode, b"".join(shown).decode().replace("\r\n", "\n"), out or err or ""


def _drain(master: int, shown: list[bytes]) -> None:
    try:
        while data := os.read(master, 65536):
            shown.append(data)
    except OSError:
        """The other side is closed: Linux reports that as an error."""


@pytest.fixture(autouse=True)
def train(folder: Path) -> Path:
    return fleet.write(folder / "train.yaml", fleet.jobset())


@pytest.fixture
def four(folder: Path) -> list[str]:
    return fleet.four(folder)


class TestStreams:
    def test_stdout_is_the_answer_and_stderr_the_rest(self, four: list[str]) -> None:
        done = wm_place("train.yaml", *four, "-o", "name")
        assert (done.returncode, done.stdout) == (0, "eu-h200\n")
        assert all(line.startswith("note: ") for line in done.stderr.splitlines())

    def test_a_pipe_has_neither_colours_nor_wrapped_lines(self, four: list[str]) -> None:
        done = wm_place("train.yaml", *four, TERM="xterm-256color")
        assert "\x1b" not in done.stdout + done.stderr
        assert any(len(line) > 100 for line in done.stdout.splitlines())

    def test_columns_may_be_stated(self, four: list[str]) -> None:
        done = wm_place("train.yaml", *four, COLUMNS="80")
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_a_closed_pipe_is_silent(self, four: list[str]) -> None:
        read, write = os.pipe()
        os.close(read)
        command = [sys.executable, "-m", "advisor", "train.yaml", *four, "-o", "json"]
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, env=environment(), check=False)
        os.close(write)
        assert done.returncode == 141
        assert all(line.startswith("note: ") for line in done.stderr.splitlines())

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_a_full_disk_is_said(self, four: list[str]) -> None:
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "advisor", "train.yaml", *four, "-o", "name"]
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False
            )
        assert done.returncode == 2
        assert done.stderr.endswith("error: the answer cannot be written: No space left on device\n")

    def test_streams_that_are_not_there(self, four: list[str]) -> None:
        command = [sys.executable, "-m", "advisor", "train.yaml", *four]
        closed = 'exec "$@" >&- 2>&- <&-'
        done = subprocess.run(["/bin/sh", "-c", closed, "sh", *command], env=environment(), check=False)
        assert done.returncode == 0
        stdin = subprocess.run(["/bin/sh", "-c", closed, "sh", *command, "-"], env=environment(), check=False)
        assert stdin.returncode == 2

    def test_any_locale(self, folder: Path, four: list[str]) -> None:
        fleet.write(folder / "train.yaml", fleet.jobset("naive"))
        done = subprocess.run(
            [sys.executable, "-m", "advisor", "describe", "train.yaml"],
            capture_output=True,
            env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
            check=False,
        )
        assert "└─ worker" in done.stdout.decode()


class TestTerminals:
    def test_colours_and_width(self, four: list[str]) -> None:
        _, shown, _ = in_terminal(["train.yaml", *four], "stdout", {"TERM": "xterm"})
        assert "\x1b[32mfits\x1b[0m" in shown

    @pytest.mark.parametrize(
        ("arguments", "variables"),
        [(["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), ([], {"WM_PLACE_NO_COLOR": "1"})],
    )
    def test_no_colours(self, four: list[str], arguments: list[str], variables: dict[str, str]) -> None:
        for stream in ("stdout", "stderr"):
            _, shown, _ = in_terminal(["train.yaml", *four, *arguments], stream, {"TERM": "xterm", **variables})
            assert shown
            assert "\x1b[3" not in shown

    def test_errors_in_colour(self) -> None:
        code, shown, other = in_terminal(["nowhere.yaml"], "stderr", {"TERM": "xterm"})
        assert (code, other) == (2, "")
        assert shown.startswith("\x1b[1;31merror\x1b[0m: nowhere.yaml: ")

    def test_progress_for_those_who_wait(self, folder: Path) -> None:
        with serving({**live.routes(fleet.room("n")), "/api/v1/pods": hang}) as stub:
            config = live.kubeconfig(folder / "config", {"eu": stub.url})
            arguments = ["train.yaml", "--kubeconfig", config, "--timeout", "1500ms", "-o", "name"]
            code, shown, other = in_terminal(arguments, "stderr", {"TERM": "xterm"})
            piped = wm_place(*arguments)
        assert (code, other) == (4, "\n")
        assert "eu 3 nodes" in shown
        assert (piped.returncode, piped.stderr) == (4, "")

    def test_waiting_shows_for_what(self, folder: Path) -> None:
        with serving(live.routes(fleet.full("n"))) as stub:
            config = live.kubeconfig(folder / "config", {"eu": stub.url})
            arguments = ["train.yaml", "--kubeconfig", config, "--wait", "2s", "-o", "name"]
            code, shown, other = in_terminal(arguments, "stderr", {"TERM": "xterm"})
        assert (code, other) == (1, "\n")
        assert "JobSet default/llama eu full" in shown


class TestSignals:
    def test_interrupted_while_reading(self, folder: Path) -> None:
        with serving({**live.routes([]), "/api/v1/nodes": hang}) as stub:
            config = live.kubeconfig(folder / "config", {"eu": stub.url})
            command = [sys.executable, "-m", "advisor", "train.yaml", "--kubeconfig", str(config)]
            with subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
            ) as process:
                while not stub.asked("/api/v1/nodes"):
                    time.sleep(0.02)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert (out, err.strip()) == ("", "")


class TestNames:
    def test_the_three_programs(self, four: list[str]) -> None:
        for name in ("wm-place", "kubectl-wm_place"):
            done = subprocess.run(
                [BIN / name, "train.yaml", *four, "-o", "name"], capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stdout) == (0, "eu-h200\n")
        done = subprocess.run([BIN / "kubectl_complete-wm_place", "sn"], capture_output=True, text=True, check=False)
        assert done.stdout.startswith("snapshot\t")

    def test_usage_names_the_program_that_was_called(self) -> None:
        for name, title in (("wm-place", "wm-place"), ("kubectl-wm_place", "kubectl wm-place")):
            done = subprocess.run([BIN / name, "place", "--help"], capture_output=True, text=True, check=False)
            assert done.stdout.startswith(f"Usage: {title} place [OPTIONS] MANIFEST...")
            wrong = subprocess.run([BIN / name, "--bogus"], capture_output=True, text=True, check=False)
            assert wrong.returncode == 2
            assert f"see {title} place --help" in wrong.stderr

    def test_version(self) -> None:
        done = wm_place("--version")
        assert done.returncode == 0
        assert done.stdout.startswith("wm-place ")


class TestHelp:
    def test_no_arguments(self) -> None:
        done, asked = wm_place(), wm_place("--help")
        assert (done.returncode, done.stdout) == (0, asked.stdout)
        for text in ("MANIFEST... | COMMAND", "describe", "snapshot", "completion", "Exit codes:"):
            assert text in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_every_option_is_in_the_help(self) -> None:
        text = wm_place("place", "--help").stdout
        for option in (
            *("-f", "-n", "-l", "--definition", "--from-snapshot", "--clusters", "--context", "--all-contexts"),
            *("--kubeconfig", "--as", "--request-timeout", "--timeout", "--max-age", "--wait", "--allow-reduced"),
            *("--strategy", "--prefer", "--solver-workers", "-o", "--no-headers", "--no-color", "-v"),
        ):
            assert f"{option}" in text

    @pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["place", "--help"]])
    def test_help_imports_nothing_slow(self, arguments: list[str]) -> None:
        command = [sys.executable, "-X", "importtime", "-m", "advisor", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        slow = {"numpy", "ortools", "kubernetes", "pydantic", "jq", "msgspec", "yaml", "rich", "urllib3"}
        assert imported & slow == set()
        assert len(imported) < 250
