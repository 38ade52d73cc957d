"""The labels that the catalogue says controllers give to their pods, and what matchLabelKeys make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.labels import MadeLabel, Requirement
from advisor.whatif import sizes
from advisor.workload import PodTemplate, Workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
POD = {"containers": [{"name": "main", "image": "x"}], "restartPolicy": "Never"}
SERVING = {"containers": POD["containers"]}
SELECTOR = {"matchLabels": {"a": "1"}}
SERVED = {"selector": SELECTOR, "template": {"metadata": {"labels": {"a": "1"}}, "spec": SERVING}}
GROUP = "leaderworkerset.sigs.k8s.io/"
JOBSET = "jobset.sigs.k8s.io/"


def read(api_version: str, kind: str, spec: Any, **metadata: str) -> Workload:
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata or {"name": "x"}, "spec": spec}
    (workload,) = reading.read(files.documents(files.Source("x", json.dumps(manifest))), Catalog()).workloads
    assert not workload.faults
    return workload


def known(template: PodTemplate) -> dict[str, str]:
    return dict(template.labels) | {label.key: label.value for label in template.made if label.value}


def made(template: PodTemplate) -> dict[str, str]:
    """Key → whose the value is, with ? where it can be guessed and ~ where it is not sure."""
    return {
        label.key: f"{label.of}{'?' if label.guessable else ''}{'' if label.sure else '~'}"
        for label in template.made
        if not label.value
    }


def jobset(*jobs: tuple[str, int, int]) -> Workload:
    stated = [
        {
            "name": name,
            "replicas": count,
            "template": {"spec": {"parallelism": pods, "completions": pods, "template": {"spec": POD}}},
        }
        for name, count, pods in jobs
    ]
    return read("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": stated})


def test_job() -> None:
    (plain,) = read("batch/v1", "Job", {"template": {"spec": POD}}).roles
    assert known(plain.template) == {"batch.kubernetes.io/job-name": "x", "job-name": "x"}
    assert made(plain.template) == {"batch.kubernetes.io/controller-uid": "workload", "controller-uid": "workload"}
    (unnamed,) = read("batch/v1", "Job", {"template": {"spec": POD}}, generateName="x-").roles
    assert made(unnamed.template)["job-name"] == "workload"
    (manual,) = read("batch/v1", "Job", {"manualSelector": True, "selector": {}, "template": {"spec": POD}}).roles
    assert (known(manual.template), made(manual.template)) == ({}, {})


@pytest.mark.parametrize(("completions", "index"), [(1, "0"), (2, None)])
def test_indexed_job(completions: int, index: str | None) -> None:
    spec = {"completionMode": "Indexed", "completions": completions, "parallelism": 2, "template": {"spec": POD}}
    (role,) = read("batch/v1", "Job", spec).roles
    key = "batch.kubernetes.io/job-completion-index"
    assert known(role.template).get(key) == index
    assert made(role.template).get(key) == (None if index else "pod?")


def test_jobset_of_several_jobs() -> None:
    driver, workers = jobset(("driver", 1, 1), ("workers", 3, 2)).roles
    assert known(driver.template)[f"{JOBSET}job-index"] == "0"
    assert known(driver.template)["job-name"] == "x-driver-0"
    assert known(workers.template)[f"{JOBSET}replicatedjob-replicas"] == "3"
    assert known(workers.template)[f"{JOBSET}global-replicas"] == "4"
    assert known(workers.template)[f"{JOBSET}restart-attempt"] == "0"
    assert made(driver.template)[f"{JOBSET}job-key"] == "role"
    assert {key: of for key, of in made(workers.template).items() if key.startswith(JOBSET)} == {
        f"{JOBSET}jobset-uid": "workload",
        f"{JOBSET}job-index": "part?",
        f"{JOBSET}job-global-index": "part?",
        f"{JOBSET}job-group-index": "part?",
        f"{JOBSET}job-key": "part",
        f"{JOBSET}priority": "priority?",
    }
    (each,) = jobset(("workers", 3, 1)).roles
    assert made(each.template)[f"{JOBSET}job-key"] == "pod"


@pytest.mark.parametrize(
    ("groups", "leader", "worker"),
    [(1, "workload", "workload"), (2, "pod", "group")],
)
def test_leader_worker_set(groups: int, leader: str, worker: str) -> None:
    template = {"size": 3, "workerTemplate": {"spec": SERVING}}
    spec = {"replicas": groups, "leaderWorkerTemplate": template}
    one, others = read("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec).roles
    assert known(one.template)[f"{GROUP}worker-index"] == "0"
    assert known(one.template).get(f"{GROUP}group-index") == ("0" if groups == 1 else None)
    assert (made(one.template)[f"{GROUP}group-key"], made(others.template)[f"{GROUP}group-key"]) == (leader, worker)
    assert made(one.template)[f"{GROUP}template-revision-hash"] == "workload"


def test_deployment_and_stateful_set() -> None:
    spec = {"replicas": 2, **SERVED}
    (deployed,) = read("apps/v1", "Deployment", spec).roles
    assert made(deployed.template) == {"pod-template-hash": "role"}
    (kept,) = read("apps/v1", "StatefulSet", spec).roles
    assert made(kept.template) == {
        "controller-revision-hash": "role",
        "apps.kubernetes.io/pod-index": "pod?",
        "statefulset.kubernetes.io/pod-name": "pod?",
    }
    (single,) = read("apps/v1", "StatefulSet", {**spec, "replicas": 1, "ordinals": {"start": 5}}).roles
    assert known(single.template)["statefulset.kubernetes.io/pod-name"] == "x-5"


def test_another_size_forgets_what_hung_on_the_size() -> None:
    single = read("apps/v1", "StatefulSet", {"replicas": 1, **SERVED})
    (role,) = sizes.sized(single, "replica", 2).roles
    assert made(role.template)["apps.kubernetes.io/pod-index"] == "pod?"
    (driver,) = sizes.sized(jobset(("driver", 1, 1)), "driver", 2).roles
    assert made(driver.template)[f"{JOBSET}job-key"] == "part"


def test_match_label_keys_with_a_label_that_a_controller_makes() -> None:
    keys = {"matchLabelKeys": ["pod-template-hash", "a", "none"], "mismatchLabelKeys": ["b"]}
    term = {"topologyKey": "zone", "labelSelector": {}, **keys}
    pod = {**SERVING, "affinity": {"podAntiAffinity": {REQUIRED: [term]}}}
    spec = {"selector": SELECTOR, "template": {"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": pod}}
    (role,) = read("apps/v1", "Deployment", spec).roles
    (found,) = role.template.anti_affinity
    assert found.selector
    assert set(found.selector.requirements) == {
        Requirement("pod-template-hash", "Same"),
        Requirement("a", "In", ("1",)),
        Requirement("b", "NotIn", ("2",)),
    }
    assert role.template.made == (MadeLabel("pod-template-hash", "role"),)


def test_ray_lets_the_template_have_some_labels() -> None:
    template = {"metadata": {"labels": {"app.kubernetes.io/name": "mine", "ray.io/group": "no"}}, "spec": POD}
    (head,) = read("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": template}}).roles
    assert known(head.template) == {
        "app.kubernetes.io/created-by": "kuberay-operator",
        "app.kubernetes.io/name": "mine",
        "ray.io/cluster": "x",
        "ray.io/group": "headgroup",
        "ray.io/identifier": "x-head",
        "ray.io/is-ray-node": "yes",
        "ray.io/node-type": "head",
    }
    (head, *_) = read("ray.io/v1", "RayJob", {"rayClusterSpec": {"headGroupSpec": {"template": template}}}).roles
    assert made(head.template) == {"ray.io/cluster": "workload", "ray.io/identifier": "group"}
