"""The latest of every cluster: one that hangs or refuses delays nobody, and comes back by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.errors import InputError
from advisor.kube.client import Access
from advisor.kube.collect import Live, Source
from advisor.kube.conversation import Needs
from advisor.kube.kubeconfig import load
from advisor.kube.progress import Progress
from advisor.server.store import STALE, Latest, Store
from tests.builders import NOON, cluster, gap, gpus, nodes
from tests.kube import stub
from tests.kube.stub import serving
from tests.live.pods import node
from tests.live.test_place import NAMESPACE
from tests.servers.pool import Servers

PATIENCE = 30.0


class Watched:
    """A store whose changes can be waited for."""

    def __init__(self, *sources: Source, refresh: float = 0.05) -> None:
        self._changed = threading.Condition()
        self.store = Store(sources, gpus(), refresh, self._note)

    def _note(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def __enter__(self) -> Watched:
        self.store.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.store.stop()

    def until(self, name: str, wanted: Callable[[Latest], bool]) -> Latest:
        def found() -> Latest | None:
            return next((one for one in self.store.latest() if one.name == name and wanted(one)), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, PATIENCE)
        one = found()
        assert one
        return one


@dataclass
class Told:
    """A source that gives what it is told, in turn, the last for ever."""

    name: str
    results: list[ClusterSnapshot | Exception]

    def read(self, needs: Needs, accelerators: Accelerators, progress: Progress) -> ClusterSnapshot:
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, Exception):
            raise result
        return result


GOOD = cluster(nodes=nodes(1, gpu=8), name="eu")
BAD = cluster(nodes=[], name="eu", gaps=["pods"])


@pytest.mark.parametrize("failure", [BAD, InputError("is not whole"), ValueError("a bug")])
def test_what_was_read_last_outlives_a_failure(failure: ClusterSnapshot | Exception) -> None:
    with Watched(Told("eu", [GOOD, failure])) as watched:
        found = watched.until("eu", lambda one: one.failure is not None and one.good is not None)
    assert found.good is GOOD


def test_a_failure_is_forgotten_once_it_has_passed() -> None:
    again = replace(GOOD, taken_at=NOON)
    with Watched(Told("eu", [GOOD, BAD, again])) as watched:
        found = watched.until("eu", lambda one: one.good is again)
    assert found.failure is None


def test_a_fault_of_ours_does_not_show_what_it_met() -> None:
    with Watched(Told("eu", [ValueError("token=hunter2")])) as watched:
        found = watched.until("eu", lambda one: one.tried)
    assert found.failure
    assert "hunter2" not in found.failure.text


@pytest.mark.parametrize(
    ("latest", "seconds", "why"),
    [
        (Latest("eu"), 0, "unread"),
        (Latest("eu", failed=BAD), 0, None),
        (Latest("eu", GOOD), 59, None),
        (Latest("eu", GOOD), 61, STALE),
        (Latest("eu", GOOD, BAD), 59, None),
        (Latest("eu", GOOD, BAD), 61, STALE),
        (Latest("eu", replace(GOOD, taken_at=None)), 0, STALE),
    ],
)
def test_old_data_says_nothing(latest: Latest, seconds: float, why: str | None) -> None:
    found = latest.usable(NOON + timedelta(seconds=seconds), 60.0).gap("cluster")
    assert (found.why if found else None) == why


def test_what_is_too_old_names_the_cause() -> None:
    found = Latest("eu", GOOD, replace(BAD, gaps=(gap("pods"),))).usable(later(180), 60.0).gap("cluster")
    assert found
    assert found.text == "was last read 3m ago; since then: pods: forbidden"


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def live(kubeconfig: Path, name: str, timeout: float = 20.0) -> Live:
    return Live(name, Access(load([str(kubeconfig)]).context()), timeout)


def test_one_hangs_one_refuses_and_the_third_is_read(servers: Servers, tmp_path: Path) -> None:
    fleet = servers.fleet("east", "west")
    for server in fleet:
        server.load([NAMESPACE, node("n1", 8)])
    blind = fleet["west"].token_user("blind", without=("pods",))
    with serving({"/version": stub.hang, "/api/v1/nodes": stub.hang}) as hanging:
        sources = (
            live(fleet["east"].reader_kubeconfig, "east"),
            live(blind.kubeconfig, "west"),
            Live("gone", Access(stub.context(tmp_path, hanging.url)), 1.0),
        )
        with Watched(*sources) as watched:
            east = watched.until("east", lambda one: one.good is not None)
            west = watched.until("west", lambda one: one.tried)
            gone = watched.until("gone", lambda one: one.tried)
            hanging.closing.set()
    assert east.good
    assert east.good.nodes.names == ("n1",)
    assert west.failure
    assert (west.failure.what, west.failure.why) == ("pods", "forbidden")
    assert gone.failure
    assert gone.failure.why == "timeout"


def test_a_server_that_comes_back_is_read_again(servers: Servers) -> None:
    server = servers.server("east")
    server.load([NAMESPACE, node("n1", 8)])
    with Watched(live(server.reader_kubeconfig, "east", timeout=2.0)) as watched:
        watched.until("east", lambda one: one.good is not None)
        server.pause()
        hung = watched.until("east", lambda one: one.failure is not None)
        server.resume()
        back = watched.until("east", lambda one: one.failure is None and one.good is not hung.good)
    assert hung.good is not None
    assert back.good is not None
