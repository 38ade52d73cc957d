"""One workload in several clusters, each with its own runtime (definitions.md 14.2 d)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from advisor.cluster import ClusterSnapshot, Looked
from advisor.definitions import reading, variants
from advisor.definitions.references import Held
from advisor.workload import Reference, Workload
from tests.builders import cluster
from tests.definitions.test_references import ROLE, SUM, TEMPLATE, Object, catalog, documents, runtime, thing


class Reader:
    """Reads the same objects again, and counts how often."""

    def __init__(self, folder: Path, *objects: Object, **profile: Any) -> None:
        self.documents, self.catalog = documents(*objects), catalog(folder, **profile)
        self.times = 0

    def first(self) -> tuple[Workload, ...]:
        return reading.read(self.documents, self.catalog).workloads

    def again(self, held: Mapping[Reference, Held]) -> Sequence[Workload]:
        self.times += 1
        return reading.read(self.documents, self.catalog, in_cluster=held).workloads

    def on(self, *clusters: ClusterSnapshot) -> tuple[Workload, ...]:
        return variants.on_clusters(self.first(), self.again, clusters)


def holding(cluster_name: str, *objects: Object, **facts: Any) -> ClusterSnapshot:
    """A cluster where all runtimes were listed, or what `facts` say of it."""
    texts = tuple(json.dumps(one, sort_keys=True) for one in objects)
    return cluster(name=cluster_name, looked_up=(Looked("example.com", "Runtime", **{"objects": texts, **facts}),))


def test_every_cluster_has_its_own(tmp_path: Path) -> None:
    reader = Reader(tmp_path, thing())
    eu, us = holding("eu", runtime(pods=2)), holding("us", runtime(pods=5), runtime("other"))
    (workload,) = reader.on(eu, us, holding("ap"), cluster(name="unread"))
    assert workload.is_open
    assert {name: one.pods for name, one in workload.variants.items()} == {"eu": 2, "us": 5, "ap": 0, "unread": 0}
    assert workload.on("eu").missing == ()
    assert [(one.required, one.absent) for one in workload.on("ap").missing] == [(True, True)]
    assert [(one.required, one.absent) for one in workload.on("unread").missing] == [(True, False)]


def test_what_the_files_give_is_not_looked_up(tmp_path: Path) -> None:
    reader = Reader(tmp_path, thing(), runtime(pods=3))
    assert variants.sought(reader.first()) == ()
    (workload,) = reader.on(holding("eu", runtime(pods=2)))
    assert (workload.pods, workload.variants, reader.times) == (3, {}, 0)


def test_clusters_that_hold_the_same_are_read_for_once(tmp_path: Path) -> None:
    reader = Reader(tmp_path, thing(), thing("other"))
    reader.on(*(holding(f"c{n}", runtime(pods=2)) for n in range(9)), holding("d", runtime(pods=3)))
    assert reader.times == 2


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({}, True),
        ({"name": "small"}, True),
        ({"name": "small", "namespace": "team"}, True),
        ({"namespace": "team"}, True),
        ({"whole": False}, True),
        ({"name": "large"}, False),
        ({"namespace": "other"}, False),
    ],
)
def test_what_answers_a_reference(tmp_path: Path, facts: Object, found: bool) -> None:
    (workload,) = Reader(tmp_path, thing()).on(holding("eu", runtime(), **facts))
    assert workload.on("eu").is_open != found


def test_a_namespaced_object_of_another_namespace_is_another(tmp_path: Path) -> None:
    reader = Reader(tmp_path, thing())
    (workload,) = reader.on(holding("eu", runtime(pods=9, namespace="other"), runtime(pods=2, namespace="team")))
    assert workload.on("eu").pods == 2
    (workload,) = reader.on(holding("eu", runtime(namespace="other")))
    assert workload.on("eu").lacking[0].absent


def test_what_an_incomplete_list_lacks_may_still_be_there(tmp_path: Path) -> None:
    (workload,) = Reader(tmp_path, thing()).on(holding("eu", runtime("other"), whole=False))
    assert not workload.on("eu").lacking[0].absent


def test_what_is_found_may_refer_to_something_else(tmp_path: Path) -> None:
    find = '{group: "example.com", kind: "Runtime", name: %s}'
    refs = {
        "runtime": {"find": find % ".spec.runtime"},
        "base": {"find": f"if $refs.runtime then {find % '$refs.runtime.spec.base'} else empty end"},
    }
    role = {**ROLE, "replicas": "$refs.base.spec.pods"}
    reader = Reader(tmp_path, thing(), refs=refs, roles=[role])
    middle = runtime()
    middle["spec"]["base"] = "deep"
    assert [one.name for one in variants.sought(reader.first())] == ["small"]
    named = holding("eu", middle, name="small")
    (workload,) = reader.on(named)
    assert [one.name for one in variants.sought([workload])] == ["deep", "small"]  # the next to be looked up
    (workload,) = reader.on(holding("eu", middle, runtime("deep", 7)))
    assert workload.on("eu").pods == 7


def test_a_list_is_sought_even_where_the_files_have_some(tmp_path: Path) -> None:
    refs = {"parts": {"find": '{group: "example.com", kind: "Runtime"}', "pick": "all", "required": False}}
    role = {**SUM, "replicas": "[$refs.parts[].spec.pods] | add"}
    reader = Reader(tmp_path, thing(template=TEMPLATE), runtime("a", 1), refs=refs, roles=[role])
    (workload,) = reader.on(holding("eu", runtime("b", 2)), holding("us", runtime("b", 2), whole=False))
    assert (workload.pods, workload.on("eu").pods, workload.on("us").pods) == (1, 3, 3)
    assert (len(workload.missing), workload.on("eu").missing, len(workload.on("us").missing)) == (1, (), 0)


def test_what_another_cluster_makes_of_it_may_be_wrong_there(tmp_path: Path) -> None:
    rule = {"at": ".spec.runtime", "must": "$refs.runtime.spec.pods < 9", "says": "is too large"}
    (workload,) = Reader(tmp_path, thing(), rules=[rule]).on(holding("eu", runtime(pods=9)), holding("us", runtime()))
    assert workload.faults == ()
    assert [fault.message for fault in workload.on("eu").faults] == ["is too large"]
    assert workload.on("us").pods == 2
