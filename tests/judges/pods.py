"""Pods as an API server holds them: whose they are, and what they ask for. Uses no line of `advisor`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.objects import Object, Objects

SUFFIXES = {"m": "0.001", "": "1", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12", "P": "1e15", "E": "1e18"}
SUFFIXES |= {"u": "1e-6", "n": "1e-9", **{f"{sign}i": str(1024**n) for n, sign in enumerate("KMGTPE", start=1)}}
POD_LEVEL = ("cpu", "memory", "hugepages-")


class Owners:
    """Follows owner references upwards; what was found once is remembered."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._parents: dict[str, str] = {}

    def root(self, obj: Object) -> str:
        """The uid at the top of the chain of controllers."""
        uid: str = obj["metadata"]["uid"]
        while uid not in self._parents:
            parent = self._parent(obj)
            self._parents[uid] = parent["metadata"]["uid"] if parent else uid
            obj, uid = parent or obj, self._parents[uid]
        while self._parents[uid] != uid:
            uid = self._parents[uid]
        return uid

    def _parent(self, obj: Object) -> Object | None:
        references = obj["metadata"].get("ownerReferences") or ()
        chosen = next((one for one in references if one.get("controller")), next(iter(references), None))
        if chosen is None:
            return None
        resource = self._server.api.resource_of(chosen)
        try:
            found = self._server.api.request("GET", resource.path(obj["metadata"].get("namespace"), chosen["name"]))
        except RefusedError:
            return None
        return {"apiVersion": chosen["apiVersion"], "kind": chosen["kind"], **found}


def of(owner: Object, pods: Objects, owners: Owners) -> Objects:
    """The pods that exist because of this object."""
    return [pod for pod in pods if owners.root(pod) == owner["metadata"]["uid"]]


def amount(text: object) -> Decimal:
    """A quantity of the API as a number."""
    written = str(text)
    digits = written.rstrip("EPTGMKkimun")
    suffix = written[len(digits) :]
    return Decimal(digits) * Decimal(SUFFIXES[suffix])


def requests(pod: Object) -> dict[str, Decimal]:
    """What kube-scheduler subtracts from a node (component-helpers `resource.PodRequests`), without zeros."""
    spec = pod["spec"]
    total = _sum(map(_asked, spec["containers"]))
    sidecars: dict[str, Decimal] = {}
    peak: dict[str, Decimal] = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":
            total, sidecars = _sum([total, asked]), _sum([sidecars, asked])
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum([sidecars, asked]))
    total = _most(total, peak)
    stated = (spec.get("resources") or {}).get("requests") or {}
    total |= {
        name: amount(value) for name, value in stated.items() if name in POD_LEVEL or name.startswith("hugepages")
    }
    total = _sum([total, {name: amount(value) for name, value in (spec.get("overhead") or {}).items()}])
    return {name: value for name, value in total.items() if value}


def _asked(part: Object) -> dict[str, Decimal]:
    """Requests of a container or a pod as the API server completed them: a limit alone has become one."""
    found = (part.get("resources") or {}).get("requests") or {}
    return {name: amount(value) for name, value in found.items()}


def _sum(parts: Iterable[Mapping[str, Decimal]]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, Decimal()) + value
    return total


def _most(one: Mapping[str, Decimal], other: Mapping[str, Decimal]) -> dict[str, Decimal]:
    return {name: max(one.get(name, Decimal()), other.get(name, Decimal())) for name in {**one, **other}}
