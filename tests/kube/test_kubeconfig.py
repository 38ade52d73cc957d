"""Kubeconfigs and logins: found and merged as kubectl does, and every fault names its file and never a credential."""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.config import incluster_config

from advisor.errors import InputError
from advisor.kube import failure, login
from advisor.kube.client import Access
from advisor.kube.deadline import Deadline
from advisor.kube.failure import ApiError
from advisor.kube.kubeconfig import Context, load
from advisor.kube.login import Login
from tests.kube import stub
from tests.servers.certificates import Authority

CANARY = "canary-9c1e"


def write(path: Path, **content: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **content}))
    return str(path)


def named(**entries: Any) -> Any:
    """`{eu: {…}}` as the lists of named things that a kubeconfig has."""
    kinds = {"clusters": "cluster", "users": "user", "contexts": "context"}
    return {kind: [{"name": n, kinds[kind]: v} for n, v in entries[kind].items()] for kind in entries}


class TestFinding:
    def test_named_files_must_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=f"{tmp_path}/nowhere: cannot be read: No such file"):
            load([f"{tmp_path}/nowhere"])

    def test_of_the_variable_one_is_enough(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a", **named(contexts={"eu": {"cluster": "c"}}))
        paths = os.pathsep.join((f"{tmp_path}/nowhere", "", path))
        assert load((), {"KUBECONFIG": paths}).contexts == ("eu",)
        with pytest.raises(InputError, match=r"no kubeconfig at .*nowhere \(named by KUBECONFIG\)"):
            load((), {"KUBECONFIG": f"{tmp_path}/nowhere"})

    def test_else_kubectls_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        with pytest.raises(InputError, match=r"no kubeconfig at .*\.kube/config \(kubectl's own\)"):
            load((), {"OTHER": ""})
        write(tmp_path / ".kube" / "config", **named(contexts={"eu": {"cluster": "c"}}))
        assert load((), {"OTHER": ""}).contexts == ("eu",)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            ("a: [", ":2: is not YAML"),
            ("", ": is not a kubeconfig: it should hold one document"),
            ("a: b\n---\na: b", ": is not a kubeconfig: it should hold one document"),
            ("- a", ":1: is not a kubeconfig: Expected object, got array"),
            (
                f"users:\n- name: u\n  user: {{token: [{CANARY}]}}",
                ":3 users[0].user.token: is not a kubeconfig: Expected",
            ),
            (
                f"users:\n- user: {{token: {CANARY}}}",
                ":2 users[0]: is not a kubeconfig: Object missing required field name",
            ),
            ("clusters: {}", ":1 clusters: is not a kubeconfig: Expected array"),
        ],
    )
    def test_what_is_no_kubeconfig(self, tmp_path: Path, content: str, says: str) -> None:
        (tmp_path / "config").write_text(content)
        with pytest.raises(InputError) as caught:
            load([str(tmp_path / "config")])
        assert f"{tmp_path}/config{says}" in str(caught.value)
        assert CANARY not in str(caught.value)


