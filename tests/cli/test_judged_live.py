"""`definitions test --live`: examples before real controllers, and a cluster that is as it was whatever happens."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
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

pytestmark = [pytest.mark.servers, pytest.mark.controllers]
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
    assert "every other pod that comes of it MAY BE SCHEDULED AND RUN\n" in ran.err


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


@pytest.mark.parametrize(
    "numbers",
    [
        [signal.SIGINT],
        [signal.SIGTERM],
        [signal.SIGQUIT],
        [signal.SIGHUP],
        [signal.SIGHUP, signal.SIGHUP, signal.SIGTERM],
    ],
)
def test_an_interruption_leaves_nothing(server: ApiServer, folder: Path, numbers: list[int]) -> None:
    """A terminal that closes sends several signals."""
    process = waiting(server, folder, preexec_fn=hear_signals)
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.2)
    _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert b"ended on request, nothing is left in cluster eu" in said


def test_a_terminal_that_closes_leaves_nothing(server: ApiServer, folder: Path) -> None:
    """Then there is nobody to be told, either."""
    ours, theirs = pty.openpty()
    process = waiting(server, folder, stdin=theirs, stderr=theirs, start_new_session=True, preexec_fn=take_terminal)
    os.close(theirs)
    os.close(ours)
    assert process.wait(LIMIT) == 130


def take_terminal() -> None:
    hear_signals()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def hear_signals() -> None:
    """Whoever runs the tests in the background may have it ignore some."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def test_what_nohup_has_it_ignore_does_not_end_it(server: ApiServer, folder: Path) -> None:
    process = waiting(server, folder, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130


def waiting(server: ApiServer, folder: Path, **more: Any) -> subprocess.Popen[bytes]:
    """A run whose object is there, and whose pods nobody makes."""
    server.stop_controllers()
    server.start_controller_manager(["namespace-controller"])
    streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}
    process = started(server, folder, "job.batch", "--yes", **streams)
    limit = time.monotonic() + LIMIT
    while not any(server.list("jobs", name) for name in left(server)):
        assert time.monotonic() < limit and process.poll() is None
        time.sleep(0.05)
    return process


def test_who_may_create_and_not_delete_creates_nothing(judge: Callable[..., Ran], server: ApiServer) -> None:
    user = server.token_user("maker")
    permit(server, "maker", "reader-0", {"apiGroups": ["", "batch"], "resources": ["namespaces", "jobs"]})
    ran = judge("job.batch", "--yes", kubeconfig=user.kubeconfig)
    assert (ran.code, ran.out) == (2, "")
    assert "may not delete namespaces: nothing was created" in ran.err


def permit(server: ApiServer, name: str, user: str, rule: dict[str, Any]) -> None:
    api = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": name}}
    server.create({**role, "rules": [{**rule, "verbs": ["create", "get"]}]})
    binding = {"apiVersion": f"{api}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name}}
    to = {"apiGroup": api, "kind": "ClusterRole", "name": name}
    server.create({**binding, "roleRef": to, "subjects": [{"apiGroup": api, "kind": "User", "name": user}]})


def test_it_ends_at_the_first_deletion_that_is_refused(judge: Callable[..., Ran], server: ApiServer) -> None:
    """Admission may refuse what authorization allows; what was compared by then is shown."""
    names = [refusing("ValidatingAdmissionPolicy", POLICY), refusing("ValidatingAdmissionPolicyBinding", BINDING)]
    kept = [server.create(one) for one in names]
    await_refusal(server)
    try:
        ran = judge("job.batch", "--yes", "-o", "json")
    finally:
        for one in kept:
            server.delete(one)
    stays = left(server)
    assert ran.code == 2 and len(stays) == 1
    assert f"namespace {stays[0]} may be left: kubectl delete namespace {stays[0]}" in ran.err
    first, *others = ran.report["examples"]
    assert first["holds"] is True and others
    assert {one["untried"] for one in others} == {"it ended before, because a namespace could not be deleted"}
    take_away(server, *stays, "tried")


RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["namespaces"], "operations": ["DELETE"]}
POLICY = {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "false", "message": "no"}]}
BINDING = {"policyName": "keep", "validationActions": ["Deny"]}


