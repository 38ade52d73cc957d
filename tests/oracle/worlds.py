"""Small random clusters and gangs as raw objects, each from a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
GPU = "example.com/gpu"
NAMESPACE = "team"


@dataclass(frozen=True)
class Asked:
    """A cluster's objects, a gang as a manifest of our own kind of JobSet, and the gang's pods one by one."""

    nodes: list[Object]
    pods: list[Object]
    quotas: list[Object]
    manifest: Object
    gang: list[Object]
    counts: dict[str, int]


def asked(seed: int) -> Asked:
    rng = random.Random(seed)
    nodes = [_node(rng, f"n{number}") for number in range(rng.randint(1, 4))]
    pods = [_bound(rng, f"old-{number}", nodes) for number in range(rng.choice([0, 1, 2, 3]))]
    roles = {
        name: (rng.randint(1, 3), _template(rng, name)) for name in ("lead", "work", "tail")[: rng.choice([1, 2, 2, 3])]
    }
    gang = [_pod(template, f"{name}-{n}") for name, (count, template) in roles.items() for n in range(count)]
    quotas = [_quota(rng)] if rng.random() < 0.2 else []
    counts = {name: count for name, (count, _) in roles.items()}
    return Asked(nodes, pods, quotas, _manifest(roles), gang, counts)


def _node(rng: random.Random, name: str) -> Object:
    labels = {"kubernetes.io/hostname": name}
    for key, values in (("zone", "ab"), ("pool", "xy"), ("size", "123")):
        if rng.random() < 0.8:
            labels[key] = rng.choice(values)
    taints = [
        {"key": rng.choice(["gpu", "team"]), "value": rng.choice(["", "a"]), "effect": effect}
        for effect in ("NoSchedule", "PreferNoSchedule", "NoExecute")
        if rng.random() < 0.12
    ]
    offers = {
        "cpu": f"{rng.randint(1, 8)}",
        "memory": f"{rng.randint(1, 8)}Gi",
        "pods": str(rng.choice([1, 2, 4, 110])),
    }
    if rng.random() < 0.8:
        offers[GPU] = str(rng.randint(0, 4))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": rng.random() < 0.1},
        "status": {
            "allocatable": offers,
            "capacity": offers,
            "conditions": [{"type": "Ready", "status": "True" if rng.random() < 0.93 else "False"}],
        },
    }


def _template(rng: random.Random, app: str) -> Object:
    spec: Object = {"containers": [_container(rng, "main")]}
    if rng.random() < 0.2:
        spec["initContainers"] = [_container(rng, "init")]
    if rng.random() < 0.3:
        spec["tolerations"] = [_toleration(rng) for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.2:
        spec["nodeSelector"] = {"pool": rng.choice("xy")}
    affinity: Object = {}
    if rng.random() < 0.2:
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": _terms(rng)}
    if rng.random() < 0.25:
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [_apart(rng)]}
    if affinity:
        spec["affinity"] = affinity
    return {"metadata": {"labels": {"app": app}}, "spec": spec}


def _container(rng: random.Random, name: str) -> Object:
    limits: Object = {}
    if rng.random() < 0.6:
        limits[GPU] = rng.randint(1, 2)
    requests: Object = {}
    if rng.random() < 0.7:
        requests["cpu"] = rng.choice(["500m", "1", "1500m", 2, "3"])
    if rng.random() < 0.5:
        requests["memory"] = rng.choice(["512Mi", "1Gi", "3Gi"])
    container: Object = {"name": name, "image": "example/image", "resources": {"limits": limits, "requests": requests}}
    if name == "main" and rng.random() < 0.15:
        container["ports"] = [
            {"containerPort": 80, "hostPort": rng.choice([80, 81]), "protocol": rng.choice(["TCP", "UDP"])}
        ]
    return container


def _toleration(rng: random.Random) -> Object:
    if rng.random() < 0.5:
        toleration: Object = {"operator": "Exists"}
        if rng.random() < 0.7:
            toleration["key"] = rng.choice(["gpu", "team"])
    else:
        toleration = {"key": rng.choice(["gpu", "team"]), "value": rng.choice(["", "a"])}
    if rng.random() < 0.5:
        toleration["effect"] = rng.choice(["NoSchedule", "NoExecute"])
    return toleration


def _terms(rng: random.Random) -> Object:
    return {"nodeSelectorTerms": [{"matchExpressions": [_expression(rng)]} for _ in range(rng.randint(1, 2))]}


def _expression(rng: random.Random) -> Object:
    operator = rng.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
    if operator in ("Gt", "Lt"):
        return {"key": "size", "operator": operator, "values": ["2"]}
    expression: Object = {"key": rng.choice(["zone", "pool"]), "operator": operator}
    return {**expression, "values": [rng.choice("abxy")]} if operator in ("In", "NotIn") else expression


def _apart(rng: random.Random) -> Object:
    key = rng.choice(["kubernetes.io/hostname", "zone"])
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": rng.choice(["lead", "work", "old"])}}}


def _pod(template: Object, name: str) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": template["metadata"]["labels"]}
    return {"metadata": metadata, "spec": template["spec"]}


def _bound(rng: random.Random, name: str, nodes: list[Object]) -> Object:
    pod = _pod(_stored(_template(rng, rng.choice(["old", "work"]))), name)
    spec = {**pod["spec"], "nodeName": rng.choice([*nodes, {"metadata": {"name": "gone"}}])["metadata"]["name"]}
    phase = rng.choice(["Running", "Running", "Running", "Pending", "Succeeded", "Failed"])
    return {"apiVersion": "v1", "kind": "Pod", **pod, "spec": spec, "status": {"phase": phase}}


def _stored(template: Object) -> Object:
    """As the API server keeps a pod: a limit without a request is the request too."""
    for container in (*template["spec"]["containers"], *template["spec"].get("initContainers", [])):
        resources = container["resources"]
        resources["requests"] = {**resources["limits"], **resources["requests"]}
    return template


def _quota(rng: random.Random) -> Object:
    hard = {"pods": str(rng.randint(1, 6)), f"requests.{GPU}": str(rng.randint(0, 5))}
    chosen = {key: hard[key] for key in rng.sample(sorted(hard), rng.randint(1, 2))}
    used = {key: str(rng.randint(0, 1)) for key in chosen}
    metadata = {"name": "quota", "namespace": NAMESPACE}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": chosen},
        "status": {"hard": chosen, "used": used},
    }


def _manifest(roles: dict[str, tuple[int, Object]]) -> Object:
    jobs = [
        {"name": name, "template": {"spec": {"parallelism": count, "completions": count, "template": template}}}
        for name, (count, template) in roles.items()
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "gang", "namespace": NAMESPACE},
        "spec": {"replicatedJobs": jobs},
    }
