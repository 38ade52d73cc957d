"""The only door to an API server: bytes of lists and objects, for one user, within a deadline.

`read` is all that advice needs. `send` changes something; only `temporary.py` calls it, for what it takes away again.

The kubernetes package makes a configuration out of a kubeconfig or a service account, and the connections; it is
imported when a server is contacted, because that takes 0.2 s. Its models are not used: they decode a hundred times
slower than `decode.py`.
"""

from __future__ import annotations

import ipaddress
import json
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from advisor.kube.answer import Answer, accepted, judged
from advisor.kube.deadline import Deadline
from advisor.kube.failure import CUT_OFF, KUBECONFIG, NOT_KUBERNETES, ApiError
from advisor.kube.kubeconfig import Context
from advisor.kube.login import Login, prepare
from advisor.kube.paging import JSON
from advisor.kube.trouble import explained

PIECE = 1 << 18
LARGEST = 1 << 30
"""Bytes that are read at once, and that one answer may have."""

MERGE = "application/merge-patch+json"

IMPATIENT, SHORTEST_WAIT = 1.0, 0.1
"""Seconds to wait after 429 when the server does not say how long, and when it says "not at all"."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one API server, as whom. `context` None: from inside the cluster, as the pod's service account."""

    context: Context | None
    impersonate: str = ""

    def open(self, deadline: Deadline) -> Api:
        """Log in. Contacts no API server yet, but may run the context's exec plugin. Raises ApiError."""
        folder = tempfile.TemporaryDirectory(prefix="wm-place-")
        try:
            return self._api(folder, deadline)
        except BaseException:
            folder.cleanup()
            raise

    def _api(self, folder: tempfile.TemporaryDirectory[str], deadline: Deadline) -> Api:
        login = prepare(self.context, Path(folder.name), deadline) if self.context else Login()
        configuration = _configuration(self.context, login) if self.context else _in_cluster()
        own = [("Impersonate-User", self.impersonate)] if self.impersonate else []
        return Api(configuration, tuple(own) or login.impersonation, deadline, folder)


def _configuration(context: Context, login: Login) -> Any:
    from kubernetes.client import Configuration
    from kubernetes.config.config_exception import ConfigException
    from kubernetes.config.kube_config import KubeConfigLoader

    configuration = Configuration()
    try:
        loader: Any = KubeConfigLoader
        loader(_one_context(context, login), config_base_path="").load_and_set(configuration)
    except (ConfigException, OSError, ValueError):
        raise ApiError(KUBECONFIG, f"context {context.name} in {context.file} cannot be used") from None
    _check_address(context, configuration)
    return configuration


def _one_context(context: Context, login: Login) -> dict[str, Any]:
    """A kubeconfig of one context with its login worked out, for the package to read."""
    cluster = {
        "server": context.cluster.server,
        "certificate-authority": login.authority and str(login.authority),
        "insecure-skip-tls-verify": context.cluster.insecure_skip_tls_verify,
        "tls-server-name": context.cluster.tls_server_name,
        "proxy-url": context.cluster.proxy_url,
    }
    user = {
        "token": login.token or None,
        "client-certificate": login.certificate and str(login.certificate),
        "client-key": login.key and str(login.key),
        **(dict(zip(("username", "password"), login.basic, strict=True)) if login.basic else {}),
    }
    return {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": _stated(cluster)}],
        "users": [{"name": "it", "user": _stated(user)}],
    }


