"""Processes of a test session: started with a log each, paused on demand, and ended, come what may.

They are killed, not asked: nothing that they would save on the way out is wanted. Each has a session of its own, so
that a Ctrl-C in the terminal reaches pytest alone, which then ends them in its own order; guard.py is there for the
case that pytest no longer can.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.servers import guard

TAIL = 40


class StartError(Exception):
    """A server ended or did not become ready; the message ends with the last lines of its log."""


class Port:
    """A free loopback port that stays ours: the server shares it by SO_REUSEPORT, nobody else gets it meanwhile."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def close(self) -> None:
        self._socket.close()


class Process:
    def __init__(self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.name, self.log = name, log
        with log.open("ab") as file:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env=os.environ | dict(environment),
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._popen.pid

    def running(self) -> bool:
        return self._popen.poll() is None

    def wait_until(self, ready: Callable[[], bool], limit: float, every: float = 0.02) -> None:
        deadline = time.monotonic() + limit
        while not ready():
            if not self.running():
                raise StartError(f"{self.name} ended with {self._popen.returncode}:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise StartError(f"{self.name} was not ready after {limit:.0f} s:\n{self.tail()}")
            time.sleep(every)

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-TAIL:])

    def pause(self) -> None:
        """From now on it hangs: connections are accepted by the kernel and never answered."""
        self._popen.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._popen.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._popen.kill()

    def wait(self) -> int:
        return self._popen.wait(timeout=30)


class Processes:
    """Starts the processes of a session and ends those that are left when it closes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._alive: list[Process] = []
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Process:
        """`environment` is added to our own."""
        process = Process(name, command, self.folder / f"{name}.log", environment or {})
        self._alive.append(process)
        self._tell_guard(f"+{process.pid}")
        return process

    def pids(self) -> list[int]:
        return [process.pid for process in self._alive]

    def stop(self, *processes: Process) -> None:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
            if process in self._alive:
                self._alive.remove(process)
                self._tell_guard(f"-{process.pid}")

    def _tell_guard(self, line: str) -> None:
        assert self._guard.stdin
        print(line, file=self._guard.stdin, flush=True)

    def close(self) -> None:
        self.stop(*self._alive)
        assert self._guard.stdin
        self._guard.stdin.close()
        self._guard.wait(timeout=30)
