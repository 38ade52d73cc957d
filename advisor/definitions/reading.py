"""Manifests to workloads: finds the objects that create pods, and says of each which pods those will be.

Everything else in the files is passed over and counted. A fault inside one workload stays with it (`Workload.faults`),
so that the others are still answered; a failed path is never a zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.definitions import (
    plain,
    profile,
    profile_schema,
    refused,
    rules,
    scalers,
    shapes,
    signs,
    suspend,
    templates,
    tree,
)
from advisor.definitions.catalog import Catalog, Found, builtin_folder
from advisor.definitions.engine import Prepared, prepare
from advisor.definitions.extract import Extraction
from advisor.definitions.profile import Context
from advisor.definitions.profile_schema import Profile
from advisor.definitions.sandbox import SANDBOX
from advisor.definitions.scalers import Scaler
from advisor.errors import Fault, Faults, InputError, Path, at
from advisor.files import Document
from advisor.labels import labels as sorted_labels
from advisor.workload import Definition, GangGroup, Note, Role, Workload

HINT = "wm-place needs a definition for it: name one with --definition FILE"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the files hold.

    workloads    in the order of the files; one with `faults` could not be read wholly
    passed_over  kind → documents that create no pods
    missing      objects with pods inside whose kind has no definition
    """

    workloads: tuple[Workload, ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[Fault, ...] = ()
    notes: tuple[Note, ...] = ()


def read(documents: Sequence[Document], catalog: Catalog, namespace: str = "default") -> Reading:
    """Raises InputError for documents that are no Kubernetes objects at all; all of them at once."""
    faults = Faults()
    workloads: list[Workload] = []
    missing: list[Fault] = []
    passed: Counter[str] = Counter()
    every = list(members(documents))
    owners: Mapping[scalers.Target, Scaler] = {}
    with faults.collect():
        owners = scalers.of(every, builtin_folder(), namespace)
    for document in every:
        with faults.collect(), document.faults():
            kind = _kind(document)
            found = catalog.find(*kind)
            if found:
                workloads.append(_workload(document, found, namespace, owners))
            elif _is_passed_over(kind) or not _holds_pods(document.data):
                passed[kind[1]] += 1
            else:
                missing.append(document.placed(_no_definition(*kind)))
    faults.raise_if_any()
    distinct, notes = _once(workloads)
    return Reading(distinct, dict(sorted(passed.items())), tuple(missing), notes)


def _once(workloads: Sequence[Workload]) -> tuple[tuple[Workload, ...], tuple[Note, ...]]:
    """One object is one workload, however often it is given; as with kubectl apply the last one counts."""
    found: dict[object, Workload] = {}
    notes = []
    for workload in workloads:
        key = (workload.api_group, workload.kind, workload.namespace, workload.name)
        before = None if workload.generated else found.get(key)
        if before:
            notes.append(Note("given-twice", f"{workload.title} is given again in {workload.source}: that one counts"))
        found[(*key, len(found)) if workload.generated else key] = workload
    return tuple(found.values()), tuple(notes)


def members(documents: Sequence[Document]) -> Iterator[Document]:
    """The documents, with the items of Lists in place of the lists."""
    for document in documents:
        items = document.data.get("items") if isinstance(document.data, dict) else None
        if isinstance(items, list) and str(document.data.get("kind", "")).endswith("List"):
            yield from members(document.members("items"))
        else:
            yield document


def _kind(document: Document) -> tuple[str, str]:
    data = document.data
    if not isinstance(data, dict):
        raise InputError("is no Kubernetes object", hint="an object is a mapping with apiVersion, kind and metadata")
    version, kind = plain.text(data, "apiVersion"), plain.text(data, "kind")
    for key, value in (("apiVersion", version), ("kind", kind)):
        if not value:
            raise InputError(f"is no Kubernetes object: {key} is missing")
    return version, kind


def _is_passed_over(kind: tuple[str, str]) -> bool:
    return (kind[0].rpartition("/")[0], kind[1]) in signs.passed_over(builtin_folder())


def _holds_pods(data: Any) -> bool:
    """Is there a list of containers anywhere in it?"""
    if isinstance(data, list):
        return any(map(_holds_pods, data))
    if not isinstance(data, dict):
        return False
    containers = data.get("containers")
    if isinstance(containers, list) and any(isinstance(one, dict) and "name" in one for one in containers):
        return True
    return any(map(_holds_pods, data.values()))


def _no_definition(api_version: str, kind: str) -> Fault:
    return Fault(
        f"no definition for {kind} ({api_version}), which has pods inside", ("kind",), hint=HINT, code="no-definition"
    )


def _workload(
    document: Document, found: Found, default_namespace: str, owners: Mapping[scalers.Target, Scaler]
) -> Workload:
    data = document.data
    metadata = plain.mapping(data, "metadata")
    with at("metadata"):
        namespace = plain.text(metadata, "namespace") or default_namespace
        name = plain.text(metadata, "name")
        generated = plain.text(metadata, "generateName") if not name else ""
        labels, annotations = (sorted_labels(plain.pairs(metadata, key)) for key in ("labels", "annotations"))
    workload = Workload(
        api_version=data["apiVersion"],
        kind=data["kind"],
        namespace=namespace,
        name=name or generated,
        generated=not name,
        source=document.where,
        definition=_definition(found),
        labels=labels,
        notes=(Note("version", found.note),) if found.note else (),
    )
    try:
        with document.faults(), SANDBOX.together():
            owner = owners.get((workload.api_group, workload.kind, namespace, name))
            whole = _with_roles(workload, document, found, owner)
            seen = signs.found(signs.known(builtin_folder()), labels, annotations, whole.roles)
            return replace(whole, unmodelled=(*whole.unmodelled, *seen))
    except InputError as error:
        return replace(workload, faults=error.faults)


def _definition(found: Found) -> Definition:
    structure = found.entry.definition.structure
    kinds = [component.kind for component in structure.child_components if component.kind]
    children = {(kind.group, kind.kind) for kind in (*kinds, *structure.additional_child_kinds)}
    return Definition(found.entry.definition.name, str(found.entry.origin), tuple(sorted(children)))


def _with_roles(workload: Workload, document: Document, found: Found, owner: Scaler | None) -> Workload:
    entry = found.entry
    own = _profile(found)
    engine = entry.origin.engine
    given = prepare(document.data)
    warnings = _check(given, workload.namespace, found, own)
    resumed = suspend.resumed(entry.definition, given, engine)
    if own is None:
        return _without_profile(workload, Extraction(entry.definition, resumed, engine))
    runs = found.profile.origin.engine if found.profile else engine
    context, scaled = profile.with_scaler(Context(own, runs, resumed, workload.namespace), owner)
    context, notes = profile.with_defaults(context)
    made = profile.roles(context, Extraction(entry.definition, context.document, engine))
    least, said = profile.min_available(context, made.roles)
    of_roles = [note for note in made.notes if not (said and note.rule == profile.MINIMUM)]
    return replace(
        workload,
        roles=made.roles,
        groups=profile.groups(context, made.roles),
        min_available=least,
        notes=(*workload.notes, *warnings, *scaled, *notes, *of_roles, *said),
        unmodelled=profile.unmodelled(context),
    )


def _profile(found: Found) -> Profile | None:
    if found.profile is None or found.profile.profile_document is None:
        return None
    own = profile_schema.parse(found.profile.profile_document)
    components = {component.name for component in found.entry.definition.components}
    return own if all(rule.component in components for rule in own.spec.roles if rule.component) else None


def _check(given: Prepared, namespace: str, found: Found, own: Profile | None) -> list[Note]:
    """Faults of the manifest at their own places, before anything is made of it: rules, counts, then pod templates.

    Gives what is only worth a warning.
    """
    faults = Faults()
    notes: list[Note] = []
    if own and found.profile:
        engine = found.profile.origin.engine
        broken, notes = rules.broken(own.spec.rules, profile.library(own.spec.uses), given, engine)
        faults.found += broken
        for text in own.spec.counts:
            for path, value in rules.places(text, given, engine):
                with faults.collect(*path):
                    _whole_count(value)
    judged = {fault.path for fault in faults.found}
    for path, (pod, needed) in dict(_templates(given, found, own)).items():
        if not any(path[: len(wrong)] == wrong for wrong in judged):
            with faults.collect(*path):
                _template(pod, namespace, needed=needed)
            with faults.collect(*path):
                refused.check(pod if isinstance(pod, dict) else {}, whole=own is not None and own.spec.literal)
    faults.raise_if_any()
    return notes


def _templates(given: Prepared, found: Found, own: Profile | None) -> Iterator[tuple[Path, tuple[Any, bool]]]:
    """Places of pod templates with what is there, and must it be: where a path says it, not where one is built."""
    engine = found.entry.origin.engine
    for component in tree.leaves(found.entry.definition):
        text = component.spec_definition.pod_template_spec_path if component.spec_definition else None
        for path, pod in rules.places(text, given, engine) if text else ():
            yield path, (pod, component.instance_id_path is not None)
    for rule in own.spec.rules if own else ():
        if rule.is_ == "template":
            yield from ((path, (pod, False)) for path, pod in rules.places(rule.at, given, engine))


def _whole_count(value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"must be a whole number, not {value if isinstance(value, float) else shapes.kind_of(value)}")
    if value < 0:
        raise InputError(f"must not be negative: {value}" if -value < shapes.MOST_PODS else "must not be negative")
    if value > shapes.MOST_PODS:
        raise InputError(f"is out of range: at most {shapes.MOST_PODS}")


def _template(pod: Any, namespace: str, *, needed: bool) -> None:
    if pod is None:
        if needed:
            raise InputError("is required", hint="nothing else says what these pods are")
        return
    if not isinstance(pod, dict):
        raise InputError(f"must be a mapping, not {shapes.kind_of(pod)}")
    templates.template(pod, namespace)
    shapes.check(pod, shapes.POD_TEMPLATE)


def _without_profile(workload: Workload, extraction: Extraction) -> Workload:
    """By the definition alone (definitions.md 5 and 9): everything it counts starts together."""
    found: list[Role] = []
    for part in extraction.leaves():
        for instance in part.instances:
            if profile.has_pods(part, instance) and instance.pod is not None:
                replicas = profile.count(instance.scale.desired) if instance.scale else 1
                pod = templates.template(instance.pod, workload.namespace)
                name = instance.id or instance.component
                found.append(Role(name, replicas, pod, replicas, None, instance.component, instance.id))
    if not found:
        raise InputError("holds no pods where its definition looks for them", path=("spec",), code="unreadable")
    gang = extraction.definition.gang
    together = gang is not None and (gang.pod_group or gang.pod_groups)
    groups = (
        (GangGroup(1, {role.name: role.replicas for role in found if role.replicas}),) if together and found else ()
    )
    note = Note(
        "no-profile", "counted by the definition alone: no defaults of the kind, no pods that its controller adds"
    )
    return replace(workload, roles=tuple(found), groups=groups, notes=(*workload.notes, note))
