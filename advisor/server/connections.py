"""Connections: how many there may be, and how long one may keep a place for nothing.

Whoever opens connections and sends nothing must not keep an API server out, and least of all the probe that would
have us restarted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from advisor.server import bodies

GOODBYE = 0.2
"""Seconds between two looks whether a connection that we have closed has said all; its client may never answer."""

AT_ONCE = 256
"""Requests being answered at the same time; beyond that there is a 503, which is cheaper than no memory."""

ALIVE = "/healthz"
"""Answered whatever else is going on."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]
"""Of ASGI; the first is the scope of a request."""


def limited(answer: Application, most: int = AT_ONCE) -> Application:
    """The application, busy with so many requests at most."""
    busy = 0

    async def application(scope: Message, receive: Receive, send: Send) -> None:
        nonlocal busy
        if busy >= most and scope.get("path") != ALIVE:
            await bodies.error(503, f"{most} requests are being answered; try again")(scope, receive, send)
            return
        busy += 1
        try:
            await answer(scope, receive, send)
        finally:
            busy -= 1

    return application


class Connection(H11Protocol):
    """One that ends with the process, and when it is held open for nothing.

    begin  seconds for the head of a request, from the first byte of it or from the beginning
    most   connections; one more takes the place of the one that has been idle for the longest time
    """

    begin: ClassVar[float] = 10.0
    most: ClassVar[int] = 1000

    _hurry: asyncio.TimerHandle | None = None
    _since: float = 0.0

    @property
    def busy(self) -> bool:
        """Is a request being answered?"""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._wait()
        idle = [one for one in self.connections if isinstance(one, Connection) and one is not self and not one.busy]
        if len(self.connections) > self.most and idle:
            min(idle, key=lambda one: one._since).transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.busy:
            self._wait_no_more()
        elif self._hurry is None:
            self._wait()

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """TLS would wait for a goodbye that an idle client does not send."""
        super().shutdown()
        self.loop.call_later(GOODBYE, self._part)

    def _part(self) -> None:
        if self.transport.is_closing() and not self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.loop.call_later(GOODBYE, self._part)

    def _wait(self) -> None:
        self._hurry = self.loop.call_later(self.begin, self.transport.abort)

    def _wait_no_more(self) -> None:
        if self._hurry is not None:
            self._hurry.cancel()
            self._hurry = None
