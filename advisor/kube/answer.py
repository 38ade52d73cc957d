"""What an answer of an API server means. Pure; the answer's own words are not repeated, it may be anybody's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from advisor.errors import InputError
from advisor.kube import decode, wire
from advisor.kube.failure import (
    EXISTS,
    FORBIDDEN,
    GONE,
    INVALID,
    NOT_FOUND,
    NOT_KUBERNETES,
    SERVER_ERROR,
    TIMEOUT,
    UNAUTHORIZED,
    ApiError,
)

T = TypeVar("T")

TOO_MANY = 429
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Answer:
    """`wait`: seconds after which the server asks to be asked again (Retry-After), None when it does not."""

    status: int
    is_json: bool
    body: bytes | bytearray = field(repr=False)
    wait: float | None = None

    @property
    def wants_patience(self) -> bool:
        """Should the same be asked again later? As client-go does: 429, or 5xx that says when."""
        return self.status == TOO_MANY or (self.status >= 500 and self.wait is not None)

    @property
    def is_status(self) -> bool:
        """Is the body a Status of the Kubernetes API, rather than of something in front of it or instead of it?"""
        try:
            return self.is_json and decode.plain(wire.ObjectHead, self.body).kind == "Status"
        except InputError:
            return False


def judged(answer: Answer, errand: str, host: str) -> bytes | bytearray:
    """The body of a good answer. Raises ApiError otherwise; `errand` reads like "list pods at cluster scope"."""
    if 200 <= answer.status < 300 and answer.is_json:
        return answer.body
    raise _failure(answer, errand, host)


def accepted(answer: Answer, errand: str, host: str) -> bytes | bytearray:
    """The body of a request to create or delete that was granted. Raises ApiError otherwise.

    Why an object was refused is told in the server's words: they are about what was sent, and that was an example.
    """
    if 200 <= answer.status < 300 and answer.is_json:
        return answer.body
    if answer.status == 403 and answer.is_status:
        raise ApiError(FORBIDDEN, f"may not {errand} (403){_said(answer)}")
    if answer.status == 409 and answer.is_status:
        raise ApiError(EXISTS, f"could not {errand}: it exists already (409)")
    if answer.status in (400, 422) and answer.is_status:
        raise ApiError(INVALID, f"{host} refused to {errand} ({answer.status}){_said(answer)}")
    raise _failure(answer, errand, host)


def _said(answer: Answer) -> str:
    try:
        text = decode.plain(wire.Told, answer.body).message
    except InputError:
        return ""
    return f": {text[:_LONGEST]}" if text and text.isprintable() else ""


def _failure(answer: Answer, errand: str, host: str) -> ApiError:
    status = answer.status
    if status == 401:
        return ApiError(UNAUTHORIZED, f"{host} does not accept the credentials (401): log in again")
    if status == TOO_MANY:
        return ApiError(TIMEOUT, f"{host} is too busy to {errand} (429)")
    if status >= 500:
        return ApiError(SERVER_ERROR, f"{host} failed to {errand} ({status})")
    if not answer.is_status:
        kind = "JSON" if answer.is_json else "something else than JSON"
        return ApiError(NOT_KUBERNETES, f"{host} is not a Kubernetes API server: it answers {status} and {kind}")
    if status == 403:
        return ApiError(FORBIDDEN, f"may not {errand} (403): a role with get and list on it is needed")
    if status == 404:
        return ApiError(NOT_FOUND, f"{host} does not know how to {errand} (404)")
    if status == 410:
        return ApiError(GONE, f"{host} could not {errand} to the end: the list changed too much meanwhile (410)")
    return ApiError(SERVER_ERROR, f"{host} refused to {errand} ({status})")


def promised(shape: type[T], body: bytes | bytearray, host: str) -> T:
    """A body as the struct that every Kubernetes API server answers with. Raises ApiError when it is other JSON."""
    try:
        return decode.plain(shape, body)
    except InputError:
        raise other_json(host) from None


def other_json(host: str) -> ApiError:
    return ApiError(NOT_KUBERNETES, f"{host} is not a Kubernetes API server: it answers with other JSON")
