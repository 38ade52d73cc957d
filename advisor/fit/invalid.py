"""Pods that the API server refuses whatever the cluster holds: 422, named by the field.

Mirrors the parts of kubernetes/pkg/apis/core/validation that a custom resource's pod template can fail, because nobody
validates it before pods are made of it. What cannot be read at all is a fault of the manifest and never comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from advisor import quantity
from advisor.errors import InputError
from advisor.labels import NodeTerm, Toleration
from advisor.quantity import Amounts
from advisor.resources import is_extended, is_native, may_be_pod_level
from advisor.verdict import Reason
from advisor.workload import Container, PodTemplate

PAGES = "hugepages-"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

Named = Callable[[str], bool]


def faults(template: PodTemplate) -> Iterator[Reason]:
    """`template` as the pod would be stored, defaults filled in."""
    for message in _faults(template):
        yield Reason("invalid-template", subject=message)


def _faults(template: PodTemplate) -> Iterator[str]:
    if not template.containers:
        yield "spec.containers is empty"
    for field, containers in (("containers", template.containers), ("initContainers", template.init_containers)):
        for container in containers:
            for message in _resource_faults(container.requests, container.limits, _may_be_asked):
                yield f"spec.{field}[{container.name}].resources: {message}"
    yield from template.misnamed
    yield from _pod_level_faults(template)
    yield from _port_faults(template)
    for place, toleration in enumerate(template.tolerations):
        for message in _toleration_faults(toleration):
            yield f"spec.tolerations[{place}]: {message}"
    for place, term in enumerate(template.nodes.terms or ()):
        for message in _term_faults(term):
            yield f"spec.affinity.nodeAffinity, term {place}: {message}"


def _resource_faults(requests: Amounts, limits: Amounts, named: Named) -> Iterator[str]:
    for what, amounts in (("requests", requests), ("limits", limits)):
        for name, amount in amounts.items():
            yield from (f"{what}[{name}] {message}" for message in _amount_faults(name, amount, named))
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is None and _rigid(name):
            yield f"requests[{name}] needs a limit of the same amount"
        elif limit is not None and amount != limit and _rigid(name):
            yield f"requests[{name}] must equal its limit"
        elif limit is not None and amount > limit:
            yield f"requests[{name}] is above its limit"
    names = {*requests, *limits}
    if any(name.startswith(PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield "hugepages need cpu or memory beside them"


def _amount_faults(name: str, amount: int, named: Named) -> Iterator[str]:
    if not named(name):
        yield "is not a resource that can be asked for here; a device has a name such as nvidia.com/gpu"
    if amount < 0:
        yield "is negative"
    elif is_extended(name) and amount % 1000:
        yield "must be a whole number"
    elif name.startswith(PAGES) and not _whole_pages(name, amount):
        yield "must be a multiple of the page size"


def _may_be_asked(name: str) -> bool:
    """By a container."""
    if "/" in name:
        return is_native(name) or is_extended(name)
    return may_be_pod_level(name) or name == "ephemeral-storage"


def _rigid(name: str) -> bool:
    """Resources that cannot be overcommitted: the request must equal the limit (`IsOvercommitAllowed`)."""
    return not is_native(name) or name.startswith(PAGES)


def _whole_pages(name: str, amount: int) -> bool:
    try:
        page = quantity.parse(name.removeprefix(PAGES))
    except InputError:
        return False
    return page > 0 and amount % page == 0


def _pod_level_faults(template: PodTemplate) -> Iterator[str]:
    stated = template.pod_level
    if stated is None:
        return
    for message in _resource_faults(stated.requests, stated.limits, may_be_pod_level):
        yield f"spec.resources: {message}"
    summed = replace(template, pod_level=None).requests()
    for name, amount in stated.requests.items():
        if amount < summed.get(name, 0):
            yield f"spec.resources: requests[{name}] is below the sum of the containers"
    for container in template.containers:
        for name, limit in container.limits.items():
            if limit > stated.limits.get(name, limit):
                yield f"spec.containers[{container.name}].resources: limits[{name}] is above the limit of the pod"


def _port_faults(template: PodTemplate) -> Iterator[str]:
    """A host port may be named once among the containers; each init container is looked at by itself."""
    yield from _twice("containers", template.containers)
    for container in template.init_containers:
        yield from _twice("initContainers", (container,))


def _twice(field: str, containers: tuple[Container, ...]) -> Iterator[str]:
    ports = [port for container in containers for port in container.ports]
    for port in sorted({port for port in ports if ports.count(port) > 1}):
        yield f"spec.{field}: host port {port} is named twice"


def _toleration_faults(toleration: Toleration) -> Iterator[str]:
    if not toleration.key and toleration.operator != "Exists":
        yield "without a key the operator must be Exists"
    if toleration.operator == "Exists" and toleration.value:
        yield "with operator Exists the value must be empty"
    if toleration.effect and toleration.effect not in EFFECTS:
        yield f"effect must be one of {', '.join(EFFECTS)}"
    if toleration.seconds is not None and toleration.effect != "NoExecute":
        yield "tolerationSeconds needs the effect NoExecute"


def _term_faults(term: NodeTerm) -> Iterator[str]:
    for wanted in term.labels:
        if wanted.operator in ("Gt", "Lt") and len(wanted.values) != 1:
            yield f"{wanted.key} {wanted.operator} needs one value"
    for wanted in term.fields:
        if wanted.key != "metadata.name":
            yield f"matchFields knows metadata.name only, not {wanted.key}"
        if wanted.operator not in ("In", "NotIn") or len(wanted.values) != 1:
            yield "matchFields needs In or NotIn and one value"
