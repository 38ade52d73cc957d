"""Whose pods are they? For every kind of the catalogue: its own, each of its own role, and nobody else's."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from advisor import naming
from advisor.definitions import examples, reading
from advisor.definitions.catalog import Builtin, Catalog
from advisor.definitions.examples import Trial
from advisor.server.appeared import Marks
from advisor.server.likeness import likeness
from advisor.workload import Role, Workload

HASH = "7d9c4"
SIGNS = {"#": "0", "?": "x", "*": HASH}
NEIGHBOURS = ("-2", "2", "-0", "-eval", "-bcdfg", "-7d9c4")
"""What the name of another object has behind the name of this one."""

ALIKE = {"datanode-a": "datanode-b", "datanode-b": "datanode-a"}
"""Groups of one part, whose pods nothing tells apart."""


def tried() -> Iterator[tuple[str, Trial]]:
    for entry in Builtin().entries:
        for trial in examples.trials(entry):
            yield f"{entry.kind}: {trial.example.name}", trial


TRIALS = dict(tried())


def variants(workload: Workload) -> tuple[Workload, ...]:
    return tuple(workload.variants.values()) or (workload,)


def called(trial: Trial, name: str) -> Workload:
    """What the example comes to with another name."""
    manifest: dict[str, Any] = copy.deepcopy(dict(trial.example.manifest))
    manifest["metadata"] = {**manifest["metadata"], "name": name}
    manifest["metadata"].pop("generateName", None)
    beside = [trial.document.member(one, "with", place) for place, one in enumerate(trial.example.with_)]
    document = trial.document.member(manifest, "manifest")
    (workload,) = reading.read([document], Catalog(), further=beside).workloads
    return variants(workload)[0]


def owners(role: Role, name: str) -> Iterator[str]:
    """What looks after its pods; where nobody knows that, some controller with a name of its own."""
    for form in role.owners or (naming.titled("apps", "ReplicaSet", f"{name}-some-thing-{HASH}"),):
        yield "".join(SIGNS.get(sign, sign) for sign in form)


def pods(workload: Workload, role: Role) -> Iterator[Marks]:
    made = {label.key: label.value or "x7" for label in role.template.made}
    for owner in owners(role, workload.name):
        yield Marks(tuple(sorted({**dict(role.template.labels), **made}.items())), owner)


def scheduled(trial: Trial) -> bool:
    """No room is held for what makes its children at times of its own."""
    found = Catalog().find(trial.example.manifest["apiVersion"], trial.example.manifest["kind"])
    own = reading.profile_of(found) if found else None
    return bool(own and own.spec.scheduled)


HELD = [pytest.param(trial, id=key) for key, trial in TRIALS.items() if not scheduled(trial)]


@pytest.mark.parametrize("trial", HELD)
def test_every_pod_is_of_its_own_role(trial: Trial) -> None:
    workload = called(trial, "llm")
    looks = likeness(workload)
    assert looks.complete
    for role in workload.roles:
        for marks in pods(workload, role):
            assert set(looks.roles(marks)) - {ALIKE.get(role.name)} == {role.name}


@pytest.mark.parametrize("trial", HELD)
def test_pods_of_an_object_whose_name_begins_with_its_own_are_not_its_own(trial: Trial) -> None:
    workload = called(trial, "llm")
    looks = likeness(workload)
    own = {marks for role in workload.roles for marks in pods(workload, role)}
    for more in NEIGHBOURS:
        other = called(trial, f"llm{more}")
        strangers = {marks for role in other.roles for marks in pods(other, role)} - own
        assert [marks for marks in strangers if looks.roles(marks)] == []


@pytest.mark.parametrize("trial", HELD)
def test_pods_that_share_labels_of_a_chart_are_not_its_own(trial: Trial) -> None:
    """Those of the template, and those that charts give to everything that they make."""
    workload = called(trial, "llm")
    looks = likeness(workload)
    for role in workload.roles:
        own = {key: value for key, value in role.template.labels if key not in role.template.added}
        usual = {key: value for key, value in role.template.labels if key.startswith("app.kubernetes.io/")}
        labels = tuple(sorted({"app.kubernetes.io/instance": "llm", "app": "llm", **usual, **own}.items()))
        for owner in ("Job.batch/llm-download", "ReplicaSet.apps/llm-download-7d9c4", "DaemonSet.apps/llm-nodes", ""):
            assert looks.roles(Marks(labels, owner)) == ()


@pytest.mark.parametrize("trial", HELD)
def test_pods_that_nothing_looks_after_are_its_own_only_where_it_takes_them_over(trial: Trial) -> None:
    workload = called(trial, "llm")
    looks = likeness(workload)
    for role in workload.roles:
        if not any(form.startswith("Pod/") for form in role.owners):
            for marks in pods(workload, role):
                assert not any(looks.roles(Marks(marks.labels, f"Pod/llm{more}")) for more in ("", *NEIGHBOURS))


def test_forms() -> None:
    cases = {
        ("llm-?????", "llm-x7k2p"): True,
        ("llm-?????", "llm-eval-x7k2p"): False,
        ("llm-?????", "llm-extra"): False,
        ("llm-*", "llm-77c6c698fc"): True,
        ("llm-*", "llm-eval-77c6c698fc"): False,
        ("llm-*", "llm-"): False,
        ("llm-#", "llm-12"): True,
        ("llm-#", "llm-1-2"): False,
        ("l.m", "llm"): False,
    }
    assert {case: bool(naming.pattern(case[0]).fullmatch(case[1])) for case in cases} == cases
    assert (naming.beginning("llm-#-a-?"), naming.beginning("llm")) == ("llm-", "llm")
