"""The Pod Security level of a namespace (capacity.md 8.9)."""

from __future__ import annotations

import pytest

from advisor.cluster import Namespace
from advisor.fit import examine
from advisor.labels import labels
from tests.builders import cluster, gpus, node, pod, role, workload

NETWORK = ("spec.hostNetwork",)


@pytest.mark.parametrize(
    ("level", "exposed", "refusals", "notes"),
    [
        ("", NETWORK, [], []),
        ("privileged", NETWORK, [], []),
        ("baseline", NETWORK, ["baseline forbids spec.hostNetwork"], []),
        ("restricted", NETWORK, ["restricted forbids spec.hostNetwork"], []),
        ("baseline", (), [], ["baseline"]),
        ("restricted", (), [], ["restricted"]),
    ],
)
def test_8_9_pods_that_the_namespace_refuses(
    level: str, exposed: tuple[str, ...], refusals: list[str], notes: list[str]
) -> None:
    own = labels({"pod-security.kubernetes.io/enforce": level} if level else {})
    there = cluster([node("n")], namespaces=[Namespace("team", own)])
    found = examine(workload(role(template=pod(fields={"exposed": exposed}))), there, gpus())
    assert [(one.code, one.lasting, one.subject) for one in found.refusals] == [
        ("pod-security", True, subject) for subject in refusals
    ]
    assert [one.subject for one in found.notes if one.code == "pod-security-level"] == notes
    assert found.doubts == ()
