"""Holds the pods that a controller made against the roles that our extraction announces.

Which role a pod belongs to is asked of the definition's `podSelector`, as `describe TYPE/NAME` does, so a selector that
knows other labels than the controller gives is a difference too. Then everything that placement sees of a pod must be
as its role says. What is left out, and why:

- node name, priority, preemption policy and status: they come from the scheduler and from the cluster's classes;
- a service account that the manifest does not name: the controller makes it before the pods;
- the devices that a claim asks for: they stand in another object than the pod;
- claims of volumes that are made with the workload: it has them as a doubt (`Workload.unmodelled`);
- the selector or the affinity by which a controller keeps a topology that the role states as such (`Role.topology`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from advisor import naming
from advisor.definitions import observed, templates
from advisor.definitions.catalog import Found
from advisor.labels import MadeLabel
from advisor.server.appeared import Marks
from advisor.server.likeness import likeness
from advisor.workload import PodTemplate, Role, Workload
from tests.judges import pods as raw
from tests.servers.objects import Object, Objects

APART = ("node_name", "priority", "preemption", "labels", "made", "added", "annotations", "volume_claims")
"""Fields that are not compared, or by rules of their own."""
GANG = "spec.schedulingGroup"
"""We use it where the group's object is at hand, and compare its name in either case."""
AFFINITIES = ("podAffinity", "podAntiAffinity")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def differences(workload: Workload, found: Found, pods: Sequence[Object]) -> list[str]:
    """What the controller made otherwise than we say; nothing where both agree."""
    if workload.faults or workload.lacking:
        return [f"we cannot read it: {one}" for one in (*workload.faults, *workload.lacking)]
    said: list[str] = []
    of_roles: dict[str, Objects] = {role.name: [] for role in workload.roles}
    for pod in pods:
        role = observed.role_of(found.entry.definition, found.entry.origin.engine, workload.roles, pod)
        if role:
            of_roles[role.name].append(pod)
            said += _owned(workload, role, pod)
        else:
            said.append(f"pod {pod['metadata']['name']} is of no role of ours")
    makes_volumes = any("volumes" in one.text for one in workload.unmodelled)
    for role in workload.roles:
        said += [f"{role.name}: {text}" for text in _of_role(role, of_roles[role.name], makes_volumes)]
    said += _shared(workload.roles, pods)
    return list(dict.fromkeys(said))


def _of_role(role: Role, pods: Objects, makes_volumes: bool) -> Iterator[str]:
    if len(pods) != role.replicas:
        yield f"we say {role.replicas} pods, there are {len(pods)}"
    for pod in pods:
        yield from _of_pod(role, pod, makes_volumes)
    yield from _of_made(role, [_labels(pod) for pod in pods])


def _owned(workload: Workload, role: Role, pod: Object) -> Iterator[str]:
    """The server knows pods by what looks after them; where it cannot, it never waits for them."""
    looks = likeness(workload)
    owner = next((one for one in pod["metadata"].get("ownerReferences") or () if one.get("controller")), None)
    metadata = pod["metadata"]
    name = metadata.get("generateName") or metadata["name"]
    title = (
        naming.titled(owner["apiVersion"].rpartition("/")[0], owner["kind"], owner["name"]) if owner else f"Pod/{name}"
    )
    told = looks.roles(Marks(tuple(sorted(_labels(pod).items())), title))
    if looks.complete and told != (role.name,):
        yield f"owner {title}: we take its pods for those of {told}, not of {role.name}"


def _labels(pod: Object) -> Mapping[str, str]:
    return pod["metadata"].get("labels") or {}


def _of_pod(role: Role, made: Object, makes_volumes: bool) -> Iterator[str]:
    keys = {request.key for request in role.topology}
    yield from (f"topology {key}: the pod is not kept in one domain" for key in sorted(keys) if not _kept(made, key))
    pod = without_domains(made, keys)
    ours = role.template.as_pod().with_pod_level()
    theirs = templates.template(pod, pod["metadata"]["namespace"]).as_pod().with_pod_level()
    named = APART if ours.service_account else (*APART, "service_account")
    for field in fields(PodTemplate):
        if field.name not in named:
            yield from _unlike(field.name, getattr(ours, field.name), getattr(theirs, field.name))
    claims = tuple(claim for claim in theirs.volume_claims if claim in ours.volume_claims or not makes_volumes)
    yield from _unlike("volume_claims", ours.volume_claims, claims)
    yield from _lost("annotations", dict(ours.annotations), dict(theirs.annotations))
    yield from _lost("labels", dict(ours.labels), _labels(made))
    known = {*dict(ours.labels), *(label.key for label in ours.made)}
    yield from (f"label {key}: we do not know of it" for key in _labels(made) if key not in known)
    yield from _requests(ours, made)


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
    if name == "used":
        ours, theirs = (tuple(path for path in paths if path != GANG) for paths in (ours, theirs))
    if not _alike(ours, theirs):
        yield f"{name}: we say {ours}, the pod has {theirs}"


def _alike(ours: Any, theirs: Any) -> bool:
    """The order of containers and of terms is the controller's own."""
    if not isinstance(ours, tuple):
        return bool(ours == theirs)
    return len(ours) == len(theirs) and all(ours.count(one) == theirs.count(one) for one in ours)


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


def _of_made(role: Role, labels: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Labels whose values the manifest does not tell: they are there, and shared as they are said to be."""
    for label in role.template.made:
        there = [one[label.key] for one in labels if label.key in one]
        if len(there) < len(labels) and label.sure:
            yield f"label {label.key}: we say it is on every pod"
        if label.value and any(value != label.value for value in there):
            yield f"label {label.key}: we say {label.value!r}, the pods have {sorted({*there})}"
        yield from _of_whom(label, there)


def _of_whom(label: MadeLabel, values: Sequence[str]) -> Iterator[str]:
    most = max(Counter(values).values(), default=1)
    if label.of in ("workload", "role") and len({*values}) > 1:
        yield f"label {label.key}: we say its value is the {label.of}'s, the pods have {sorted({*values})}"
    if label.of == "pod" and most > 1:
        yield f"label {label.key}: we say its value is each pod's own, the pods have {sorted(values)}"


def _shared(roles: Sequence[Role], pods: Sequence[Object]) -> Iterator[str]:
    """A label whose value is the workload's has one value on all of its pods."""
    keys = {label.key for role in roles for label in role.template.made if label.of == "workload"}
    for key in sorted(keys):
        values = {_labels(pod)[key] for pod in pods if key in _labels(pod)}
        if len(values) > 1:
            yield f"label {key}: we say its value is the workload's, the pods have {sorted(values)}"
