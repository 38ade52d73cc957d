"""Hands a placement to the real kube-scheduler and reports what it did.

Pinned pods ask whether an assignment is possible; unpinned ones show what the scheduler does on its own. Afterwards the
server is put back to what it held before: what the scheduler bound or evicted by the way is as it was.
"""

import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.objects import Object, name_of, namespaces_of

LIMIT = 60


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of the pods, by namespace/name: the node of those that were bound, the message of the others."""

    bound: Mapping[str, str]
    refused: Mapping[str, str]


def pin(pod: Object, node: str) -> Object:
    """The pod, for this node only; whatever else it asks of nodes still holds."""
    pinned = deepcopy(pod)
    affinity = pinned["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    required = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})
    for term in required["nodeSelectorTerms"]:
        term.setdefault("matchFields", []).append({"key": "metadata.name", "operator": "In", "values": [node]})
    return pinned


def rule(server: ApiServer, pods: Sequence[Object], *, settle: float = 2, profile: Object | None = None) -> Ruling:
    """Creates the pods in this order under a scheduler of its own, and waits until nothing changes any more.

    A namespace that is missing is made. A pod that admission turns away, for a quota say, is refused as well.
    """
    before = server.checkpoint()
    server.load(namespaces_of(pods))
    scheduler = server.start_scheduler(profile)
    try:
        turned_away = {name_of(pod): message for pod in pods if (message := _turned_away(server, pod))}
        watch = _Watch(server, [pod for pod in pods if name_of(pod) not in turned_away], settle)
        scheduler.wait_until(watch.settled, LIMIT, every=0.1)
        return Ruling(watch.ruling.bound, {**turned_away, **watch.ruling.refused})
    finally:
        server.stop_controllers(scheduler)
        server.restore(before)


def _turned_away(server: ApiServer, pod: Object) -> str:
    try:
        server.create(pod)
    except RefusedError as refused:
        if refused.reason != "Forbidden":
            raise
        return refused.message
    return ""


class _Watch:
    """Looks at the pods until each has a node or a refusal, and none has changed its mind for a while."""

    def __init__(self, server: ApiServer, pods: Sequence[Object], settle: float) -> None:
        self._server, self._settle = server, settle
        self._names = {name_of(pod) for pod in pods}
        self._namespaces = sorted({pod["metadata"]["namespace"] for pod in pods})
        self._since = time.monotonic()
        self.ruling = Ruling({}, {})

    def settled(self) -> bool:
        latest = self._look()
        if latest != self.ruling:
            self.ruling, self._since = latest, time.monotonic()
        complete = len(latest.bound) + len(latest.refused) == len(self._names)
        return complete and time.monotonic() - self._since >= self._settle

    def _look(self) -> Ruling:
        everything = (pod for namespace in self._namespaces for pod in self._server.list("pods", namespace))
        pods = {name_of(pod): pod for pod in everything if name_of(pod) in self._names}
        bound = {name: pod["spec"]["nodeName"] for name, pod in pods.items() if "nodeName" in pod["spec"]}
        messages = {name: _refusal(pod) for name, pod in pods.items() if name not in bound}
        return Ruling(bound, {name: message for name, message in messages.items() if message})


def _refusal(pod: Object) -> str:
    for condition in pod["status"].get("conditions", ()):
        if (condition["type"], condition["status"]) == ("PodScheduled", "False"):
            return str(condition.get("message") or condition["reason"])
    return ""
