"""Manifests to workloads: finds the objects that create pods, and says of each which pods those will be.

Everything else in the files is passed over and counted. A fault inside one workload stays with it (`Workload.faults`),
so that the others are still answered; a failed path is never a zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.definitions import (
    claims,
    doomed,
    floors,
    gangs,
    nulls,
    object_checks,
    outputs,
    pieces,
    plain,
    profile,
    profile_schema,
    references,
    scalers,
    schema,
    signs,
    suspend,
    templates,
)
from advisor.definitions.catalog import Catalog, Found
from advisor.definitions.engine import EXHAUSTED, Prepared, prepare
from advisor.definitions.extract import Extraction
from advisor.definitions.layers import BUILTIN
from advisor.definitions.metadata import as_decoded
from advisor.definitions.object_checks import Part
from advisor.definitions.profile import Context
from advisor.definitions.profile_schema import Profile
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster, Known, Referred
from advisor.definitions.sandbox import SANDBOX
from advisor.definitions.scalers import Scaler
from advisor.definitions.shipped import builtin_folder
from advisor.errors import Fault, Faults, InputError, Path, at, dotted
from advisor.files import Document
from advisor.labels import labels as sorted_labels
from advisor.workload import Definition, GangGroup, Missing, Note, Role, Workload

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


def read(
    documents: Sequence[Document],
    catalog: Catalog,
    namespace: str = "default",
    further: Sequence[Document] = (),
    in_cluster: InCluster = NOTHING_LOOKED_UP,
) -> Reading:
    """`further`: objects of other files, which are only looked at where a workload refers to them; `in_cluster`: what
    one cluster has of those.

    Raises InputError for documents that are no Kubernetes objects at all; all of them at once.
    """
    faults = Faults()
    workloads: list[Workload] = []
    strangers: list[Document] = []
    passed: Counter[str] = Counter()
    every, others = list(members(documents)), list(members(further))
    beside = Beside()
    with faults.collect():
        beside = Beside.of(every, namespace, others)
    beside = replace(beside, known=references.known([*others, *every], namespace, in_cluster))
    for document in every:
        with faults.collect(), document.faults():
            kind = kind_of(document)
            found = catalog.find(*kind)
            if found:
                workloads.append(_workload(document, found, namespace, beside))
            elif _is_passed_over(kind) or not _holds_pods(document.data):
                passed[kind[1]] += 1
            else:
                strangers.append(document)
    faults.raise_if_any()
    missing = tuple(_without_definition(strangers, workloads, passed))
    distinct, notes = _once(workloads)
    return Reading(
        gangs.applied(distinct, beside.gangs, builtin_folder()), dict(sorted(passed.items())), missing, notes
    )


def _without_definition(
    strangers: Sequence[Document], workloads: Sequence[Workload], passed: Counter[str]
) -> Iterator[Fault]:
    """Objects with pods inside that no workload refers to; others are there for the workload, and passed over."""
    referred = {(one.group, one.kind) for workload in workloads for one in workload.references}
    for document in strangers:
        version, kind = kind_of(document)
        if (version.rpartition("/")[0], kind) in referred:
            passed[kind] += 1
        else:
            yield document.placed(_no_definition(version, kind))


@dataclass(frozen=True, slots=True)
class Beside:
    """What other objects in the same files say about the workloads, and those that workloads refer to."""

    known: Known = field(default_factory=Known)
    scalers: Mapping[scalers.Target, Scaler] = field(default_factory=dict)
    claims: claims.Known = field(default_factory=dict)
    gangs: Mapping[gangs.Key, gangs.Gang] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Sequence[Document], namespace: str, further: Sequence[Document] = ()) -> Beside:
        """`further`: of other files, of which gang objects count. Raises InputError, all faults of all objects."""
        faults = Faults()
        found: dict[str, Any] = {}
        with faults.collect():
            found["scalers"] = scalers.of(documents, builtin_folder(), namespace)
        with faults.collect():
            found["claims"] = claims.of(documents, builtin_folder(), namespace)
        with faults.collect():
            found["gangs"] = gangs.of([*further, *documents], builtin_folder(), namespace)
        faults.raise_if_any()
        return cls(**found)


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
    """The documents, with the items of Lists in place of the lists. Raises InputError for a List inside another."""
    for document in documents:
        items = document.members("items") if _is_list(document) else [document]
        for item in items:
            if item is not document and _is_list(item):
                raise InputError.of([item.placed(Fault("is a List inside a List, which kubectl does not take", ()))])
            yield item if item is document else _as_listed(item, document.data)


def _as_listed(item: Document, listed: Mapping[str, Any]) -> Document:
    """Items of a PodList, unlike those of a List, need not say what they are."""
    kind = str(listed.get("kind", "")).removesuffix("List")
    if not kind or not isinstance(item.data, dict) or "kind" in item.data or "apiVersion" in item.data:
        return item
    return replace(item, data={"apiVersion": listed.get("apiVersion"), "kind": kind, **item.data})


def _is_list(document: Document) -> bool:
    """Kinds of one's own may be called a list and be none; Kubernetes' own List is one without items, too."""
    data = document.data
    if not isinstance(data, dict) or not str(data.get("kind", "")).endswith("List"):
        return False
    items, own = data.get("items"), (data.get("apiVersion"), data["kind"]) == ("v1", "List")
    return isinstance(items, list) or (own and items is None)


def kind_of(document: Document) -> tuple[str, str]:
    """apiVersion and kind. Raises InputError for what is no Kubernetes object."""
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


def _workload(document: Document, found: Found, default_namespace: str, beside: Beside) -> Workload:
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
        with SANDBOX.together():
            whole = _read(workload, document, found, beside)
            seen = signs.found(signs.known(builtin_folder()), labels, annotations, whole.roles)
            return replace(whole, unmodelled=(*whole.unmodelled, *seen))
    except InputError as error:
        return replace(workload, faults=tuple(document.placed(_blamed(fault, found)) for fault in error.faults))


def _blamed(fault: Fault, found: Found) -> Fault:
    """What took more than it may is a fault of the definition; of ours, the manifest is out of bounds."""
    if fault.code != EXHAUSTED:
        return fault
    blamed = replace(fault, code="unreadable")
    if found.entry.origin == BUILTIN:
        return blamed
    texts = schema.expressions(found.entry.definition)
    path = next((path for path, text in texts if text == fault.hint), ())
    return found.entry.document.placed(replace(blamed, path=path))


def _read(workload: Workload, document: Document, found: Found, beside: Beside) -> Workload:
    own = profile_of(found)
    given = prepare(as_decoded(nulls.stored(document.data, own.spec.free if own else ())))
    if own is None:
        whole = _by_definition(workload, document, given, found, beside)
        return _waiting(_alone(whole, found), given, found, own)
    context = context_of(own, given, workload.namespace, found)
    try:
        return _waiting(_with_roles(workload, document, context, found, beside), given, found, own)
    except InputError as error:
        ours = _ours(found)
        if ours is None or any(fault.code != "unreadable" for fault in error.faults):
            raise
        _read(workload, document, ours, beside)
        raise _not_together(error, found) from None


def _ours(found: Found) -> Found | None:
    """The definition that a profile was written for, where another one is used with it."""
    entry = found.profile
    return None if entry is None or entry is found.entry else replace(found, entry=entry)


def _not_together(error: InputError, found: Found) -> InputError:
    """The manifest is right, for the profile's own definition can read it: the other one is to blame."""
    assert found.profile
    hint = f"give it a placement profile of its own, or leave it away: {found.profile.definition.name} reads the object"
    text = f"does not go with the placement profile of {found.profile.definition.name}: {error.faults[0].message}"
    return InputError.of([found.entry.document.placed(Fault(text, ("metadata", "name"), hint=hint, code="unreadable"))])


