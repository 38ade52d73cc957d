"""Holds the pods that a controller made against the roles that our extraction announces.

Which role a pod belongs to is asked of the definition's `podSelector` (definitions.md 6), so a selector that knows
other labels than the controller gives is a difference too. Then everything that placement sees of a pod must be as its
role says. What is left out, and why:

- node name, priority and status: they come from the scheduler and from the cluster's classes;
- a service account that the manifest does not name: the controller makes it before the pods;
- the devices that a claim asks for: they stand in another object than the pod;
- claims of volumes that are made with the workload: it has them as a doubt (`Workload.unmodelled`);
- the selector or the affinity by which a controller keeps a topology that the role states as such (`Role.topology`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from advisor.definitions import pods as matching
from advisor.definitions import suspend, templates
from advisor.definitions.catalog import Found
from advisor.definitions.engine import prepare
from advisor.definitions.extract import Extraction
from advisor.errors import InputError
from advisor.labels import MadeLabel
from advisor.workload import PodTemplate, Role, Workload
from tests.judges import pods as raw
from tests.servers.objects import Object

APART = ("node_name", "priority", "labels", "made", "annotations", "volume_claims")
"""Fields that are not compared, or by rules of their own."""
AFFINITIES = ("podAffinity", "podAntiAffinity")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Seen:
    """A pod, and where its selectors place it; both empty where they know no place for it."""

    pod: Object
    component: str = ""
    instance: str = ""

    @property
    def name(self) -> str:
        return str(self.pod["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        return self.pod["metadata"].get("labels") or {}


@dataclass(frozen=True, slots=True)
class Terms:
    """What a comparison must know of the whole: the definition's components, and whether volumes come with the pods."""

    components: frozenset[str]
    makes_volumes: bool


def differences(workload: Workload, found: Found, data: Mapping[str, Any], pods: Sequence[Object]) -> list[str]:
    """What the controller made otherwise than we say; nothing where both agree."""
    if workload.faults:
        return [f"we refuse it: {fault}" for fault in workload.faults]
    said: list[str] = []
    components = frozenset(component.name for component in found.entry.definition.components)
    terms = Terms(components, any("volumes" in one.text for one in workload.unmodelled))
    seen = [_seen(pod, workload, found, data, said) for pod in pods]
    left = list(seen)
    for role, own in _by_role(workload.roles, left, terms):
        if len(own) != role.replicas:
            said.append(f"{role.name}: we say {role.replicas} pods, there are {len(own)}")
        said += dict.fromkeys(f"{role.name}: {text}" for one in own for text in _of_pod(role, one, terms))
        said += [f"{role.name}: {text}" for text in _of_made(role, own)]
    said += [f"pod {one.name} is of no role of ours ({one.component or 'no component'} {one.instance})" for one in left]
    said += _shared(workload.roles, seen)
    return list(dict.fromkeys(said))


def _seen(pod: Object, workload: Workload, found: Found, data: Mapping[str, Any], said: list[str]) -> Seen:
    definition, engine = found.entry.definition, found.entry.origin.engine
    extraction = Extraction(definition, suspend.resumed(definition, prepare(data), engine), engine)
    prepared = prepare(pod)
    try:
        component = matching.component(definition, prepared, engine)
        return Seen(pod, component.name, matching.instance(extraction, component, prepared))
    except InputError as error:
        if not any(role.injected for role in workload.roles):
            said.append(f"podSelector: {error}")
        return Seen(pod)


def _by_role(roles: Sequence[Role], left: list[Seen], terms: Terms) -> Iterator[tuple[Role, list[Seen]]]:
    """Each role with its pods, which are taken from those that are left.

    Where several roles share an instance, and for pods that no component knows, likeness decides.
    """
    for role in roles:
        home = _home(role, terms)
        mine = [one for one in left if (one.component, one.instance) == home]
        rivals = [other for other in roles if other is not role and _home(other, terms) == home]
        if rivals:
            mine = [one for one in mine if not list(_of_pod(role, one, terms))][: role.replicas]
        for one in mine:
            left.remove(one)
        yield role, mine


def _home(role: Role, terms: Terms) -> tuple[str, str]:
    """Where the selectors should place its pods: nowhere, if they are added and the definition has no name for them."""
    return ("", "") if role.injected and role.component not in terms.components else (role.component, role.instance)


