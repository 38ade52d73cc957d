"""The placement profile at work: from a definition's instances to the pods that will really be created.

One engine for all kinds, itself knowing none: what a controller defaults, adds or drops is data in `catalog/`. Every
default applied and every pod or container added leaves a note.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from advisor import files
from advisor.definitions import expressions, outputs, profile_schema, templates, tree
from advisor.definitions.engine import EXHAUSTED, Engine, Prepared, prepare
from advisor.definitions.extract import Extraction, Instance, Part, Scale
from advisor.definitions.outputs import Form, unreadable
from advisor.definitions.profile_schema import Profile, RoleRule, Rule, RuleSet
from advisor.definitions.scalers import Scaler
from advisor.definitions.shipped import builtin_folder
from advisor.errors import Fault, InputError, Path, at, dotted
from advisor.files import Document
from advisor.workload import GangGroup, GangObject, Note, PodTemplate, Role, TopologyRequest, Unmodelled, Wait


@dataclass(frozen=True, slots=True)
class Context:
    """A profile, the engine for its expressions, the object (with defaults, once they are applied), a namespace.

    `refs`: other objects that the profile refers to. `source`: where the profile stands, if it is not ours.
    """

    profile: Profile
    engine: Engine
    document: Prepared
    namespace: str
    refs: Mapping[str, Any] = field(default_factory=dict)
    source: Document | None = None

    def value(self, form: Form, text: str | None, default: Any, **variables: Any) -> Any:
        """The single output of an expression on the object; `default` when there is no expression."""
        return default if text is None else self.checked(form, self.one(text, self.document, variables), text)

    def each(
        self,
        form: Form,
        text: str | None,
        defaults: Sequence[Any],
        given: Sequence[Mapping[str, Any]],
        of: Sequence[Any] | None = None,
        **shared: Any,
    ) -> list[Any]:
        """`value` for every mapping of variables, in one evaluation: the object is read by jq once, not for each.

        `of`: documents to evaluate on in place of the object. Where one of the evaluations fails, they are repeated
        one by one, for its message.
        """
        if text is None or not given:
            return list(defaults)
        expressions.check(text, edits=True)
        document = self.document if of is None else prepare(list(of))
        try:
            found = self._together(text, document, given, "$all" if of is None else "$all[$row.at]", shared)
        except InputError:
            documents = [self.document] * len(given) if of is None else map(prepare, of)
            pairs = zip(documents, given, strict=True)
            found = [self.one(text, document, {**shared, **variables}) for document, variables in pairs]
        return [self.checked(form, value, text) for value in found]

    def checked(self, form: Form, value: Any, text: str) -> Any:
        return value if form.fits(value) else outputs.checked(form, value, text, self.place(text))

    def _together(
        self, text: str, document: Prepared, given: Sequence[Mapping[str, Any]], start: str, shared: Mapping[str, Any]
    ) -> list[Any]:
        bound = "".join(f"$row.{name} as ${name} | " for name in given[0])
        program = f". as $all | [$rows[] as $row | {bound}{start} | [({text}\n)]]"
        rows = [{**variables, "at": at} for at, variables in enumerate(given)]
        found = self.one(program, document, {**shared, "rows": rows})
        if any(len(outputs) != 1 for outputs in found):
            raise InputError("not one value each")
        return [outputs[0] for outputs in found]

    def one(self, text: str, document: Prepared, variables: Mapping[str, Any]) -> Any:
        found = self.outputs(text, document, {**self.variables, **variables})
        if len(found) != 1:
            raise unreadable(f"{len(found)} values where one is needed", text, self.place(text))
        return found[0]

    @property
    def variables(self) -> dict[str, Any]:
        """What every expression of the profile may name."""
        return {"refs": self.refs} if self.profile.spec.references else {}

    def outputs(self, text: str, document: Prepared, variables: Mapping[str, Any]) -> list[Any]:
        program = f"{library(self.profile.spec.uses)}{text}"
        try:
            return self.engine.evaluate(program, document, variables=variables, edits=True)
        except InputError as error:
            if self.source and any(fault.hint or fault.code == EXHAUSTED for fault in error.faults):
                raise self.blamed(error, self.path(text)) from None
            if any(fault.hint for fault in error.faults):
                raise
            raise unreadable(str(error.faults[0].message), text, self.place(text)) from None

    def path(self, text: str) -> Path:
        """Of an expression in the profile."""
        return next((path for path, own in profile_schema.texts(self.profile) if own == text), ("spec",))

    def place(self, text: str) -> str:
        """File, line and path of an expression of a profile that is not ours."""
        if self.source is None:
            return ""
        path = self.path(text)
        return f"{self.source.placed(Fault('', path)).where} {dotted(path)}"

    def blamed(self, error: InputError, path: Path) -> InputError:
        """What no manifest is to blame for, at its place in the profile."""
        assert self.source
        faults = (replace(fault, path=path, code="unreadable") for fault in error.faults)
        return InputError.of([self.source.placed(fault) for fault in faults])


@lru_cache(maxsize=64)
def library(names: tuple[str, ...]) -> str:
    """The functions that a profile uses, in front of each of its expressions."""
    folder = builtin_folder() / "library"
    return "".join(files.read(str(folder / f"{FilePath(name).name}.jq")).text for name in names)


@lru_cache(maxsize=64)
def whole(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """All of a profile's rules, those of files that it takes over in the place of the one that names them."""
    found: list[Rule] = []
    for rule in rules:
        taken = shared(rule.like) if rule.like else ()
        found += (one.model_copy(update={"at": f"{rule.at}\n| {one.at}"}) for one in taken)
        found += () if rule.like else (rule,)
    return tuple(found)


