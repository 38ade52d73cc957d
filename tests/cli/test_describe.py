"""`wm-place describe`: no cluster is needed for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli import fleet
from tests.cli.conftest import Run
from tests.render import schemas

TREE = """\
JobSet default/llama (train.yaml:1)
read by jobset-x-k8s-io-jobset-v1alpha2 (builtin)
ROLE       PODS  REQUESTS        PER POD  TOTAL
├─ leader  1     nvidia.com/gpu        4      4
│                cpu                   8      8
│                memory             64Gi   64Gi
└─ worker  2     nvidia.com/gpu        4      8
                 cpu                   8     16
                 memory             64Gi  128Gi
total      3     nvidia.com/gpu              12
                 cpu                         24
                 memory                   192Gi
gang: 1 leader, 2 worker
"""


@pytest.fixture(autouse=True)
def train(folder: Path) -> Path:
    return fleet.write(folder / "train.yaml", fleet.jobset())


def test_the_tree(run: Run) -> None:
    ran = run("describe", "train.yaml")
    assert (ran.code, ran.out, ran.err) == (0, TREE, "")
    bare = run("describe", "-f", "train.yaml", "--no-headers").out
    assert [line.split() for line in bare.splitlines()] == [line.split() for line in TREE.splitlines()[3:]]


def test_json_and_yaml(run: Run) -> None:
    report = run("describe", "train.yaml", "-o", "json").report
    assert report["workloads"][0]["totals"]["nvidia.com/gpu"] == "12"
    assert yaml.safe_load(run("describe", "train.yaml", "-o", "yaml").out) == report


def test_wide_adds_notes(run: Run, folder: Path) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "x"}]},
            },
        },
    }
    fleet.write(folder / "web.yaml", deployment)
    report = run("describe", "web.yaml", "-o", "json").report
    texts = [note["text"] for note in report["workloads"][0]["notes"]]
    assert texts
    wide = run("describe", "web.yaml", "-o", "wide").out
    assert all(text in wide for text in texts)
    assert not any(text in run("describe", "web.yaml").out for text in texts)


def test_name(run: Run) -> None:
    assert run("describe", "train.yaml", "-o", "name").out == "jobset.jobset.x-k8s.io/llama\n"


def test_a_faulty_workload(run: Run, folder: Path) -> None:
    fleet.write(folder / "faulty.yaml", fleet.jobset("faulty", workers=-1))
    ran = run("describe", "faulty.yaml", "train.yaml", "-o", "json")
    assert ran.code == 2
    assert [bool(workload["errors"]) for workload in ran.report["workloads"]] == [True, False]
    ran = run("describe", "faulty.yaml")
    assert "It could not be read: its manifest has faults." in ran.out
    assert "must not be negative" in ran.err


def test_nothing_to_describe(run: Run, folder: Path) -> None:
    fleet.write(folder / "web.yaml", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}})
    ran = run("describe", "web.yaml", "-o", "json")
    assert (ran.code, ran.out) == (5, "")
    ran = run("describe", "web.yaml", "train.yaml", "-o", "json")
    assert ran.report["passedOver"] == {"Service": 1}
    schemas.check(json.loads(ran.out))


def test_pod_level_limits_are_requests_too(run: Run, folder: Path) -> None:
    limits = {"cpu": "6", "hugepages-2Mi": "64Mi"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "whole"}}
    alone = {"resources": {"limits": limits}, "containers": [{"name": "a", "image": "x"}]}
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}}
    beside = {**alone, "containers": [{"name": "a", "image": "x", "resources": asked}]}
    other = {**pod, "metadata": {"name": "beside"}}
    fleet.write(folder / "pods.yaml", {**pod, "spec": alone}, {**other, "spec": beside})
    found = [workload["totals"] for workload in run("describe", "pods.yaml", "-o", "json").report["workloads"]]
    assert found[0] == {"pods": 1, "cpu": "6", "hugepages-2Mi": "64Mi"}
    assert found[1] == {"pods": 1, "cpu": "1", "hugepages-2Mi": "64Mi", "memory": "1Gi"}


def test_what_a_manifest_hardly_means_is_a_warning(run: Run, folder: Path) -> None:
    metadata = {"name": "many", "annotations": {"kueue.x-k8s.io/job-min-parallelism": "12"}}
    spec = {"parallelism": 8, "completions": 8, "template": fleet.pod_template(1)}
    fleet.write(folder / "job.yaml", {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    ran = run("describe", "job.yaml")
    assert ran.code == 0
    assert "warning" in ran.err and "a minimum of 12 is above its 8 pods" in ran.err
