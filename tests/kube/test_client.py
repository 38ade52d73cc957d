"""The door to an API server, against servers that misbehave: every failure has its cause, and nothing outlasts time."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from advisor.kube import failure, paging
from advisor.kube.client import Access, Api
from advisor.kube.deadline import Deadline
from advisor.kube.failure import ApiError
from tests.kube import stub
from tests.kube.stub import Behaviour, cut, hang, in_turn, listing, reply, serving, status
from tests.servers.certificates import Authority

PODS = "/api/v1/pods"
CANARY = "canary-5f2c"
"""Stands for every credential; it must not come out again."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def open_api(
    folder: Path, url: str, user: Any = None, *, seconds: float = 10, impersonate: str = "", cluster: Any = None
) -> Api:
    return Access(stub.context(folder, url, user, cluster), impersonate).open(Deadline(seconds))


def read_pods(folder: Path, behaviour: Behaviour, seconds: float = 10) -> bytes | bytearray:
    with serving({PODS: behaviour}) as server, open_api(folder, server.url, seconds=seconds) as api:
        return api.read(PODS, "list pods at cluster scope")


def failure_of(folder: Path, behaviour: Behaviour, seconds: float = 10) -> ApiError:
    with pytest.raises(ApiError) as caught:
        read_pods(folder, behaviour, seconds)
    return caught.value


@pytest.mark.parametrize(
    ("behaviour", "cause", "says"),
    [
        (status(401, "Unauthorized"), failure.UNAUTHORIZED, "does not accept the credentials"),
        (reply("Unauthorized", 401, Content_Type="text/plain"), failure.UNAUTHORIZED, "(401)"),
        (status(403, "Forbidden"), failure.FORBIDDEN, "may not list pods at cluster scope (403)"),
        (reply("<html>403</html>", 403, Content_Type="text/html"), failure.NOT_KUBERNETES, "answers 403"),
        (status(404, "NotFound"), failure.NOT_FOUND, "(404)"),
        (status(410, "Expired"), failure.GONE, "(410)"),
        (status(400, "BadRequest"), failure.SERVER_ERROR, "refused to list pods"),
        (status(500, "InternalError"), failure.SERVER_ERROR, "failed to list pods"),
        (reply("bad gateway", 502, Content_Type="text/html"), failure.SERVER_ERROR, "(502)"),
        (reply("<html>", Content_Type="text/html"), failure.NOT_KUBERNETES, "answers 200 and something else"),
        (reply({}, 302, Location="http://127.0.0.1:1/login"), failure.NOT_KUBERNETES, "answers 302"),
        (reply({"error": "no"}, 404), failure.NOT_KUBERNETES, "answers 404 and JSON"),
        (cut, failure.CUT_OFF, "broke off while trying to list pods"),
        (reply("{}", Content_Encoding="gzip"), failure.CUT_OFF, "broke off"),
    ],
)
def test_a_bad_answer_has_a_cause(tmp_path: Path, behaviour: Behaviour, cause: str, says: str) -> None:
    error = failure_of(tmp_path, behaviour)
    assert error.cause == cause
    assert says in error.text


@pytest.mark.parametrize("behaviour", [hang, stub.hang_in_the_body, stub.trickle])
def test_no_answer_ends_with_the_deadline(tmp_path: Path, behaviour: Behaviour) -> None:
    began = time.monotonic()
    error = failure_of(tmp_path, behaviour, seconds=0.4)
    assert (error.cause, error.text) == (failure.TIMEOUT, "did not answer in full within 0.4 s")
    assert time.monotonic() - began < 2


def test_a_port_that_nobody_listens_on(tmp_path: Path) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with open_api(tmp_path, f"https://127.0.0.1:{port}") as api, pytest.raises(ApiError) as caught:
            api.read("/version", "say its version")
    assert caught.value.cause == failure.REFUSED
    assert caught.value.text == f"127.0.0.1:{port} cannot be reached: connection refused"


def test_a_name_that_does_not_exist(tmp_path: Path) -> None:
    with open_api(tmp_path, "https://nowhere.invalid:6443") as api, pytest.raises(ApiError) as caught:
        api.read("/version", "say its version")
    assert caught.value.cause == failure.DNS
    assert caught.value.text == "the name nowhere.invalid:6443 cannot be resolved"


