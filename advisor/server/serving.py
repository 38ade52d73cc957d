"""The process: sockets, signals, threads, and an end that lets everybody finish."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import uvicorn
from starlette.applications import Starlette

from advisor.errors import InputError
from advisor.kube.collect import Source
from advisor.server import certificate, logs
from advisor.server.certificate import Certificate
from advisor.server.config import Config
from advisor.server.connections import Connection, limited
from advisor.server.desk import Desk, Rules
from advisor.server.http import Doors
from advisor.server.metrics import Metrics
from advisor.server.scaling import Find
from advisor.server.store import Store

KEEP_ALIVE = 120
"""Seconds. An API server closes idle connections after 90: when it is us, a review may meet a closed door."""

DRAIN = 10
"""Seconds for requests that are being answered when the process is told to end."""

LOOKS = 8
"""Objects of the management cluster that are looked at at the same time."""


def serve(config: Config, sources: tuple[Source, ...], rules: Rules, find: Find | None) -> None:
    """Until SIGTERM or SIGINT. Raises InputError for an address or a certificate that cannot be used."""
    pair = Certificate(config.certificate, config.key)
    door = listener(config)
    metrics = Metrics()
    deciding, placing = ThreadPoolExecutor(1, "deciding"), ThreadPoolExecutor(1, "placing")
    store = Store(sources, rules.accelerators, config.refresh, lambda: deciding.submit(desk.look), rules.referred)
    desk = Desk(store, rules, now)
    looking = ThreadPoolExecutor(LOOKS, "looking")
    doors = Doors(desk, store, rules, config.deadline, metrics, deciding, placing, looking, find, pair.fault, now)
    logs.say("listening", address=config.address, port=door.getsockname()[1], clusters=[one.name for one in sources])
    store.start()
    try:
        asyncio.run(_until_told(doors.application(), door, pair, metrics))
    finally:
        store.stop()
        logs.say("ended")


def now() -> datetime:
    return datetime.now(UTC)


def listener(config: Config) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.address else socket.AF_INET
    try:
        return socket.create_server((config.address, config.port), family=family, backlog=512)
    except OSError as error:
        raise InputError(f"cannot listen on {config.address} port {config.port}: {error.strerror}") from None


async def _until_told(app: Starlette, door: socket.socket, pair: Certificate, metrics: Metrics) -> None:
    settings = uvicorn.Config(
        limited(app),
        http=Connection,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=DRAIN,
    )
    settings.load()
    settings.ssl = pair.context
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _heard)

    def tell(error: InputError | None) -> None:
        metrics.reloaded(well=error is None)
        level = logging.WARNING if error else logging.INFO
        logs.say("certificate", level, result="failed" if error else "reloaded", error=str(error) if error else None)

    keeping = asyncio.create_task(certificate.keep(pair, tell))
    await uvicorn.Server(settings).serve(sockets=[door])
    keeping.cancel()


def _heard(number: int, frame: object) -> None:
    """uvicorn raises the signal again once it has ended; by then there is nothing left to do."""