def _alone(workload: Workload, found: Found) -> Workload:
    """With what is lost where a profile speaks of other components than the definition has."""
    named = f"definition {found.entry.definition.name} of {found.entry.origin}"
    if found.profile is None:
        text = f"counted by the {named} alone: no defaults of the kind, no pods that its controller adds"
        return replace(workload, notes=(*workload.notes, Note("no-profile", text)))
    text = (
        f"counted by the {named} alone: it lacks components of which the placement profile of"
        f" {found.profile.definition.name} speaks, so defaults and pods of the kind may be missing"
    )
    return replace(workload, notes=(*workload.notes, Note("no-profile", text, warns=True)))


def _waiting(workload: Workload, given: Prepared, found: Found, own: Profile | None) -> Workload:
    """The workload, with a word where its pods come later."""
    path = keeping_away(given, found, own)
    if path is None:
        return replace(workload, waits=bool(own and own.spec.scheduled))
    note = Note("suspended", "keeps its pods away: those that are said come when it is resumed", path)
    return replace(workload, waits=True, notes=(*workload.notes, note))


def keeping_away(given: Prepared, found: Found, own: Profile | None) -> str | None:
    """The path of what keeps an object's pods away until it is changed; None where nothing does."""
    definition = found.entry.definition
    if suspend.suspended(definition, given, found.entry.origin.engine):
        return suspend.path(definition)
    path: str | None = context_of(own, given, "", found).value(outputs.TEXT, own.spec.waits, None) if own else None
    return path


def _definition(found: Found) -> Definition:
    structure = found.entry.definition.structure
    kinds = [component.kind for component in structure.child_components if component.kind]
    children = {(kind.group, kind.kind) for kind in (*kinds, *structure.additional_child_kinds)}
    return Definition(found.entry.definition.name, str(found.entry.origin), tuple(sorted(children)))


