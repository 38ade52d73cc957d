"""What is not decided in time is let in with a warning, and the late decision holds no room."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from advisor.server.desk import Rules
from advisor.server.http import Doors
from advisor.server.metrics import Metrics
from tests.builders import cluster, gpus, nodes
from tests.server.asking import CATALOG, Object, Office, body, job, office


def doors(here: Office, deciding: ThreadPoolExecutor, deadline: float) -> Doors:
    rules = Rules(CATALOG, gpus())
    return Doors(here.desk, here.snapshots, rules, deadline, Metrics(), deciding, deciding, here.clock)


async def post(entered: Doors, path: str, content: Object) -> Object:
    """One request to the application, without a socket."""
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


def asked_while_busy(path: str, deadline: float) -> tuple[Object, Office]:
    """The answer while the deciding thread has something else to do; then that ends, and the late decision is made."""
    here, free = office(cluster(nodes=nodes(2, gpu=8))), threading.Event()
    with ThreadPoolExecutor(1) as deciding:
        deciding.submit(free.wait)
        try:
            answer = asyncio.run(post(doors(here, deciding, deadline), path, body("CREATE", job(pods=2))))
        finally:
            free.set()
    return answer, here


def test_our_own_deadline_lets_in_with_a_warning() -> None:
    answer, here = asked_while_busy("/v1/review/enforce", 0.05)
    assert answer["allowed"] is True
    assert answer["warnings"] == [
        "wm-place: not decided within 0.05 s, so it is let in without advice, and no room is held for it"
    ]
    assert answer["auditAnnotations"] == {"decision": "undecided"}
    assert here.held == 0


def test_the_patience_of_the_api_server_counts_too() -> None:
    answer, here = asked_while_busy("/v1/review/advise?timeout=550ms", 60.0)
    assert answer["auditAnnotations"] == {"decision": "undecided"}
    assert here.held == 0


def test_what_is_decided_in_time_is_kept() -> None:
    here = office(cluster(nodes=nodes(2, gpu=8)))
    with ThreadPoolExecutor(1) as deciding:
        entered = doors(here, deciding, 60.0)
        answer = asyncio.run(post(entered, "/v1/review/advise?timeout=60s", body("CREATE", job(pods=2))))
    assert answer["auditAnnotations"]["decision"] == "fits"
    assert here.held == 2
