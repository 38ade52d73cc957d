"""Objects as an API server stores them, with what their CRD fills in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.definitions.builders import roles

TEMPLATE = {"spec": {"containers": [{"name": "ray", "image": "x"}]}}


def cluster(most: int, hosts: int, autoscaling: bool) -> dict[str, Any]:
    group = {"groupName": "slice", "replicas": 1, "minReplicas": 0, "maxReplicas": most, "numOfHosts": hosts}
    spec = {
        "enableInTreeAutoscaling": autoscaling,
        "headGroupSpec": {"rayStartParams": {}, "template": TEMPLATE},
        "workerGroupSpecs": [{**group, "rayStartParams": {}, "template": TEMPLATE}],
    }
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "tpu"}, "spec": spec}


@pytest.mark.parametrize("autoscaling", [False, True])
@pytest.mark.parametrize(
    ("most", "hosts", "bound"), [(2147483647, 4, None), (2147483647, 1, None), (2**30, 4, None), (3, 4, 12)]
)
def test_a_group_that_states_no_bound_has_none(most: int, hosts: int, bound: int | None, autoscaling: bool) -> None:
    group = roles(cluster(most, hosts, autoscaling))["slice"]
    assert (group.replicas, group.maximum) == (hosts, bound if autoscaling else None)
