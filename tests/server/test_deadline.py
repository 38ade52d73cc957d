"""What is not decided in time is let in with a warning, and the late decision holds no room."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.builders import cluster, nodes
from tests.server.asking import Object, Office, body, job, office
from tests.server.doors import doors, post


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
