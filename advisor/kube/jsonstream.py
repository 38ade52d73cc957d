"""JSON texts of any size, one object at a time: the items of `{"items": […]}`, and objects that stand for themselves.

Finds where objects begin and end by counting brackets outside strings, a block at a time and without a loop over
bytes; what an object holds is left to `decode.py`. Memory is one block and one object, whatever the file is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from advisor.errors import InputError

BLOCK = 4 << 20
LARGEST_OBJECT = 512 << 20

_ITEMS = re.compile(rb'"items"\s*:\s*\Z')
_LOOK_BACK = 64
_BETWEEN_ITEMS = re.compile(rb"[\s,]*")
_BETWEEN_TEXTS = re.compile(rb"(\s|---|\xef\xbb\xbf)*")

TEXTS, ARRAY, ITEMS = 0, 1, 2
"""Where objects are being looked for, as the depth at which they begin: side by side, in `[…]`, in `{"items": […]}`."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object's bytes, where it begins in the text, and what its list says before the items (as JSON, items 0)."""

    body: bytes
    offset: int
    list_head: bytes = b""


class MalformedError(InputError):
    """The text is not JSON; `offset` says about where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def objects(read: Callable[[int], bytes]) -> Iterator[Found]:
    """The objects of a text; `read` gives its next bytes, up to so many. Raises MalformedError."""
    scanner = _Scanner()
    while block := read(scanner.appetite):
        yield from scanner.feed(block)
    scanner.end()


class _Scanner:
    """Keeps the text from the last place that is surely outside strings; `depth` is the depth there.

    `start`: where in the buffer the object begins that is open; None between objects and after the items of a list.
    """

    def __init__(self) -> None:
        self.buffer = b""
        self.offset = 0
        self.depth = 0
        self.looking = TEXTS
        self.head = b""
        self.start: int | None = None
        self.last = 0

    @property
    def appetite(self) -> int:
        """An object that is larger than a block is looked at again with each block, so blocks grow with it."""
        return max(BLOCK, len(self.buffer))

    def feed(self, block: bytes) -> Iterator[Found]:
        self.buffer += block
        if len(self.buffer) > LARGEST_OBJECT:
            raise MalformedError(f"holds an object of more than {LARGEST_OBJECT >> 20} MiB", self.offset)
        for at, opens, depth in _brackets(self.buffer, self.depth):
            if opens:
                self._open(at, depth)
            elif depth < 0:
                raise MalformedError("is not JSON: a bracket closes that was never opened", self.offset + at)
            elif (found := self._close(at, depth)) is not None:
                yield found
            self.last = at + 1
            if self.start is None:
                self.depth = depth
        self._forget()

    def _open(self, at: int, depth: int) -> None:
        if depth == self.looking + 1 and self.start is None:
            self._check_gap(at)
            self.start = at
        if self.looking == TEXTS and self.buffer[at] == ord("["):
            before = self.buffer[max(0, at - _LOOK_BACK) : at]
            if depth == ARRAY:
                self.looking, self.start = ARRAY, None
            elif depth == ITEMS and self.start is not None and _ITEMS.search(before):
                self.head = self.buffer[self.start : at] + b"0}"
                self.looking, self.start = ITEMS, None

    def _close(self, at: int, depth: int) -> Found | None:
        if depth < self.looking:
            self.looking, self.head = TEXTS, b""
        if depth != self.looking or self.start is None:
            return None
        start, self.start = self.start, None
        return Found(self.buffer[start : at + 1], self.offset + start, self.head)

    def _check_gap(self, at: int) -> None:
        allowed = _BETWEEN_ITEMS if self.looking else _BETWEEN_TEXTS
        if not allowed.fullmatch(self.buffer, self.last, at):
            raise MalformedError("is not JSON: something stands between two objects", self.offset + self.last)

    def _forget(self) -> None:
        """Drop what is done with; an open object is looked at again, from its first bracket, when more is there."""
        done = self.last
        if self.start is not None:
            done, self.depth = self.start, self.looking
            self.start = None
        self.buffer = self.buffer[done:]
        self.offset += done
        self.last = 0

    def end(self) -> None:
        """Raises MalformedError unless the text ended where a text may end."""
        if self.depth or not _BETWEEN_TEXTS.fullmatch(self.buffer):
            raise MalformedError("is not whole JSON: it ends in the middle", self.offset + len(self.buffer))


def _brackets(buffer: bytes, depth: int) -> Iterator[tuple[int, bool, int]]:
    """(position, does it open?, depth behind it) of the brackets near the top; `depth` is that of the beginning.

    What lies deeper than an item of a list is left out, so that this yields a few brackets for each object.
    """
    unescaped = buffer.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    text = np.frombuffer(unescaped, dtype=np.uint8)
    folded = text | 0x20  # "[" and "{" differ in this bit alone, "]" and "}" as well
    opens = folded == ord("{")
    at = np.flatnonzero(opens | (folded == ord("}")))
    quotes = np.flatnonzero(text == ord('"'))
    at = at[np.searchsorted(quotes, at) % 2 == 0]
    opening = opens[at]
    depths = depth + np.cumsum(np.where(opening, 1, -1))
    near = np.flatnonzero(depths <= np.where(opening, ITEMS + 1, ITEMS))
    return zip(at[near].tolist(), opening[near].tolist(), depths[near].tolist(), strict=True)
