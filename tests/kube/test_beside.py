"""What a manifest brings along is there when its pods are created, and never replaces what a cluster has."""

from dataclasses import replace

import pytest

from advisor import files
from advisor.cluster import ClusterSnapshot
from advisor.errors import InputError
from advisor.files import Document, Source
from advisor.kube.beside import brought, laid_over
from tests.builders import cluster, namespace, nodes, priority_class, quota

MANIFEST = """\
apiVersion: v1
kind: Namespace
metadata: {name: fresh, labels: {team: ml}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: limit, namespace: fresh}
spec: {hard: {requests.nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: range}
spec: {limits: [{type: Container, default: {cpu: 2}}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteMany], storageClassName: shared}
---
apiVersion: v1
kind: Service
metadata: {name: head}
"""


def documents(text: str) -> list[Document]:
    return files.documents(Source("train.yaml", text))


def new(text: str = MANIFEST) -> ClusterSnapshot:
    return brought(documents(text), "team")


def test_objects_that_bear_on_placement_are_read_and_others_are_not() -> None:
    found = new()
    assert [one.name for one in found.namespaces or ()] == ["fresh"]
    assert [(one.namespace, one.name, one.hard) for one in found.quotas] == [
        ("fresh", "limit", {"requests.nvidia.com/gpu": 8})
    ]
    assert [(one.namespace, one.name) for one in found.limit_ranges] == [("team", "range")]
    assert [(one.name, one.value) for one in found.priority_classes] == [("high", 1000)]
    assert [one.name for one in found.runtime_classes] == ["kata"]
    assert [(one.namespace, one.name, one.phase) for one in found.volume_claims] == [("team", "data", "Pending")]


def test_a_cluster_gets_what_it_lacks() -> None:
    here = cluster(nodes(1))
    found = laid_over(here, new())
    assert [one.name for one in found.namespaces or ()] == ["team", "fresh"]
    assert [one.name for one in found.priority_classes] == ["high"]
    assert found.nodes is here.nodes


def test_what_a_cluster_has_counts() -> None:
    here = cluster(namespaces=[namespace("fresh", team="other")], priority_classes=[priority_class("high", 5)])
    found = laid_over(here, new())
    assert found.namespaces == here.namespaces
    assert found.priority_classes == here.priority_classes


def test_a_quota_starts_unused_in_a_namespace_that_is_new_and_uncounted_in_one_that_is_not() -> None:
    in_new = laid_over(cluster(), new()).quotas
    in_old = laid_over(cluster(namespaces=[namespace("fresh")]), new()).quotas
    assert [one.used for one in (*in_new, *in_old)] == [{}, None]


def test_a_quota_of_the_same_name_in_another_namespace_is_another() -> None:
    here = cluster(quotas=[quota("limit", hard={"pods": 1})])
    assert [one.namespace for one in laid_over(here, new()).quotas] == ["team", "fresh"]


def test_namespaces_that_could_not_be_read_stay_unread() -> None:
    here = replace(cluster(), namespaces=None)
    assert laid_over(here, new()).namespaces is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("apiVersion: v1\nkind: Namespace\nmetadata: {}\n", "train.yaml:3 metadata.name:"),
        ("apiVersion: v1\nkind: Namespace\n", "train.yaml:1 metadata.name:"),
        (
            "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec:\n  hard: {cpu: 8Gb}\n",
            "train.yaml:5 spec.hard.cpu:",
        ),
    ],
)
def test_faults_have_file_line_and_path(text: str, place: str) -> None:
    with pytest.raises(InputError) as error:
        new(text)
    assert str(error.value).startswith(place)
