"""How tests ask a server: manifests and reviews as an API server sends them, and a desk with clusters at hand.

here = desk(cluster(nodes=nodes(2, gpu=8)))
assert here.review(creation(job(pods=2, gpu=8))).word == "fits"
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from advisor.cluster import ClusterSnapshot
from advisor.definitions.catalog import Catalog
from advisor.server import request
from advisor.server.desk import Desk, Rules, Ticket
from advisor.server.review import Decision
from advisor.server.store import Latest
from tests import builders

Object = dict[str, Any]
CATALOG = Catalog()


def template(gpu: int = 0, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    limits = {"nvidia.com/gpu": gpu} if gpu else {}
    container = {"name": "main", "image": "example/train", "resources": {"limits": limits}}
    return {"metadata": {"labels": labels or {}}, "spec": {"restartPolicy": "Never", "containers": [container], **spec}}


def job(name: str = "train", pods: int = 1, gpu: int = 8, **metadata: Any) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": builders.TEAM, **metadata},
        "spec": {"parallelism": pods, "completions": pods, "template": template(gpu)},
    }


def deployment(name: str = "serve", pods: int = 1, gpu: int = 8, **labels: str) -> Object:
    own = {"app": name, **labels}
    spec = {"replicas": pods, "selector": {"matchLabels": own}, "template": template(gpu, own, restartPolicy="Always")}
    metadata = {"name": name, "namespace": builders.TEAM}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def cronjob(name: str = "nightly", gpu: int = 8) -> Object:
    spec = {"schedule": "0 4 * * *", "jobTemplate": {"spec": {"template": template(gpu)}}}
    metadata = {"name": name, "namespace": builders.TEAM}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}


def suspended(obj: Object) -> Object:
    return {**obj, "spec": {**obj["spec"], "suspend": True}}


def statefulset(name: str = "serve", pods: int = 1, gpu: int = 8) -> Object:
    found = deployment(name, pods, gpu)
    return {**found, "kind": "StatefulSet", "spec": {**found["spec"], "serviceName": name}}


def trainjob(name: str = "tune", runtime: str = "torch", **spec: Any) -> Object:
    """Its pods are those of a runtime, another object."""
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": builders.TEAM},
        "spec": {"runtimeRef": {"name": runtime}, **spec},
    }


def owner_of(labels: Mapping[str, str]) -> str:
    """What looks after pods with such labels, where tests have objects of these kinds."""
    if "job-name" in labels:
        return f"Job.batch/{labels['job-name']}"
    if "jobset.sigs.k8s.io/jobset-name" in labels:
        return f"Job.batch/{labels['jobset.sigs.k8s.io/jobset-name']}-w-0"
    if "ray.io/cluster" in labels:
        return f"RayCluster.ray.io/{labels['ray.io/cluster']}"
    if "pod-template-hash" in labels:
        return f"ReplicaSet.apps/{labels['app']}-{labels['pod-template-hash']}"
    return f"StatefulSet.apps/{labels['app']}" if "controller-revision-hash" in labels else ""


def body(operation: str, obj: Object | None, old: Object | None = None, **facts: Any) -> Object:
    """A whole AdmissionReview; `facts` are fields of its request."""
    known = obj or old or {}
    group, _, version = str(known.get("apiVersion", "")).rpartition("/")
    metadata = known.get("metadata", {})
    asked = {
        "uid": "6b2f",
        "kind": {"group": group, "version": version, "kind": known.get("kind", "")},
        "operation": operation,
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
        "object": obj,
        "oldObject": old,
        "userInfo": {"username": "alice"},
        **facts,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}


def creation(obj: Object, **facts: Any) -> request.Request:
    return request.parse(body("CREATE", obj, **facts))


def change(old: Object, new: Object, **facts: Any) -> request.Request:
    return request.parse(body("UPDATE", new, old, **facts))


def removal(old: Object, **facts: Any) -> request.Request:
    return request.parse(body("DELETE", None, old, **facts))


class Clock:
    """Tells the time that a test sets."""

    def __init__(self) -> None:
        self.now = builders.NOON

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


class Fixed:
    """Snapshots as a test puts them there."""

    def __init__(self, clusters: Iterable[ClusterSnapshot]) -> None:
        self.known = {cluster.name: Latest(cluster.name, cluster) for cluster in clusters}

    def put(self, latest: Latest) -> None:
        self.known[latest.name] = latest

    def latest(self) -> tuple[Latest, ...]:
        return tuple(self.known.values())


class Office:
    """A desk, its clock and its clusters."""

    def __init__(self, clusters: Iterable[ClusterSnapshot], catalog: Catalog = CATALOG, **rules: Any) -> None:
        self.clock, self.snapshots = Clock(), Fixed(clusters)
        self.desk = Desk(self.snapshots, Rules(catalog, builders.gpus(), **rules), self.clock)

    def review(self, asked: request.Request, *, enforced: bool = False, ticket: Ticket | None = None) -> Decision:
        return self.desk.review(asked, enforced, ticket or Ticket())

    def read(self, cluster: ClusterSnapshot, *, after: float = 10) -> None:
        """A new snapshot comes in, begun `after` seconds from now."""
        self.snapshots.put(Latest(cluster.name, replace(cluster, taken_at=self.clock.pass_by(after))))
        self.desk.look()

    @property
    def held(self) -> int:
        """Pods that room is held for."""
        return sum(hold.pods for hold in self.desk.reservations.holds)


def office(*clusters: ClusterSnapshot, **rules: Any) -> Office:
    return Office(clusters, **rules)
