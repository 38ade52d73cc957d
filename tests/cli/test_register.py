"""`definitions register`: the request as it is printed and as it is sent, and a token that nothing ever shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from advisor.definitions.shipped import builtin_folder
from tests.cli import control_plane
from tests.cli.conftest import Ran, Run
from tests.cli.control_plane import CATEGORIES, MADE, PRIORITIES, TOKEN, ControlPlane, Handler
from tests.cli.fleet import definition, write
from tests.servers.certificates import Authority

CHOSEN = ("--category", "train", "--priority", "high")


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    with control_plane.running() as found:
        yield found


@pytest.fixture
def ask(run: Run, folder: Path) -> Iterator[Callable[..., Ran]]:
    """Runs `definitions register`; whatever comes of it, the token is nowhere."""
    token = folder / "token"
    token.write_text(f"{TOKEN}\n")
    seen: list[Ran] = []

    def ask(*words: object, to: str = "", chosen: tuple[str, ...] = CHOSEN) -> Ran:
        door = ("--to", to, "--token-file", token) if to else ()
        seen.append(run("definitions", "register", *words, *chosen, *door))
        return seen[-1]

    yield ask
    for ran in seen:
        assert TOKEN not in ran.out + ran.err
        assert "fault of wm-place" not in ran.err


def spec_of(name: str) -> Any:
    return next(yaml.safe_load_all((builtin_folder() / f"{name}.yaml").read_text()))["spec"]


class TestPrinted:
    def test_the_request(self, ask: Callable[..., Ran]) -> None:
        ran = ask("jobset")
        assert ran.code == 0
        assert json.loads(ran.out) == {
            "name": "JobSet",
            "group": "jobset.x-k8s.io",
            "categoryId": None,
            "priorityId": None,
            "resourceInterfaces": [{"spec": spec_of("jobset-x-k8s-io-jobset-v1alpha2")}],
        }
        assert "looked up by their names when it is sent" in ran.err
        assert "the placement profile stays here" in ran.err

    def test_one_definition_for_each_version(self, ask: Callable[..., Ran]) -> None:
        (body,) = yaml.safe_load_all(ask("mpijob", "-o", "yaml").out)
        kinds = [one["spec"]["structureDefinition"]["rootComponent"]["kind"] for one in body["resourceInterfaces"]]
        assert [kind["version"] for kind in kinds] == ["v1", "v2beta1"]

    def test_ids_need_no_look(self, ask: Callable[..., Ran]) -> None:
        ids = ("--category", CATEGORIES["Train"], "--priority", PRIORITIES["low"])
        body = json.loads(ask("jobset", chosen=ids).out)
        assert (body["categoryId"], body["priorityId"]) == (CATEGORIES["Train"], PRIORITIES["low"])

    def test_several_kinds_are_several_requests(self, ask: Callable[..., Ran]) -> None:
        found = list(yaml.safe_load_all(ask("jobset", "raycluster", "-o", "yaml").out))
        assert [body["name"] for body in found] == ["JobSet", "RayCluster"]

    def test_a_file_of_ones_own(self, ask: Callable[..., Ran], folder: Path) -> None:
        path = write(folder / "foo.yaml", definition())
        assert json.loads(ask(path).out)["name"] == "FooJob"

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ((), "name a file or a definition"),
            (("pod",), "cannot be registered"),
            (("none",), 'there is no definition of "none"'),
            (("jobset", "--dry-run"), "--dry-run has no effect without --to"),
            (("jobset", "--token-file", "token"), "--token-file has no effect without --to"),
            (("jobset", "--to", "https://x"), "--to needs a token"),
            (("broken.yaml",), "[ is not closed"),
        ],
    )
    def test_what_cannot_be_asked(self, ask: Callable[..., Ran], folder: Path, words: Any, message: str) -> None:
        write(folder / "broken.yaml", definition("FooJob", ".["))
        ran = ask(*words)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err

    def test_five_versions_are_too_many(self, ask: Callable[..., Ran], folder: Path) -> None:
        made = []
        for number in range(5):
            one = definition()
            one["spec"]["structureDefinition"]["rootComponent"]["kind"]["version"] = f"v{number + 1}"
            made.append(one)
        ran = ask(write(folder / "many.yaml", *made))
        assert ran.code == 2 and "has 5 versions, 4 at most" in ran.err


class TestSent:
    def test_it_is_registered_once(self, ask: Callable[..., Ran], plane: ControlPlane) -> None:
        ran = ask("jobset", to=plane.url)
        assert (ran.code, ran.out) == (0, f"workloadtype JobSet.jobset.x-k8s.io registered as {MADE}\n")
        (body,) = plane.types.values()
        assert (body["categoryId"], body["priorityId"]) == (CATEGORIES["Train"], PRIORITIES["high"])
        assert body["resourceInterfaces"] == [{"spec": spec_of("jobset-x-k8s-io-jobset-v1alpha2")}]
        again = ask("jobset", to=plane.url)
        assert (again.code, again.out) == (1, "")
        assert "workloadtype JobSet.jobset.x-k8s.io exists already" in again.err

    def test_one_exists_and_the_other_is_registered(self, ask: Callable[..., Ran], plane: ControlPlane) -> None:
        assert ask("raycluster", to=plane.url).code == 0
        ran = ask("raycluster", "jobset", to=plane.url)
        assert ran.code == 1 and "JobSet.jobset.x-k8s.io registered" in ran.out and "RayCluster" in ran.err

    def test_a_dry_run_looks_up_and_sends_nothing(self, ask: Callable[..., Ran], plane: ControlPlane) -> None:
        ran = ask("jobset", "--dry-run", to=plane.url)
        assert ran.code == 0
        assert json.loads(ran.out)["priorityId"] == PRIORITIES["high"]
        assert {method for method, _, _ in plane.requests} == {"GET"} and not plane.types

    def test_names_that_are_not_there(self, ask: Callable[..., Ran], plane: ControlPlane) -> None:
        ran = ask("jobset", to=plane.url, chosen=("--category", "Trian", "--priority", "high"))
        assert ran.code == 2 and 'has no category "Trian"' in ran.err and "there are Deploy, Train" in ran.err
        assert not plane.types

    def test_without_a_category_nothing_is_sent(self, ask: Callable[..., Ran], plane: ControlPlane) -> None:
        ran = ask("jobset", to=plane.url, chosen=())
        assert ran.code == 2 and "--category NAME --priority NAME" in ran.err
        assert plane.requests == []

    def test_another_token(self, ask: Callable[..., Ran], plane: ControlPlane, folder: Path, run: Run) -> None:
        (folder / "old").write_text("old-token")
        ran = run("definitions", "register", "jobset", *CHOSEN, "--to", plane.url, "--token-file", "old")
        assert ran.code == 2 and "does not accept the token (401)" in ran.err and "old-token" not in ran.err

    def test_behind_tls_with_an_authority_of_its_own(self, ask: Callable[..., Ran], tmp_path: Path) -> None:
        authority = Authority(tmp_path / "authority")
        with control_plane.running(authority.issue("plane", "/CN=plane", "server")) as plane:
            ran = ask("jobset", to=plane.url)
            assert ran.code == 2 and "a certificate that is not trusted" in ran.err
            assert plane.requests == [], "the token went nowhere"
            assert ask("jobset", "--certificate-authority", authority.certificate, to=plane.url).code == 0


NAMES = ["Ours", f"error: {TOKEN}", "two\nlines"]


def says(code: int, content: object, **headers: str) -> Callable[[Handler], bool]:
    def instead(handler: Handler) -> bool:
        handler.reply(code, content, **headers)
        return True

    return instead


def hangs(handler: Handler) -> bool:
    handler.server.closing.wait(30)
    return True


def drips(handler: Handler) -> bool:
    """Each byte comes before a socket's patience ends."""
    with suppress(OSError):
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000:
            handler.connection.sendall(bytes([byte]))
            if handler.server.closing.wait(0.1):
                break
    return closes(handler)


