"""kube-scheduler's rules on raw objects, one pod and one node at a time, and all placements of a gang by brute force.

Reads the JSON of the API and nothing else, and uses no line of `advisor`: slow, short, and independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]
Rows = list[tuple[str, Object]]
"""Placed pods: (node name, pod)."""

SUFFIXES = {"m": 1, "": 1000, "k": 10**6, "Ki": 1024 * 1000, "Mi": 1024**2 * 1000, "Gi": 1024**3 * 1000}


def amount(text: Any) -> int:
    digits = "".join(c for c in str(text) if c.isdigit())
    return int(digits) * SUFFIXES[str(text)[len(digits) :]]


def requests(pod: Object) -> dict[str, int]:
    total: dict[str, int] = {"pods": 1000}
    for container in pod["spec"]["containers"]:
        for name, quantity in asked(container).items():
            total[name] = total.get(name, 0) + amount(quantity)
    for container in pod["spec"].get("initContainers", []):
        for name, quantity in asked(container).items():
            total[name] = max(total.get(name, 0), amount(quantity))
    return total


def asked(container: Object) -> dict[str, Any]:
    resources = container.get("resources", {})
    return {**resources.get("limits", {}), **resources.get("requests", {})}


def allowed(pod: Object, node: Object, nodes: Sequence[Object], placed: Rows) -> bool:
    return (
        usable(pod, node)
        and tolerated(pod, node)
        and selected(pod, node)
        and has_room(pod, node, placed)
        and has_ports(pod, node, placed)
        and keeps_apart(pod, node, nodes, placed)
    )


def usable(pod: Object, node: Object) -> bool:
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"])
    cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    return ready and (not node["spec"].get("unschedulable") or tolerates(pod, cordon))


def tolerated(pod: Object, node: Object) -> bool:
    taints = node["spec"].get("taints", [])
    return all(tolerates(pod, taint) for taint in taints if taint["effect"] in ("NoSchedule", "NoExecute"))


def tolerates(pod: Object, taint: Object) -> bool:
    for t in pod["spec"].get("tolerations", []):
        if t.get("effect", "") not in ("", taint["effect"]) or t.get("key", "") not in ("", taint["key"]):
            continue
        if t.get("operator") == "Exists" or (t.get("key") and t.get("value", "") == taint.get("value", "")):
            return True
    return False


def selected(pod: Object, node: Object) -> bool:
    labels = node["metadata"].get("labels", {})
    if any(labels.get(key) != value for key, value in pod["spec"].get("nodeSelector", {}).items()):
        return False
    affinity = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(
        bool(term["matchExpressions"]) and all(holds(one, labels) for one in term["matchExpressions"])
        for term in required["nodeSelectorTerms"]
    )


def holds(expression: Object, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values", [])
    if expression["operator"] == "In":
        return value in values
    if expression["operator"] == "NotIn":
        return value not in values
    if expression["operator"] == "Exists":
        return value is not None
    if expression["operator"] == "DoesNotExist":
        return value is None
    if value is None or not value.isdigit():
        return False
    return int(value) > int(values[0]) if expression["operator"] == "Gt" else int(value) < int(values[0])


def on(node: Object, placed: Rows) -> list[Object]:
    return [pod for name, pod in placed if name == node["metadata"]["name"]]


def has_room(pod: Object, node: Object, placed: Rows) -> bool:
    there = [requests(other) for other in on(node, placed)]
    offers = node["status"]["allocatable"]
    for name, need in requests(pod).items():
        held = sum(other.get(name, 0) for other in there)
        if need > 0 and held + need > amount(offers.get(name, 0)):
            return False
    return True


def ports(pod: Object) -> list[tuple[int, str]]:
    return [
        (port["hostPort"], port.get("protocol", "TCP"))
        for container in pod["spec"]["containers"]
        for port in container.get("ports", [])
        if port.get("hostPort")
    ]


def has_ports(pod: Object, node: Object, placed: Rows) -> bool:
    taken = [port for other in on(node, placed) for port in ports(other)]
    return not set(taken) & set(ports(pod))


def terms(pod: Object) -> list[Object]:
    affinity = pod["spec"].get("affinity", {}).get("podAntiAffinity", {})
    found: list[Object] = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return found


def keeps_apart(pod: Object, node: Object, nodes: Sequence[Object], placed: Rows) -> bool:
    labels = {one["metadata"]["name"]: one["metadata"].get("labels", {}) for one in nodes}
    here = node["metadata"]["name"]
    for name, other in placed:
        for mine, against in ((pod, other), (other, pod)):
            for term in terms(mine):
                key = term["topologyKey"]
                same = labels[here].get(key) is not None and labels[here].get(key) == labels[name].get(key)
                if same and speaks_of(term, mine, against):
                    return False
    return True


def speaks_of(term: Object, owner: Object, pod: Object) -> bool:
    wanted = term["labelSelector"]["matchLabels"]
    labels = pod["metadata"].get("labels", {})
    same_space = pod["metadata"]["namespace"] == owner["metadata"]["namespace"]
    return same_space and all(labels.get(key) == value for key, value in wanted.items())


def within_quota(pods: Sequence[Object], quotas: Sequence[Object]) -> bool:
    for quota in quotas:
        for key, hard in quota["status"]["hard"].items():
            name = key.removeprefix("requests.")
            charged = sum(requests(pod).get(name, 0) for pod in pods)
            if charged and amount(quota["status"]["used"][key]) + charged > amount(hard):
                return False
    return True


def bound(pods: Sequence[Object], nodes: Sequence[Object]) -> Rows:
    """The pods that hold something: on a node that is there, and not finished."""
    names = {node["metadata"]["name"] for node in nodes}
    return [
        (pod["spec"]["nodeName"], pod)
        for pod in pods
        if pod["spec"].get("nodeName") in names and pod["status"]["phase"] not in ("Succeeded", "Failed")
    ]


def fits(gang: Sequence[Object], nodes: Sequence[Object], placed: Rows, quotas: Sequence[Object]) -> bool:
    """Is there a node for every pod of the gang at once? Equal pods next to each other are tried in node order."""
    return within_quota(gang, quotas) and any(True for _ in _placements(list(gang), nodes, placed, 0))


def _placements(gang: list[Object], nodes: Sequence[Object], placed: Rows, first: int) -> Iterator[Rows]:
    if not gang:
        yield placed
        return
    pod, rest = gang[0], gang[1:]
    for place in range(first, len(nodes)):
        if allowed(pod, nodes[place], nodes, placed):
            again = place if rest and rest[0] == pod else 0
            yield from _placements(rest, nodes, [*placed, (nodes[place]["metadata"]["name"], pod)], again)