def _stated(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _check_address(context: Context, configuration: Any) -> None:
    """Is the server an address at all? Go's rule for proxies from the environment: none for the own machine."""
    address = urlsplit(configuration.host)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ApiError(KUBECONFIG, f"context {context.name} in {context.file}: server is not an http(s) address")
    if (configuration.proxy or "").startswith("socks") and not find_spec("socks"):
        raise ApiError(KUBECONFIG, f"context {context.name} in {context.file}: a SOCKS proxy needs the package PySocks")
    if not context.cluster.proxy_url and _is_own_machine(address.hostname):
        configuration.proxy = None


def _in_cluster() -> Any:
    from kubernetes.client import Configuration
    from kubernetes.config.config_exception import ConfigException
    from kubernetes.config.incluster_config import load_incluster_config

    configuration = Configuration()
    try:
        load: Any = load_incluster_config
        load(configuration)
    except (ConfigException, OSError):
        raise ApiError(KUBECONFIG, "this is not inside a cluster: there is no service account to use") from None
    return configuration


def _is_own_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Api:
    """One API server as one user sees it; for one thread. Close it to remove what was written for its login."""

    def __init__(
        self,
        configuration: Any,
        impersonation: tuple[tuple[str, str], ...],
        deadline: Deadline,
        folder: tempfile.TemporaryDirectory[str],
    ) -> None:
        import urllib3
        from kubernetes.client.rest import RESTClientObject

        if not configuration.verify_ssl:  # the user's own word, in the kubeconfig; kubectl does not warn either
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        address = urlsplit(configuration.host)
        self.host = address.netloc.rpartition("@")[2]
        self._url = configuration.host
        self._configuration = configuration
        self._impersonation = impersonation
        self._compressed = not _is_own_machine(address.hostname or "")
        self._deadline = deadline
        self._folder = folder
        try:
            self._http = RESTClientObject(configuration).pool_manager
        except (OSError, ValueError):
            raise ApiError(KUBECONFIG, f"the way to {self.host} cannot be used: is proxy-url an address?") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.clear()
        self._folder.cleanup()

    def read(self, path: str, errand: str, *, accept: str = JSON, **query: str | int) -> bytes | bytearray:
        """The JSON under a path. `errand` says in a message what it was for: "list pods". Raises ApiError.

        `accept`: which form of it, as a media type; a server that does not know that form answers with the usual one.
        """
        url = f"{self._url}{path}?{urlencode(query)}" if query else f"{self._url}{path}"
        while (answer := self._answer(url, errand, accept)).wants_patience:
            wait = IMPATIENT if answer.wait is None else max(answer.wait, SHORTEST_WAIT)
            if wait >= self._deadline.left():
                break
            time.sleep(wait)
        return judged(answer, errand, self.host)

    def send(self, method: str, path: str, errand: str, body: object = None) -> bytes | bytearray:
        """Create (POST), merge into (PATCH) or delete (DELETE). Not tried again: nobody knows whether it was done.

        Raises ApiError.
        """
        answer = self._try(f"{self._url}{path}", errand, JSON, method, body)
        return accepted(answer, errand, self.host)

    def _answer(self, url: str, errand: str, accept: str) -> Answer:
        """A connection that breaks is tried once more: an API server that restarts, a proxy that lost patience."""
        try:
            return self._try(url, errand, accept)
        except ApiError as error:
            if error.cause != CUT_OFF:
                raise
            return self._try(url, errand, accept)

    def _try(self, url: str, errand: str, accept: str, method: str = "GET", body: object = None) -> Answer:
        from urllib3.exceptions import HTTPError

        try:
            response = self._http.request(
                method,
                url,
                body=None if body is None else json.dumps(body).encode(),
                headers=self._headers(accept, MERGE if method == "PATCH" else JSON),
                timeout=self._deadline.left(),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            return Answer(
                status=response.status,
                is_json=response.headers.get("Content-Type", "").partition(";")[0].strip() == JSON,
                body=self._body(response),
                wait=_seconds(response.headers.get("Retry-After", "")),
            )
        except (HTTPError, HTTPException, OSError, ValueError) as error:
            self._deadline.left()
            raise explained(error, errand, self.host, self._deadline) from None

    def _headers(self, accept: str, content: str) -> Any:
        """Made anew for each request: the token of a service account is replaced while a server runs."""
        from urllib3 import HTTPHeaderDict

        headers = HTTPHeaderDict({"Accept": accept, "Content-Type": content, "User-Agent": "wm-place"})
        if self._compressed:
            headers["Accept-Encoding"] = "gzip"
        for setting in self._authentication().values():
            headers[setting["key"]] = setting["value"]
        for name, value in self._impersonation:
            headers.add(name, value)
        return headers

    def _authentication(self) -> Any:
        from kubernetes.config.config_exception import ConfigException

        try:
            return self._configuration.auth_settings()
        except (ConfigException, OSError):
            raise ApiError(KUBECONFIG, "the token of the service account cannot be read any more") from None

    def _body(self, response: Any) -> bytearray:
        """All of it, in large pieces, which cost a third less than reading as it arrives."""
        body = bytearray()
        try:
            with self._guarded(response):
                while piece := response.read(PIECE):
                    body += piece
                    if len(body) > LARGEST:
                        raise ApiError(NOT_KUBERNETES, f"{self.host} sends more than {LARGEST >> 20} MiB at once")
        except BaseException:
            response.close()
            raise
        return body

    @contextmanager
    def _guarded(self, response: Any) -> Iterator[None]:
        """Shut the response down at the deadline: a server that trickles makes even one piece last for ever."""
        guard = threading.Timer(self._deadline.left(), response.shutdown)
        guard.daemon = True
        guard.start()
        try:
            yield
        finally:
            guard.cancel()
        self._deadline.left()


def _seconds(header: str) -> float | None:
    """Retry-After in seconds; API servers do not send the form with a date."""
    return float(header) if header.isascii() and header.isdigit() and len(header) < 6 else None
