"""`definitions test --live`: examples before real controllers, and a cluster that is as it was whatever happens."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.definitions.shipped import builtin_folder
from advisor.kube.temporary import PREFIX
from tests.cli import fleet, tutorial
from tests.cli.conftest import Ran, Run
from tests.cli.test_tutorial import control
from tests.servers import controllers
from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.pool import Servers

pytestmark = pytest.mark.servers
NAMES = (*controllers.FOR_STATIC_FLEETS, "namespace-controller")
LIMIT = 60


@pytest.fixture
def server(servers: Servers) -> Iterator[ApiServer]:
    """With the controllers of the built-in kinds; in the end no namespace of ours is left on it."""
    found = servers.server("eu")
    found.start_controller_manager(NAMES)
    yield found
    assert left(found) == []


def left(server: ApiServer) -> list[str]:
    names = [one["metadata"]["name"] for one in server.list("namespaces")]
    return [name for name in names if name.startswith(PREFIX)]


@pytest.fixture
def judge(run: Run, server: ApiServer) -> Callable[..., Ran]:
    def judge(*words: object, kubeconfig: Path = server.admin_kubeconfig) -> Ran:
        return run("definitions", "test", *words, "--live", "eu", "--kubeconfig", kubeconfig)

    return judge


@pytest.mark.parametrize("kind", ["job.batch", "deployment", "statefulset", "replicaset"])
def test_kubernetes_own_controllers_make_what_our_catalogue_says(judge: Callable[..., Ran], kind: str) -> None:
    ran = judge(kind, "--yes", "-o", "json")
    assert ran.code == 0, ran.out + ran.err
    assert len(ran.report["examples"]) >= 2
    assert "which no scheduler takes" in ran.err


def test_what_a_controller_makes_otherwise_is_shown(judge: Callable[..., Ran], folder: Path) -> None:
    ran = judge(one_pod_more(folder), "--yes", "--wait", "3s")
    assert ran.code == 1
    assert "FAILS" in ran.out and "EXPECTED" in ran.out


def one_pod_more(folder: Path) -> Path:
    """The definition of Jobs, wrong: it says one pod more than the controller makes."""
    documents = list(yaml.safe_load_all((builtin_folder() / "batch-job-v1.yaml").read_text()))
    documents[1]["spec"]["roles"][0]["replicas"] = "$scale.replicas + 1"
    documents[1]["spec"]["roles"][0]["minimum"] = "1"
    del documents[1]["spec"]["gang"]
    return fleet.write(folder / "wrong.yaml", *documents)


def test_without_a_yes_nothing_is_created(judge: Callable[..., Ran], server: ApiServer) -> None:
    ran = judge("job.batch")
    assert (ran.code, ran.out) == (2, "")
    assert "nothing was created" in ran.err


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_somebody_at_a_terminal_is_asked(server: ApiServer, folder: Path, answer: str, code: int) -> None:
    ours, theirs = pty.openpty()
    process = started(server, folder, "replicaset", stdin=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 1000)
    os.write(ours, answer.encode())
    with drained(ours):
        assert process.wait(LIMIT) == code


class drained:  # noqa: N801 - reads as a verb
    """Takes what is written to a terminal, so that nobody waits for a reader."""

    def __init__(self, terminal: int) -> None:
        self.terminal = terminal

    def __enter__(self) -> None:
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        try:
            while os.read(self.terminal, 1000):
                pass
        except OSError:
            return

    def __exit__(self, *error: object) -> None:
        """The reader ends with the other side."""


def started(server: ApiServer, folder: Path, *words: str, **streams: Any) -> subprocess.Popen[bytes]:
    door = ["--live", "eu", "--kubeconfig", str(server.admin_kubeconfig)]
    command = [sys.executable, "-m", "advisor", "definitions", "test", *words, *door]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, **streams)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_nothing(server: ApiServer, folder: Path, number: int) -> None:
    server.stop_controllers()
    server.start_controller_manager(["namespace-controller"])
    process = started(server, folder, "job.batch", "--yes", stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + LIMIT
    while not any(server.list("jobs", name) for name in left(server)):
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(LIMIT) == 130


def test_without_the_right_to_create_nothing_happens(judge: Callable[..., Ran], server: ApiServer) -> None:
    ran = judge("job.batch", "--yes", kubeconfig=server.reader_kubeconfig)
    assert ran.code in (1, 2)
    assert "may not create namespace" in ran.out + ran.err


def test_a_kind_that_the_cluster_does_not_serve(judge: Callable[..., Ran]) -> None:
    ran = judge("jobset.jobset.x-k8s.io", "--yes")
    assert ran.code == 2 and "does not serve jobset.x-k8s.io/v1alpha2 JobSet" in ran.err


@pytest.mark.parametrize("words", [("job.batch", "deployment"), (), ("mpijob",)])
def test_one_definition_at_a_time(judge: Callable[..., Ran], words: tuple[str, ...]) -> None:
    assert judge(*words, "--yes").code == 2


def test_an_object_that_the_server_refuses_is_a_fault_of_its_example(
    judge: Callable[..., Ran], server: ApiServer, folder: Path
) -> None:
    files = tutorial.files(folder)
    crd = yaml.safe_load(files["crd.yaml"].read_text())
    shape = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["grid"]
    shape["properties"]["shape"]["pattern"] = "^[0-9]+$"
    server.install(fleet.write(folder / "strict.yaml", crd))
    ran = judge("definition.yaml", "--yes", "--wait", "2s", "-o", "json")
    assert ran.code == 1
    refused = ran.report["examples"][0]["errors"][0]["text"]
    assert "refused to create GridJob six (422)" in refused and "spec.grid.shape" in refused


def test_the_kind_of_the_tutorial_before_its_controller(
    judge: Callable[..., Ran], server: ApiServer, folder: Path
) -> None:
    files = tutorial.files(folder)
    server.install(files["crd.yaml"])
    with controller(server):
        ran = judge("definition.yaml", "--yes", "-o", "json")
        assert ran.code == 0, ran.out
        text = files["definition.yaml"].read_text()
        shutil.copy("definition.yaml", "less.yaml")
        (folder / "less.yaml").write_text(
            text.replace("(1; . * $n)'", "(1; . * $n) - 1'").replace("cells: 6", "cells: 5")
        )
        less = judge("less.yaml", "--yes", "--wait", "3s", "-o", "json")
    assert less.code == 1
    (difference,) = less.report["examples"][0]["differences"]
    assert (difference["expected"], difference["found"]) == ("5", "6")


class controller:  # noqa: N801 - reads as a noun in a with statement
    """Makes the pods of every GridJob once, while it lasts."""

    def __init__(self, server: ApiServer) -> None:
        self.server, self.ended, self.done = server, threading.Event(), set[str]()
        self.thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self.thread.start()

    def _run(self) -> None:
        while not self.ended.wait(0.1):
            for one in self.server.list("gridjobs"):
                if one["metadata"]["uid"] not in self.done:
                    self.done.add(one["metadata"]["uid"])
                    try:
                        control(self.server, one)
                    except RefusedError:
                        continue  # its namespace is going already

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.thread.join()