@lru_cache(maxsize=16)
def shared(name: str) -> tuple[Rule, ...]:
    """The rules of a file of the library. Raises InputError where there is no such file."""
    (document,) = files.documents(files.read(str(builtin_folder() / "library" / f"{FilePath(name).name}.yaml")))
    return RuleSet.model_validate(document.data).rules


def with_scaler(context: Context, scaler: Scaler | None) -> tuple[Context, list[Note]]:
    """The object, before its defaults, with the replicas that its scaler will give it."""
    path = context.profile.spec.scaled
    if path is None or scaler is None:
        return context, []
    expressions.check(path, edits=True)
    stated = context.value(outputs.MAXIMUM, path, None)
    begins = with_defaults(context)[0].value(outputs.MAXIMUM, path, None) if stated is None else stated
    wanted = scaler.wants(begins)
    if wanted == stated or (stated is None and not wanted):
        return context, []
    after = prepare(resized(context, path, wanted))
    text = scaler.says(stated, wanted)
    notes = differences(context.document.data, after.data, ())
    return replace(context, document=after), [
        replace(note, rule="scaler", text=text, warns=stated is not None) for note in notes
    ]


def resized(context: Context, path: str, replicas: int) -> Any:
    """The object with so many at the path that scalers set."""
    return context.value(outputs.OBJECT, f"{path} = $replicas", None, replicas=replicas)


def with_defaults(context: Context) -> tuple[Context, list[Note]]:
    """The object with the kind's defaults, and a note for each of them."""
    if context.profile.spec.prepare is None:
        return context, []
    before = context.document
    after = prepare(context.value(outputs.OBJECT, context.profile.spec.prepare, None))
    return replace(context, document=after), list(differences(before.data, after.data, ()))


