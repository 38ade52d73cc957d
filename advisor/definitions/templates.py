"""A pod template as people write it, to the noun that the rules read.

Takes the plain data of `{metadata, spec}`; every fault carries its path inside the pod, and all of them come at once.
Env, args and commands are never looked at. Unknown fields are ignored here, and told by `openapi`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from advisor.definitions import lenient, malformed, noticed, openapi, plain
from advisor.definitions.noticed import PREFERRED, REQUIRED
from advisor.definitions.plain import Data
from advisor.errors import Faults, InputError, at
from advisor.labels import (
    Bearer,
    HostPort,
    Labels,
    MadeLabel,
    NodeSelector,
    NodeTerm,
    PodAffinityTerm,
    Requirement,
    Selector,
    Toleration,
)
from advisor.labels import labels as sorted_labels
from advisor.workload import Container, DeviceClaim, PodAmounts, PodTemplate

LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS = (*LABEL_OPERATORS, "Gt", "Lt")
WITH_VALUES = ("In", "NotIn", "Gt", "Lt")


def template(pod: Data, namespace: str, added: Data | None = None, written: Data | None = None) -> PodTemplate:
    """Raises InputError with every fault. `namespace` is where the pods will be created.

    `added`: labels that the controller gives to the pods, as `_with_added` reads them. `written`: labels that the
    manifest has, where the pod has others already.
    """
    faults = Faults()
    parts: dict[str, Any] = {}
    metadata, spec = _halves(openapi.decoded("PodTemplateSpec", pod))
    for name in ("labels", "annotations"):
        with faults.collect("metadata"):
            parts[name] = sorted_labels(plain.pairs(metadata, name))
    parts.update(_with_added(parts.get("labels", ()), added or {}, written))
    for name, read in _FIELDS.items():
        with faults.collect("spec"):
            parts[name] = read(spec)
    for name in ("affinity", "anti_affinity"):
        with faults.collect("spec"):
            own = Bearer(parts.get("labels", ()), parts["made"])
            parts[name] = _pod_terms(spec, _AFFINITIES[name], namespace, own)
    told = {fault.path for fault in faults.found}
    faults.found += (fault for fault in openapi.mistyped("PodTemplateSpec", pod) if fault.path not in told)
    faults.raise_if_any()
    return PodTemplate(**parts)


def _with_added(own: Labels, added: Data, written: Data | None) -> dict[str, Any]:
    """The labels with those that the controller adds, which win over the template's.

    A value is text where it is known, else the fields of a `MadeLabel`.
    """
    known = {key: value for key, value in added.items() if isinstance(value, str)}
    made = {key: how for key, how in added.items() if key not in known}
    others = () if written is None else (key for key, value in own if key not in made and written.get(key) != value)
    return {
        "labels": sorted_labels({**{key: value for key, value in own if key not in made}, **known}),
        "added": tuple(sorted({*known, *others})),
        "made": tuple(MadeLabel(key, **how) for key, how in sorted(made.items())),
    }


def _halves(pod: Data) -> tuple[Data, Data]:
    return plain.mapping(pod, "metadata"), plain.mapping(pod, "spec")


def _containers(spec: Data) -> tuple[Container, ...]:
    found = _each(spec, "containers", lambda item: _container(item, plain.flag(spec, "hostNetwork")))
    if not found:
        raise InputError("has no containers", path=("containers",), hint="every pod needs at least one container")
    return found


def _init_containers(spec: Data) -> tuple[Container, ...]:
    return _each(spec, "initContainers", lambda item: _container(item, plain.flag(spec, "hostNetwork")))


def _container(item: Data, host_network: bool) -> Container:
    resources = plain.mapping(item, "resources")
    with at("resources"):
        requests, limits = plain.amounts(resources, "requests"), plain.amounts(resources, "limits")
    return Container(
        name=plain.text(item, "name"),
        requests=requests,
        limits=limits,
        ports=tuple(port for port in _each(item, "ports", lambda one: _port(one, host_network)) if port),
        sidecar=plain.text(item, "restartPolicy") == "Always",
    )


def _port(item: Data, host_network: bool) -> HostPort | None:
    """On the host's network a container port is a host port (`defaultHostNetworkPorts`)."""
    own, number = plain.number(item, "containerPort"), plain.number(item, "hostPort")
    if host_network and number and number != own:
        raise InputError("must be the containerPort on the host's network", path=("hostPort",))
    number = number or (own if host_network else None)
    if not number:
        return None
    return HostPort(number, plain.text(item, "protocol") or "TCP", plain.text(item, "hostIP") or HostPort(0).ip)


