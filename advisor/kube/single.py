"""One object of a cluster, as its API server gives it."""

from __future__ import annotations

import re
from typing import Any

from advisor.kube.answer import promised
from advisor.kube.client import Access
from advisor.kube.deadline import Deadline
from advisor.kube.failure import INVALID, ApiError

_WORD = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
"""What groups, versions, resources and the names of most objects are made of; no way to another path."""


def read(access: Access, resource: tuple[str, str, str], namespace: str, name: str, seconds: float) -> dict[str, Any]:
    """`resource`: group, version and plural. Raises ApiError, also for names that no such object can have."""
    group, version, plural = resource
    if not all(map(_WORD.fullmatch, filter(None, (group, version, plural, namespace, name)))) or not (plural and name):
        raise ApiError(INVALID, "it has a name that no object can have")
    start = f"/apis/{group}/{version}" if group else f"/api/{version}"
    deadline = Deadline(seconds)
    with access.open(deadline) as api:
        body = api.read(f"{start}/namespaces/{namespace}/{plural}/{name}", f"get {plural} {namespace}/{name}")
        return promised(dict[str, Any], body, api.host)
