"""Hundreds of requests that nobody honest would send: each gets an answer, and the process stays what it was."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.server.asking import Object, body, deployment, job
from tests.server.served import Served

Sent = tuple[str, str, bytes]
"""Path, media type, body."""

REVIEWS = ("/v1/review/advise", "/v1/review/enforce")
MEDIA = ("application/json", "application/yaml", "text/plain", "", "multipart/form-data", "application/json; x=\x01")
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    1.5e300,
    "",
    "\ud800",
    "\x00\x1b[31m",
    "9" * 5000,
    "x" * 100_000,
    [],
    {},
    [[]] * 50,
    {"": None},
    {"containers": [{"name": "a"}]},
)


def deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = {"a": found}
    return found


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to everything in a tree."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def put(tree: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        tree = tree[step]
    tree[path[-1]] = value


def spoiled(review: Object, dice: random.Random) -> Object:
    """A good review with some of its parts replaced by anything."""
    found = deepcopy(review)
    for _ in range(dice.randint(1, 3)):
        put(found, dice.choice(list(places(found))), deepcopy(dice.choice([*VALUES, deep(150)])))
    return found


def hostile(seed: int) -> Sent:
    dice = random.Random(seed)
    good = dice.choice(
        [
            body("CREATE", job(), dryRun=True),
            body("CREATE", deployment(pods=3), dryRun=True),
            body("UPDATE", deployment(pods=3), deployment(pods=1), dryRun=True),
            body("DELETE", None, job(), dryRun=True),
        ]
    )
    text = json.dumps(good).encode()
    path, media = dice.choice(REVIEWS), "application/json"
    match seed % 10:
        case 0:
            return path, media, dice.randbytes(dice.randint(0, 5000))
        case 1:
            return path, media, text[: dice.randint(0, len(text))]
        case 2:
            return path, dice.choice(MEDIA[1:]), text
        case 3:
            return path, media, json.dumps({**good, "apiVersion": f"admission.k8s.io/v{dice.randint(2, 99)}"}).encode()
        case 4:
            return "/v1/place", dice.choice(MEDIA[:3]), dice.choice([dice.randbytes(2000), text, BOMB, b"- " * 50_000])
        case 5:
            return "/v1/place", media, json.dumps(spoiled(job(), dice)).encode()
    return path, media, json.dumps(spoiled(good, dice)).encode()


BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b",".join([b"*%c" % (letter - 1)] * 9)) for letter in range(ord("b"), ord("k"))
)
EXTREME: tuple[Sent, ...] = (
    ("/v1/review/advise", "application/json", b" " * 20_000_000),
    ("/v1/place", "application/json", b"[" * 20_000_000),
    ("/v1/review/advise", "application/json", b'{"a":' * 1_000_000),
    ("/v1/place", "application/yaml", b"{" * 100_000),
    ("/v1/review/advise", "application/json", json.dumps({**body("CREATE", job()), "more": "x" * 7_000_000}).encode()),
)


def send(server: Served, sent: Sent) -> None:
    path, media, content = sent
    headers = {"Content-Type": media.replace("\x01", "")} if media else {}
    answer = server.http.request("POST", path, body=content, headers=headers)
    assert answer.status == 200 or 400 <= answer.status < 500, (sent[0], sent[2][:500], answer.data)
    if answer.status == 200 and path in REVIEWS:
        response = json.loads(answer.data)["response"]
        assert isinstance(response["uid"], str)
        assert isinstance(response["allowed"], bool)
        assert "fault of wm-place" not in answer.data.decode(), sent[2][:500]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
def test_whatever_is_sent_gets_an_answer_and_leaves_nothing_behind(server: Served) -> None:
    for seed in range(100):
        send(server, hostile(seed))
    for extreme in EXTREME:
        send(server, extreme)
    before = server.memory()
    for seed in range(100, 400):
        send(server, hostile(seed))
    for extreme in EXTREME:
        send(server, extreme)
    assert server.memory() - before < 32 << 20
    assert server.review(body("CREATE", job(), dryRun=True))["allowed"]
    assert server.held() == 0
