"""When a server is ready: snapshots and a certificate, both sides of each."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from advisor.server import states
from advisor.server.store import Latest
from tests.builders import NOON, cluster, nodes

READ = replace(cluster(nodes=nodes(1, gpu=8), name="eu"), taken_at=NOON)
FAILED = cluster(nodes=[], name="us", gaps=["cluster"])


@pytest.mark.parametrize(
    ("latest", "certificate", "reason"),
    [
        ([Latest("eu", READ)], "", ""),
        ([Latest("eu", READ), Latest("us", failed=FAILED)], "", ""),
        ([Latest("eu", READ), Latest("us")], "", "not read yet: us"),
        ([Latest("us", failed=FAILED)], "", "no cluster could be read"),
        ([Latest("eu", READ)], "the certificate has ended", "the certificate has ended"),
    ],
)
def test_what_keeps_reviews_away(latest: list[Latest], certificate: str, reason: str) -> None:
    assert states.unready(latest, certificate) == reason


@pytest.mark.parametrize(
    ("latest", "seconds", "said"),
    [
        ([Latest("eu", READ)], 60, "ok"),
        ([Latest("eu", READ)], 61, "ok, without eu"),
        ([Latest("eu", READ), Latest("us", failed=FAILED)], 60, "ok, without us"),
    ],
)
def test_data_that_has_grown_old_keeps_nobody_away_and_is_told(latest: list[Latest], seconds: int, said: str) -> None:
    assert states.unready(latest, "") == ""
    assert states.ready(latest, NOON + timedelta(seconds=seconds), 60.0) == said
