"""Runs expressions that we did not write: in a worker process that can be stopped.

The worker has an empty environment, no files beyond its three pipes, a limit on memory, and before every request it
sets a timer whose signal ends it wherever it is, in jq or in a regular expression, and whether or not its parent lives.
One line of JSON goes each way. What jq prints is thrown away.
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
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from advisor.definitions import engine
from advisor.definitions.engine import Engine, Prepared
from advisor.errors import Fault, InputError

SECONDS = 2.0
MEMORY = 512 << 20
_MOST_REPLY = 64 << 20
_START = "import sys; sys.path[:0] = sys.argv[3:]; from advisor.definitions.sandbox import serve; serve()"


class Worker:
    """An engine in another process: started when first needed, replaced after it had to be stopped; one at a time."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds = seconds
        self.memory = memory
        self._forget()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._known: Prepared | None = None

    def compile(self, text: str, *, names: Collection[str] = (), edits: bool = False) -> None:
        self._ask({"text": text, "names": sorted(names), "edits": edits})

    def evaluate(
        self, text: str, document: Prepared, *, variables: Mapping[str, Any] = engine._NOTHING, edits: bool = False
    ) -> list[Any]:
        outputs: list[Any] = self._ask({"text": text, "variables": dict(variables), "edits": edits}, document)
        return outputs

    def close(self) -> None:
        with self._lock:
            self._stop()

    def _ask(self, request: dict[str, Any], document: Prepared | None = None) -> Any:
        with self._lock:
            try:
                reply = self._exchange(request, document)
            except BaseException:
                self._stop()
                raise
        if "faults" in reply:
            raise InputError.of([Fault(**fault) for fault in reply["faults"]])
        return reply["outputs"]

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
            raise InputError(self._why_ended(process.wait()))
        self._known = document or self._known
        return json.loads(line)
