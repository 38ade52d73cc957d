"""Writes kubeconfigs: several contexts in a file, certificates and tokens, inline or by reference to files."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import yaml

from tests.servers.certificates import Identity
from tests.servers.objects import Object


@dataclass(frozen=True, slots=True)
class Context:
    """A user's way to one API server; `login` is a certificate with its key, or a file that holds a token."""

    name: str
    url: str
    authority: Path
    user: str
    login: Identity | Path


def write(path: Path, contexts: Iterable[Context], *, inline: bool = True) -> Path:
    """Writes the file, for its owner's eyes only; the first context is the current one."""
    contexts = list(contexts)
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": contexts[0].name,
        "clusters": [{"name": c.name, "cluster": _cluster(c, inline)} for c in contexts],
        "users": [{"name": f"{c.user}@{c.name}", "user": _user(c, inline)} for c in contexts],
        "contexts": [{"name": c.name, "context": {"cluster": c.name, "user": f"{c.user}@{c.name}"}} for c in contexts],
    }
    with NamedTemporaryFile("w", dir=path.parent, delete=False) as file:  # whole at once: others may be reading it
        yaml.safe_dump(content, file, sort_keys=False)
    return Path(file.name).replace(path)


def _cluster(context: Context, inline: bool) -> Object:
    return {"server": context.url} | _file("certificate-authority", context.authority, inline)


def _user(context: Context, inline: bool) -> Object:
    if isinstance(context.login, Identity):
        certificate = _file("client-certificate", context.login.certificate, inline)
        return certificate | _file("client-key", context.login.key, inline)
    return {"token": context.login.read_text()} if inline else {"tokenFile": str(context.login)}


def _file(field: str, path: Path, inline: bool) -> Object:
    return {f"{field}-data": base64.b64encode(path.read_bytes()).decode()} if inline else {field: str(path)}
