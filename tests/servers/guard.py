"""Ends the servers of a test session that died without ending them itself.

Runs as a process of its own. Every line on stdin names a process: `+123` has started, `-123` has ended. Stdin closes
when the session is over, also when it was killed outright, and whatever was not taken back by then is killed. A death
signal by prctl would do the same on Linux alone, would need code between fork and exec, which is unsafe with threads,
and would fire when the *thread* ends that started the server.
"""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    alive: set[int] = set()
    for line in sys.stdin:
        note = alive.add if line[0] == "+" else alive.discard
        note(int(line[1:]))
    for pid in alive:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
