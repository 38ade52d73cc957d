"""A large synthetic fleet as an API server would list it: bulky where real objects are bulky, deterministic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GPUS = 8
WORKLOADS = 400


def node(number: int) -> dict[str, Any]:
    """60 labels of Node Feature Discovery, 50 images and managed fields: about 30 KB, little of which matters."""
    name = f"gpu-{number:05}"
    amounts = {"cpu": "192", "memory": "2113409636Ki", "ephemeral-storage": "948584892Ki", "pods": "110"}
    devices = {"nvidia.com/gpu": str(GPUS), "rdma/hca": "8", "hugepages-2Mi": "0", "hugepages-1Gi": "0"}
    features = {f"feature.node.kubernetes.io/cpu-cpuid.FEATURE{n}": "true" for n in range(60)}
    own = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "cloud.example.com/rack": f"rack-{number // 32}",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.memory": "81559",
    }
    conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"]
    return {
        "metadata": {
            "name": name,
            "uid": f"00000000-0000-4000-8000-{number:012}",
            "resourceVersion": str(1000 + number),
            "creationTimestamp": "2026-11-01T00:00:00Z",
            "labels": {**own, **features},
            "annotations": {"node.alpha.kubernetes.io/ttl": "15", "csi.volume.kubernetes.io/nodeid": name * 8},
            "managedFields": [_managed(writer, [*own, *features]) for writer in ("kubelet", "nfd-master")],
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"example:///{name}"},
        "status": {
            "capacity": {**amounts, **devices},
            "allocatable": {**amounts, **devices},
            "conditions": [{"type": t, "status": str(t == "Ready"), "reason": f"Kubelet{t}"} for t in conditions],
            "addresses": [{"type": "InternalIP", "address": f"10.1.{number // 256}.{number % 256}"}],
            "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "v1.36.2"},
            "images": [
                {"names": [f"registry.example.com/image-{n}@sha256:{n:064}"], "sizeBytes": n} for n in range(50)
            ],
        },
    }


def pod(number: int, nodes: int) -> dict[str, Any]:
    """A bound pod of two containers, about 17 KB with its environment, volumes, status and managed fields."""
    workload = number % WORKLOADS
    name = f"train-{workload}-{number:06}"
    labels = {
        "app.kubernetes.io/name": f"train-{workload}",
        "app.kubernetes.io/part-of": f"team-{workload % 40}",
        "batch.kubernetes.io/job-completion-index": str(number // WORKLOADS),
        "pod-template-hash": f"{workload:010}",
    }
    asked = [
        {"cpu": "4", "memory": "32Gi", **({"nvidia.com/gpu": "1"} if number % 2 else {})},
        {"cpu": "250m", "memory": f"{128 + workload % 8}Mi"},
    ]
    containers = [_container(c, resources, number) for c, resources in zip(("main", "log"), asked, strict=True)]
    return {
        "metadata": {
            "name": name,
            "namespace": f"team-{workload % 40}",
            "uid": f"00000000-0000-4000-9000-{number:012}",
            "resourceVersion": str(100000 + number),
            "creationTimestamp": "2026-11-20T00:00:00Z",
            "labels": labels,
            "annotations": {"cni.example.com/status": '[{"ips":["10.2.3.4"],"name":"default"}]' * 4},
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": f"train-{workload}", "uid": "0", "controller": True}
            ],
            "managedFields": [_managed(writer, [str(n) for n in range(110)]) for writer in ("manager", "kubelet")],
        },
        "spec": {
            "nodeName": f"gpu-{number % nodes:05}",
            "containers": containers,
            "schedulerName": "default-scheduler",
            "priority": 0,
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "volumes": [{"name": f"v{n}", "configMap": {"name": f"config-{n}", "defaultMode": 420}} for n in range(8)],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": t, "status": "True"} for t in ("Initialized", "Ready", "PodScheduled")],
            "containerStatuses": [
                {
                    "name": container["name"],
                    "ready": True,
                    "containerID": "containerd://" + "0" * 64,
                    "allocatedResources": container["resources"]["requests"],
                    "resources": container["resources"],
                }
                for container in containers
            ],
        },
    }


def _container(name: str, requests: dict[str, str], number: int) -> dict[str, Any]:
    limits = {key: value for key, value in requests.items() if key != "cpu"}
    return {
        "name": name,
        "image": "registry.example.com/train@sha256:" + "0" * 64,
        "args": [f"--setting-{n}=value-{number}" for n in range(20)],
        "env": [{"name": f"SETTING_{n}", "value": f"value {n} of {number}"} for n in range(60)],
        "resources": {"limits": limits, "requests": requests},
        "volumeMounts": [{"name": f"v{n}", "mountPath": f"/etc/config/{n}"} for n in range(8)],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10},
    }


def _managed(writer: str, keys: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {f"f:{key}": {} for key in keys}
    return {
        "manager": writer,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-11-20T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": fields}, "f:spec": {"f:containers": {'k:{"name":"main"}': fields}}},
    }


def pages(kind: str, objects: list[dict[str, Any]], size: int) -> Iterator[bytes]:
    """The bodies of a paged list, as compact as the server writes them."""
    for start in range(0, len(objects), size):
        token = f"page-{start + size}" if start + size < len(objects) else ""
        metadata = {"resourceVersion": "4711", "continue": token}
        body = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata, "items": objects[start : start + size]}
        yield json.dumps(body, separators=(",", ":")).encode()


def write(folder: Path, nodes: int, pods: int, size: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for page, body in enumerate(pages("Node", [node(n) for n in range(nodes)], size)):
        (folder / f"nodes-{page:03}.json").write_bytes(body)
    for page, start in enumerate(range(0, pods, size)):
        objects = [pod(n, nodes) for n in range(start, min(start + size, pods))]
        (body,) = pages("Pod", objects, size)
        (folder / f"pods-{page:03}.json").write_bytes(body)