class TestMerging:
    def test_the_first_wins_and_so_does_the_first_current_context(self, tmp_path: Path) -> None:
        first = write(
            tmp_path / "a", **named(clusters={"c": {"server": "https://one"}}, contexts={"x": {"cluster": "c"}})
        )
        second = write(
            tmp_path / "b",
            **{"current-context": "z"},
            **named(
                clusters={"c": {"server": "https://two"}, "d": {"server": "https://three"}},
                contexts={"z": {"cluster": "d"}},
            ),
        )
        third = write(tmp_path / "c", **{"current-context": "x"})
        found = load([first, second, third])
        assert (found.contexts, found.current, found.files) == (("x", "z"), "z", (first, second, third))
        assert found.context("x").cluster.server == "https://one"
        assert found.context().cluster.server == "https://three"

    def test_paths_start_from_the_file_that_states_them(self, tmp_path: Path) -> None:
        first = write(tmp_path / "a" / "config", **named(contexts={"x": {"cluster": "c", "user": "u"}}))
        second = write(tmp_path / "b" / "config", **named(clusters={"c": {"server": "s"}}, users={"u": {}}))
        found = load([first, second]).context("x")
        assert (found.file, found.cluster_folder, found.user_folder) == (first, tmp_path / "b", tmp_path / "b")

    @pytest.mark.parametrize(
        ("context", "says"),
        [
            ("prod-us", 'there is no context "prod-us" in {file}\n    did you mean prod-eu?'),
            ("elsewhere", 'there is no context "elsewhere" in {file}'),
            ("no-cluster", 'there is no cluster "gone" in {file}'),
            ("no-user", 'there is no user "gone" in {file}'),
            ("", "{file} has no current-context\n    choose one: --context NAME"),
        ],
    )
    def test_what_is_not_there(self, tmp_path: Path, context: str, says: str) -> None:
        contexts = {
            "prod-eu": {"cluster": "c"},
            "no-cluster": {"cluster": "gone"},
            "no-user": {"cluster": "c", "user": "gone"},
        }
        path = write(tmp_path / "config", **named(clusters={"c": {"server": "s"}}, contexts=contexts))
        with pytest.raises(InputError) as caught:
            load([path]).context(context)
        assert str(caught.value) == says.format(file=path)


def prepared(folder: Path, user: Any, cluster: Any = None, seconds: float = 10) -> Login:
    (folder / "out").mkdir(exist_ok=True)
    return login.prepare(stub.context(folder, "https://x", user, cluster), folder / "out", Deadline(seconds))


def refused(folder: Path, user: Any, cluster: Any = None, seconds: float = 10) -> ApiError:
    with pytest.raises(ApiError) as caught:
        prepared(folder, user, cluster, seconds)
    assert CANARY not in str(caught.value)
    return caught.value


