"""What a desk remembers of objects beside their holds: what was heard of them, and changes that may not be stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from advisor.definitions.catalog import Catalog
from advisor.server.changes import Change, change
from advisor.server.holds import Hold, Key
from advisor.server.leaving import NOTHING_HEARD, Heard, Left
from advisor.server.request import DELETE, UPDATE, Request
from advisor.server.reservations import Reservations

MOST = 100_000
"""Objects of which something was heard; of more, the first are forgotten."""


class Memory:
    """`catalog` says what keeps the pods of an object away."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._heard: dict[Key, Heard] = {}
        self._changes: dict[Key, Change] = {}

    def of(self, key: Key) -> Heard:
        return self._heard.get(key, NOTHING_HEARD)

    def keep(self, key: Key, heard: Heard) -> None:
        if heard == NOTHING_HEARD:
            self._heard.pop(key, None)
            return
        self._heard[key] = heard
        if len(self._heard) > MOST:
            del self._heard[next(iter(self._heard))]

    def not_stored(self, request: Request) -> Change | None:
        """The last change of an object, where this request shows that it was not stored."""
        change = self._changes.get(request.key)
        return change if change and change.was_not_stored(request, self._catalog) else None

    def undo(self, key: Key) -> None:
        self.keep(key, self._changes.pop(key).heard)

    def note(self, request: Request, before: Hold | None, after: Hold | None, heard: Heard, now: datetime) -> None:
        """What a request has changed that was let in, in case that it is not stored: the hold, and what was `heard`.

        Updates of what is written on an object say nothing of those before: they may have been read at any time.
        """
        key = request.key
        changed = after is not before or self.of(key) != heard
        if changed and request.operation in (UPDATE, DELETE):
            self._changes[key] = change(request, before, heard, now, self._catalog)
        elif key in self._changes and self._changes[key].is_settled_by(request, self._catalog):
            del self._changes[key]

    def forget(self, before: Reservations, after: Reservations, young: datetime, gone: Callable[[Left], bool]) -> None:
        """What is older than that, what was heard of objects whose new pods have come since, and what is `gone` of
        what was left behind.
        """
        self._changes = {key: one for key, one in self._changes.items() if one.when > young}
        came = _come(before, after) if self._heard else frozenset()
        for key, heard in list(self._heard.items()):
            known = heard.anew() if key in came else heard.at(young)
            known = replace(known, left=None) if known.left and gone(known.left) else known
            if known is not heard:
                self.keep(key, known)


def _come(before: Reservations, after: Reservations) -> frozenset[Key]:
    """Whose pods have come, of those that were waited for."""
    if before is after:
        return frozenset()
    due = {one.key: sum(one.due.values()) for one in after.holds}
    return frozenset(one.key for one in before.holds if due.get(one.key, 0) < sum(one.due.values()))
