"""Connections that are held open for nothing, and more requests than can be answered at once: both sides of each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from advisor.server import bodies
from advisor.server.connections import Application, Connection, limited

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Open = Callable[[], Awaitable[Streams]]


class Hasty(Connection):
    begin = 0.1
    most = 3


async def ok(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("ok")(scope, receive, send)


@asynccontextmanager
async def served(app: Application) -> AsyncIterator[Open]:
    """A way to connect to the application."""
    settings = uvicorn.Config(app, http=Hasty, log_config=None, access_log=False, lifespan="off", timeout_keep_alive=60)
    settings.load()
    state = ServerState()
    made = await asyncio.get_running_loop().create_server(lambda: Hasty(settings, state, {}), "127.0.0.1", 0)
    port = made.sockets[0].getsockname()[1]
    opened: list[asyncio.StreamWriter] = []

    async def connect() -> Streams:
        streams = await asyncio.open_connection("127.0.0.1", port)
        opened.append(streams[1])
        return streams

    yield connect
    for writer in opened:
        writer.close()
    made.close()


async def answered(streams: Streams, request: bytes = GET) -> bytes:
    """The status line and the body of the answer."""
    reader, writer = streams
    writer.write(request)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
    length = next(int(line.split()[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    return head.split(b" ")[1] + b" " + await reader.readexactly(length)


async def closed(streams: Streams) -> bool:
    """Does the other side end it, by and by?"""
    try:
        return await asyncio.wait_for(streams[0].read(), 30) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: he"])
def test_who_begins_no_request_is_left(said: bytes) -> None:
    async def run() -> None:
        async with served(ok) as connect:
            streams = await connect()
            streams[1].write(said)
            assert await closed(streams)

    asyncio.run(run())


def test_who_begins_a_second_request_and_never_ends_it_is_left() -> None:
    async def run() -> None:
        async with served(ok) as connect:
            streams = await connect()
            assert await answered(streams) == b"200 ok"
            streams[1].write(b"GET")
            assert await closed(streams)

    asyncio.run(run())


def test_a_connection_is_kept_between_two_requests() -> None:
    async def run() -> None:
        async with served(ok) as connect:
            streams = await connect()
            assert await answered(streams) == b"200 ok"
            await asyncio.sleep(3 * Hasty.begin)
            assert await answered(streams) == b"200 ok"

    asyncio.run(run())


def test_an_answer_may_take_its_time() -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(3 * Hasty.begin)
        await ok(scope, receive, send)

    async def run() -> None:
        async with served(slow) as connect:
            assert await answered(await connect()) == b"200 ok"

    asyncio.run(run())


def test_one_too_many_takes_the_place_of_the_longest_idle() -> None:
    """Never of one that is being answered."""
    free = asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/wait":
            await free.wait()
        await ok(scope, receive, send)

    async def run() -> None:
        async with served(wait) as connect:
            busy = await connect()
            busy[1].write(GET.replace(b"/ ", b"/wait "))
            idle = [await connect() for _ in range(2)]
            for streams in idle:
                assert await answered(streams) == b"200 ok"
            assert await answered(await connect()) == b"200 ok"
            assert await closed(idle[0])
            assert await answered(idle[1]) == b"200 ok"
            free.set()
            assert await answered(busy, b"") == b"200 ok"

    asyncio.run(run())


def test_one_request_too_many_is_told_so_and_the_probe_is_answered() -> None:
    free = asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/":
            await free.wait()
        await ok(scope, receive, send)

    async def run() -> None:
        async with served(limited(wait, most=1)) as connect:
            first = await connect()
            first[1].write(GET)
            other = GET.replace(b"/ ", b"/other ")
            while (said := await answered(await connect(), other)).startswith(b"200"):
                await asyncio.sleep(0)
            assert said.startswith(b"503 ")
            assert b"1 requests are being answered" in said
            assert await answered(await connect(), GET.replace(b"/ ", b"/healthz ")) == b"200 ok"
            free.set()
            assert await answered(first, b"") == b"200 ok"
            assert await answered(await connect()) == b"200 ok"

    asyncio.run(run())


@pytest.mark.parametrize("parts", [[], [b"{"], [b"{", b"}"]])
def test_a_body_that_does_not_come_is_not_waited_for(parts: list[bytes]) -> None:
    whole, left = len(parts) == 2, list(parts)

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left) or not whole}

    headers = [(b"content-type", b"application/json")]
    asked = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    if whole:
        assert asyncio.run(bodies.body(asked, bodies.JSON)) == b"{}"
        return
    with pytest.raises(HTTPException) as found:
        asyncio.run(bodies.body(asked, bodies.JSON, patience=0.05))
    assert (found.value.status_code, found.value.detail) == (408, "the body did not come within 0.05 s")
