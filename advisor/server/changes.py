"""Changes of objects that were let in, until it shows whether they were stored.

A review is no promise: a write conflict, another webhook or the validation of the API server may come after it. What
an object said before the next update tells: where it said that before the last one, too, the last one was not stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from advisor.definitions.catalog import Catalog
from advisor.server.holds import Hold
from advisor.server.leaving import Heard
from advisor.server.request import CREATE, DELETE, UPDATE, Request
from advisor.server.wanted import is_kept_away, said, tells_nothing


@dataclass(frozen=True, slots=True)
class Change:
    """What an object said before (`old`) and after (`new`; "" once it is deleted), as digests; what was held for it and
    heard of it before. `uid`: which object of that name it was, where that is known.
    """

    old: str
    new: str
    uid: str
    before: Hold | None
    heard: Heard
    when: datetime

    def was_not_stored(self, request: Request, catalog: Catalog) -> bool:
        """Does what is changed or deleted next say what it did before this change?"""
        if request.operation not in (UPDATE, DELETE) or request.subresource or tells_nothing(request, catalog):
            return False
        uid = _metadata(request.old, "uid")
        if _metadata(request.old, "deletionTimestamp") or (self.uid and uid and uid != self.uid):
            return False
        if not self.new and self.uid and uid:
            return True
        return self.old != self.new and digest(request.old, catalog) == self.old

    def is_settled_by(self, request: Request, catalog: Catalog) -> bool:
        """Need it not be remembered any longer? A creation fails where the object is there still, and tells nothing."""
        if request.operation == CREATE:
            return not (self.new or self.uid)
        return not tells_nothing(request, catalog)


def change(request: Request, before: Hold | None, heard: Heard, when: datetime, catalog: Catalog) -> Change:
    new = digest(request.object, catalog) if request.operation == UPDATE else ""
    return Change(digest(request.old, catalog), new, _metadata(request.old, "uid"), before, heard, when)


def digest(found: Mapping[str, Any] | None, catalog: Catalog) -> str:
    """Of all that it says of its pods; what is written on it may keep them away."""
    text = json.dumps([said(found or {}), is_kept_away(found, catalog)], sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _metadata(found: Mapping[str, Any] | None, key: str) -> str:
    metadata = found.get("metadata") if found else None
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) else ""