def _pod_level(spec: Data) -> PodAmounts | None:
    resources = plain.mapping(spec, "resources")
    if not resources:
        return None
    with at("resources"):
        return PodAmounts(plain.amounts(resources, "requests"), plain.amounts(resources, "limits"))


def _nodes(spec: Data) -> NodeSelector:
    selector = sorted_labels(plain.pairs(spec, "nodeSelector"))
    affinity = _affinity(spec, "nodeAffinity")
    if affinity.get(REQUIRED) is None:
        return NodeSelector(selector)
    with at("affinity", "nodeAffinity"):
        required = plain.mapping(affinity, REQUIRED)
        with at(REQUIRED):
            return NodeSelector(selector, _each(required, "nodeSelectorTerms", _node_term))


def _affinity(spec: Data, kind: str) -> Data:
    affinity = plain.mapping(spec, "affinity")
    with at("affinity"):
        return plain.mapping(affinity, kind)


def _node_term(item: Data) -> NodeTerm:
    fields = _each(item, "matchFields", lambda one: _requirement(one, NODE_OPERATORS))
    return NodeTerm(_each(item, "matchExpressions", lambda one: _requirement(one, NODE_OPERATORS)), fields)


def _requirement(item: Data, operators: tuple[str, ...]) -> Requirement:
    operator = plain.text(item, "operator")
    values = plain.texts(item, "values")
    if not plain.text(item, "key"):
        raise InputError("is required", path=("key",))
    if operator not in operators:
        raise InputError(f"must be one of {', '.join(operators)}", path=("operator",))
    if bool(values) != (operator in WITH_VALUES):
        raise InputError("needs values" if not values else "takes no values", path=("values",))
    return Requirement(plain.text(item, "key"), operator, tuple(sorted(values)))


def _tolerations(spec: Data) -> tuple[Toleration, ...]:
    return _each(spec, "tolerations", _toleration)


def _toleration(item: Data) -> Toleration:
    operator = plain.text(item, "operator") or "Equal"
    key, value = plain.text(item, "key"), plain.text(item, "value")
    if not key and operator == "Equal":
        raise InputError("without a key must be Exists", path=("operator",))
    if value and operator == "Exists":
        raise InputError("must be empty with operator Exists", path=("value",))
    return Toleration(key, operator, value, plain.text(item, "effect"), plain.number(item, "tolerationSeconds"))


def _pod_terms(spec: Data, key: str, namespace: str, own: Bearer) -> tuple[PodAffinityTerm, ...]:
    affinity = _affinity(spec, key)
    with at("affinity", key):
        return _each(affinity, REQUIRED, lambda item: _pod_term(item, namespace, own))


def _pod_term(item: Data, namespace: str, own: Bearer) -> PodAffinityTerm:
    topology_key = plain.text(item, "topologyKey")
    if not topology_key:
        raise InputError("is required", path=("topologyKey",))
    by_label = _selector(item, "namespaceSelector")
    named = tuple(sorted(plain.texts(item, "namespaces"))) or (() if by_label else (namespace,))
    return PodAffinityTerm(topology_key, _folded(item, own), named, by_label)


def _all_pod_terms(spec: Data) -> Iterator[Data]:
    """Required and preferred, of affinity and anti-affinity."""
    for kind in _AFFINITIES.values():
        affinity = lenient.mapping(spec, "affinity", kind)
        yield from (item for _, item in lenient.items(affinity, REQUIRED))
        yield from (lenient.mapping(item, "podAffinityTerm") for _, item in lenient.items(affinity, PREFERRED))


def _names_namespaces(term: Data) -> bool:
    """What a quota of scope CrossNamespacePodAffinity counts, also where the namespace named is the pod's own."""
    return bool(term.get("namespaces")) or term.get("namespaceSelector") is not None


