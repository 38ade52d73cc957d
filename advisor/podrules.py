"""Pods that the API server refuses whatever the cluster holds: 422, named by the field.

Mirrors the parts of kubernetes/pkg/apis/core/validation that a pod template can fail when nobody validates it before
pods are made of it. What cannot be read at all is a fault of the manifest and never comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from advisor import quantity
from advisor.errors import InputError, Path, dotted
from advisor.labels import NodeTerm, Toleration, is_key
from advisor.quantity import Amounts
from advisor.resources import is_extended, is_native, may_be_pod_level
from advisor.workload import Container, PodTemplate

PAGES = "hugepages-"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")

Named = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that is refused: the path in the pod, what is wrong there, and both in one text that names containers.

    `lacks`: something is missing that a LimitRange of the namespace gives to pods before they are looked at. `is_name`:
    a name is wrong, which may be a placeholder.
    """

    path: Path
    message: str
    text: str
    lacks: bool = False
    is_name: bool = False


def refusals(template: PodTemplate) -> Iterator[Refusal]:
    """`template` as the pod would be stored, defaults filled in."""
    if not template.containers:
        yield Refusal(("spec", "containers"), "is empty", "spec.containers is empty")
    yield from _container_faults(template)
    for one in template.malformed:
        yield Refusal(one.path, one.message, f"{dotted(one.path)}: {one.message}", is_name=one.is_name)
    yield from _pod_level_faults(template)
    yield from _port_faults(template)
    for place, toleration in enumerate(template.tolerations):
        found = _toleration_faults(toleration)
        yield from _placed(("spec", "tolerations", place), f"spec.tolerations[{place}]", _here(found))
    for place, term in enumerate(template.nodes.terms or ()):
        named = f"spec.affinity.nodeAffinity, term {place}"
        yield from _placed(("spec", *TERMS, place), named, _here(_term_faults(term)))


def _container_faults(template: PodTemplate) -> Iterator[Refusal]:
    for field, containers in (("containers", template.containers), ("initContainers", template.init_containers)):
        for place, container in enumerate(containers):
            found = _resource_faults(container.requests, container.limits, _may_be_asked)
            named = f"spec.{field}[{container.name}].resources"
            yield from _placed(("spec", field, place, "resources"), named, found)


Found = Iterator[tuple[Path, str]]
"""Paths below a place (`requests` and a name, or nothing), each with what is wrong there."""


def _placed(where: Path, named: str, found: Found) -> Iterator[Refusal]:
    for steps, message in found:
        told = f"{steps[0]}[{steps[1]}] {message}" if steps else message
        yield Refusal((*where, *steps), message, f"{named}: {told}", lacks=message in (NO_LIMIT, NOTHING_BESIDE))


def _here(messages: Iterable[str]) -> Found:
    return (((), message) for message in messages)


NO_LIMIT = "needs a limit of the same amount"
NOTHING_BESIDE = "hugepages need cpu or memory beside them"


def _resource_faults(requests: Amounts, limits: Amounts, named: Named) -> Found:
    for what, amounts in (("requests", requests), ("limits", limits)):
        for name, amount in amounts.items():
            yield from (((what, name), message) for message in _amount_faults(name, amount, named))
    for name, amount in requests.items():
        limit = limits.get(name)
        if limit is None and _rigid(name):
            yield ("requests", name), NO_LIMIT
        elif limit is not None and amount != limit and _rigid(name):
            yield ("requests", name), "must equal its limit"
        elif limit is not None and amount > limit:
            yield ("requests", name), "is above its limit"
    names = {*requests, *limits}
    if any(name.startswith(PAGES) for name in names) and not names & {"cpu", "memory"}:
        yield (), NOTHING_BESIDE


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
    """By a container; a quota must be able to name an extended resource, too."""
    if "/" in name:
        return is_key(name) and (is_native(name) or (is_extended(name) and is_key(f"requests.{name}")))
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


def _pod_level_faults(template: PodTemplate) -> Iterator[Refusal]:
    stated = template.pod_level
    if stated is None:
        return
    where = ("spec", "resources")
    found = _resource_faults(stated.requests, stated.limits, may_be_pod_level)
    yield from _placed(where, "spec.resources", found)
    summed = replace(template, pod_level=None).requests()
    below = (name for name, amount in stated.requests.items() if amount < summed.get(name, 0))
    message = "is below the sum of the containers"
    yield from _placed(where, "spec.resources", ((("requests", name), message) for name in below))
    for place, container in enumerate(template.containers):
        above = (name for name, limit in container.limits.items() if limit > stated.limits.get(name, limit))
        found = ((("limits", name), "is above the limit of the pod") for name in above)
        yield from _placed(
            ("spec", "containers", place, "resources"), f"spec.containers[{container.name}].resources", found
        )


def _port_faults(template: PodTemplate) -> Iterator[Refusal]:
    """A host port may be named once among the containers; each init container is looked at by itself."""
    yield from _twice("containers", template.containers)
    for container in template.init_containers:
        yield from _twice("initContainers", (container,))


def _twice(field: str, containers: tuple[Container, ...]) -> Iterator[Refusal]:
    ports = [port for container in containers for port in container.ports]
    twice = sorted({port for port in ports if ports.count(port) > 1})
    yield from _placed(("spec", field), f"spec.{field}", _here(f"host port {port} is named twice" for port in twice))


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
