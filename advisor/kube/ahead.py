"""Work in a thread of its own, one item ahead of whoever uses it, and not a moment after the deadline."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from advisor.kube.deadline import Deadline

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


def ahead(work: Iterable[T], deadline: Deadline) -> Iterator[T]:
    """The items of `work`, which is consumed in another thread while the one before is being used.

    What it raises is raised here. At the deadline ApiError is raised even if the work hangs, be it in a name lookup, a
    plugin or a header that never ends: the thread is left behind, and ends when its own time limits do.
    """
    inbox: queue.Queue[_Item[T] | BaseException | None] = queue.Queue(maxsize=1)
    threading.Thread(target=_deliver, args=(work, inbox, deadline), daemon=True).start()
    while True:
        try:
            got = inbox.get(timeout=deadline.left())
        except queue.Empty:
            raise deadline.over() from None
        if got is None:
            return
        if isinstance(got, BaseException):
            raise got
        yield got.value


def _deliver(work: Iterable[T], inbox: queue.Queue[_Item[T] | BaseException | None], deadline: Deadline) -> None:
    """Items that nobody takes any more are dropped: whoever asked has gone at the deadline."""
    with suppress(queue.Full):
        try:
            for value in work:
                inbox.put(_Item(value), timeout=deadline.left())
            inbox.put(None, timeout=deadline.left())
        except queue.Full:
            raise
        except BaseException as error:  # noqa: BLE001 - it crosses to the thread that asked, which raises it
            inbox.put(error, timeout=1)