def _of_pod(role: Role, one: Seen, terms: Terms) -> Iterator[str]:
    keys = {request.key for request in role.topology}
    yield from (f"topology {key}: the pod is not kept in one domain" for key in sorted(keys) if not _kept(one.pod, key))
    pod = without_domains(one.pod, keys)
    ours = role.template.as_pod().with_pod_level()
    theirs = templates.template(pod, pod["metadata"]["namespace"]).as_pod().with_pod_level()
    named = APART if ours.service_account else (*APART, "service_account")
    for field in fields(PodTemplate):
        if field.name not in named:
            yield from _unlike(field.name, getattr(ours, field.name), getattr(theirs, field.name))
    claims = tuple(claim for claim in theirs.volume_claims if claim in ours.volume_claims or not terms.makes_volumes)
    yield from _unlike("volume_claims", ours.volume_claims, claims)
    yield from _lost("annotations", dict(ours.annotations), dict(theirs.annotations))
    yield from _lost("labels", dict(ours.labels), one.labels)
    known = {*dict(ours.labels), *(label.key for label in ours.made)}
    yield from (f"label {key}: we do not know of it" for key in one.labels if key not in known)
    yield from _requests(ours, one.pod)


def _kept(pod: Object, key: str) -> bool:
    terms = (term for kind in AFFINITIES for term in _terms(pod, kind))
    return key in (pod["spec"].get("nodeSelector") or {}) or any(term["topologyKey"] == key for term in terms)


def _terms(pod: Object, kind: str) -> list[Object]:
    return ((pod["spec"].get("affinity") or {}).get(kind) or {}).get(REQUIRED) or []


def without_domains(pod: Object, keys: Collection[str]) -> Object:
    """The pod less the selector and the affinities by which it is kept in a domain of one of these topologies."""
    bare = deepcopy(pod)
    for key in keys:
        (bare["spec"].get("nodeSelector") or {}).pop(key, None)
    for kind in AFFINITIES:
        terms = _terms(bare, kind)
        terms[:] = [term for term in terms if term["topologyKey"] not in keys]
    return bare


def _unlike(name: str, ours: Any, theirs: Any) -> Iterator[str]:
    if name == "device_claims":
        ours = tuple(replace(claim, devices=None, shared=False) for claim in ours)
    if _plain(ours) != _plain(theirs):
        yield f"{name}: we say {_plain(ours)}, the pod has {_plain(theirs)}"


def _plain(value: Any) -> Any:
    """The order of containers and of terms is the controller's own."""
    return sorted(map(repr, value)) if isinstance(value, tuple) else value


def _lost(name: str, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for key, value in ours.items():
        if theirs.get(key) != value:
            yield f"{name} {key}: we say {value!r}, the pod has {theirs.get(key)!r}"


def _requests(ours: PodTemplate, pod: Object) -> Iterator[str]:
    """The sum over the pod, computed from the raw object by another rule than ours."""
    asked = {name: Decimal(value) / 1000 for name, value in ours.requests().items() if value}
    there = raw.requests(pod)
    for name in sorted({*asked, *there}):
        if asked.get(name) != there.get(name):
            yield f"requests {name}: we say {asked.get(name, 0)}, the pod has {there.get(name, 0)}"


def _of_made(role: Role, own: Sequence[Seen]) -> Iterator[str]:
    """Labels whose values the manifest does not tell: they are there, and shared as they are said to be."""
    for label in role.template.made:
        values = [one.labels.get(label.key) for one in own]
        if None in values and label.sure:
            yield f"label {label.key}: we say it is on every pod"
        there = [value for value in values if value is not None]
        if label.value and any(value != label.value for value in there):
            yield f"label {label.key}: we say {label.value!r}, the pods have {sorted({*there})}"
        yield from _of_whom(label, there)


def _of_whom(label: MadeLabel, values: Sequence[str]) -> Iterator[str]:
    most = max(Counter(values).values(), default=1)
    if label.of in ("workload", "role") and len({*values}) > 1:
        yield f"label {label.key}: we say its value is the {label.of}'s, the pods have {sorted({*values})}"
    if label.of == "pod" and most > 1:
        yield f"label {label.key}: we say its value is each pod's own, the pods have {sorted(values)}"


def _shared(roles: Sequence[Role], seen: Sequence[Seen]) -> Iterator[str]:
    """A label whose value is the workload's has one value on all of its pods."""
    keys = {label.key for role in roles for label in role.template.made if label.of == "workload"}
    for key in sorted(keys):
        values = {value for one in seen if (value := one.labels.get(key)) is not None}
        if len(values) > 1:
            yield f"label {key}: we say its value is the workload's, the pods have {sorted(values)}"
