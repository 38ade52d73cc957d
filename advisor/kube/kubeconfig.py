"""Kubeconfig files to contexts: found, merged as kubectl merges them, and looked up by name.

It reads files and contacts nobody. The structs hide what they hold, so that no message or log can show a credential.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from advisor import files
from advisor.errors import Fault, InputError, Where, likely
from advisor.kube.decode import parts

DEFAULT = "~/.kube/config"
VARIABLE = "KUBECONFIG"


class Hidden(Struct):
    """A struct that never shows what it holds."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Cluster(Hidden, rename="kebab"):
    server: str = ""
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None
    extensions: list[dict[str, Any]] | None = None


class Variable(Hidden):
    name: str
    value: str


class Plugin(Hidden, rename="camel"):
    """An exec plugin: a program that prints a credential."""

    command: str
    api_version: str
    args: list[str] | None = None
    env: list[Variable] | None = None
    interactive_mode: str | None = None
    provide_cluster_info: bool | None = None


class Provider(Hidden):
    name: str
    config: dict[str, Any] | None = None


class User(Hidden, rename="kebab"):
    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    username: str | None = None
    password: str | None = None
    exec: Plugin | None = None
    auth_provider: Provider | None = None
    impersonate: str | None = msgspec.field(default=None, name="as")
    impersonate_uid: str | None = msgspec.field(default=None, name="as-uid")
    impersonate_groups: list[str] | None = msgspec.field(default=None, name="as-groups")


class _Context(Hidden):
    cluster: str = ""
    user: str = ""
    namespace: str | None = None


class _NamedCluster(Hidden):
    name: str
    cluster: Cluster | None = None


class _NamedUser(Hidden):
    name: str
    user: User | None = None


class _NamedContext(Hidden):
    name: str
    context: _Context | None = None


class _File(Hidden, rename="kebab"):
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None
    contexts: list[_NamedContext] | None = None
    current_context: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """One context, with the folders that relative paths in its cluster and its user start from."""

    name: str
    file: str
    cluster: Cluster
    cluster_folder: Path
    user: User
    user_folder: Path


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """Merged files: the first that defines a name wins, and so does the first current context."""

    files: tuple[str, ...]
    current: str
    _clusters: Mapping[str, tuple[Cluster, str]]
    _users: Mapping[str, tuple[User, str]]
    _contexts: Mapping[str, tuple[_Context, str]]

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(self._contexts)

    def context(self, name: str = "") -> Context:
        """The context of that name, or the current one. Raises InputError when it, its cluster or user is not there."""
        wanted = name or self.current
        if not wanted:
            raise InputError(f"{self._title} has no current-context", hint="choose one: --context NAME")
        context, file = self._find("context", wanted, self._contexts)
        cluster, cluster_file = self._find("cluster", context.cluster, self._clusters)
        user, user_file = self._find("user", context.user, self._users) if context.user else (User(), file)
        return Context(wanted, file, cluster, Path(cluster_file).parent, user, Path(user_file).parent)

    def namespace(self, name: str) -> str:
        """That of a context; empty where it states none, or is not there."""
        found = self._contexts.get(name)
        return (found[0].namespace or "") if found else ""

    def _find(self, what: str, name: str, among: Mapping[str, Any]) -> Any:
        if name not in among:
            raise InputError(f'there is no {what} "{name}" in {self._title}', hint=likely(name, among))
        return among[name]

    @property
    def _title(self) -> str:
        return ", ".join(self.files)


def load(named: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> Kubeconfig:
    """The files that were named, or those of KUBECONFIG, or kubectl's own.

    Raises InputError when a named file cannot be read, when no file is there at all, or when one is no kubeconfig.
    """
    paths = tuple(str(Path(path).expanduser()) for path in named) or _found(environment or os.environ)
    return _merged(paths, [_read(path) for path in paths])


def _found(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Files of KUBECONFIG that are not there are passed over, as kubectl does, as long as one is."""
    stated = environment.get(VARIABLE, "")
    candidates = [path for path in stated.split(os.pathsep) if path] or [str(Path(DEFAULT).expanduser())]
    there = tuple(path for path in candidates if Path(path).exists())
    if not there:
        source = f"named by {VARIABLE}" if stated else "kubectl's own"
        raise InputError(f"no kubeconfig at {', '.join(candidates)} ({source})", hint="name one: --kubeconfig FILE")
    return there


def _read(path: str) -> _File:
    found = files.documents(files.read(path))
    if len(found) != 1:
        raise InputError.of([Fault("is not a kubeconfig: it should hold one document", where=Where(path))])
    (document,) = found
    with document.faults():
        try:
            return msgspec.convert(document.data, _File)
        except msgspec.ValidationError as error:
            message, place = parts(error)
            raise InputError(f"is not a kubeconfig: {message}", path=place) from None


def _merged(paths: tuple[str, ...], read: Sequence[_File]) -> Kubeconfig:
    clusters: dict[str, tuple[Cluster, str]] = {}
    users: dict[str, tuple[User, str]] = {}
    contexts: dict[str, tuple[_Context, str]] = {}
    for path, file in zip(paths, read, strict=True):
        for cluster in file.clusters or ():
            clusters.setdefault(cluster.name, (cluster.cluster or Cluster(), path))
        for user in file.users or ():
            users.setdefault(user.name, (user.user or User(), path))
        for context in file.contexts or ():
            contexts.setdefault(context.name, (context.context or _Context(), path))
    current = next((file.current_context for file in read if file.current_context), "")
    return Kubeconfig(paths, current, clusters, users, contexts)
