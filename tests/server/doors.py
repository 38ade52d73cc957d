"""The application of a server without a process and without sockets: its doors, entered in this one."""

from __future__ import annotations

import json
from concurrent.futures import Executor
from typing import Any

from advisor.server.config import Strictness
from advisor.server.desk import Rules
from advisor.server.http import Doors
from advisor.server.metrics import Metrics
from advisor.server.scaling import Find
from tests.builders import gpus
from tests.server.asking import CATALOG, Object, Office


def doors(
    here: Office,
    threads: Executor,
    deadline: float,
    *,
    looking: Executor | None = None,
    find: Find | None = None,
    strictness: Strictness | None = None,
) -> Doors:
    rules = Rules(CATALOG, gpus(), strictness=strictness or Strictness())
    return Doors(
        desk=here.desk,
        snapshots=here.snapshots,
        rules=rules,
        deadline=deadline,
        metrics=Metrics(),
        deciding=threads,
        placing=threads,
        looking=looking or threads,
        find=find,
        certificate_fault=lambda now: "",
        clock=here.clock,
    )


async def post(entered: Doors, path: str, content: Object) -> Object:
    """One review; the response part of what comes back."""
    bare, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": "POST",
        "path": bare,
        "query_string": query.encode(),
        "headers": [(b"content-type", b"application/json")],
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(content).encode(), "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await entered.application()(scope, receive, send)
    assert sent[0]["status"] == 200
    found: Object = json.loads(sent[1]["body"])["response"]
    return found
