"""Which pods of an example nobody takes while they are looked at, and which somebody may."""

from __future__ import annotations

import pytest

from advisor.definitions import examples, held, layers
from advisor.definitions.shipped import builtin_folder

ENTRIES = {
    path.stem: entry for path in sorted(builtin_folder().glob("*-v*.yaml")) for entry in layers.builtin(path).entries
}


def loose(name: str) -> set[str]:
    entry = ENTRIES[name]
    trials = list(examples.trials(entry))
    assert trials
    return {role for trial in trials for role in held.loose(trial, held.back(entry, trial.example.manifest))}


@pytest.mark.parametrize("name", ["batch-job-v1", "jobset-x-k8s-io-jobset-v1alpha2", "ray-io-raycluster-v1"])
def test_pods_of_templates_are_held_back(name: str) -> None:
    assert loose(name) == set()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("ray-io-rayjob-v1", "submitter"),
        ("trainer-kubeflow-org-trainjob-v1alpha1", "node"),
        ("kaito-sh-workspace-v1beta1", "inference"),
    ],
)
def test_pods_that_a_controller_adds_or_puts_together_are_not(name: str, role: str) -> None:
    assert role in loose(name)


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_held_back_is_read_like_the_example(name: str) -> None:
    """A manifest of which nobody could tell whose pods are held would make no true sentence."""
    for trial in examples.trials(ENTRIES[name]):
        manifest = held.back(ENTRIES[name], trial.example.manifest)
        assert {*held.loose(trial, manifest)} <= {role.name for role in trial.workload().roles}