def refusing(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "keep"}, "spec": spec}


def await_refusal(server: ApiServer) -> None:
    """A policy takes effect a moment after it is there."""
    limit = time.monotonic() + LIMIT
    server.create(fleet.namespace("tried"))
    while time.monotonic() < limit:
        try:
            server.delete(server.get("namespaces", "tried"))
        except RefusedError as error:
            if error.status in (403, 422):
                return
        if not any(one["metadata"]["name"] == "tried" for one in server.list("namespaces")):
            server.create(fleet.namespace("tried"))
        time.sleep(0.1)
    raise AssertionError("no deletion was refused")


def take_away(server: ApiServer, *names: str) -> None:
    """The policy is forgotten a moment after it is gone, too."""
    limit = time.monotonic() + LIMIT
    while there := {*names} & {one["metadata"]["name"] for one in server.list("namespaces")}:
        assert time.monotonic() < limit
        for name in there:
            try:
                server.delete(server.get("namespaces", name))
            except RefusedError:
                continue
        time.sleep(0.1)


def test_what_comes_at_times_of_its_own_is_not_tried(judge: Callable[..., Ran], server: ApiServer) -> None:
    ran = judge("cronjob.batch", "--yes")
    assert ran.code == 4
    assert "FAILS" not in ran.out and ran.out.count("not tried  batch-cronjob-v1") == 2
    assert "its pods come at times of its own" in ran.out
    assert "0 of 0 examples come out as they say, 2 not tried" in ran.out
    assert "creates" not in ran.err


def test_what_needs_an_object_outside_of_namespaces_is_not_tried(judge: Callable[..., Ran], folder: Path) -> None:
    documents = list(yaml.safe_load_all((builtin_folder() / "batch-job-v1.yaml").read_text()))
    examples = documents[1]["spec"]["examples"] = documents[1]["spec"]["examples"][:2]
    beside = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "x"}, "value": 1}
    examples[0]["with"] = [beside]
    ran = judge(fleet.write(folder / "with.yaml", *documents), "--yes", "-o", "json")
    assert ran.code == 0, ran.out + ran.err
    first, second = ran.report["examples"]
    assert (first["holds"], second["holds"]) == (None, True)
    assert first["untried"] == "it needs PriorityClass, which is in no namespace, and so cannot be made for a moment"


def test_kinds_that_may_not_be_created_are_not_tried(judge: Callable[..., Ran], server: ApiServer) -> None:
    user = server.token_user("maker")
    rule = {"apiGroups": [""], "resources": ["namespaces"]}
    permit(server, "maker", "reader-0", rule)
    role = server.get("clusterroles", "maker")
    server.patch(role, {"rules": [{**rule, "verbs": ["create", "get", "delete"]}]})
    ran = judge("job.batch", "--yes", kubeconfig=user.kubeconfig)
    assert ran.code == 4 and "may not create jobs.batch in namespaces of eu" in ran.out


def test_pods_that_name_a_node_are_said_to_run(judge: Callable[..., Ran], folder: Path) -> None:
    documents = list(yaml.safe_load_all((builtin_folder() / "batch-job-v1.yaml").read_text()))
    (example, *_) = documents[1]["spec"]["examples"]
    example["manifest"]["spec"]["template"]["spec"]["nodeName"] = "n-01"
    documents[1]["spec"]["examples"] = [example]
    ran = judge(fleet.write(folder / "named.yaml", *documents))
    assert "MAY BE SCHEDULED AND RUN, such as those of" in ran.err


def test_without_the_right_to_create_nothing_happens(judge: Callable[..., Ran], server: ApiServer) -> None:
    ran = judge("job.batch", "--yes", kubeconfig=server.reader_kubeconfig)
    assert (ran.code, ran.out) == (2, "")
    assert "may not create namespaces: nothing was created" in ran.err


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
