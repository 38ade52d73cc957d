"""What `describe TYPE/NAME` says of an object while its controller works on it, against the pods that are there."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from advisor.commands import live
from advisor.commands.given import Clusters, Manifests
from advisor.errors import InputError
from advisor.workload import State, Workload
from tests.servers.apiserver import ApiServer
from tests.servers.objects import Object, Objects

FINISHED = ("Succeeded", "Failed")
RUNS = "Running"
WAITING, SUSPENDED = "Initializing", "Suspended"
ANSWERING = frozenset({"RayJob", "RayService", "Service", "InferenceService", "InferenceGraph"})
"""Kinds that may wait on: for what is in their pods to answer, or for Knative's gateway. Neither is there."""
TRIES, PAUSE = 5, 1.5
"""Pods may become ready between two looks, and their controllers hear of it later."""


def differences(server: ApiServer, made: Object, pods: Callable[[], Objects], announced: Workload) -> list[str]:
    """`pods`: those of the object, read anew. Only what is wrong each time is wrong."""
    said: list[str] = []
    for number in range(TRIES):
        time.sleep(PAUSE if number else 0)
        said = list(Live(made, pods(), announced).differences(server))
        if not said:
            break
    return said


@dataclass(frozen=True, slots=True)
class Live:
    """An object with its pods, of which `announced` says how many each role has."""

    made: Object
    pods: Objects
    announced: Workload

    def differences(self, server: ApiServer) -> Iterator[str]:
        resource = server.api.resource_of(self.made)
        word = f"{resource.plural}.{resource.group}".rstrip(".") + f"/{self.made['metadata']['name']}"
        asked = Manifests((word,), namespace=self.made["metadata"]["namespace"])
        try:
            seen = live.seen(asked, Clusters(kubeconfig=(str(server.admin_kubeconfig),)))
        except InputError as error:
            yield f"describe {word}: {error}"
            return
        if seen.faults:
            yield f"describe {word}: {[str(one) for one in seen.faults]}"
            return
        (workload,) = seen.workloads
        if workload.state is None:
            yield f"describe {word}: it has no state: {[str(one) for one in workload.faults]}"
            return
        for text in (*self._of_roles(workload, workload.state), *self._of_pods(workload.state)):
            yield f"describe {word}: {text}"

    def _of_roles(self, workload: Workload, state: State) -> Iterator[str]:
        there = {role.name: role.replicas for role in workload.roles}
        announced = {role.name: role.replicas for role in self.announced.roles}
        if there != announced:
            yield f"its roles are {there}, those of the manifest {announced}"
        for role, number in there.items():
            counted = state.roles[role].pods + state.roles[role].finished
            if counted != number:
                yield f"{role} has {counted} of {number} pods"

    def _of_pods(self, state: State) -> Iterator[str]:
        alive = [pod for pod in self.pods if pod["status"].get("phase") not in FINISHED]
        nodes = Counter(pod["spec"]["nodeName"] for pod in alive if pod["spec"].get("nodeName"))
        said = sum((Counter(role.nodes) for role in state.roles.values()), Counter[str]())
        if said != nodes:
            yield f"nodes {sorted(said)}, the pods are on {sorted(nodes)}"
        ready = sum(role.ready for role in state.roles.values())
        if ready != _ready(alive):
            yield f"{ready} pods are ready, in truth {_ready(alive)}"
        if state.strangers.listed or state.unread:
            yield f"{state.strangers.listed} pods are of no role; {'; '.join(state.unread)}"
        if alive and _ready(alive) == len(self.pods) and not self._runs(state):
            yield f"all pods run, the status is {', '.join(state.matched)} ({state.phase})"

    def _runs(self, state: State) -> bool:
        """Schedules are suspended once they have begun (`Trial`), and both is true of them."""
        said = {*state.matched} - ({SUSPENDED} if "schedule" in self.made["spec"] else set())
        return said == {RUNS} or (self.made["kind"] in ANSWERING and said == {WAITING})


def _ready(pods: Sequence[Object]) -> int:
    return sum(
        any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions") or ())
        for pod in pods
    )
