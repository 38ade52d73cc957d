"""The only door to a Run:ai control plane: a few requests with a bearer token, which nothing here ever repeats.

Redirects are not followed, since the token would go along, and without TLS only the own machine is spoken to, by no
proxy.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from advisor.errors import InputError

TYPES = "/api/v1/workload-types"
CATEGORIES = "/api/v1/workload-categories"
PRIORITIES = "/api/v1/workload-priorities"
CREATED, CONFLICT = 201, 409
LARGEST = 4 << 20
"""Bytes of an answer that are read."""

_MEANINGS: Mapping[int, str] = {
    400: "did not take it (400)",
    401: "does not accept the token (401): request a new one",
    403: "does not allow that with this token (403)",
    404: "does not know this address (404): is it a control plane, and new enough for workload types?",
    503: "cannot answer now (503): try again later",
}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    data: Any


class _Unmoved(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        return None


@dataclass(frozen=True, slots=True)
class Platform:
    """A control plane. `end`: the moment of time.monotonic() after which nothing is waited for."""

    url: str
    token: str = field(repr=False)
    end: float
    opener: OpenerDirector = field(repr=False)

    def named(self, path: str, key: str, name: str, what: str) -> str:
        """The id of the category or priority of this name. Raises InputError with the names that there are."""
        listed = self.get(path, key)
        ids = {
            str(one["name"]): str(one["id"]) for one in listed if isinstance(one, dict) and {"id", "name"} <= one.keys()
        }
        found = next((ids[known] for known in ids if known.lower() == name.lower()), None)
        if found is None:
            shown = ", ".join(filter(self._may_be_shown, sorted(ids)))
            raise InputError(f'{self.host} has no {what} "{name}"', hint=f"there are {shown or 'none'}")
        return found

    def get(self, path: str, key: str) -> list[Any]:
        answer = self._ask("GET", path)
        found = answer.data.get(key) if isinstance(answer.data, dict) else None
        if answer.status != 200 or not isinstance(found, list):
            raise self._refused(answer)
        return found

    def create(self, body: Mapping[str, Any]) -> Answer:
        """201 with what was made, or 409. Raises InputError for every other answer."""
        answer = self._ask("POST", TYPES, body)
        if answer.status not in (CREATED, CONFLICT):
            raise self._refused(answer)
        return answer

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """In a thread of its own: a socket's timeout is for each of its reads, and servers may drip."""
        answer: Future[Answer] = Future()
        Thread(target=self._exchange, args=(answer, method, path, body), daemon=True).start()
        try:
            return answer.result(self._left())
        except TimeoutError:
            raise self._late() from None

    def _exchange(self, answer: Future[Answer], *asked: Any) -> None:
        try:
            answer.set_result(self._answered(*asked))
        except BaseException as error:  # noqa: BLE001 - it crosses to the thread that asked, which raises it
            answer.set_exception(error)

    def _answered(self, method: str, path: str, body: Mapping[str, Any] | None) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", "User-Agent": "wm-place"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}{path}", data=data, headers=headers, method=method)
        try:
            with self.opener.open(request, timeout=self._left()) as response:
                return Answer(response.status, _plain(response.read(LARGEST)))
        except HTTPError as error:
            with error:
                return Answer(error.code, _plain(error.read(LARGEST)))
        except ssl.SSLCertVerificationError as error:
            raise self._untrusted() from error
        except URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                raise self._untrusted() from None
            raise InputError(f"{self.host} cannot be reached: {_reason(error.reason)}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise InputError(f"{self.host} cannot be reached: {_reason(error)}") from None

    def _untrusted(self) -> InputError:
        hint = "name the certificate of its authority: --certificate-authority FILE"
        return InputError(f"{self.host} has a certificate that is not trusted", hint=hint)

    def _left(self) -> float:
        left = self.end - time.monotonic()
        if left <= 0:
            raise self._late()
        return left

    def _late(self) -> InputError:
        return InputError(f"{self.host} did not answer in time")

    def _may_be_shown(self, said: object) -> bool:
        """The server's own words, only where they cannot hold the token and cannot look like ours."""
        return isinstance(said, str) and said.isprintable() and self.token not in said

    def _refused(self, answer: Answer) -> InputError:
        """What the status means, and the server's own words."""
        said = answer.data.get("message") if isinstance(answer.data, dict) else None
        hint = str(said)[:300] if self._may_be_shown(said) else ""
        if 300 <= answer.status < 400:
            return InputError(f"{self.host} sends us elsewhere ({answer.status})", hint="name that address itself")
        if 200 <= answer.status < 300:
            return InputError(f"{self.host} is not a Run:ai control plane: it answers with something else")
        return InputError(f"{self.host} {_MEANINGS.get(answer.status, f'failed ({answer.status})')}", hint=hint)


def _plain(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the connection broke"


def open_platform(url: str, token_file: str, authority: str, seconds: float) -> Platform:
    """Raises InputError for an address, a token or a certificate that cannot be used. Contacts nobody yet."""
    whole = url.rstrip("/")
    try:
        address = urlsplit(whole)
    except ValueError:
        address = urlsplit("")
    if address.scheme not in ("http", "https") or not address.hostname or address.username or address.query:
        raise InputError("--to is not the address of a control plane", hint="such as https://app.run.ai")
    if address.scheme == "http" and not _is_own_machine(address.hostname):
        raise InputError("--to is an address without TLS, over which no token is sent", hint="write https://")
    direct = [ProxyHandler({})] if address.scheme == "http" else []
    opener = build_opener(_Unmoved(), HTTPSHandler(context=_trust(authority)), *direct)
    return Platform(whole, _token(token_file), time.monotonic() + seconds, opener)


def _is_own_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _trust(authority: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authority or None)
    except (OSError, ssl.SSLError):
        raise InputError(f"{authority} is not a certificate in PEM form") from None


def _token(path: str) -> str:
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"the token file {path} cannot be read") from None
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"the token file {path} does not hold one token")
    return token
