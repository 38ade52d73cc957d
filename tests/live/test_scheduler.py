"""Our verdict and the real kube-scheduler's deed, side by side, on every capacity case that we judge.

A yes is handed to the scheduler with each pod pinned to the node that we propose: all of them must be bound. A yes "in
any order" is handed to it as it is, too. A no is tried without pins: had the scheduler bound all, we were wrong.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.advise import advise
from advisor.verdict import ANY_ORDER, Verdict
from advisor.workload import Workload
from tests import corpus
from tests.live import pods
from tests.servers import judge
from tests.servers.pool import Servers
from tests.test_corpus_cases import JUDGED, question

PAIRS = [(path, one["name"]) for path in JUDGED for one in corpus.data(path)["clusters"]]
pytestmark = [pytest.mark.corpus, corpus.needed]


def verdict(path: Path, cluster: str) -> tuple[Workload, Verdict]:
    asked, _ = question(path)
    (found,) = advise(asked).answers
    return found.workload, next(verdict for verdict in found.verdicts if verdict.cluster == cluster)


def proposed(workload: Workload, found: Verdict) -> list[pods.Object]:
    """Each pod, pinned to a node of the assignment."""
    assert found.placement
    nodes = {
        role: [node for node, count in there.items() for _ in range(count)]
        for role, there in found.placement.assignment.items()
    }
    return [judge.pin(pod, nodes[role.name].pop()) for role, pod in pods.of(workload)]


@pytest.mark.parametrize(("path", "cluster"), PAIRS, ids=[f"{path.stem}-{cluster}" for path, cluster in PAIRS])
def test_the_scheduler_agrees(servers: Servers, path: Path, cluster: str) -> None:
    (case,) = [one for one in corpus.data(path)["clusters"] if one["name"] == cluster]
    server = servers.server(cluster)
    kinds = {(one["apiVersion"].rpartition("/")[0], one["kind"]) for one in case["objects"]}
    server.install(*corpus.definitions(kinds))
    server.load(case["objects"])
    workload, found = verdict(path, cluster)
    gang = [pod for _, pod in pods.of(workload)]
    if found.verdict == "fits":
        assert found.placement
        ruling = judge.rule(server, proposed(workload, found))
        assert not ruling.refused, f"{found.placement} was refused"
        if found.placement.assurance == ANY_ORDER:
            assert not judge.rule(server, gang).refused
    else:
        ruling = judge.rule(server, gang)
        assert ruling.refused, f"{found.verdict}, and the scheduler bound {ruling.bound}"