class TestTrust:
    def test_the_authority_of_the_kubeconfig_is_trusted(self, tmp_path: Path, authority: Authority) -> None:
        identity = authority.issue("good", "/CN=server", "server")
        with serving(identity=identity) as server:
            ca = {"certificate-authority": str(authority.certificate)}
            with open_api(tmp_path, server.url, cluster=ca) as api:
                assert json.loads(api.read("/version", "say its version"))["gitVersion"] == "v1.36.2"

    def test_and_nothing_else_is(self, tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
        other = Authority(tmp_path / "other")
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
            monkeypatch.setenv(name, str(authority.certificate))
        with (
            serving(identity=authority.issue("bad", "/CN=server", "server")) as server,
            open_api(tmp_path, server.url, cluster={"certificate-authority": str(other.certificate)}) as api,
            pytest.raises(ApiError) as caught,
        ):
            api.read("/version", "say its version")
        assert caught.value.cause == failure.TLS
        assert "its certificate is not trusted" in caught.value.text

    def test_a_bundle_for_others_does_not_take_it_away(
        self, tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(Authority(tmp_path / "other").certificate))
        with (
            serving(identity=authority.issue("third", "/CN=server", "server")) as server,
            open_api(tmp_path, server.url, cluster={"certificate-authority": str(authority.certificate)}) as api,
        ):
            assert api.read("/version", "say its version")

    def test_insecure_is_what_it_says(self, tmp_path: Path, authority: Authority) -> None:
        with (
            serving(identity=authority.issue("any", "/CN=server", "server")) as server,
            open_api(tmp_path, server.url, cluster={"insecure-skip-tls-verify": True}) as api,
        ):
            assert api.read("/version", "say its version")

    def test_https_to_a_server_that_speaks_http(self, tmp_path: Path) -> None:
        with (
            serving() as server,
            open_api(tmp_path, server.url.replace("http:", "https:")) as api,
            pytest.raises(ApiError) as caught,
        ):
            api.read("/version", "say its version")
        assert caught.value.cause == failure.TLS

    def test_a_proxy_of_the_environment_is_not_for_the_own_machine(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        with serving() as server, open_api(tmp_path, server.url) as api:
            assert api.read("/version", "say its version")

    def test_a_proxy_of_the_kubeconfig_is_used(self, tmp_path: Path) -> None:
        with serving() as proxy:
            with (
                open_api(
                    tmp_path, "http://127.0.0.1:9", cluster={"proxy-url": f"http://user:{CANARY}@127.0.0.1:1"}
                ) as api,
                pytest.raises(ApiError) as caught,
            ):
                api.read("/version", "say its version")
            assert caught.value.cause == failure.REFUSED
            assert CANARY not in caught.value.text
            with open_api(tmp_path, "http://127.0.0.1:9", cluster={"proxy-url": proxy.url}) as api:
                api.read("/version", "say its version")
            assert proxy.requests


class TestPatience:
    def test_429_is_asked_again_when_the_server_says(self, tmp_path: Path) -> None:
        busy = status(429, "TooManyRequests", Retry_After="1")
        began = time.monotonic()
        assert json.loads(read_pods(tmp_path, in_turn(busy, reply(listing("Pod")))))["kind"] == "PodList"
        assert time.monotonic() - began >= 1

    def test_5xx_only_when_it_says_so(self, tmp_path: Path) -> None:
        with serving({PODS: in_turn(status(503, Retry_After="0"), reply(listing("Pod")))}) as server:
            with open_api(tmp_path, server.url) as api:
                assert api.read(PODS, "list pods")
            assert len(server.asked(PODS)) == 2
        assert failure_of(tmp_path, in_turn(status(503), reply(listing("Pod")))).cause == failure.SERVER_ERROR

    def test_but_not_past_the_deadline(self, tmp_path: Path) -> None:
        began = time.monotonic()
        error = failure_of(tmp_path, status(429, Retry_After="30"), seconds=2)
        assert (error.cause, "too busy to list pods" in error.text) == (failure.TIMEOUT, True)
        assert time.monotonic() - began < 1

    def test_a_connection_that_breaks_is_tried_once_more(self, tmp_path: Path) -> None:
        with serving({PODS: in_turn(cut, reply(listing("Pod")))}) as server, open_api(tmp_path, server.url) as api:
            assert api.read(PODS, "list pods")
            assert len(server.asked(PODS)) == 2


class TestBodies:
    def test_small_chunks(self, tmp_path: Path) -> None:
        content = listing("Pod", *({"n": n} for n in range(100)))
        assert json.loads(read_pods(tmp_path, stub.chunked(content))) == content

    def test_gzip_is_understood(self, tmp_path: Path) -> None:
        content = json.dumps(listing("Pod", *({"n": n} for n in range(1000)))).encode()

        def packed(handler: stub.Handler) -> None:
            handler.send(200, gzip.compress(content), Content_Encoding="gzip")

        assert read_pods(tmp_path, packed) == content

    def test_but_not_asked_for_on_the_own_machine(self, tmp_path: Path) -> None:
        with serving() as server, open_api(tmp_path, server.url) as api:
            api.read("/version", "say its version")
            assert "gzip" not in server.requests[0][2].get("Accept-Encoding", "")

    def test_one_connection_serves_all_requests(self, tmp_path: Path) -> None:
        ports = set()

        def note(handler: stub.Handler) -> None:
            ports.add(handler.client_address)
            stub.chunked(listing("Pod"))(handler)

        with serving({PODS: note}) as server, open_api(tmp_path, server.url) as api:
            for _ in range(5):
                api.read(PODS, "list pods")
        assert len(ports) == 1


class TestPages:
    def pages(self, folder: Path, behaviour: Behaviour) -> tuple[list[tuple[bool, list[Any]]], list[dict[str, str]]]:
        with serving({PODS: behaviour}) as server, open_api(folder, server.url) as api:
            found = list(paging.pages(api, PODS, "list pods", fieldSelector="a!=b"))
            return [(page.first, json.loads(page.body)["items"]) for page in found], server.asked(PODS)

    def test_follow_the_token_and_keep_the_query(self, tmp_path: Path) -> None:
        three = in_turn(
            reply(listing("Pod", 1, token="a+/=")), reply(listing("Pod", 2, token="b")), reply(listing("Pod", 3))
        )
        found, asked = self.pages(tmp_path, three)
        assert found == [(True, [1]), (False, [2]), (False, [3])]
        common = {"limit": str(paging.SIZE), "fieldSelector": "a!=b"}
        assert asked == [common, {**common, "continue": "a+/="}, {**common, "continue": "b"}]

    def test_410_starts_again_from_the_beginning(self, tmp_path: Path) -> None:
        first = reply(listing("Pod", 1, token="a"))
        found, asked = self.pages(tmp_path, in_turn(first, status(410), first, reply(listing("Pod", 2))))
        assert found == [(True, [1]), (True, [1]), (False, [2])]
        assert [query.get("continue") for query in asked] == [None, "a", None, "a"]

    def test_what_came_before_a_new_start_is_not_there_twice(self, tmp_path: Path) -> None:
        one, other = {"metadata": {"name": "one"}}, {"metadata": {"name": "other"}}
        first = reply(listing("Pod", one, token="next"))
        turns = in_turn(first, status(410), first, reply(listing("Pod", other)))
        with serving({PODS: turns}) as server, open_api(tmp_path, server.url) as api:
            assert paging.items(api, PODS, "list pods") == [one, other]

    def test_but_not_for_ever(self, tmp_path: Path) -> None:
        with pytest.raises(ApiError) as caught:
            self.pages(tmp_path, status(410))
        assert caught.value.cause == failure.GONE

    def test_a_page_that_is_cut_is_fetched_again(self, tmp_path: Path) -> None:
        found, asked = self.pages(tmp_path, in_turn(reply(listing("Pod", 1, token="a")), cut, reply(listing("Pod", 2))))
        assert found == [(True, [1]), (False, [2])]
        assert [query.get("continue") for query in asked] == [None, "a", "a"]

    def test_lists_of_custom_resources_have_their_metadata_last(self, tmp_path: Path) -> None:
        def last(token: str) -> Behaviour:
            return reply(
                {"apiVersion": "x/v1", "items": [{"items": 1}], "kind": "QueueList", "metadata": {"continue": token}}
            )

        found, _ = self.pages(tmp_path, in_turn(last("a"), last("")))
        assert len(found) == 2

    @pytest.mark.parametrize("content", ["[]", "3", '{"hello": "world"}', '{"kind": "Pod"}', '{"kind": "PodLi'])
    def test_json_that_is_no_list(self, tmp_path: Path, content: str) -> None:
        with pytest.raises(ApiError) as caught:
            self.pages(tmp_path, reply(content))
        assert caught.value.cause == failure.NOT_KUBERNETES


class TestWhoAsks:
    def headers(self, folder: Path, user: Any, impersonate: str = "") -> Message:
        with serving() as server, open_api(folder, server.url, user, impersonate=impersonate) as api:
            api.read("/version", "say its version")
            return server.requests[0][2]

    def test_a_token(self, tmp_path: Path) -> None:
        assert self.headers(tmp_path, {"token": "abc\n"})["Authorization"] == "Bearer abc"

    def test_a_name_and_password(self, tmp_path: Path) -> None:
        headers = self.headers(tmp_path, {"username": "me", "password": "secret"})
        assert headers["Authorization"] == "Basic bWU6c2VjcmV0"

    def test_as_somebody_else(self, tmp_path: Path) -> None:
        assert self.headers(tmp_path, {"token": "t", "as": "jane"})["Impersonate-User"] == "jane"
        headers = self.headers(tmp_path, {"token": "t", "as": "jane", "as-groups": ["a"]}, impersonate="joe")
        assert headers["Impersonate-User"] == "joe"
        assert "Impersonate-Group" not in headers

    def test_nobody_is_an_anonymous_user(self, tmp_path: Path) -> None:
        assert "Authorization" not in self.headers(tmp_path, {"token": ""})


class TestSecrets:
    """A canary in every credential, and a server that says it back: it must stay out of messages, logs and reprs."""

    @pytest.fixture
    def users(self) -> Iterator[dict[str, Any]]:
        yield {
            "token": {"token": CANARY},
            "broken token": {"token": f"{CANARY}\x00\n{CANARY}"},
            "password": {"username": "me", "password": CANARY},
            "key": {"client-certificate-data": CANARY, "client-key-data": CANARY},
            "certificate": {"client-certificate-data": "Y2FuYXJ5", "client-key-data": "Y2FuYXJ5"},
            "token file": {"tokenFile": "/nowhere"},
        }

    def test_never_come_out(
        self, tmp_path: Path, users: dict[str, Any], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        caplog.set_level(logging.DEBUG)
        said: list[str] = []
        echo: list[Behaviour] = [
            lambda handler: handler.send(500, json.dumps(dict(handler.headers)).encode()),
            lambda handler: handler.send(403, json.dumps({"kind": "Status", **dict(handler.headers)}).encode()),
            lambda handler: handler.send(200, str(dict(handler.headers)).encode(), Content_Type="text/html"),
            cut,
        ]
        for user in users.values():
            for behaviour in echo:
                with serving({PODS: behaviour}) as server:
                    url = server.url.replace("//", f"//user:{CANARY}@")
                    access = Access(stub.context(tmp_path, url, user))
                    said.append(repr(access))
                    try:
                        with access.open(Deadline(5)) as api:
                            said.append(repr(api))
                            api.read(PODS, "list pods")
                    except ApiError as error:
                        said += [str(error), repr(error), str(error.__cause__), str(error.__suppress_context__)]
        captured = capfd.readouterr()
        everything = "\n".join([*said, caplog.text, captured.out, captured.err])
        assert CANARY not in everything

    def test_keys_are_gone_when_the_door_is_closed(self, tmp_path: Path, authority: Authority) -> None:
        import base64

        identity = authority.issue("me", "/CN=me", "client")
        user = {
            "client-certificate-data": base64.b64encode(identity.certificate.read_bytes()).decode(),
            "client-key-data": base64.b64encode(identity.key.read_bytes()).decode(),
        }
        with serving() as server, open_api(tmp_path, server.url, user) as api:
            folder = Path(api._folder.name)
            assert {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()} == {
                "client-certificate": 0o600,
                "client-key": 0o600,
            }
        assert not folder.exists()
