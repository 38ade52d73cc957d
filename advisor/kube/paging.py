"""Lists in pages: one moment of the server from the first page to the last (capacity.md 14.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from advisor.errors import InputError
from advisor.kube import decode
from advisor.kube.answer import other_json, promised
from advisor.kube.failure import GONE, ApiError

JSON = "application/json"
SIZE = 1000
"""Objects in a page: fewer cost the server more time, more cost us memory."""

RESTARTS = 3


class Reader(Protocol):
    host: str

    def read(self, path: str, errand: str, *, accept: str = ..., **query: str | int) -> bytes | bytearray: ...


@dataclass(frozen=True, slots=True)
class Page:
    """The body of one page. `first`: whatever came before is void, the list starts (again)."""

    body: bytes | bytearray
    first: bool


def pages(api: Reader, path: str, errand: str, *, accept: str = JSON, **query: str | int) -> Iterator[Page]:
    """All pages of a list; from the start again when the server has forgotten that moment (410). Raises ApiError."""
    for last_try in (*[False] * RESTARTS, True):
        try:
            yield from _pages(api, path, errand, accept, query)
            return
        except ApiError as error:
            if error.cause != GONE or last_try:
                raise


def items(api: Reader, path: str, errand: str, *, accept: str = JSON) -> list[dict[str, Any]]:
    """The members of a list as plain data, of one moment. Raises ApiError."""
    found: list[dict[str, Any]] = []
    for page in pages(api, path, errand, accept=accept):
        if page.first:
            found.clear()
        found += promised(dict[str, Any], page.body, api.host).get("items") or ()
    return found


def _pages(api: Reader, path: str, errand: str, accept: str, query: dict[str, str | int]) -> Iterator[Page]:
    body = api.read(path, errand, accept=accept, limit=SIZE, **query)
    yield Page(body, first=True)
    while token := _next(api, body):
        body = api.read(path, errand, accept=accept, limit=SIZE, **query, **{"continue": token})
        yield Page(body, first=False)


def _next(api: Reader, body: bytes | bytearray) -> str:
    """The continue token; "" after the last page."""
    try:
        head = decode.head(body)
    except InputError:
        raise other_json(api.host) from None
    if not head.kind.endswith("List"):
        raise other_json(api.host)
    return head.metadata.next or ""
