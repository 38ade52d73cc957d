"""One object of a cluster: the path that is asked for, and names that lead to no other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.kube import failure, single
from advisor.kube.client import Access
from advisor.kube.failure import ApiError
from tests.kube import stub
from tests.kube.stub import Behaviour, hang, reply, serving, status

APPS = ("apps", "v1", "deployments")
PATH = "/apis/apps/v1/namespaces/team/deployments/web"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def found(
    folder: Path, routes: dict[str, Behaviour], resource: tuple[str, str, str] = APPS, seconds: float = 10
) -> tuple[Any, list[str]]:
    """What is read of the object `web` in the namespace `team`, and the paths that were asked for."""
    with serving(routes) as server:
        access = Access(stub.context(folder, server.url, None, None))
        return single.read(access, resource, "team", "web", seconds), [path for path, _, _ in server.requests]


def test_an_object_is_read_from_its_own_path(tmp_path: Path) -> None:
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    assert found(tmp_path, {PATH: reply(web)}) == (web, [PATH])


def test_the_core_group_has_a_path_of_its_own(tmp_path: Path) -> None:
    path = "/api/v1/namespaces/team/replicationcontrollers/web"
    assert found(tmp_path, {path: reply({"kind": "x"})}, ("", "v1", "replicationcontrollers"))[1] == [path]


@pytest.mark.parametrize(
    ("behaviour", "cause"),
    [
        (status(404, "NotFound"), failure.NOT_FOUND),
        (status(403, "Forbidden"), failure.FORBIDDEN),
        (reply(["no object"]), failure.NOT_KUBERNETES),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, behaviour: Behaviour, cause: str) -> None:
    with pytest.raises(ApiError) as caught:
        found(tmp_path, {PATH: behaviour})
    assert caught.value.cause == cause


def test_a_server_that_hangs_is_left_at_the_deadline(tmp_path: Path) -> None:
    with pytest.raises(ApiError) as caught:
        found(tmp_path, {PATH: hang}, seconds=0.2)
    assert caught.value.cause == failure.TIMEOUT


@pytest.mark.parametrize(
    ("way", "namespace", "name"),
    [
        (APPS, "team", ".."),
        (APPS, "..", "web"),
        (APPS, "team", "web/status"),
        (APPS, "team", "web?x=y"),
        (APPS, "team", "web%2fstatus"),
        (APPS, "team", ""),
        (APPS, "team", "Web"),
        (("..", "v1", "secrets"), "team", "web"),
        (("apps", "v1", ""), "team", "web"),
        (("apps", "..", "deployments"), "team", "web"),
    ],
)
def test_a_name_that_leads_elsewhere_is_never_asked_for(
    tmp_path: Path, way: tuple[str, str, str], namespace: str, name: str
) -> None:
    with serving({}) as server:
        access = Access(stub.context(tmp_path, server.url, None, None))
        with pytest.raises(ApiError, match="no object can have"):
            single.read(access, way, namespace, name, 10)
        assert server.requests == []
