"""A memo only saves time: with it and without it every answer is the same."""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor import files
from advisor.advise import advise
from advisor.definitions import layers, reading
from advisor.memo import Judged
from advisor.question import Question
from advisor.server.recollection import LARGEST, Recollection
from advisor.trial import Trial
from advisor.workload import Workload
from tests.builders import NOON, against, bound, cluster, nodes, pod, question, quota, role, workload
from tests.kube import objects
from tests.oracle import worlds
from tests.server.asking import CATALOG
from tests.test_catalog import FILES

JOB_NAME = "batch.kubernetes.io/job-name"


class Counting(Recollection):
    """Knows how often it had to look."""

    def __init__(self, largest: int = LARGEST) -> None:
        super().__init__(largest)
        self.looked = 0

    def recall(self, trial: Trial, find: Callable[[Trial], Judged]) -> Judged:
        def look(asked: Trial) -> Judged:
            self.looked += 1
            return find(asked)

        return super().recall(trial, look)


def ask(memo: Recollection, asked: Question) -> None:
    assert repr(advise(asked, memo)) == repr(advise(asked))


def gang(name: str, **facts: Any) -> Workload:
    return workload(role("worker", 2, gpu=8, **facts), name=name)


HERE = cluster(nodes=nodes(2, gpu=8))


@pytest.mark.parametrize(
    ("other", "looked"),
    [
        (gang("b"), 1),
        (replace(gang("a"), labels=(("team", "ml"),)), 1),
        (gang("a", labels={"app": "x"}), 1),
        (workload(role("worker", 1, gpu=8), name="a"), 2),
        (replace(gang("a"), namespace="other"), 2),
        (replace(gang("a"), api_version="batch/v2"), 2),
        (gang("a", annotations={"x": "y"}), 2),
    ],
)
def test_what_is_asked_about_is_told_by_its_pods(other: Workload, looked: int) -> None:
    memo = Counting()
    ask(memo, question(gang("a"), HERE))
    ask(memo, question(other, HERE))
    assert memo.looked == looked


def test_labels_count_where_a_pod_that_is_there_may_see_them() -> None:
    guarded = bound(on="n0", labels={"app": "guard"}, anti_affinity=[against("app=x")])
    here, memo = cluster(nodes=nodes(2, gpu=8), pods=[guarded]), Counting()
    ask(memo, question(gang("a", labels={"app": "y"}), here))
    ask(memo, question(gang("b", labels={"app": "x"}), here))
    assert memo.looked == 2


def test_labels_count_where_the_gang_itself_sees_them() -> None:
    memo = Counting()
    for label in ("x", "y"):
        own = pod(gpu=4, labels={"app": label}, anti_affinity=[against("app=x")])
        ask(memo, question(workload(role("worker", 3, template=own)), HERE))
    assert memo.looked == 2


def test_names_count_where_a_quota_counts_pods_that_are_there() -> None:
    """Pods of b are there and in use already; those of a are not."""
    there = bound(on="n0", count=2, labels={JOB_NAME: "b"})
    here = cluster(nodes=nodes(2, gpu=8), pods=[there], quotas=[quota(hard={"pods": 2}, used={"pods": 2})])
    memo = Counting()
    for name in ("a", "b"):
        ask(memo, question(gang(name, labels={JOB_NAME: name}), here))
    assert memo.looked == 2


NAMED = {"pod", "inferencegraph"}
"""Kinds in whose pods the name of the object stands, beside labels."""


@pytest.mark.parametrize(
    "entry", [path for path in FILES if not NAMED.intersection(path.stem.split("-"))], ids=lambda path: path.stem
)
def test_the_same_manifest_under_another_name_is_known(entry: Path) -> None:
    """Whatever labels its controller makes of the name."""
    profile = layers.builtin(entry).entries[0].profile_document
    assert profile
    manifest = profile.data["spec"]["examples"][0]["manifest"]
    memo = Counting()
    for name in ("first", "second"):
        asked = {**manifest, "metadata": {**manifest["metadata"], "name": name}}
        ask(memo, question(read(json.dumps(asked)), HERE))
    assert memo.looked == 1


def test_another_snapshot_is_looked_at_anew() -> None:
    memo = Counting()
    ask(memo, question(gang("a"), HERE))
    ask(memo, question(gang("a"), replace(HERE, taken_at=NOON)))
    assert memo.looked == 2


@pytest.mark.parametrize(("largest", "looked"), [(LARGEST, 2), (10, 3)])
def test_what_is_too_much_is_forgotten(largest: int, looked: int) -> None:
    memo = Counting(largest)
    for size in (1, 2, 1):
        ask(memo, question(workload(role("worker", size, gpu=8)), HERE))
    assert memo.looked == looked


def test_large_objects_are_not_kept_for_being_known() -> None:
    """Of 40 objects with 4 MB in all."""
    memo = Counting()
    tracemalloc.start()
    for number in range(40):
        advise(question(gang("a", annotations={"x": str(number) * 100_000}), HERE), memo)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memo.looked == 40
    assert kept < 1_000_000


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_random_questions_are_answered_alike(first: int) -> None:
    """The same memo for many gangs and few clusters, so that it is asked what it knows again and again."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": worlds.NAMESPACE}}
    made = [worlds.asked(seed) for seed in range(first, first + 50)]
    fleet = tuple(
        replace(objects.snapshot(space, *one.nodes, *one.pods, *one.quotas), name=f"c{number}")
        for number, one in enumerate(made[:4])
    )
    memo, dice = Recollection(), random.Random(first)
    gangs = [read(json.dumps(one.manifest)) for one in made]
    for _ in range(60):
        own = replace(dice.choice(gangs), name=f"job-{dice.random()}")
        ask(memo, replace(question(own, *fleet), accelerators=objects.shipped()))


def read(text: str) -> Workload:
    (found,) = reading.read(files.documents(files.Source("gang.json", text)), CATALOG).workloads
    return found