def closes(handler: Handler) -> bool:
    handler.close_connection = True
    handler.connection.close()
    return True


@pytest.mark.parametrize(
    ("instead", "message"),
    [
        (says(400, {"code": 400, "message": "Required parameter is missing"}), "Required parameter is missing"),
        (says(403, {"code": 403, "message": "You do not have sufficient permissions."}), "does not allow that"),
        (says(404, "<html>"), "is it a control plane"),
        (says(500, {"message": f"failed with {TOKEN}"}), "failed (500)"),
        (says(503, ""), "try again later"),
        (says(200, "<html>"), "is not a Run:ai control plane"),
        (says(200, {"categories": {"a": TOKEN}}), "is not a Run:ai control plane"),
        (says(200, "[" * 100_000), "is not a Run:ai control plane"),
        (says(302, "", Location="http://127.0.0.1:9/elsewhere"), "sends us elsewhere (302)"),
        (says(307, "", Location="http://127.0.0.1:9/elsewhere"), "sends us elsewhere (307)"),
        (hangs, "did not answer in time"),
        (drips, "did not answer in time"),
        (says(200, {"categories": [{"id": "1", "name": name} for name in NAMES]}), "there are Ours\n"),
        (closes, "cannot be reached"),
    ],
)
def test_a_control_plane_that_is_none(
    ask: Callable[..., Ran], plane: ControlPlane, instead: Callable[[Handler], bool], message: str
) -> None:
    plane.instead = instead
    ran = ask("jobset", "--timeout", "500ms", "-vv", to=plane.url)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://app.example.com", "without TLS, over which no token is sent"),
        ("ftp://app.example.com", "is not the address of a control plane"),
        ("app.example.com", "is not the address of a control plane"),
        ("https://me:pass@app.example.com", "is not the address of a control plane"),
        ("http://127.0.0.1:9", "cannot be reached: connection refused"),
        ("https://[::1", "is not the address of a control plane"),
    ],
)
def test_addresses(ask: Callable[..., Ran], url: str, message: str) -> None:
    ran = ask("jobset", to=url)
    assert ran.code == 2 and message in ran.err and "pass" not in ran.err


def test_no_proxy_sees_the_token(ask: Callable[..., Ran], plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, plane.url)
    monkeypatch.delenv("no_proxy", raising=False)
    ran = ask("jobset", to="http://127.0.0.1:9")
    assert ran.code == 2 and "cannot be reached" in ran.err
    assert plane.requests == []


@pytest.mark.parametrize("content", ["", "two words", "a\nb", "ümlaut"])
def test_a_file_that_holds_no_token(run: Run, folder: Path, content: str) -> None:
    (folder / "token").write_text(content)
    door = ("--to", "https://app.example.com", "--token-file", "token")
    ran = run("definitions", "register", "jobset", *CHOSEN, *door)
    assert ran.code == 2 and "the token file token does not hold one token" in ran.err
    missing = run("definitions", "register", "jobset", *CHOSEN, *door[:3], "none")
    assert missing.code == 2 and "the token file none cannot be read" in missing.err