def differences(before: Any, after: Any, path: Path) -> Iterator[Note]:
    """What an object that was prepared says otherwise than before."""
    if isinstance(before, dict) and isinstance(after, dict):
        renamed = _renamed(before, after)
        for old, new in renamed.items():
            yield Note("renamed", f"is read as {new}", dotted((*path, old)))
            yield from differences(before[old], after[new], (*path, new))
        for key in sorted({*before, *after} - {*renamed, *renamed.values()}):
            yield from differences(before.get(key, _ABSENT), after.get(key, _ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from differences(old, new, (*path, place))
    elif before != after:
        yield _changed(before, after, path)


def _renamed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Keys that are gone → the new ones that have what they had: in other letters, else with all of a mapping."""
    gone, new = ([key for key in one if key not in other] for one, other in ((before, after), (after, before)))
    found: dict[str, str] = {}
    for same in (_in_other_letters, _kept):
        for old in gone:
            free = [key for key in new if key not in found.values()]
            key = next((key for key in free if same((old, before[old]), (key, after[key]))), None)
            if old not in found and key is not None:
                found[old] = key
    return found


def _in_other_letters(old: tuple[str, Any], new: tuple[str, Any]) -> bool:
    return old[0].casefold() == new[0].casefold()


def _kept(old: tuple[str, Any], new: tuple[str, Any]) -> bool:
    """Is a mapping still there whole, if with more in it?"""
    return bool(old[1]) and isinstance(old[1], dict) and _holds(new[1], old[1])


def _holds(whole: Any, part: Any) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _holds(whole[key], value) for key, value in part.items())
    return bool(whole == part)


_ABSENT = object()
MINIMUM = "minimum"
"""The rule of notes about a minimum that cannot be meant."""


def _changed(before: Any, after: Any, path: Path) -> Note:
    where = dotted(path)
    if after is _ABSENT:
        return Note("dropped", "is not used by the controller", where)
    shown = _shown(after)
    if before is _ABSENT or before is None:
        return Note("default", f"is {shown} by default", where)
    return Note("set", f"becomes {shown} (it says {_shown(before)})", where)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "empty" if not value else "filled in"
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Roles:
    roles: tuple[Role, ...]
    notes: tuple[Note, ...] = field(default=())


def roles(context: Context, extraction: Extraction) -> Roles:
    """Every role that is there, in the order of the profile's rules and of the instances."""
    found: list[Role] = []
    notes: list[Note] = []
    rules = context.profile.spec.roles or tuple(
        RoleRule(component=leaf.name) for leaf in tree.leaves(extraction.definition)
    )
    for rule in rules:
        for role, said in _of_rule(rule, context, extraction):
            found.append(role)
            notes += said
    if not found and not context.value(outputs.FLAG, context.profile.spec.podless, False):
        raise InputError("holds no pods where its kind keeps them", path=("spec",), code="unreadable")
    return Roles(_with_unique_names(found), tuple(notes))


def _of_rule(rule: RoleRule, context: Context, extraction: Extraction) -> Iterator[tuple[Role, list[Note]]]:
    if rule.added:
        if context.value(outputs.FLAG, rule.when, True):
            for role, notes in _roles(rule, [Instance(rule.added, "", Scale(1), {})], context):
                yield role, [Note("pod-added", f"{role.name}: {role.replicas} added by the controller"), *notes]
        return
    instances = _there(rule, extraction.part(rule.component), context)
    for instance, (role, notes) in zip(instances, _roles(rule, instances, context), strict=True):
        yield role, [*_added_containers(instance.pod or {}, role), *notes]


def _there(rule: RoleRule, part: Part, context: Context) -> list[Instance]:
    if rule.when is None:
        return [instance for instance in part.instances if has_pods(part, instance)]
    given = [{"id": instance.id} for instance in part.instances]
    flags = context.each(outputs.FLAG, rule.when, [False] * len(given), given)
    return [instance for instance, flag in zip(part.instances, flags, strict=True) if flag]


def has_pods(part: Part, instance: Instance) -> bool:
    """Raises InputError for an instance that the manifest names and gives no pods: it is not absent but broken."""
    there = instance.pod is not None or not part.component.is_leaf
    if not there and instance.id:
        raise InputError(f"{instance.component} {instance.id} has no pod template", path=("spec",), code="unreadable")
    return there


def _roles(rule: RoleRule, instances: Sequence[Instance], context: Context) -> Iterator[tuple[Role, list[Note]]]:
    """The roles of a rule's instances; each expression is evaluated for all of them together."""
    scales = [instance.scale or Scale() for instance in instances]
    given = [_given(instance, scale) for instance, scale in zip(instances, scales, strict=True)]

    def each(form: Form, text: str | None, default: Any) -> list[Any]:
        return context.each(form, text, [default] * len(given), given)

    names = context.each(outputs.NAME, rule.name, [instance.id or instance.component for instance in instances], given)
    replicas = list(map(count, context.each(outputs.COUNT, rule.replicas, [scale.desired for scale in scales], given)))
    least = context.each(outputs.COUNT, rule.minimum, replicas, given)
    columns = zip(
        instances,
        names,
        replicas,
        least,
        each(outputs.MAXIMUM, rule.maximum, None),
        each(outputs.COUNT, rule.step, 0 if rule.added and rule.replicas is None else 1),
        each(outputs.COUNT, rule.block, 1),
        each(outputs.STAGES, rule.stages, [0]),
        each(outputs.TOPOLOGY, rule.topology, []),
        each(outputs.TEXT, rule.starts_after, ""),
        each(outputs.NAMES, rule.made_after, []),
        each(outputs.OWNER, rule.owner, None),
        _templates(rule, instances, names, given, context),
        strict=True,
    )
    for instance, name, pods, floor, most, step, block, stages, topology, after, first, owner, template in columns:
        role = Role(
            name=name,
            replicas=pods,
            template=template,
            minimum=min(pods, floor),
            maximum=most if most is None else max(most, min(pods, floor)),
            step=step,
            block=max(block, 1),
            component=instance.component,
            instance=instance.id,
            starts_after=after or "",
            made_after=tuple(first or ()),
            owners=tuple(owner) if isinstance(owner, list) else (owner,) if owner else (),
            injected=bool(rule.added),
            stages=tuple(sorted({*stages})),
            topology=tuple(TopologyRequest(**request) for request in topology or []),
        )
        yield role, list(_bounds(name, floor, pods, most))


def _given(instance: Instance, scale: Scale) -> dict[str, Any]:
    """What an expression about one instance may name."""
    known = {"replicas": scale.replicas, "minimum": scale.minimum, "maximum": scale.maximum}
    return {"id": instance.id, "scale": known}


def _bounds(name: str, least: int, replicas: int, most: int | None) -> Iterator[Note]:
    """What the manifest says of a minimum that it cannot mean (definitions.md 14.3)."""
    if least > replicas:
        yield Note(MINIMUM, f"{name}: a minimum of {least} is above its {replicas} pods: all of them count", warns=True)
    if most is not None and most < min(least, replicas):
        yield Note(MINIMUM, f"{name}: a minimum of {least} is above the maximum of {most}", warns=True)


def _templates(
    rule: RoleRule,
    instances: Sequence[Instance],
    names: Sequence[str],
    given: Sequence[Mapping[str, Any]],
    context: Context,
) -> Iterator[PodTemplate]:
    written: Sequence[Any] = [instance.pod or {"metadata": {}, "spec": {}} for instance in instances]
    pods = written
    if rule.added:
        pods = context.each(outputs.OBJECT, rule.template, pods, given)
    elif rule.template is not None:
        known = [{**one, "role": name} for one, name in zip(given, names, strict=True)]
        pods = context.each(outputs.OBJECT, rule.template, pods, known, of=pods, object=context.document.data)
    labels = context.each(outputs.LABELS, rule.labels, [{}] * len(given), given)
    for name, pod, first, own in zip(names, pods, written, labels, strict=True):
        with at(name):
            made = templates.template(pod, context.namespace, own, _labels(first))
            yield made if "probes" not in context.profile.spec.fills else _completed(made)


def _completed(template: PodTemplate) -> PodTemplate:
    """What its containers lack comes from elsewhere."""
    return replace(template, malformed=tuple(one for one in template.malformed if not one.lacks))


def _labels(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    """As written; what is no mapping is a fault that the template tells of."""
    metadata = pod.get("metadata")
    found = metadata.get("labels") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def count(value: Any) -> int:
    """Raises InputError for what is no number of pods."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"a number of pods must be a whole number, not {_shown(value)}", code="unreadable")
    if value < 0:
        raise InputError(f"a number of pods cannot be negative: {value}", code="unreadable")
    return value


def _added_containers(pod: Mapping[str, Any], role: Role) -> list[Note]:
    spec = pod.get("spec") or {}
    there = {item.get("name") for key in ("containers", "initContainers") for item in spec.get(key) or [] if item}
    added = [c.name for c in (*role.template.containers, *role.template.init_containers) if c.name not in there]
    return [Note("container-added", f"{role.name}: container {name} added by the controller") for name in added]


def _with_unique_names(found: Sequence[Role]) -> tuple[Role, ...]:
    """A name that two roles share is told apart by the component; what waits for it waits for both."""
    names: dict[str, list[str]] = {}
    for role in found:
        alike = sum(other.name == role.name for other in found)
        names.setdefault(role.name, []).append(f"{role.component}/{role.name}" if alike > 1 else role.name)
    if {name for role in found for name in role.made_after} - {*names}:
        raise InputError("pods wait for pods of which there is no role", path=("spec",), code="unreadable")
    given = {name: iter(unique) for name, unique in names.items()}
    return tuple(_called(next(given[role.name]), role, names) for role in found)


def _called(name: str, role: Role, names: Mapping[str, Sequence[str]]) -> Role:
    """A name that it shares with others means those others."""
    others = [new for old in role.made_after for new in names[old] if new != name or len(names[old]) == 1]
    return replace(role, name=name, made_after=tuple(others))


def groups(context: Context, found: Sequence[Role]) -> tuple[GangGroup, ...]:
    """Pods that must start together, as the profile says; roles without pods are left out."""
    stated = context.value(outputs.GROUPS, context.profile.spec.gang.groups, [], roles=_counts(found)) or []
    made = [GangGroup(**one) for one in stated]
    _must_be_there({name for group in made for name in (*group.members, *group.most)}, found)
    kept = (replace(group, members={name: n for name, n in group.members.items() if n}) for group in made)
    return tuple(group for group in kept if group.count and group.members)


def order(context: Context, found: Sequence[Role]) -> tuple[Wait, ...]:
    """Which roles wait for others, as the profile says."""
    stated = context.value(outputs.ORDER, context.profile.spec.gang.order, {}, roles=_counts(found)) or {}
    made = tuple(Wait(role, one_of) for role, each in stated.items() for one_of in each if one_of)
    _must_be_there({name for wait in made for name in (wait.role, *wait.one_of)}, found)
    return made


def _must_be_there(names: Collection[str], found: Sequence[Role]) -> None:
    """Raises InputError."""
    strangers = {*names} - {role.name for role in found}
    if strangers:
        raise InputError(f"a gang needs {', '.join(sorted(strangers))}, of which there is no role", code="unreadable")


def claims(context: Context, found: Sequence[Role]) -> list[Mapping[str, Any]]:
    """Templates of claims of devices that the controller makes from fields of its own."""
    return context.value(outputs.CLAIMS, context.profile.spec.claims, [], roles=_counts(found)) or []


def min_available(context: Context, found: Sequence[Role]) -> tuple[int | None, list[Note]]:
    """Pods that must start at least, and a remark when there are not as many; zero says nothing."""
    value = context.value(outputs.MAXIMUM, context.profile.spec.gang.min_available, None, roles=_counts(found))
    pods = sum(role.replicas for role in found)
    if not value:
        return None, []
    if value <= pods:
        return value, []
    text = f"a minimum of {value} is above the {pods} pods that there are: all of them count"
    return pods or None, [Note(MINIMUM, text, warns=True)]


def made_gang(context: Context, found: Sequence[Role], least: int | None) -> tuple[GangObject, ...]:
    """The gang object that the controller itself makes of all pods."""
    title = context.value(outputs.TEXT, context.profile.spec.gang.object, None, roles=_counts(found))
    names = tuple(role.name for role in found if role.replicas)
    return (GangObject("", title, "", names, least),) if title and names else ()


def _counts(found: Sequence[Role]) -> dict[str, dict[str, int]]:
    """What a gang's expressions know of the roles."""
    return {role.name: {"replicas": role.replicas, "minimum": role.minimum} for role in found}


def requires(context: Context) -> tuple[str, ...]:
    return tuple(context.value(outputs.REQUIRES, context.profile.spec.requires, []) or ())


def unmodelled(context: Context, written: Prepared) -> tuple[Unmodelled, ...]:
    stated = context.value(outputs.UNMODELLED, context.profile.spec.unmodelled, [], written=written.data) or []
    return tuple(Unmodelled(**found) for found in stated)
