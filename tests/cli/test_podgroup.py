"""`-o podgroup`: the gang as an object, from a manifest alone or for the cluster that was chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli import fleet
from tests.cli.conftest import Ran, Run


@pytest.fixture(autouse=True)
def train(folder: Path) -> Path:
    return fleet.write(folder / "train.yaml", fleet.jobset())


@pytest.fixture
def four(folder: Path) -> list[str]:
    return fleet.four(folder)


def versions(ran: Ran) -> list[str]:
    return [one["apiVersion"] for one in yaml.safe_load_all(ran.out)]


@pytest.mark.parametrize(
    ("scheduler", "version"),
    [("kai", "scheduling.run.ai/v2alpha2"), ("scheduler-plugins", "scheduling.x-k8s.io/v1alpha1")],
)
def test_describe_writes_it_for_the_scheduler_named(run: Run, scheduler: str, version: str) -> None:
    ran = run("describe", "train.yaml", "-o", "podgroup", "--for", scheduler)
    assert (ran.code, versions(ran)) == (0, [version])
    assert "its pods join by their" in ran.err


def test_describe_cannot_guess_the_scheduler(run: Run) -> None:
    ran = run("describe", "train.yaml", "-o", "podgroup")
    assert (ran.code, ran.out) == (2, "")
    assert "--for: kai, volcano, scheduler-plugins, kubernetes" in ran.err


def test_a_workload_without_a_gang_says_so(run: Run, folder: Path) -> None:
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": fleet.pod_template(1, restarts="Always")},
    }
    web["spec"]["template"] |= {"metadata": {"labels": {"a": "b"}}}  # type: ignore[index]
    fleet.write(folder / "web.yaml", web)
    ran = run("describe", "web.yaml", "-o", "podgroup", "--for", "kai")
    assert (ran.code, ran.out) == (0, "")
    assert "Deployment default/web has no gang" in ran.err


def test_which_pods_are_in_no_gang_is_said(run: Run, folder: Path) -> None:
    leading = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "serve"},
        "spec": {
            "replicas": 2,
            "startupPolicy": "LeaderReady",
            "leaderWorkerTemplate": {"size": 4, "workerTemplate": fleet.pod_template(1, restarts="Always")},
        },
    }
    fleet.write(folder / "serve.yaml", leading)
    ran = run("describe", "serve.yaml", "-o", "podgroup", "--for", "kai")
    assert [one["spec"]["minMember"] for one in yaml.safe_load_all(ran.out)] == [1, 1, 3, 3]
    assert "leader, worker are in several gangs" in ran.err
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, **fleet.pod_template(1)}
    pod["metadata"]["annotations"] = {"pod-group-name": "mine"}
    group = {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "mine"},
        "spec": {"minMember": 1},
    }
    fleet.write(folder / "pod.yaml", pod)
    fleet.write(folder / "group.yaml", group)
    ran = run("describe", "pod.yaml", "group.yaml", "-o", "podgroup", "--for", "kai")
    assert (ran.code, ran.out) == (0, "")
    assert "the pods of pod have a gang already, PodGroup default/mine" in ran.err


def test_no_gang_overwrites_another(run: Run, folder: Path) -> None:
    fleet.write(folder / "set.yaml", fleet.jobset("llama"))
    fleet.write(folder / "job.yaml", fleet.job("llama", pods=2))
    ran = run("describe", "set.yaml", "job.yaml", "-o", "podgroup", "--for", "kai")
    assert (ran.code, ran.out) == (2, "")
    assert "JobSet default/llama and Job default/llama would both have PodGroup llama" in ran.err


def test_place_writes_it_for_the_chosen_cluster(run: Run, four: list[str]) -> None:
    ran = run("train.yaml", *four, "-o", "podgroup", "--for", "volcano")
    (group,) = yaml.safe_load_all(ran.out)
    assert (ran.code, group["spec"]["minMember"]) == (0, 3)


def test_place_asks_when_the_cluster_does_not_tell(run: Run, four: list[str]) -> None:
    ran = run("train.yaml", *four, "-o", "podgroup")
    assert (ran.code, ran.out) == (2, "")
    assert "eu-h200 is not known to serve any of the APIs for gangs" in ran.err


def test_what_is_not_placed_is_not_written(run: Run, folder: Path) -> None:
    fleet.write(folder / "big.yaml", fleet.jobset(workers=5000))
    ran = run("big.yaml", *fleet.four(folder), "-o", "podgroup", "--for", "kai")
    assert ran.code != 0
    assert ran.out == ""
    assert "is not placed, so nothing is written" in ran.err


def test_edits_change_nothing_that_could_be_written(run: Run, four: list[str]) -> None:
    ran = run("train.yaml", *four, "-o", "podgroup", "--for", "kai", "--lose-cluster", "eu-h200")
    assert (ran.code, ran.out) == (2, "")


def test_a_gang_of_several_priorities_is_not_written_for_kubernetes(run: Run, folder: Path) -> None:
    made = fleet.jobset()
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["priorityClassName"] = "high"
    fleet.write(folder / "unlike.yaml", made)
    ran = run("describe", "unlike.yaml", "-o", "podgroup", "--for", "kubernetes")
    assert (ran.code, ran.out) == (2, "")
    assert "have different priority classes" in ran.err and "none of them would start" in ran.err
    assert run("describe", "unlike.yaml", "-o", "podgroup", "--for", "volcano").code == 0
