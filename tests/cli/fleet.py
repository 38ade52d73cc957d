"""Recordings and manifests as files: what kubectl prints of clusters, and JobSets to place on them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.kube.objects import Object, merged, node, pod

NOON = 1_764_504_000
"""2025-11-30T12:00:00Z, when kubectl recorded everything here."""


def gpu_node(name: str, gpus: int, used: int = 0, **spec: Any) -> list[Object]:
    """A node, and a pod that holds `used` of its GPUs."""
    amounts = {"cpu": "96", "memory": "1Ti", "nvidia.com/gpu": str(gpus)}
    found = [node(name, {"spec": spec}, **amounts)]
    if used:
        held = {"nvidia.com/gpu": str(used)}
        holder = {"name": "main", "image": "x", "resources": {"requests": held, "limits": held}}
        found.append(pod(f"busy-{name}", {"spec": {"containers": [holder]}}, on=name))
    return found


def room(name: str, nodes: int = 3) -> list[Object]:
    return [obj for n in range(1, nodes + 1) for obj in gpu_node(f"{name}-{n:02}", 8)]


def fragmented(name: str, nodes: int = 6) -> list[Object]:
    """Three GPUs are free everywhere: enough in all, and nowhere the four that a pod needs."""
    return [obj for n in range(1, nodes + 1) for obj in gpu_node(f"{name}-{n:02}", 8, used=5)]


def full(name: str, nodes: int = 3) -> list[Object]:
    return [obj for n in range(1, nodes + 1) for obj in gpu_node(f"{name}-{n:02}", 8, used=8)]


def small(name: str, nodes: int = 12) -> list[Object]:
    return [obj for n in range(1, nodes + 1) for obj in gpu_node(f"{name}-{n:02}", 1)]


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def record(folder: Path, name: str, objects: Sequence[Object], at: float = NOON) -> Path:
    """What `kubectl get nodes,pods,namespaces -A -o json` prints, in a file that was last changed at `at`."""
    path = folder / f"{name}.json"
    items = [namespace("default"), namespace("team"), *objects]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    os.utime(path, (at, at))
    return path


def four(folder: Path) -> list[str]:
    """Flags for a fleet that has room in one cluster, and in the others none for three different reasons."""
    recorded = [
        record(folder, "eu-h200", room("h200")),
        record(folder, "us-h100", fragmented("h100")),
        record(folder, "ap-a100", full("a100")),
        record(folder, "us-l4", small("l4")),
    ]
    return [flag for path in recorded for flag in ("--from-snapshot", str(path))]


def jobset(name: str = "llama", *changes: Object, gpus: int = 4, workers: int = 2) -> Object:
    """One leader and some workers, with so many GPUs each."""
    replicated = [_replicated("leader", 1, gpus), _replicated("worker", workers, gpus)]
    base = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": replicated},
    }
    return merged(base, *changes)


def job(name: str = "train", pods: int = 1, gpus: int = 1) -> Object:
    spec = {"parallelism": pods, "completions": pods, "template": pod_template(gpus)}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def pod_template(gpus: int, container: str = "main", restarts: str = "Never") -> Object:
    amounts = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": gpus}
    only = {"name": container, "image": "example.com/train", "resources": {"limits": amounts}}
    return {"spec": {"restartPolicy": restarts, "containers": [only]}}


def _replicated(name: str, parallelism: int, gpus: int) -> Object:
    job = {"spec": {"parallelism": parallelism, "completions": parallelism, "template": pod_template(gpus)}}
    return {"name": name, "replicas": 1, "template": job}


def definition(kind: str = "FooJob", path: str = ".spec.template") -> Object:
    """Of a kind of example.com/v1 that makes one pod."""
    root = {
        "name": kind.lower().removesuffix("job"),
        "kind": {"group": "example.com", "version": "v1", "kind": kind},
        "specDefinition": {"podTemplateSpecPath": path},
        "statusDefinition": {
            "phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"running": [{"byPhase": "Running"}]},
        },
    }
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": kind.lower().removesuffix("job")},
        "spec": {"structureDefinition": {"rootComponent": root}},
    }


def write(path: Path, *documents: Object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents, sort_keys=False))
    return path