class TestLogin:
    def test_a_token_file_goes_before_a_token(self, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("from the file\n".replace(" ", "-"))
        assert prepared(tmp_path, {"token": "other", "tokenFile": "token"}).token == "from-the-file"

    def test_the_stored_token_of_oidc(self, tmp_path: Path) -> None:
        provider = {"name": "oidc", "config": {"id-token": "abc", "refresh-token": CANARY}}
        assert prepared(tmp_path, {"auth-provider": provider}).token == "abc"

    def test_certificates_inline_or_beside_the_kubeconfig(self, tmp_path: Path) -> None:
        authority = Authority(tmp_path / "ca")
        me = authority.issue("me", "/CN=me", "client")
        files = {"client-certificate": "ca/me.crt", "client-key": "ca/me.key"}
        found = prepared(tmp_path, files, {"certificate-authority": "ca/ca.crt"})
        assert (found.certificate, found.key, found.authority) == (me.certificate, me.key, authority.certificate)
        inline = {
            f"{name}-data": base64.b64encode((tmp_path / path).read_bytes()).decode() for name, path in files.items()
        }
        found = prepared(tmp_path, {**inline, **files})
        assert found.certificate and found.key
        assert found.certificate.read_bytes() == me.certificate.read_bytes()
        assert stat.S_IMODE(found.key.stat().st_mode) == 0o600

    @pytest.mark.parametrize(
        ("user", "cluster", "says"),
        [
            ({}, {"certificate-authority-data": f"not base64 {CANARY}!"}, "certificate-authority-data is not base64"),
            (
                {},
                {"certificate-authority-data": "Y2FuYXJ5"},
                "certificate-authority is not there or is not a certificate",
            ),
            (
                {},
                {"certificate-authority": "nowhere.crt"},
                "certificate-authority is not there or is not a certificate",
            ),
            ({"client-certificate-data": "é"}, {}, "client-certificate-data is not base64"),
            ({"client-certificate": "a", "client-key": "b"}, {}, "client-certificate and client-key are not there"),
            ({"tokenFile": "nowhere"}, {}, "the tokenFile nowhere cannot be read"),
            ({"token": f"{CANARY}\nx"}, {}, "the token holds characters that no HTTP header can hold"),
            (
                {"auth-provider": {"name": "gcp", "config": {"access-token": CANARY}}},
                {},
                "the auth-provider gcp is gone",
            ),
        ],
    )
    def test_what_cannot_be_used(self, tmp_path: Path, user: Any, cluster: Any, says: str) -> None:
        error = refused(tmp_path, user, cluster)
        assert error.cause == failure.KUBECONFIG
        assert error.text.startswith(f"context eu in {tmp_path}/eu.kubeconfig: ")
        assert says in error.text

    def test_a_key_of_somebody_else(self, tmp_path: Path) -> None:
        authority = Authority(tmp_path / "ca")
        authority.issue("me", "/CN=me", "client")
        authority.issue("you", "/CN=you", "client")
        assert "not a pair" in refused(tmp_path, {"client-certificate": "ca/me.crt", "client-key": "ca/you.key"}).text

    def test_nothing_shows_a_credential(self, tmp_path: Path) -> None:
        user = {"token": CANARY, "password": CANARY, "username": "u", "client-key-data": "Y2FuYXJ5"}
        context = stub.context(tmp_path, "https://x", user)
        plugin = stub.context(tmp_path, "https://x", {"exec": {"command": "x", "apiVersion": "v1", "args": [CANARY]}})
        shown = [
            context,
            plugin,
            context.user,
            Access(context),
            load([context.file]),
            prepared(tmp_path, {"token": CANARY}),
        ]
        assert CANARY not in "\n".join(f"{one!r} {one}" for one in shown)


class TestAddresses:
    @pytest.mark.parametrize("server", ["", "eu.example.com:6443", "ftp://eu", "https://"])
    def test_what_is_no_address(self, tmp_path: Path, server: str) -> None:
        with pytest.raises(ApiError) as caught:
            Access(stub.context(tmp_path, server)).open(Deadline(5))
        assert (caught.value.cause, "server is not an http(s) address" in caught.value.text) == (
            failure.KUBECONFIG,
            True,
        )

    def test_a_socks_proxy_needs_its_package(self, tmp_path: Path) -> None:
        with pytest.raises(ApiError) as caught:
            Access(stub.context(tmp_path, "https://x", None, {"proxy-url": "socks5://127.0.0.1:1"})).open(Deadline(5))
        assert (caught.value.cause, "PySocks" in caught.value.text) == (failure.KUBECONFIG, True)

    def test_inside_of_a_cluster(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The package has the two paths of a pod's service account as constants."""
        authority = Authority(tmp_path / "ca")
        (tmp_path / "token").write_text("abc")
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(authority.certificate))
        with stub.serving(identity=authority.issue("server", "/CN=server", "server")) as server:
            monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
            monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.server_address[1]))
            with Access(None).open(Deadline(5)) as api:
                api.read("/version", "say its version")
            assert server.requests[0][2]["Authorization"] == "bearer abc"

    def test_outside_of_a_cluster(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        with pytest.raises(ApiError) as caught:
            Access(None).open(Deadline(5))
        assert (caught.value.cause, "not inside a cluster" in caught.value.text) == (failure.KUBECONFIG, True)


class TestPlugins:
    """Programs that print a credential, written for the test in Python."""

    def plugin(self, folder: Path, body: str, **more: Any) -> Any:
        path = folder / "plugin"
        path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
        path.chmod(0o700)
        api = "client.authentication.k8s.io/v1"
        return {"exec": {"command": "./plugin", "apiVersion": api, "interactiveMode": "Never", **more}}

    def printing(self, **status: str) -> str:
        return f"print(json.dumps({{'kind': 'ExecCredential', 'status': {status!r}}}))"

    def test_a_token(self, tmp_path: Path) -> None:
        body = "sys.stderr.write('noise'); " + self.printing(token="abc")
        assert prepared(tmp_path, self.plugin(tmp_path, body)).token == "abc"

    def test_a_certificate(self, tmp_path: Path) -> None:
        me = Authority(tmp_path / "ca").issue("me", "/CN=me", "client")
        pair = {"clientCertificateData": me.certificate.read_text(), "clientKeyData": me.key.read_text()}
        found = prepared(tmp_path, self.plugin(tmp_path, self.printing(**pair)))
        assert found.key and found.key.read_text() == me.key.read_text()

    def test_a_token_of_the_kubeconfig_makes_it_needless(self, tmp_path: Path) -> None:
        user = {**self.plugin(tmp_path, "sys.exit(1)"), "token": "abc"}
        assert prepared(tmp_path, user).token == "abc"

    def test_is_told_what_for(self, tmp_path: Path) -> None:
        authority = Authority(tmp_path / "ca")
        body = "print(json.dumps({'status': {'token': os.environ['A'] + sys.argv[1]}}))\n"
        body += "with open(sys.argv[2], 'w') as file: file.write(os.environ['KUBERNETES_EXEC_INFO'])"
        extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
        more = {"args": ["b", f"{tmp_path}/info"], "env": [{"name": "A", "value": "a"}], "provideClusterInfo": True}
        cluster = {"certificate-authority": "ca/ca.crt", "extensions": [extension]}
        assert prepared(tmp_path, self.plugin(tmp_path, body, **more), cluster).token == "ab"
        assert json.loads((tmp_path / "info").read_text()) == {
            "apiVersion": "client.authentication.k8s.io/v1",
            "kind": "ExecCredential",
            "spec": {
                "interactive": False,
                "cluster": {
                    "server": "https://x",
                    "certificate-authority-data": base64.b64encode(authority.certificate.read_bytes()).decode(),
                    "config": {"audience": "x"},
                },
            },
        }

    @pytest.mark.parametrize(
        ("body", "more", "says"),
        [
            (
                "",
                {"command": "no-such-plugin-here"},
                "the login program no-such-plugin-here of context eu is not installed",
            ),
            ("", {"command": "./nowhere/plugin"}, "is not installed"),
            (f"print('{CANARY}'); sys.stderr.write('{CANARY}'); sys.exit(3)", {}, "failed with exit code 3"),
            (f"print('{CANARY}')", {}, "did not print an ExecCredential"),
            ("print('{}')", {}, "did not print an ExecCredential"),
            ("", {"interactiveMode": "Always"}, "wants to ask questions on a terminal"),
            (f"print(json.dumps({{'status': {{'token': '{CANARY}\\nx'}}}}))", {}, "the token holds characters"),
        ],
    )
    def test_what_fails(
        self, tmp_path: Path, body: str, more: Any, says: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        error = refused(tmp_path, self.plugin(tmp_path, body, **more))
        assert error.cause in (failure.EXEC_PLUGIN, failure.KUBECONFIG)
        assert says in error.text
        captured = capfd.readouterr()
        assert CANARY not in captured.out + captured.err

    def test_what_hangs(self, tmp_path: Path) -> None:
        began = time.monotonic()
        error = refused(tmp_path, self.plugin(tmp_path, "time.sleep(30)"), seconds=0.5)
        assert (error.cause, "did not end within 0.5 s" in error.text) == (failure.EXEC_PLUGIN, True)
        assert time.monotonic() - began < 3

    def test_does_not_run_for_a_context_that_is_only_loaded(self, tmp_path: Path) -> None:
        user = self.plugin(tmp_path, f"open('{tmp_path}/ran', 'w')")
        context: Context = stub.context(tmp_path, "https://x", user)
        assert context.name == "eu"
        assert not (tmp_path / "ran").exists()
