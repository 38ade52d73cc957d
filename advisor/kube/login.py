"""What a context says about a user, made ready to be sent: token, certificate files, headers.

Runs exec plugins (client.authentication.k8s.io), which is why it knows a deadline. What a plugin prints is a credential
or may hold one, so its output is never part of a message.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
import ssl
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from advisor.kube.deadline import Deadline
from advisor.kube.failure import EXEC_PLUGIN, KUBECONFIG, ApiError
from advisor.kube.kubeconfig import Cluster, Context, Hidden, Plugin, User

EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class Login:
    """How to authenticate; empty where the context says nothing of the kind."""

    token: str = field(default="", repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)
    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None
    impersonation: tuple[tuple[str, str], ...] = ()


class _Credential(Hidden, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None


class _ExecCredential(Hidden):
    status: _Credential


def prepare(context: Context, folder: Path, deadline: Deadline) -> Login:
    """The login of a context; inline certificates become files in `folder`, which only the owner may read.

    Raises ApiError: `kubeconfig` for certificates and tokens that are none, `exec-plugin` for a plugin that fails.
    """
    cluster, user = context.cluster, context.user
    trusted = _Stated("certificate-authority", cluster.certificate_authority_data, cluster.certificate_authority)
    certificate = _Stated("client-certificate", user.client_certificate_data, user.client_certificate)
    key = _Stated("client-key", user.client_key_data, user.client_key)
    login = Login(
        token=_token(context),
        basic=(user.username, user.password) if user.username and user.password else None,
        authority=_file(trusted, context, context.cluster_folder, folder),
        certificate=_file(certificate, context, context.user_folder, folder),
        key=_file(key, context, context.user_folder, folder),
        impersonation=tuple(_impersonation(user)),
    )
    if user.exec and not login.token:
        login = _with(login, _run(user.exec, context, login.authority, deadline), folder)
    _check(login, context)
    return login


def _impersonation(user: User) -> list[tuple[str, str]]:
    headers = [("Impersonate-User", user.impersonate), ("Impersonate-Uid", user.impersonate_uid)]
    groups = [("Impersonate-Group", group) for group in user.impersonate_groups or ()]
    return [(name, value) for name, value in (*headers, *groups) if value]


@dataclass(frozen=True, slots=True)
class _Stated:
    """A certificate or key as a kubeconfig has it: inline, which goes first, or as a path."""

    name: str
    data: str | None = field(repr=False)
    path: str | None


def _file(stated: _Stated, context: Context, home: Path, folder: Path) -> Path | None:
    if not stated.data:
        return home / Path(stated.path).expanduser() if stated.path else None
    try:
        return _write(folder / stated.name, base64.b64decode("".join(stated.data.split()), validate=True))
    except (binascii.Error, ValueError):
        raise _wrong(context, f"{stated.name}-data is not base64") from None


def _write(path: Path, content: bytes) -> Path:
    path.touch(mode=0o600)
    path.write_bytes(content)
    return path


def _token(context: Context) -> str:
    """A token file goes before a token, as in client-go. Of the old providers only OIDC's stored token is of use."""
    user = context.user
    if user.token_file:
        try:
            return (context.user_folder / Path(user.token_file).expanduser()).read_text().strip()
        except (OSError, UnicodeDecodeError):
            raise _wrong(context, f"the tokenFile {user.token_file} cannot be read") from None
    if user.auth_provider and not user.token:
        if user.auth_provider.name != "oidc":
            problem = f"the auth-provider {user.auth_provider.name} is gone from kubectl, too: use its exec plugin"
            raise _wrong(context, problem)
        return str((user.auth_provider.config or {}).get("id-token", "")).strip()
    return (user.token or "").strip()


def _wrong(context: Context, problem: str) -> ApiError:
    return ApiError(KUBECONFIG, f"context {context.name} in {context.file}: {problem}")


def _check(login: Login, context: Context) -> None:
    """Load the certificates once, to say which of them is wrong; OpenSSL itself does not."""
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if login.authority:
        try:
            trust.load_verify_locations(login.authority)
        except (OSError, ssl.SSLError):
            raise _wrong(context, "certificate-authority is not there or is not a certificate in PEM form") from None
    if login.certificate:
        try:
            trust.load_cert_chain(login.certificate, login.key, password="")
        except (OSError, ssl.SSLError):
            problem = "client-certificate and client-key are not there, not PEM, encrypted, or not a pair"
            raise _wrong(context, problem) from None
    if not (login.token.isascii() and login.token.isprintable()):
        raise _wrong(context, "the token holds characters that no HTTP header can hold")


def _run(plugin: Plugin, context: Context, authority: Path | None, deadline: Deadline) -> _Credential:
    if plugin.interactive_mode == "Always":
        raise _failed(context, plugin, "wants to ask questions on a terminal")
    program = _program(plugin.command, context.user_folder)
    try:
        done = subprocess.run(
            [program, *(plugin.args or ())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(plugin, context.cluster, authority),
            timeout=deadline.left(),
            check=False,
        )
    except FileNotFoundError:
        raise _failed(context, plugin, "is not installed") from None
    except (OSError, ValueError):
        raise _failed(context, plugin, "cannot be run") from None
    except subprocess.TimeoutExpired:
        raise _failed(context, plugin, f"did not end within {deadline.seconds:g} s") from None
    if done.returncode:
        raise _failed(context, plugin, f"failed with exit code {done.returncode}")
    try:
        return msgspec.json.decode(done.stdout, type=_ExecCredential).status
    except msgspec.DecodeError:
        raise _failed(context, plugin, "did not print an ExecCredential") from None


def _program(command: str, home: Path) -> str:
    """A path is relative to the kubeconfig, a bare name is looked up by the system."""
    if "/" in command or os.sep in command:
        return str(home / Path(command).expanduser())
    return shutil.which(command) or command


def _environment(plugin: Plugin, cluster: Cluster, authority: Path | None) -> dict[str, str]:
    own = {variable.name: variable.value for variable in plugin.env or ()}
    spec: dict[str, Any] = {"interactive": False}
    if plugin.provide_cluster_info:
        spec["cluster"] = _cluster_info(cluster, authority)
    info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return {**os.environ, **own, "KUBERNETES_EXEC_INFO": json.dumps(info)}


def _cluster_info(cluster: Cluster, authority: Path | None) -> dict[str, Any]:
    configs = (e.get("extension") for e in cluster.extensions or () if e.get("name") == EXEC_EXTENSION)
    found = {
        "server": cluster.server,
        "certificate-authority-data": base64.b64encode(authority.read_bytes()).decode() if authority else None,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "tls-server-name": cluster.tls_server_name,
        "proxy-url": cluster.proxy_url,
        "config": next(configs, None),
    }
    return {name: value for name, value in found.items() if value is not None}


def _failed(context: Context, plugin: Plugin, problem: str) -> ApiError:
    advice = f"try kubectl --context {context.name} version"
    return ApiError(EXEC_PLUGIN, f"the login program {plugin.command} of context {context.name} {problem}: {advice}")


def _with(login: Login, found: _Credential, folder: Path) -> Login:
    token = (found.token or "").strip()
    if not (found.client_certificate_data and found.client_key_data):
        return replace(login, token=token)
    certificate = _write(folder / "plugin-certificate", found.client_certificate_data.encode())
    return replace(
        login, token=token, certificate=certificate, key=_write(folder / "plugin-key", found.client_key_data.encode())
    )
