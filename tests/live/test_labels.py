"""The labels of pods that the real controllers make, beside what the catalogue says of them."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.labels import MadeLabel
from tests.live import pods
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Servers

LABELS = {"app": "x"}
CONTAINERS = [{"name": "main", "image": "example/main"}]


def template(**spec: Any) -> pods.Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS, **spec}}


def job(**spec: Any) -> pods.Object:
    own = {"parallelism": 2, "template": template(restartPolicy="Never"), **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "spec": own}


def app(kind: str, **spec: Any) -> pods.Object:
    own = {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": template(), **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "spec": own}


WORKLOADS = {
    "job": job(),
    "indexed-job": job(completions=2, completionMode="Indexed"),
    "one-index": job(completions=1, completionMode="Indexed"),
    "deployment": app("Deployment"),
    "set": app("StatefulSet", podManagementPolicy="Parallel"),
    "set-of-one": app("StatefulSet", replicas=1, ordinals={"start": 3}),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_controllers_agree(servers: Servers, name: str) -> None:
    server = servers.server("c")
    server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}])
    server.start_controller_manager()
    manifest = {**WORKLOADS[name], "metadata": {"name": name, "namespace": "team"}}
    (workload,) = reading.read(files.documents(files.Source("x", json.dumps(manifest))), Catalog()).workloads
    (role,) = workload.roles
    server.api.create(manifest)
    found = labels_of_pods(server, role.replicas)
    made = {label.key: label for label in role.template.made}
    for labels in found:
        assert set(labels) == {*dict(role.template.labels), *made}
        assert dict(role.template.labels).items() <= labels.items()
        assert all(labels[key] == label.value for key, label in made.items() if label.value)
    for key, label in made.items():
        agrees(label, [labels[key] for labels in found])


def agrees(label: MadeLabel, values: list[str]) -> None:
    """One value for the workload or role, or one for each pod."""
    assert len(set(values)) == (len(values) if label.of == "pod" else 1), label


def labels_of_pods(server: ApiServer, count: int) -> list[dict[str, str]]:
    """Once the controllers have made that many."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        items = server.api.list("pods", "team")
        if len(items) == count:
            return [item["metadata"]["labels"] for item in items]
        time.sleep(0.2)
    raise AssertionError(f"{count} pods were expected")