def _by_definition(workload: Workload, document: Document, given: Prepared, found: Found, beside: Beside) -> Workload:
    warnings = object_checks.check(document, given, workload.namespace, found, None)
    workload = replace(workload, notes=(*workload.notes, *warnings))
    extraction = Extraction(found.entry.definition, _resumed(found, given), found.entry.origin.engine)
    counted = _warned(_without_profile(workload, extraction), document, object_checks.parts(given, found, None))
    return _with_claims(counted, beside, ())


def _with_roles(workload: Workload, document: Document, written: Context, found: Found, beside: Beside) -> Workload:
    """`written`: the profile with the object as it is written."""
    entry, given = found.entry, written.document
    context, referred, warnings = _referring(document, written, found, beside.known)
    workload = _with_references(workload, document, referred, warnings)
    if workload.is_open:
        return workload
    owner = beside.scalers.get((workload.api_group, workload.kind, workload.namespace, workload.name))
    context, scaled = profile.with_scaler(replace(context, document=_resumed(found, given)), owner)
    context, notes = profile.with_defaults(context)
    extraction = Extraction(entry.definition, context.document, entry.origin.engine)
    made = profile.roles(context, extraction)
    least, said = profile.min_available(context, made.roles)
    of_roles = [note for note in made.notes if not (said and note.rule == profile.MINIMUM)]
    whole = replace(
        workload,
        roles=floors.kept(context, extraction, owner, made.roles),
        groups=profile.groups(context, made.roles),
        order=profile.order(context, made.roles),
        gangs=profile.made_gang(context, made.roles, least),
        min_available=least,
        notes=(*workload.notes, *scaled, *notes, *of_roles, *said),
        unmodelled=profile.unmodelled(context, given),
        requires=profile.requires(context),
    )
    asked = replace(context, document=given)
    whole = _warned(whole, document, object_checks.parts(given, found, asked), fills=written.profile.spec.fills)
    return _with_claims(whole, beside, profile.claims(context, made.roles))


def _warned(
    workload: Workload, document: Document, written: Iterator[tuple[Path, Part]], *, fills: Collection[str] = ()
) -> Workload:
    """With what the API server will refuse its pods for, found where the manifest says so."""

    def places() -> Iterator[doomed.Found]:
        for path, (piece, value, _) in dict(written).items():
            if value is not None:
                for inside, one in pieces.refusals(piece, value, workload.namespace, fills=fills):
                    yield (*path, *inside), one

    found = doomed.notes(workload.roles, places(), document)
    return replace(workload, notes=(*workload.notes, *found))


def context_of(own: Profile, given: Prepared, namespace: str, found: Found) -> Context:
    """A profile with the object, as it is asked; `found`: whose it is."""
    entry = found.profile or found.entry
    source = None if entry.origin == BUILTIN else entry.profile_document
    return Context(own, entry.origin.engine, given, namespace, source=source)


def _resumed(found: Found, given: Prepared) -> Prepared:
    return suspend.resumed(found.entry.definition, given, found.entry.origin.engine)


def _referring(document: Document, given: Context, found: Found, known: Known) -> tuple[Context, Referred, list[Note]]:
    """The object with what it refers to, once it is checked; with what is only worth a warning.

    Why a reference cannot be read is better told by the rules, where they see it.
    """
    trouble: tuple[Fault, ...] = ()
    try:
        referred = references.resolve(given, known)
    except InputError as error:
        referred, trouble = references.nothing(given.profile), error.faults
    context = replace(given, refs=referred.values)
    unsure = bool(trouble) or any(missing.is_open for missing in referred.missing)
    warnings = object_checks.check(document, given.document, given.namespace, found, context, unsure=unsure)
    if trouble:
        raise InputError.of(trouble)
    return context, referred, warnings


def _with_references(workload: Workload, document: Document, referred: Referred, said: Sequence[Note]) -> Workload:
    placed = (replace(one, where=document.placed(Fault("", one.path)).where) for one in referred.missing)
    open_ones = (_left_open(one) for one in referred.missing if not one.is_open)
    return replace(
        workload,
        references=referred.references,
        missing=tuple(placed),
        notes=(*workload.notes, *said, *referred.notes, *open_ones),
    )


def _left_open(missing: Missing) -> Note:
    how = "its pods are those that are usual" if missing.guessed else "and is taken not to be there"
    text = f"{missing.title} was {'not looked up' if missing.others else 'not found'}, {how}"
    return Note("missing-reference", text, dotted(missing.path), warns=missing.guessed)


def _with_claims(workload: Workload, beside: Beside, made: Sequence[Mapping[str, Any]]) -> Workload:
    named = gangs.named(workload, beside.gangs, builtin_folder())
    return claims.applied(workload, beside.claims, named, made)


def profile_of(found: Found) -> Profile | None:
    """The placement profile, where there is one for the definition's components."""
    if found.profile is None or found.profile.profile_document is None:
        return None
    own = profile_schema.parse(found.profile.profile_document)
    return own if own.fits(found.entry.definition) else None


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
    return replace(workload, roles=tuple(found), groups=groups)
