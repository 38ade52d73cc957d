"""The tests' own door to an API server: plain HTTP with reused connections, a time limit on every call, and discovery.

It is not the client under test and knows nothing of it. A refusal by the server is a `RefusedError`; a server that
does not answer is an exception of urllib3.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import urllib3

from tests.servers.certificates import Identity
from tests.servers.objects import Object, Objects

THREADS = 8
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
MERGE = "application/merge-patch+json"
PATIENCE = urllib3.Retry(
    connect=False,
    read=False,
    other=False,
    status=10,
    status_forcelist=(429,),  # too many requests, or a kind whose storage is not ready yet: both say when to come back
    allowed_methods=None,
    raise_on_status=False,
)


class RefusedError(Exception):
    """The API server said no."""

    def __init__(self, request: str, status: int, answer: bytes) -> None:
        self.status = status
        self.message, self.reason = _explanation(answer)
        super().__init__(f"{request}: {status} {self.message}")


def _explanation(answer: bytes) -> tuple[str, str]:
    try:
        content = json.loads(answer)
        return content["message"], content.get("reason", "")
    except (ValueError, KeyError, TypeError):
        return answer.decode(errors="replace"), ""


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind as an API server serves it."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    subresources: frozenset[str]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        root = "/apis" if self.group else "/api"
        scope = ("namespaces", namespace) if self.namespaced and namespace else ()
        parts = (self.api_version, *scope, self.plural, name and quote(name), subresource)
        return "/".join([root, *filter(None, parts)])


class Api:
    """An API server as one user sees it: by a client certificate or by a token."""

    def __init__(
        self, port: int, authority: Path, login: Identity | str, *, timeout: float = 30, threads: int = THREADS
    ) -> None:
        certificate = login if isinstance(login, Identity) else None
        self._headers = {} if certificate else {"Authorization": f"Bearer {login}"}
        self._http = urllib3.HTTPSConnectionPool(
            "127.0.0.1",
            port,
            maxsize=threads,
            block=True,
            ca_certs=str(authority),
            cert_file=str(certificate.certificate) if certificate else None,
            key_file=str(certificate.key) if certificate else None,
            timeout=timeout,
            retries=PATIENCE,
        )
        self._resources: tuple[Resource, ...] = ()

    def request(
        self, method: str, path: str, body: object = None, *, media: str = "application/json", accept: str = "*/*"
    ) -> Any:
        """The answer, read as JSON where it is JSON."""
        answer = self._http.request(
            method,
            path,
            body=None if body is None else json.dumps(body),
            headers=self._headers | {"Content-Type": media, "Accept": accept},
        )
        if answer.status >= 300:
            raise RefusedError(f"{method} {path}", answer.status, answer.data)
        return answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.data.decode()

    def get(self, plural: str, name: str, namespace: str | None = None) -> Object:
        """One object; the plural as for kubectl: `pods`, or `workloads.kueue.x-k8s.io` where groups share a name."""
        obj: Object = self.request("GET", self.resource(plural).path(namespace or "default", name))
        return obj

    def list(self, plural: str, namespace: str | None = None) -> Objects:
        resource = self.resource(plural)
        found = self.request("GET", resource.path(namespace))
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        return [kind | item for item in found["items"]]

    def create(self, obj: Object) -> Object:
        created: Object = self.request("POST", self.resource_of(obj).path(_namespace(obj)), obj)
        return created

    def patch(self, obj: Object, change: Object, subresource: str | None = None) -> Object:
        """Merges a change into the object, or into its `status`."""
        patched: Object = self.request("PATCH", self._path(obj, subresource), change, media=MERGE)
        return patched

    def delete(self, obj: Object, grace: int | None = None) -> None:
        options = {"propagationPolicy": "Background"} | ({} if grace is None else {"gracePeriodSeconds": grace})
        self.request("DELETE", self._path(obj), options)

    def _path(self, obj: Object, subresource: str | None = None) -> str:
        return self.resource_of(obj).path(_namespace(obj), obj["metadata"]["name"], subresource)

    def resource_of(self, obj: Object) -> Resource:
        wanted = (obj["apiVersion"], obj["kind"])
        return self._find(lambda r: (r.api_version, r.kind) == wanted, " ".join(wanted))

    def resource(self, plural: str) -> Resource:
        return self._find(lambda r: plural in (r.plural, f"{r.plural}.{r.group}"), plural)

    def _find(self, wanted: Callable[[Resource], bool], description: str) -> Resource:
        """Looks it up in what the server served before, then in what it serves now."""
        found = next(filter(wanted, self._resources), None) or next(filter(wanted, self.discover()), None)
        if found is None:
            raise LookupError(f"the API server does not serve {description}")
        return found

    def discover(self) -> tuple[Resource, ...]:
        pages = [self.request("GET", root, accept=DISCOVERY) for root in ("/api", "/apis")]
        self._resources = tuple(resource for page in pages for resource in _resources(page))
        return self._resources

    def forget(self) -> None:
        """Forgets what the server served, because it may no longer."""
        self._resources = ()

    def close(self) -> None:
        self._http.close()


def _namespace(obj: Object) -> str | None:
    """A namespaced object without a namespace is in `default`; for the others the path has no place for it."""
    namespace: str = obj["metadata"].get("namespace") or "default"
    return namespace


def _resources(page: Object) -> Iterator[Resource]:
    for group in page["items"]:
        for version in group["versions"]:
            for served in version["resources"]:
                yield Resource(
                    group=group["metadata"].get("name", ""),
                    version=version["version"],
                    plural=served["resource"],
                    kind=served["responseKind"]["kind"],
                    namespaced=served["scope"] == "Namespaced",
                    subresources=frozenset(part["subresource"] for part in served.get("subresources", ())),
                )
