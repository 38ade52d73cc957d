"""Runs expressions that we did not write: in a worker process that can be stopped.

The worker has an empty environment, no files beyond its three pipes, a limit on memory, and before every request it
sets a timer whose signal ends it wherever it is, in jq or in a regular expression, and whether or not its parent lives.
One line of JSON goes each way. What jq prints is thrown away. Many expressions, each just within its time, are stopped
by `together`: there the worker's own time is added up.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from advisor.definitions import engine
from advisor.definitions.engine import EXHAUSTED, NO_VARIABLES, Prepared, within_depth
from advisor.errors import Fault, InputError

SECONDS = 2.0
MEMORY = 512 << 20
_MOST_REPLY = 16 << 20
"""Bytes; a manifest has 8 MiB at most, and what is read here takes ten times as much memory there."""

_LONGEST = 100
"""Characters of an expression in a message: its end, for what it uses stands in front of it."""

_START = "import sys; sys.path[:0] = sys.argv[3:]; from advisor.definitions.sandbox import serve; serve()"


class Worker:
    """An engine in another process: started when first needed, replaced after it had to be stopped; one at a time."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds = seconds
        self.memory = memory
        self._forget()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    @contextmanager
    def together(self) -> Iterator[None]:
        """All that this thread asks inside may take `seconds` in all, counted in time of the worker's processor."""
        before = getattr(self._shared, "left", None)
        if before is None:
            self._shared.left, self._shared.most = self.seconds, (0.0, "")
        try:
            yield
        finally:
            self._shared.left = before

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._shared = threading.local()
        self._process: subprocess.Popen[bytes] | None = None
        self._known: Prepared | None = None

    def compile(self, text: str, *, names: Collection[str] = (), edits: bool = False) -> None:
        self._ask({"text": text, "names": sorted(names), "edits": edits})

    def evaluate(
        self, text: str, document: Prepared, *, variables: Mapping[str, Any] = NO_VARIABLES, edits: bool = False
    ) -> list[Any]:
        outputs: list[Any] = self._ask({"text": text, "variables": dict(variables), "edits": edits}, document)
        return outputs

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _ask(self, request: dict[str, Any], document: Prepared | None = None) -> Any:
        left = getattr(self._shared, "left", None)
        if left is not None and left <= 0:
            raise InputError(self._used_up, code=EXHAUSTED)
        with self._lock:
            try:
                reply = self._exchange(request, document)
            except BaseException:
                self._stop()
                self._spend(left, self.seconds, request["text"])
                raise
        self._spend(left, reply["took"], request["text"])
        if "faults" in reply:
            raise InputError.of([Fault(**fault) for fault in reply["faults"]])
        return reply["outputs"]

    def _spend(self, left: float | None, took: float, text: str) -> None:
        """Of the time that is shared, if any is; who took most of it is remembered."""
        if left is not None:
            self._shared.left = left - took
            self._shared.most = max(self._shared.most, (took, text))

    def _exchange(self, request: dict[str, Any], document: Prepared | None) -> Any:
        process = self._running()
        if document and document is not self._known:
            request["document"] = document.text
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line.endswith(b"\n"):
            raise InputError(self._why_ended(process.wait()), code=EXHAUSTED)
        self._known = document or self._known
        with within_depth():
            return json.loads(line)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            limits = [str(self.seconds), str(self.memory)]
            homes = [str(Path(__file__).parents[2]), str(engine.LIBRARY)]
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START, *limits, *homes],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                start_new_session=True,
            )
        return self._process

    def _stop(self) -> None:
        process, self._process, self._known = self._process, None, None
        if process:
            process.kill()
            process.communicate()

    @property
    def _too_long(self) -> str:
        return f"did not end within {self.seconds:g} s"

    @property
    def _used_up(self) -> str:
        text = " ".join(self._shared.most[1].split())
        text = text if len(text) <= _LONGEST else f"...{text[3 - _LONGEST :]}"
        return (
            f"was not tried: the {self.seconds:g} s for all expressions together were used up, most of them by {text}"
        )

    def _why_ended(self, status: int) -> str:
        match -status:
            case signal.SIGALRM:
                return self._too_long
            case signal.SIGABRT:
                return f"needs more than {self.memory >> 20} MiB of memory"
            case number if number > 0:
                return f"made jq end with signal {number}"
        raise RuntimeError(f"the jq worker ended with status {status}")


SANDBOX = Worker()


def serve() -> None:
    """The worker's side: one request a line from stdin, one reply a line to stdout, until stdin ends."""
    seconds = _confine()
    document = "null"
    for line in sys.stdin.buffer:
        request = json.loads(line)
        document = request.get("document", document)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        began = time.process_time()
        reply = _reply(request, document)
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(b'{"took": %.6f, %b\n' % (time.process_time() - began, reply[1:]))
        sys.stdout.buffer.flush()


def _confine() -> float:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    memory = int(sys.argv[2])
    limits = {resource.RLIMIT_AS: memory, resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_NOFILE: 3}
    for limit, most in limits.items():
        with suppress(ValueError):  # macOS takes no limit on memory; the timer ends the worker there
            resource.setrlimit(limit, (most, most))
    return float(sys.argv[1])


def _reply(request: dict[str, Any], document: str) -> bytes:
    try:
        with within_depth():
            reply = json.dumps({"outputs": _outputs(request, document)}).encode()
    except InputError as error:
        return json.dumps(
            {"faults": [{"message": f.message, "hint": f.hint, "code": f.code} for f in error.faults]}
        ).encode()
    except MemoryError:
        return _exhausted("needs too much memory")
    if len(reply) > _MOST_REPLY:
        return _exhausted(f"gives more than {_MOST_REPLY >> 20} MiB")
    return reply


def _exhausted(message: str) -> bytes:
    return json.dumps({"faults": [{"message": message, "code": EXHAUSTED}]}).encode()


def _outputs(request: dict[str, Any], document: str) -> list[Any] | None:
    if "names" in request:
        engine.program(request["text"], tuple(request["names"]), request["edits"])
        return None
    return engine.run(request["text"], document, request["variables"], request["edits"])
