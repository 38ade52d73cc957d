"""A request to end, by a key, a terminal that closes, or a supervisor: an interruption that lets things be put back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

REQUESTS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name))


@contextmanager
def endable() -> Iterator[None]:
    """The first of these signals is a KeyboardInterrupt, whichever it is; of later ones only Ctrl-C still is.

    A terminal that closes sends several. What is ignored already, as nohup has it, stays ignored.
    """
    asked = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if number == signal.SIGINT or not asked:
            asked = True
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in REQUESTS}
    heard = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