def _folded(item: Data, own: Bearer) -> Selector | None:
    """The label selector with (mis)matchLabelKeys folded in, as the API server does when the pod is created."""
    selector = _selector(item, "labelSelector")
    if selector is None:
        return None
    made = {label.key for label in own.made}
    keys = [("In", "Same", key) for key in plain.texts(item, "matchLabelKeys")]
    keys += [("NotIn", "Other", key) for key in plain.texts(item, "mismatchLabelKeys")]
    folded = [Requirement(key, operator) for _, operator, key in keys if key in made]
    values = dict(own.pairs)
    folded += [Requirement(key, operator, (values[key],)) for operator, _, key in keys if key in values]
    return _sorted((*selector.requirements, *folded))


def _selector(item: Data, key: str) -> Selector | None:
    if item.get(key) is None:
        return None
    selector = plain.mapping(item, key)
    with at(key):
        pairs = [Requirement(name, "In", (value,)) for name, value in plain.pairs(selector, "matchLabels").items()]
        return _sorted((*pairs, *_each(selector, "matchExpressions", lambda one: _requirement(one, LABEL_OPERATORS))))


def _sorted(requirements: Iterable[Requirement]) -> Selector:
    return Selector(tuple(sorted(set(requirements), key=repr)))


def _volume_claims(spec: Data) -> tuple[str, ...]:
    claims = (lenient.mapping(item, "persistentVolumeClaim") for _, item in lenient.items(spec, "volumes"))
    return tuple(sorted({lenient.text(claim, "claimName") for claim in claims} - {""}))


def _device_claims(spec: Data) -> tuple[DeviceClaim, ...]:
    return _each(spec, "resourceClaims", _device_claim)


def _device_claim(item: Data) -> DeviceClaim:
    claim, made = plain.text(item, "resourceClaimName"), plain.text(item, "resourceClaimTemplateName")
    return DeviceClaim(plain.text(item, "name"), claim, made)


def _gates(spec: Data) -> tuple[str, ...]:
    return _each(spec, "schedulingGates", lambda item: plain.text(item, "name"))


def _each(data: Data, key: str, read: Callable[[Data], Any]) -> tuple[Any, ...]:
    """Every member of a list, read; the faults of all members at once."""
    faults = Faults()
    found = []
    for place, item in plain.mappings(data, key):
        with faults.collect(key, place):
            found.append(read(item))
    faults.raise_if_any()
    return tuple(found)


_AFFINITIES = {"affinity": "podAffinity", "anti_affinity": "podAntiAffinity"}

_FIELDS: Mapping[str, Callable[[Data], Any]] = {
    "containers": _containers,
    "init_containers": _init_containers,
    "pod_level": _pod_level,
    "overhead": lambda spec: plain.amounts(spec, "overhead"),
    "nodes": _nodes,
    "tolerations": _tolerations,
    "volume_claims": _volume_claims,
    "device_claims": _device_claims,
    "node_name": lambda spec: plain.text(spec, "nodeName"),
    "scheduler": lambda spec: plain.text(spec, "schedulerName") or "default-scheduler",
    "runtime_class": lambda spec: plain.text(spec, "runtimeClassName"),
    "priority_class": lambda spec: plain.text(spec, "priorityClassName"),
    "priority": lambda spec: plain.number(spec, "priority"),
    "preemption": lambda spec: plain.text(spec, "preemptionPolicy"),
    "service_account": lambda spec: plain.text(spec, "serviceAccountName") or plain.text(spec, "serviceAccount"),
    "gates": _gates,
    "scheduling_group": lambda spec: lenient.text(lenient.mapping(spec, "schedulingGroup"), "podGroupName"),
    "has_deadline": lambda spec: plain.number(spec, "activeDeadlineSeconds") is not None,
    "host_network": lambda spec: plain.flag(spec, "hostNetwork"),
    "crosses_namespaces": lambda spec: any(_names_namespaces(term) for term in _all_pod_terms(spec)),
    "operating_system": lambda spec: lenient.text(lenient.mapping(spec, "os"), "name"),
    "used": noticed.used,
    "exposed": noticed.exposed,
    "malformed": malformed.found,
}
"""Field of the noun → how it is read from `spec`."""
