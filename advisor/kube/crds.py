"""CustomResourceDefinitions of one cluster, as plain data."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from advisor.kube.answer import promised
from advisor.kube.client import Api

PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def read(api: Api, name: str) -> dict[str, Any]:
    """The one of this name, such as `jobsets.jobset.x-k8s.io`. Raises ApiError."""
    body = api.read(f"{PATH}/{quote(name, safe='')}", f"get customresourcedefinition {name}")
    return promised(dict[str, Any], body, api.host)
