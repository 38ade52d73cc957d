"""A namespace of a user's cluster that exists for a moment: what is created goes into it, and all of it is taken away.

The only place from which anything is created or deleted. To take away, the cluster is entered anew: the time that the
rest had may be over by then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from advisor.kube.answer import promised
from advisor.kube.client import Access, Api
from advisor.kube.deadline import Deadline
from advisor.kube.failure import FORBIDDEN, NOT_FOUND, TIMEOUT, ApiError
from advisor.kube.resources import Resource

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
PREFIX = "wm-place-test-"
LABELS = {"app.kubernetes.io/managed-by": "wm-place"}
CONDITIONS = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
PAUSE = 0.5
"""Seconds between two looks at a namespace that is going."""

Object = dict[str, Any]


class LeftError(ApiError):
    """What was created could not be taken away, or nobody knows whether it was; with the command that does it."""


@dataclass(frozen=True, slots=True)
class Space:
    """A namespace of our own."""

    api: Api
    name: str

    def create(self, resource: Resource, data: Mapping[str, Any]) -> Object:
        """The object as the server made it. Raises ApiError."""
        metadata = {**(data.get("metadata") or {}), "namespace": self.name}
        body = {**data, "metadata": metadata}
        title = f"{resource.kind} {metadata.get('name') or metadata.get('generateName')}"
        made = self.api.send("POST", resource.path(self.name), f"create {title}", body)
        return promised(Object, made, self.api.host)

    def pretend_to_run(self, pod: Mapping[str, Any]) -> None:
        """As if a node had taken the pod: controllers that go step by step go on. Raises ApiError."""
        name = pod["metadata"]["name"]
        conditions = [{"type": kind, "status": "True"} for kind in CONDITIONS]
        path = f"/api/v1/namespaces/{self.name}/pods/{quote(name, safe='')}/status"
        body = {"status": {"phase": "Running", "conditions": conditions}}
        self.api.send("PATCH", path, f"set the status of pod {name}", body)


def new_name() -> str:
    return f"{PREFIX}{token_hex(4)}"


def check_rights(api: Api, name: str) -> None:
    """May namespaces of this name be made, looked at and taken away? Raises ApiError where not, or nobody knows."""
    for verb, which in (("create", ""), ("delete", name), ("get", name)):
        if not may(api, verb, {"resource": "namespaces", "namespace": which, "name": which}):
            raise ApiError(FORBIDDEN, f"may not {verb} namespaces: nothing was created")


def may(api: Api, verb: str, what: Mapping[str, str]) -> bool:
    """What the server's authorization says; admission may refuse all the same. Raises ApiError."""
    kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    body = {**kind, "spec": {"resourceAttributes": {**what, "verb": verb}}}
    made = api.send("POST", REVIEWS, f"ask whether to {verb} {what['resource']} is allowed", body)
    return (promised(Object, made, api.host).get("status") or {}).get("allowed") is True


@contextmanager
def space(access: Access, api: Api, name: str, seconds: float) -> Iterator[Space]:
    """The namespace, taken away in the end. `seconds`: how long its end is waited for.

    Raises ApiError; LeftError for what could not be taken away.
    """
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": LABELS}}
    interrupted = False
    try:
        api.send("POST", "/api/v1/namespaces", f"create namespace {name}", body)
        yield Space(api, name)
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        _take_away(access, name, seconds, interrupted=interrupted)


def _take_away(access: Access, name: str, seconds: float, *, interrupted: bool) -> None:
    """Goes on where the first interruption comes now; the second one leaves the namespace."""
    try:
        _delete(access, name, seconds)
    except ApiError as error:
        raise LeftError(error.cause, f"{error.text}; {_advice(name)}") from None
    except KeyboardInterrupt:
        if interrupted:
            raise LeftError(TIMEOUT, f"interrupted; {_advice(name)}") from None
        _take_away(access, name, seconds, interrupted=True)
        raise


def _advice(name: str) -> str:
    return f"namespace {name} may be left: kubectl delete namespace {name}"


def _delete(access: Access, name: str, seconds: float) -> None:
    """Also where its creation was cut off, so that nobody knows whether it is there. Raises ApiError."""
    path = f"/api/v1/namespaces/{quote(name, safe='')}"
    with access.open(Deadline(seconds)) as api:
        if _is_there(api, path, name):
            api.send("DELETE", path, f"delete namespace {name}", {"propagationPolicy": "Background"})
        while _is_there(api, path, name):
            time.sleep(PAUSE)


def _is_there(api: Api, path: str, name: str) -> bool:
    try:
        api.read(path, f"get namespace {name}")
    except ApiError as error:
        if error.cause != NOT_FOUND:
            raise
        return False
    return True
