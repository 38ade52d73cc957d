"""A small control plane of the standard library: workload types, categories and priorities, behind a bearer token."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers.certificates import Identity

TOKEN = "very-secret-token-of-the-tests"
CATEGORIES = {"Train": "11111111-1111-4111-8111-111111111111", "Deploy": "22222222-2222-4222-8222-222222222222"}
PRIORITIES = {"low": "33333333-3333-4333-8333-333333333333", "high": "44444444-4444-4444-8444-444444444444"}
MADE = "55555555-5555-4555-8555-555555555555"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ControlPlane

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        self._answer(json.loads(self.rfile.read(length)))

    def _answer(self, body: Any) -> None:
        self.server.requests.append((self.command, self.path, body))
        if self.server.instead and self.server.instead(self):
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.reply(401, {"code": 401, "message": "Issuer is not familiar."})
        elif self.path == "/api/v1/workload-categories":
            self.reply(200, {"categories": [{"id": one, "name": name} for name, one in CATEGORIES.items()]})
        elif self.path == "/api/v1/workload-priorities":
            listed = [{"id": one, "name": name, "value": 50} for name, one in PRIORITIES.items()]
            self.reply(200, {"priorities": listed})
        elif (self.command, self.path) == ("POST", "/api/v1/workload-types"):
            self._create(body)
        else:
            self.reply(404, {"code": 404, "message": "Resource id not found."})

    def _create(self, body: Any) -> None:
        key = (body["group"], body["name"])
        if key in self.server.types:
            self.reply(409, {"code": 409, "message": "Resource with this name already exists"})
        elif body["categoryId"] not in CATEGORIES.values() or body["priorityId"] not in PRIORITIES.values():
            self.reply(400, {"code": 400, "message": "Required parameter is missing"})
        else:
            self.server.types[key] = body
            self.reply(201, {**body, "id": MADE})

    def reply(self, code: int, content: object, **headers: str) -> None:
        body = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Silent."""


class ControlPlane(ThreadingHTTPServer):
    """`types`: what was registered; `instead`: does something else with a request, and says whether it did."""

    daemon_threads = True

    def __init__(self, identity: Identity | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.types: dict[tuple[str, str], Any] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.instead: Callable[[Handler], bool] | None = None
        self.closing = threading.Event()
        self.url = f"{'https' if identity else 'http'}://127.0.0.1:{self.server_address[1]}"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(identity.certificate, identity.key)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that does not trust us, or gives up."""


@contextmanager
def running(identity: Identity | None = None) -> Iterator[ControlPlane]:
    with ControlPlane(identity) as plane:
        thread = threading.Thread(target=plane.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield plane
        finally:
            plane.closing.set()
            plane.shutdown()
            thread.join()
