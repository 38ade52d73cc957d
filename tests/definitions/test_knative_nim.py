"""What Knative (serving 0.47) makes of Services, and the NIM operator of its kinds, case by case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from advisor import files
from advisor.definitions import reading
from advisor.definitions.catalog import Catalog
from advisor.workload import Workload
from tests.definitions.builders import read, requests, roles

Object = dict[str, Any]
GPU = "nvidia.com/gpu"
SCALE = "autoscaling.knative.dev/"
QUEUE = "queue.sidecar.serving.knative.dev/"


class TestKnative:
    def service(self, annotations: Object | None = None, **container: Any) -> Object:
        template = {
            "metadata": {"annotations": annotations or {}},
            "spec": {"containers": [{"image": "x", **container}]},
        }
        kind = {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "web"}}
        return {**kind, "spec": {"template": template}}

    def test_a_service_of_the_core_is_none(self) -> None:
        core = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": []}}
        found = reading.read(files.documents(files.Source("x", json.dumps(core))), Catalog())
        assert (found.workloads, dict(found.passed_over)) == ((), {"Service": 1})

    @pytest.mark.parametrize(
        ("annotations", "replicas", "minimum", "maximum"),
        [
            ({}, 1, 0, None),
            ({"min-scale": "3"}, 3, 3, None),
            ({"minScale": "2", "maxScale": "5"}, 2, 2, 5),
            ({"initial-scale": "4"}, 4, 0, None),
            ({"initial-scale": "4", "min-scale": "6", "max-scale": "0"}, 6, 6, None),
        ],
    )
    def test_bounds(self, annotations: Object, replicas: int, minimum: int, maximum: int | None) -> None:
        (role,) = roles(self.service({f"{SCALE}{key}": value for key, value in annotations.items()})).values()
        assert (role.replicas, role.minimum, role.maximum) == (replicas, minimum, maximum)

    @pytest.mark.parametrize(
        ("annotations", "cpu"),
        [
            ({}, 2025),
            ({"cpu-resource-request": "300m"}, 2300),
            ({"resource-percentage": "3"}, 2060),
            ({"resource-percentage": "20"}, 2100),
            ({"resource-percentage": "0.5"}, 2025),
        ],
    )
    def test_the_proxy_beside(self, annotations: Object, cpu: int) -> None:
        said = {f"{QUEUE}{key}": value for key, value in annotations.items()}
        (role,) = roles(self.service(said, resources={"requests": {"cpu": 2}})).values()
        assert requests(role)["cpu"] == cpu

    @pytest.mark.parametrize(
        ("spec", "path"),
        [
            ({"containers": []}, "containers"),
            ({"containers": [{"image": "x"}, {"image": "y"}]}, "containers"),
            ({"containers": [{"image": "x", "name": "queue-proxy"}]}, "name"),
        ],
    )
    def test_what_is_refused(self, spec: Object, path: str) -> None:
        service = self.service()
        service["spec"]["template"]["spec"] = spec
        assert {fault.path[-1] for fault in read(service).faults} == {path}


class TestNIM:
    def service(self, **spec: Any) -> Object:
        metadata = {"name": "chat", "namespace": "team"}
        image = {"repository": "example/chat", "tag": "1"}
        kind = {"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMService", "metadata": metadata}
        return {**kind, "spec": {"image": image, "authSecret": "key", "storage": {"pvc": {"name": "m"}}, **spec}}

    def cache(self, status: Object | None = None) -> Object:
        source = {"ngc": {"modelPuller": "example/chat:1", "pullSecret": "key", "authSecret": "key"}}
        kind = {"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMCache"}
        storage = {"pvc": {"name": "models"}}
        metadata = {"name": "cached", "namespace": "team"}
        spec = {"source": source, "storage": storage}
        return {**kind, "metadata": metadata, "spec": spec, **({"status": status} if status else {})}

    def both(self, *objects: Object) -> Workload:
        text = "\n---\n".join(map(json.dumps, objects))
        found = reading.read(files.documents(files.Source("x.yaml", text)), Catalog()).workloads
        return next(one for one in found if one.kind == "NIMService")

    @pytest.mark.parametrize("resources", [{}, {"limits": {"cpu": 4}}])
    def test_a_profile_that_was_not_read_may_need_gpus(self, resources: Object) -> None:
        storage = {"nimCache": {"name": "cached", "profile": "p"}}
        workload = self.both(self.service(resources=resources, storage=storage), self.cache())
        assert [doubt.path for doubt in workload.unmodelled] == ["spec.storage.nimCache.profile"]

    def test_a_given_number_of_gpus_leaves_no_doubt(self) -> None:
        storage = {"nimCache": {"name": "cached", "profile": "p"}}
        workload = self.both(self.service(resources={"limits": {GPU: 2}}, storage=storage), self.cache())
        assert workload.unmodelled == ()
        assert requests(workload.roles[0])[GPU] == 2

    def test_its_cache_has_the_volume(self) -> None:
        service = self.service(resources={"limits": {GPU: 1}}, storage={"nimCache": {"name": "cached"}})
        assert self.both(service, self.cache()).roles[0].template.volume_claims == ("models",)
        (missing,) = self.both(service).missing
        assert missing.title == "NIMCache cached"

    def test_devices_that_it_asks_for_itself(self) -> None:
        asked = {"name": "a", "count": 2, "deviceClassName": "gpu.example.com"}
        draft = [{"claimCreationSpec": {"devices": [{**asked, "driverName": "gpu.example.com"}]}}]
        (role,) = roles(self.service(draResources=draft)).values()
        assert [claim.devices for claim in role.template.device_claims] == [{"gpu.example.com": 2}]

    def test_nodes_make_groups(self) -> None:
        nodes = {"parallelism": {"pipeline": 3, "tensor": 4}}
        workload = read(self.service(replicas=2, resources={"limits": {GPU: 4}}, multiNode=nodes))
        assert [(one.name, one.replicas) for one in workload.roles] == [("leader", 2), ("worker", 4)]
        assert [(group.count, dict(group.members)) for group in workload.groups] == [(2, {"leader": 1, "worker": 2})]
