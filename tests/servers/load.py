"""Loads recorded objects into an API server, in an order that it accepts.

First everything is created (`objects.rank`), then references to objects that came later are mended, then what was being
deleted is deleted, and at the end statuses are set: a pod that has finished is deleted at once, so it has to be
deleted before it has finished.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from tests.servers import crds
from tests.servers.client import THREADS, Api, RefusedError
from tests.servers.objects import (
    Object,
    Objects,
    creatable,
    flatten,
    missing,
    name_of,
    rank,
    references,
    rewritten,
    status_of,
    terminating,
)

INFORMED = 0.2


class LoadError(Exception):
    """The server refused some of the objects; the message names the first of them."""


def load(api: Api, objects: Iterable[Object]) -> Mapping[str, str]:
    """Loads the objects, or lists of them; returns the new uid for every old one."""
    recorded = list(flatten(objects))
    crds.install(api, [obj for obj in recorded if obj["kind"] == crds.KIND])
    others = [obj for obj in recorded if obj["kind"] != crds.KIND]
    with ThreadPoolExecutor(THREADS) as pool:
        return _Loading(api, pool).load(sorted(missing(others) + others, key=_place))


def _place(obj: Object) -> tuple[int, str]:
    return rank(obj), obj["kind"]


class _Loading:
    def __init__(self, api: Api, pool: ThreadPoolExecutor) -> None:
        self._api, self._pool = api, pool
        self._uids: dict[str, str] = {}

    def load(self, ordered: Objects) -> Mapping[str, str]:
        links = {uid for obj in ordered if (uid := obj["metadata"].get("uid"))}
        late: Objects = []
        for _, group in groupby(ordered, key=_place):
            batch, unknown = list(group), links - self._uids.keys()
            late += [obj for obj in batch if not unknown.isdisjoint(references(obj))]
            self._each(self._create, batch)
            _inform_admission("PriorityClass", batch)
        self._each(self._link, late)
        self._each(self._delete, [obj for obj in ordered if terminating(obj)])
        self._each(self._set_status, ordered)
        _inform_admission("LimitRange", ordered)
        _inform_admission("ResourceQuota", ordered)
        return self._uids

    def _each(self, step: Callable[[Object], None], objects: Objects) -> None:
        faults = [fault for fault in self._pool.map(_attempt(step), objects) if fault]
        if faults:
            raise LoadError(f"{len(faults)} of {len(objects)} objects refused:\n" + "\n".join(faults[:5]))

    def _create(self, obj: Object) -> None:
        body = creatable(obj, self._uids)
        try:
            made = self._api.create(body)
        except RefusedError as refused:
            if refused.reason != "AlreadyExists":
                raise
            made = self._api.patch(body, body)
        if "uid" in obj["metadata"]:
            self._uids[obj["metadata"]["uid"]] = made["metadata"]["uid"]

    def _link(self, obj: Object) -> None:
        metadata = {key: obj["metadata"][key] for key in ("labels", "ownerReferences") if key in obj["metadata"]}
        self._api.patch(obj, {"metadata": rewritten(metadata, self._uids)})

    def _delete(self, obj: Object) -> None:
        """Without a kubelet, a controller or whoever takes off the finalizer the object stays, terminating."""
        is_pod = obj["kind"] == "Pod"
        grace = obj["metadata"].get("deletionGracePeriodSeconds") or 30
        self._api.delete(obj, grace=max(1, grace) if is_pod else None)

    def _set_status(self, obj: Object) -> None:
        status = status_of(obj, self._uids)
        if status and "status" in self._api.resource_of(obj).subresources:
            self._api.patch(obj, {"status": status}, "status")


def _attempt(step: Callable[[Object], None]) -> Callable[[Object], str]:
    """The step, with a refusal as its result: all faults come at once."""

    def attempt(obj: Object) -> str:
        try:
            step(obj)
        except RefusedError as refused:
            return f"{obj['kind']} {name_of(obj)}: {refused}"
        return ""

    return attempt


def _inform_admission(kind: str, loaded: Objects) -> None:
    """Waits until the admission plugins, which read through watches, know what was loaded.

    A pod created within these milliseconds would meet no limits, or an unknown class; worse, a live lookup in their
    stead is remembered for 30 s, even over the reset of the server.
    """
    if any(obj["kind"] == kind for obj in loaded):
        time.sleep(INFORMED)
