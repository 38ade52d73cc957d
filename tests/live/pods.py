"""The pods of a workload as objects for an API server: what a controller would create from its roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from advisor.labels import NodeSelector, PodAffinityTerm, Requirement, Selector, Toleration
from advisor.quantity import Amounts
from advisor.workload import Container, PodTemplate, Role, Workload

Object = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def of(workload: Workload) -> Iterator[tuple[Role, Object]]:
    """Every pod of the gang, with its role, in the order of the roles."""
    for role in workload.roles:
        for number in range(role.replicas):
            yield role, pod(role.template, workload.namespace, f"{role.name.lower()}-{number}")


def pod(template: PodTemplate, namespace: str, name: str) -> Object:
    spec: Object = {
        "containers": [_container(one) for one in template.containers],
        "initContainers": [{**_container(one), **_sidecar(one)} for one in template.init_containers],
        "nodeSelector": dict(template.nodes.pairs),
        "affinity": _affinity(template),
        "tolerations": [_toleration(one) for one in template.tolerations],
        "hostNetwork": template.host_network,
        "restartPolicy": "Always",
    }
    if template.priority_class:
        spec["priorityClassName"] = template.priority_class
    metadata = {"name": name, "namespace": namespace, "labels": dict(template.labels)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def node(name: str, gpus: int) -> Object:
    offers = {"cpu": "32", "memory": "256Gi", "pods": "110", "example.com/gpu": str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": offers, "capacity": offers, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _container(one: Container) -> Object:
    ports = [{"containerPort": p.port, "hostPort": p.port, "protocol": p.protocol, "hostIP": p.ip} for p in one.ports]
    resources = {"requests": _quantities(one.requests), "limits": _quantities(one.limits)}
    return {"name": one.name, "image": "example/image", "resources": resources, "ports": ports}


def _sidecar(one: Container) -> Object:
    return {"restartPolicy": "Always"} if one.sidecar else {}


def _quantities(amounts: Amounts) -> dict[str, str]:
    return {name: f"{amount}m" if amount % 1000 else str(amount // 1000) for name, amount in amounts.items()}


def _affinity(template: PodTemplate) -> Object:
    affinity: Object = {}
    if template.nodes.terms is not None:
        affinity["nodeAffinity"] = {REQUIRED: _node_terms(template.nodes)}
    if template.anti_affinity:
        affinity["podAntiAffinity"] = {REQUIRED: [_pod_term(term) for term in template.anti_affinity]}
    return affinity


def _node_terms(nodes: NodeSelector) -> Object:
    terms = [
        {"matchExpressions": [_requirement(r) for r in t.labels], "matchFields": [_requirement(r) for r in t.fields]}
        for t in nodes.terms or ()
    ]
    return {"nodeSelectorTerms": terms}


def _pod_term(term: PodAffinityTerm) -> Object:
    return {
        "topologyKey": term.topology_key,
        "namespaces": list(term.namespaces),
        "labelSelector": _selector(term.selector),
        "namespaceSelector": _selector(term.namespace_selector),
    }


def _selector(selector: Selector | None) -> Object | None:
    return None if selector is None else {"matchExpressions": [_requirement(r) for r in selector.requirements]}


def _requirement(one: Requirement) -> Object:
    return {"key": one.key, "operator": one.operator, "values": list(one.values)}


def _toleration(one: Toleration) -> Object:
    found: Mapping[str, Any] = {"key": one.key, "operator": one.operator, "value": one.value, "effect": one.effect}
    return {key: value for key, value in found.items() if value}
