"""A job that names another controller than its own: nobody here knows where its pods will come."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.errors import Where, dotted
from advisor.files import Document, Source
from advisor.workload import Unmodelled

CATALOG = Catalog()
OPERATOR = "kubeflow.org/training-operator"
KINDS = [
    ("batch/v1", "Job", "spec.managedBy", "kubernetes.io/job-controller"),
    ("batch/v1", "CronJob", "spec.jobTemplate.spec.managedBy", "kubernetes.io/job-controller"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", "spec.managedBy", "jobset.sigs.k8s.io/jobset-controller"),
    ("ray.io/v1", "RayCluster", "spec.managedBy", "ray.io/kuberay-operator"),
    ("ray.io/v1", "RayJob", "spec.managedBy", "ray.io/kuberay-operator"),
    ("ray.io/v1", "RayService", "spec.managedBy", "ray.io/kuberay-operator"),
    ("ray.io/v1", "RayCronJob", "spec.jobTemplate.managedBy", "ray.io/kuberay-operator"),
    *(("kubeflow.org/v1", kind, "spec.runPolicy.managedBy", OPERATOR) for kind in ("TFJob", "PyTorchJob", "MPIJob")),
    *(
        ("kubeflow.org/v1", kind, "spec.runPolicy.managedBy", OPERATOR)
        for kind in ("JAXJob", "PaddleJob", "XGBoostJob")
    ),
    ("kubeflow.org/v2beta1", "MPIJob", "spec.runPolicy.managedBy", "kubeflow.org/mpi-operator"),
]


def managed(version: str, kind: str, path: str, manager: str) -> tuple[list[str], list[Unmodelled]]:
    """Places of faults, and doubts of that path."""
    found = CATALOG.find(version, kind)
    own = reading.profile_of(found) if found else None
    assert own
    manifest: dict[str, Any] = deepcopy(dict(own.spec.examples[0].manifest))
    *steps, last = path.split(".")
    place = manifest
    for step in steps:
        place = place.setdefault(step, {})
    place[last] = manager
    document = Document(manifest, Source("object", ""), 0, Where("object"))
    (workload,) = reading.read([document], CATALOG, "default").workloads
    return [dotted(one.path) for one in workload.faults], [one for one in workload.unmodelled if one.path == path]


@pytest.mark.parametrize(("version", "kind", "path", "own"), KINDS)
def test_another_controller_is_a_doubt_or_refused(version: str, kind: str, path: str, own: str) -> None:
    """MultiKueue is no other: it has the same object made elsewhere."""
    for known in (own, "kueue.x-k8s.io/multikueue"):
        assert managed(version, kind, path, known) == ([], [])
    faults, doubts = managed(version, kind, path, "example.com/another")
    assert faults == [path] or [one.restricts for one in doubts] == [False]
