"""A server of the standard library that misbehaves on demand: what a real API server won't show when a test asks.

`serving({"/version": reply({…}), "/api/v1/pods": hang})` maps a path to what happens there. Everything else is a 404 as
the API writes it. `requests` remembers what was asked.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml

from advisor.kube.kubeconfig import Context, load
from tests.servers.certificates import Identity

Behaviour = Callable[["Handler"], None]
VERSION = {"gitVersion": "v1.36.2", "major": "1", "minor": "36"}
GROUPS = {"kind": "APIGroupList", "apiVersion": "v1", "groups": []}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Stub

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        self.query = dict(parse_qsl(address.query))
        self.server.requests.append((address.path, self.query, self.headers))
        self.server.routes.get(address.path, status(404, "NotFound"))(self)

    def send(self, code: int, body: bytes, **headers: str) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Silent."""


class Stub(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, routes: Mapping[str, Behaviour], identity: Identity | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.routes = {"/version": reply(VERSION), "/apis": reply(GROUPS), **routes}
        self.requests: list[tuple[str, dict[str, str], Message]] = []
        self.closing = threading.Event()
        self.url = f"{'https' if identity else 'http'}://127.0.0.1:{self.server_address[1]}"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(identity.certificate, identity.key)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gives up is what many tests are about."""

    def asked(self, path: str) -> list[dict[str, str]]:
        """The queries of the requests for a path."""
        return [query for asked, query, _ in self.requests if asked == path]


@contextmanager
def serving(routes: Mapping[str, Behaviour] | None = None, identity: Identity | None = None) -> Iterator[Stub]:
    with Stub(routes or {}, identity) as stub:
        thread = threading.Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield stub
        finally:
            stub.closing.set()
            stub.shutdown()
            thread.join()


def reply(content: object, code: int = 200, **headers: str) -> Behaviour:
    """JSON, or text as it is."""
    body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    return lambda handler: handler.send(code, body, **headers)


def status(code: int, reason: str = "", **headers: str) -> Behaviour:
    """A failure as an API server words it."""
    content = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code}
    return reply(content, code, **headers)


def listing(kind: str, *items: object, token: str = "", version: str = "v1") -> dict[str, Any]:
    return {"kind": f"{kind}List", "apiVersion": version, "metadata": {"continue": token}, "items": list(items)}


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other, the last for ever."""
    left = list(behaviours)
    return lambda handler: (left.pop(0) if len(left) > 1 else left[0])(handler)


def hang(handler: Handler) -> None:
    handler.server.closing.wait(30)


def hang_in_the_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"kind":"PodList","items":[')
    handler.server.closing.wait(30)


def trickle(handler: Handler) -> None:
    """A byte now and then, so that no single read waits for long."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def cut(handler: Handler) -> None:
    """Promises more than it sends, then closes the connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"kind":"PodList","items":[')
    handler.close_connection = True


def chunked(content: object, sizes: int = 7) -> Behaviour:
    """JSON in many small chunks, as API servers stream large lists."""
    body = json.dumps(content).encode()

    def behave(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(body), sizes):
            piece = body[start : start + sizes]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.wfile.write(b"0\r\n\r\n")

    return behave


def kubeconfig(folder: Path, url: str, user: object = None, cluster: Any = None, name: str = "eu") -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": "c", "cluster": {"server": url, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {"token": "t"}}],
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / f"{name}.kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return path


def context(folder: Path, url: str, user: object = None, cluster: Any = None) -> Context:
    return load([str(kubeconfig(folder, url, user, cluster))]).context()
