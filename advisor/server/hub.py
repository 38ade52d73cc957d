"""The cluster whose API server asks, where an object has to be looked at that a review does not bring along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.errors import InputError
from advisor.kube import single
from advisor.kube.client import Access
from advisor.kube.failure import ApiError
from advisor.server.request import Resource
from advisor.server.scaling import Find


def finder(access: Access) -> Find:
    """Each look logs in anew: tokens are replaced while a server runs."""

    def find(resource: Resource, namespace: str, name: str, seconds: float) -> Mapping[str, Any]:
        way = (resource.group, resource.version, resource.plural)
        try:
            return single.read(access, way, namespace, name, seconds)
        except ApiError as error:
            raise InputError(error.text) from None

    return find
