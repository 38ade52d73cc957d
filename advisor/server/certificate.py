"""The server's certificate: read anew when its files change, without dropping a connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from advisor.errors import Fault, InputError, Where
from advisor.server.validity import Validity, validity

EVERY = 2.0
"""Seconds between two looks at the files. A mounted Secret arrives within a minute anyway."""


class Certificate:
    """The context that every new connection begins with, and the pair that it is served with.

    A context keeps one certificate of each type of key, so every pair has a context of its own, and the one that
    connections begin with has none.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        """Raises InputError for files that cannot be used."""
        self._files = (certificate, key)
        self._mark = self._state()
        self._current, self._validity = self._loaded()
        self.context = _context()
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, begun: ssl.SSLContext) -> None:
        """Asked at every handshake, whether the client names the server or not."""
        connection.context = self._current

    def fault(self, now: datetime) -> str:
        """Why no client believes the pair in use now; empty while it may."""
        return self._validity.fault(now) if self._validity else ""

    def _loaded(self) -> tuple[ssl.SSLContext, Validity | None]:
        context = _context()
        certificate, key = self._files
        try:
            context.load_cert_chain(certificate, key)
            return context, validity(certificate.read_text(errors="replace"))
        except OSError as error:
            why = "key and certificate cannot be used together" if isinstance(error, ssl.SSLError) else error.strerror
            place = Path(error.filename) if error.filename else certificate
            raise InputError.of([Fault(f"cannot be used: {why}", where=Where(str(place)))]) from None

    def renew(self) -> bool:
        """Have the files changed? Then the new ones serve from now on. Raises InputError, and the old ones stay."""
        state = self._state()
        if state == self._mark:
            return False
        self._current, self._validity = self._loaded()
        self._mark = state
        return True

    def _state(self) -> tuple[object, ...]:
        """What changes with the files, also where a link is pointed at others."""
        return tuple(_mark(path) for path in self._files)


async def keep(certificate: Certificate, tell: Callable[[InputError | None], None]) -> None:
    """For ever; `tell` hears of every change, with what was wrong with it."""
    while True:
        await asyncio.sleep(EVERY)
        try:
            if certificate.renew():
                tell(None)
        except InputError as error:
            tell(error)


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _mark(path: Path) -> tuple[int, int, int] | None:
    """None while the file is not there."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
