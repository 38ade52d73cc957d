"""The comparison sees every way in which pods can be other than we say; no server is needed for that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.files import Source
from tests.judges import compare, pods
from tests.servers.objects import Object, Objects

SPEC: Object = {
    "nodeSelector": {"pool": "gpu"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "containers": [{"name": "train", "image": "example/train", "resources": {"limits": {"example.com/gpu": 4}}}],
    "restartPolicy": "Never",
}
JOBS: Object = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "llama", "namespace": "research"},
    "spec": {
        "replicatedJobs": [
            {"name": "driver", "template": {"spec": {"template": {"spec": SPEC}}}},
            {"name": "worker", "replicas": 2, "template": {"spec": {"template": {"spec": SPEC}}}},
        ]
    },
}


def made() -> Objects:
    """One pod of the driver, two of the worker, as the controller makes them."""
    return [pod("driver", 0, 0), pod("worker", 0, 1), pod("worker", 1, 2)]


def pod(job: str, number: int, place: int) -> Object:
    prefix, uid = "jobset.sigs.k8s.io", f"uid-{place}"
    name = f"llama-{job}-{number}"
    labels = {
        **{f"{prefix}/{key}": value for key, value in _jobset(job, number, place).items()},
        "batch.kubernetes.io/job-name": name,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "controller-uid": uid,
        "batch.kubernetes.io/job-completion-index": "0",
    }
    spec = deepcopy(SPEC)
    spec["containers"][0]["resources"]["requests"] = {"example.com/gpu": "4"}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": uid, "controller": True}
    metadata: Object = {"name": f"{name}-0-{place}", "namespace": "research", "uid": f"pod-{place}", "labels": labels}
    metadata["ownerReferences"] = [owner]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}


def _jobset(job: str, number: int, place: int) -> dict[str, str]:
    return {
        "jobset-name": "llama",
        "jobset-uid": "uid",
        "replicatedjob-name": job,
        "replicatedjob-replicas": "1" if job == "driver" else "2",
        "job-index": str(number),
        "job-key": f"key-{place}",
        "job-global-index": str(place),
        "restart-attempt": "0",
        "priority": "0",
        "global-replicas": "3",
        "group-name": "default",
        "group-replicas": "3",
        "job-group-index": str(place),
    }


def told(manifest: Object, found: Objects) -> list[str]:
    (workload,) = reading.read(files.documents(Source("manifest", json.dumps(manifest))), Catalog()).workloads
    entry = Catalog().find(manifest["apiVersion"], manifest["kind"])
    assert entry
    return compare.differences(workload, entry, found)


def test_pods_as_announced_differ_in_nothing() -> None:
    assert told(JOBS, made()) == []


def test_an_owner_that_we_take_for_somebody_else_is_told() -> None:
    found = made()
    found[0]["metadata"]["ownerReferences"][0]["name"] = "llama-0"
    assert told(JOBS, found) == ["owner Job.batch/llama-0: we take its pods for those of (), not of driver"]


def worker(found: Objects) -> Any:
    return found[2]["spec"]


CHANGES: dict[str, tuple[Callable[[Objects], object], str]] = {
    "one pod less": (lambda found: found.pop(), "worker: we say 2 pods, there are 1"),
    "one pod more": (lambda found: found.append(pod("worker", 2, 3)), "worker: we say 2 pods, there are 3"),
    "more of a resource": (
        lambda found: worker(found)["containers"][0]["resources"].update(requests={"example.com/gpu": "5"}),
        "worker: requests example.com/gpu: we say 4, the pod has 5",
    ),
    "another container": (
        lambda found: worker(found)["containers"].append({"name": "proxy", "resources": {"requests": {"cpu": "25m"}}}),
        "worker: requests cpu: we say 0, the pod has 0.025",
    ),
    "an init container": (
        lambda found: worker(found).update(initContainers=[{"name": "wait", "resources": {"requests": {"cpu": 1}}}]),
        "worker: requests cpu: we say 0, the pod has 1",
    ),
    "another node selector": (lambda found: worker(found).update(nodeSelector={}), "worker: nodes: "),
    "no toleration": (lambda found: worker(found).pop("tolerations"), "worker: tolerations: "),
    "another scheduler": (lambda found: worker(found).update(schedulerName="volcano"), "worker: scheduler: "),
    "on the host's network": (lambda found: worker(found).update(hostNetwork=True), "worker: host_network: "),
    "a label that we do not know of": (
        lambda found: found[0]["metadata"]["labels"].update(team="a"),
        "driver: label team: we do not know of it",
    ),
    "a label missing": (
        lambda found: found[0]["metadata"]["labels"].pop("job-name"),
        "driver: label job-name: we say it is on every pod",
    ),
    "a label with another value": (
        lambda found: found[0]["metadata"]["labels"].update({"jobset.sigs.k8s.io/jobset-name": "other"}),
        "driver: labels jobset.sigs.k8s.io/jobset-name: we say 'llama', the pod has 'other'",
    ),
    "an instance that there is not": (
        lambda found: found[0]["metadata"]["labels"].update({"jobset.sigs.k8s.io/replicatedjob-name": "other"}),
        "pod llama-driver-0-0-0 is of no role of ours",
    ),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_what_differs_is_told(change: Callable[[Objects], object], said: str) -> None:
    found = made()
    change(found)
    assert any(one.startswith(said) for one in told(JOBS, found)), told(JOBS, found)


def test_affinity_counts_unless_a_stated_topology_asks_for_it() -> None:
    term = {"topologyKey": "example.com/rack", "labelSelector": {"matchLabels": {"a": "b"}}}
    found = made()
    for one in found:
        one["spec"]["affinity"] = {"podAntiAffinity": {compare.REQUIRED: [term]}}
    assert [one.partition(": ")[2][:13] for one in told(JOBS, found)] == ["anti_affinity"] * 2
    asked = deepcopy(JOBS)
    key = "alpha.jobset.sigs.k8s.io/exclusive-topology"
    asked["metadata"]["annotations"] = {key: "example.com/rack"}
    assert told(asked, found) == []
    assert any("is not kept in one domain" in one for one in told(asked, made()))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [{"name": "a"}, {"name": "b"}]}, {}),
        ({"containers": [("1", None), ("500m", None)]}, {"cpu": "1.5"}),
        ({"containers": [("1", None)], "initContainers": [("3", None)]}, {"cpu": "3"}),
        ({"containers": [("1", None)], "initContainers": [("1", "Always"), ("3", None)]}, {"cpu": "4"}),
        ({"containers": [("1", None)], "initContainers": [("3", None), ("1", "Always")]}, {"cpu": "3"}),
        ({"containers": [("1", None)], "overhead": {"cpu": "250m"}}, {"cpu": "1.25"}),
        ({"containers": [("1", None)], "resources": {"requests": {"cpu": "2"}}}, {"cpu": "2"}),
    ],
)
def test_requests_of_a_raw_pod(spec: Object, expected: dict[str, str]) -> None:
    whole = {key: list(_written(value)) if isinstance(value, list) else value for key, value in spec.items()}
    assert pods.requests({"spec": whole}) == {name: pods.amount(value) for name, value in expected.items()}


def _written(containers: list[Any]) -> Iterator[Object]:
    """(cpu, restartPolicy) as a container."""
    for one in containers:
        if isinstance(one, tuple):
            yield {"name": "c", "resources": {"requests": {"cpu": one[0]}}, "restartPolicy": one[1]}
        else:
            yield one


@pytest.mark.parametrize(("text", "value"), [("1Gi", 2**30), ("1500m", "1.5"), (2, 2), ("1e3", 1000), ("4k", 4000)])
def test_quantities(text: object, value: object) -> None:
    assert pods.amount(text) == pods.amount(value)
