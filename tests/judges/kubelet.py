"""A stand-in for scheduler and kubelet: every pod gets a node of its own, runs and is ready.

The node is made for the pod: it bears the labels that the pod selects, and for every topology that the pod names a
domain, as controllers look them up there. Pods of a job that another one wants complete (JobSet's `dependsOn`) end.
Pods with scheduling gates wait, as they would for ever under a real scheduler.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import urllib3

from tests.servers.apiserver import ApiServer
from tests.servers.client import RefusedError
from tests.servers.objects import Object

EVERY = 0.4
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODE = "judge-node"
NOW = "2026-01-01T00:00:00Z"
JOBSET, STEP = "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/replicatedjob-name"


class Kubelet:
    """A thread of its own, until it is closed."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._nodes = 0
        self._jobsets = any(resource.plural == "jobsets" for resource in server.api.discover())
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="kubelet", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._over.wait(EVERY):
            with suppress(urllib3.exceptions.HTTPError, RefusedError):
                pods = self._server.list("pods")
                ended = list(self._ended())
                for pod in pods:
                    with suppress(RefusedError):  # it is gone, or somebody else has changed it: next time
                        self._tend(pod, ended)

    def _tend(self, pod: Object, ended: list[tuple[str, str, str]]) -> None:
        metadata, labels = pod["metadata"], pod["metadata"].get("labels") or {}
        phase = pod["status"].get("phase")
        if metadata.get("deletionTimestamp"):
            self._server.delete(pod, grace=0)
        elif not pod["spec"].get("nodeName"):
            if not pod["spec"].get("schedulingGates"):
                self._bind(pod)
        elif phase == "Pending":
            self._server.patch(pod, {"status": running(pod)}, "status")
        elif phase == "Running" and (metadata["namespace"], labels.get(JOBSET), labels.get(STEP)) in ended:
            self._server.patch(pod, {"status": succeeded(pod)}, "status")

    def _bind(self, pod: Object) -> None:
        self._nodes += 1
        node = f"{NODE}-{self._nodes}"
        domains = dict.fromkeys(topologies(pod), node)
        labels = {"kubernetes.io/hostname": node, **domains, **(pod["spec"].get("nodeSelector") or {})}
        self._server.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}})
        space, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        path = self._server.api.resource_of(pod).path(space, name, "binding")
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}}
        self._server.api.request("POST", path, {**binding, "target": target})

    def _ended(self) -> Iterator[tuple[str, str, str]]:
        """Namespace, JobSet and step of the jobs that others want complete."""
        for found in self._server.list("jobsets") if self._jobsets else ():
            for step in found["spec"]["replicatedJobs"]:
                for wanted in step.get("dependsOn") or ():
                    if wanted["status"] == "Complete":
                        yield found["metadata"]["namespace"], found["metadata"]["name"], wanted["name"]


def topologies(pod: Object) -> Iterator[str]:
    """The topology keys of its required terms, and what controllers ask for by annotation."""
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(REQUIRED) or ():
            yield term["topologyKey"]
    for key, value in (pod["metadata"].get("annotations") or {}).items():
        if key.endswith("exclusive-topology"):
            yield value


def running(pod: Object) -> Object:
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": NOW}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    state = {"running": {"startedAt": NOW}}
    number = int(pod["spec"]["nodeName"].rpartition("-")[2])
    address = f"10.1.{number // 250}.{number % 250 + 1}"
    return {
        "phase": "Running",
        "startTime": NOW,
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": conditions,
        "containerStatuses": [_container(one, state, ready=True) for one in pod["spec"]["containers"]],
        "initContainerStatuses": [_init(one) for one in pod["spec"].get("initContainers") or ()],
    }


def succeeded(pod: Object) -> Object:
    state = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": NOW, "finishedAt": NOW}}
    statuses = [_container(one, state, ready=False) for one in pod["spec"]["containers"]]
    conditions = [{"type": "Ready", "status": "False", "reason": "PodCompleted", "lastTransitionTime": NOW}]
    return {"phase": "Succeeded", "conditions": conditions, "containerStatuses": statuses}


def _init(container: Object) -> Object:
    if container.get("restartPolicy") == "Always":
        return _container(container, {"running": {"startedAt": NOW}}, ready=True)
    return _container(container, {"terminated": {"exitCode": 0, "startedAt": NOW, "finishedAt": NOW}}, ready=True)


def _container(container: Object, state: Object, *, ready: bool) -> Object:
    image = container.get("image", "")
    return {
        "name": container["name"],
        "image": image,
        "imageID": image,
        "ready": ready,
        "started": ready,
        "restartCount": 0,
        "state": state,
    }
