"""Runs one command and prints its figures as JSON; a process of its own, because a child inherits its parent's peak."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main(command: list[str]) -> None:
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    wall = time.monotonic() - began
    print(json.dumps({"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}))


if __name__ == "__main__":
    main(sys.argv[1:])
