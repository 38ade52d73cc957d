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

from advisor.server.holds import Hold
from advisor.server.request import UPDATE, Request
from advisor.server.wanted import said, says_the_same


@dataclass(frozen=True, slots=True)
class Change:
    """What an object said before (`old`) and after (`new`; "" once it is deleted), as digests; what was held before."""

    old: str
    new: str
    before: Hold | None
    when: datetime

    def was_not_stored(self, request: Request) -> bool:
        """Does the next update start from what was before this change?"""
        if request.operation != UPDATE or request.subresource or _is_going(request.old) or says_the_same(request):
            return False
        return self.old != self.new and digest(request.old) == self.old


def change(request: Request, before: Hold | None, when: datetime) -> Change:
    new = digest(request.object) if request.operation == UPDATE else ""
    return Change(digest(request.old), new, before, when)


def digest(found: Mapping[str, Any] | None) -> str:
    return blake2b(json.dumps(said(found or {}), sort_keys=True).encode(), digest_size=16).hexdigest()


def _is_going(found: Mapping[str, Any] | None) -> bool:
    """Is it deleted already, and only waits for those who look after it to let go of it?"""
    metadata = found.get("metadata") if found else None
    return isinstance(metadata, dict) and bool(metadata.get("deletionTimestamp"))
