"""Questions that an exhaustive search would take long over, as whole processes: many roles, many pods, rules that span
nodes, near misses, numbers beyond any cluster. Each figure is also told as a ratio to the simplest question.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import process, wm_place

Objects = list[dict[str, Any]]
GPU = "example.com/gpu"


def questions() -> Iterator[tuple[str, Objects, dict[str, Any]]]:
    """What it is, the nodes, the gang; the first is the simplest there is."""
    rng = random.Random(1)
    yield "one pod on one node", [_node(0, 32, 8)], _gang([(1, 1, 1)])
    mixed = [_node(n, rng.randint(20, 200), rng.randint(0, 8), zone=f"z{n % 7}") for n in range(200)]
    small = [(3, 5 + 3 * r, 1 + r % 3) for r in range(8)]
    yield "8 roles on 200 nodes, one apart from all by zone", mixed, _gang(small, apart=((0, "app", "zone"),))
    many = [_node(n, rng.randint(20, 200), 0) for n in range(500)]
    yield "8,500 pods of 3 roles on 500 nodes", many, _gang([(4000, 3, 0), (3000, 5, 0), (1500, 7, 0)])
    racks = [_node(n, rng.randint(20, 99), rng.randint(0, 8), rack=f"r{n // 10}") for n in range(1000)]
    yield "2 roles apart by rack on 1,000 nodes", racks, _gang([(60, 7, 3), (220, 9, 5)], apart=((0, "r1", "rack"),))
    eights = [_node(n, rng.randint(20, 99), 8) for n in range(40)]
    yield "20 roles on 40 nodes", eights, _gang([(4 + r % 3, 3 + r, 1 + r % 5) for r in range(20)])
    tight = [_node(n, rng.randint(30, 40), 0, memory=rng.randint(100, 130)) for n in range(30)]
    roles = [(8, rng.randint(9, 17), 0, rng.randint(20, 60)) for _ in range(10)]
    yield "10 roles that nearly fill 30 nodes", tight, _gang(roles)
    near = [_node(n, cpu, 8) for n, cpu in enumerate((61, 47, 53, 59, 43, 41, 37, 67))]
    yield "a near miss: 34 pods, 8 nodes", near, _gang([(9, 17, 3), (11, 13, 2), (14, 7, 1)])
    for pods in (10**7, 10**9):
        yield f"{pods:,} pods on one node", [_node(0, 32, 8)], _gang([(pods, 1, 1)])


def cliffs() -> Iterator[tuple[str, str]]:
    base = 0.0
    with TemporaryDirectory() as name:
        nodes, gang = Path(name, "cluster.json"), Path(name, "gang.json")
        for what, objects, manifest in questions():
            nodes.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
            gang.write_text(json.dumps(manifest))
            run = process(wm_place(str(gang), "--from-snapshot", str(nodes)), runs=3)
            base = base or run.wall
            yield what, f"{run}  {run.wall / base:4.1f} ×"


def _node(number: int, cpu: int, gpus: int, memory: int = 2000, **labels: str) -> dict[str, Any]:
    amounts = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110", GPU: str(gpus)}
    name = f"n{number:04}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _gang(roles: Sequence[tuple[int, ...]], apart: Sequence[tuple[int, str, str]] = ()) -> dict[str, Any]:
    """(pods, cpu, GPUs, memory) per role; `apart`: a role keeps away from the pods that carry a label, by topology key.

    Every pod carries the label `app` and one of its own role, r0, r1 and so on.
    """
    specs = [_job(number, *role) for number, role in enumerate(roles)]
    for number, label, key in apart:
        term = {"topologyKey": key, "labelSelector": {"matchExpressions": [{"key": label, "operator": "Exists"}]}}
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        specs[number]["template"]["spec"]["affinity"] = {"podAntiAffinity": rule}
    jobs = [{"name": f"r{number}", "template": {"spec": spec}} for number, spec in enumerate(specs)]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "gang", "namespace": "default"},
        "spec": {"replicatedJobs": jobs},
    }


def _job(number: int, pods: int, cpu: int, gpus: int, memory: int = 1) -> dict[str, Any]:
    limits = {"cpu": str(cpu), "memory": f"{memory}Gi"} | ({GPU: str(gpus)} if gpus else {})
    containers = [{"name": "main", "image": "example/train", "resources": {"limits": limits}}]
    template = {
        "metadata": {"labels": {"app": "gang", f"r{number}": "here"}},
        "spec": {"restartPolicy": "Never", "containers": containers},
    }
    return {"parallelism": pods, "completions": pods, "template": template}
