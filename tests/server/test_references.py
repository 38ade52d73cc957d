"""Reviews of objects whose pods depend on another object, which every cluster has as it has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from advisor import files
from advisor.cluster import ClusterSnapshot, Looked
from advisor.commands import definitions
from advisor.question import Policy, Question
from advisor.server import placing
from tests.builders import NOON, cluster, gpus, nodes
from tests.server.asking import CATALOG, Object, Office, change, creation, office, template, trainjob

GROUP, KIND = "trainer.kubeflow.org", "ClusterTrainingRuntime"


def runtime(pods: int = 1, gpu: int = 8, name: str = "torch", **labels: str) -> Object:
    own = template(gpu, labels)
    own["spec"]["containers"][0]["name"] = "node"
    step = {"metadata": {"labels": {f"{GROUP}/trainjob-ancestor-step": "trainer"}}, "spec": {"template": own}}
    spec = {
        "mlPolicy": {"numNodes": pods, "torch": {}},
        "template": {"spec": {"replicatedJobs": [{"name": "node", "template": step}]}},
    }
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": KIND, "metadata": {"name": name}, "spec": spec}


def holding(name: str, *runtimes: Object, count: int = 2, **facts: Any) -> ClusterSnapshot:
    listed = Looked(GROUP, KIND, objects=tuple(json.dumps(one) for one in runtimes))
    return cluster(nodes(count, prefix=name, gpu=8), name=name, looked_up=(listed,), **facts)


def test_each_cluster_is_judged_by_its_own() -> None:
    here = office(holding("eu", runtime(pods=3)), holding("us", runtime(pods=2)))
    decision = here.review(creation(trainjob()))
    assert (decision.word, here.held) == ("fits", 2)
    assert decision.warnings == ("wm-place: fits us (16 nvidia.com/gpu on 2 nodes, in any order)",)


def test_where_all_surely_lack_it_it_is_refused_where_that_is_asked_for() -> None:
    here = office(holding("eu", runtime(name="jax")), holding("us"))
    decision = here.review(creation(trainjob()), enforced=True)
    assert (decision.word, decision.allowed) == ("refused", False)
    assert "there is no ClusterTrainingRuntime torch" in decision.message


def test_where_one_was_not_asked_nobody_can_tell() -> None:
    here = office(holding("eu"), cluster(nodes(2, gpu=8), name="us"))
    decision = here.review(creation(trainjob()), enforced=True)
    assert (decision.word, decision.allowed) == ("fits-nowhere", True)


def test_where_it_is_not_valid_anywhere_it_is_a_no() -> None:
    decision = office(holding("eu", runtime())).review(creation(trainjob(initializer={"model": {}})))
    assert (decision.word, decision.audit["reason"]) == ("fits-nowhere", "refused-there")


class TestUpdates:
    def grown(self, here: Office, before: Object, after: Object) -> str:
        return here.review(change(trainjob(**before), trainjob(**after))).word

    @pytest.mark.parametrize(
        ("before", "after", "word"),
        [
            ({"trainer": {"numNodes": 1}}, {"trainer": {"numNodes": 2}}, "fits"),
            ({"trainer": {"numNodes": 1}}, {"trainer": {"numNodes": 4}}, "fits-nowhere"),
            ({"trainer": {"numNodes": 2}}, {"trainer": {"numNodes": 1}}, "waved-through"),
            ({"suspend": True}, {"suspend": False}, "fits"),
        ],
    )
    def test_what_is_still_to_come_is_asked_about(self, before: Object, after: Object, word: str) -> None:
        assert self.grown(office(holding("eu", runtime())), before, after) == word

    def test_the_object_itself_may_wait_for_its_room(self) -> None:
        here = office(holding("eu", runtime(pods=2)))
        assert here.review(creation(trainjob())).word == "fits"
        assert here.held == 2
        assert self.grown(here, {}, {"trainer": {"numNodes": 1}}) == "waved-through"
        assert here.held == 1
        assert self.grown(here, {"trainer": {"numNodes": 1}}, {}) == "fits"
        assert here.held == 2


def test_a_manifest_is_placed_with_what_clusters_have() -> None:
    body = files.dump(trainjob()).encode()
    asked = placing.manifest(body, CATALOG, "default")
    clusters = (holding("eu", runtime(pods=3)), holding("us", runtime(pods=2)))
    report = placing.report(asked, Question(asked.reading.workloads, clusters, Policy(), NOON, gpus()))
    (workload,) = report["workloads"]
    assert workload["choice"]["cluster"] == "us"
    assert [role["replicas"] for role in workload["roles"]] == [2]


def test_a_server_reads_all_kinds_to_which_the_catalogue_refers() -> None:
    assert (GROUP, KIND) in {(one.group, one.kind) for one in definitions.referred()}
