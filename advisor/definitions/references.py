"""Other objects that a workload's pods depend on: looked up in the files, then among what a cluster has.

A profile's `references` say what to look for. What is not found is never taken for nothing: it is `Missing`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.definitions import nulls, outputs, plain, shapes
from advisor.definitions.engine import Prepared, prepare
from advisor.definitions.outputs import unreadable
from advisor.definitions.profile import Context
from advisor.definitions.profile_schema import Profile, Reference
from advisor.errors import Path, dotted
from advisor.files import Document
from advisor.workload import Missing, Note
from advisor.workload import Reference as Wanted

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """What one cluster has of something that was looked up there.

    `whole`: there surely is nothing else. Else that is only taken for granted, as with what kubectl printed: what is
    there is used, but nothing is called missing for sure.
    """

    objects: Sequence[Object] = ()
    whole: bool = True


InCluster = Mapping[Wanted, Held]
"""By references that name their namespace; what is no key was not looked up."""
NOTHING_LOOKED_UP: InCluster = {}


@dataclass(frozen=True, slots=True)
class Known:
    """Objects at hand: those of the files by group and kind, and what one cluster has.

    `namespace`: of objects in the files that name none, unless they have none.
    """

    documents: Mapping[tuple[str, str], Sequence[Document]] = field(default_factory=dict)
    namespace: str = "default"
    in_cluster: InCluster = field(default_factory=dict)

    def in_files(self, wanted: Wanted, namespace: str) -> list[Document]:
        """What the files have of it, for an object in that namespace; of equal names the last one."""
        held = self.documents.get((wanted.group, wanted.kind), ())
        found = [one for one in held if self._is(one.data["metadata"], wanted, namespace)]
        return list({one.data["metadata"]["name"]: one for one in found}.values())

    def _is(self, metadata: Mapping[str, Any], wanted: Wanted, namespace: str) -> bool:
        if wanted.name and metadata["name"] != wanted.name:
            return False
        stated = metadata.get("namespace") or ""
        if wanted.namespace:
            return (stated or self.namespace) == wanted.namespace
        return stated in ("", namespace)


def known(documents: Iterable[Document], namespace: str, in_cluster: InCluster = NOTHING_LOOKED_UP) -> Known:
    """The objects of files; what is no object is left out."""
    found: dict[tuple[str, str], list[Document]] = {}
    for document in documents:
        data = document.data
        metadata = data.get("metadata") if isinstance(data, dict) else None
        if isinstance(metadata, dict) and isinstance(metadata.get("name"), str):
            found.setdefault(plain.group_and_kind(data), []).append(document)
    return Known(found, namespace, in_cluster)


@dataclass(frozen=True, slots=True)
class Referred:
    """What a workload refers to: the objects as `$refs` has them, all that was looked for, and what was not found."""

    values: Mapping[str, Any] = field(default_factory=dict)
    references: tuple[Wanted, ...] = ()
    missing: tuple[Missing, ...] = ()
    notes: tuple[Note, ...] = ()


def nothing(profile: Profile) -> Referred:
    """As if there were none of the objects."""
    rules = profile.spec.references.items()
    return Referred({name: None if rule.pick == "first" else [] for name, rule in rules})


def resolve(given: Context, known: Known) -> Referred:
    """What the profile's references find for the object as it is written. Raises InputError where one is unreadable."""
    found = Referred()
    for name, rule in given.profile.spec.references.items():
        sought = [_alternatives(output, rule) for output in _outputs(rule, given, found.values)]
        looked_up = _PICKS[rule.pick](_Look(sought, rule, given, found.values, known))
        found = Referred(
            {**found.values, name: looked_up.value},
            (*found.references, *(one.wanted for alternatives in sought for one in alternatives)),
            (*found.missing, *looked_up.missing),
            (*found.notes, *looked_up.notes),
        )
    return found


def _outputs(rule: Reference, given: Context, before: Mapping[str, Any]) -> list[Any]:
    return given.outputs(rule.find, given.document, {"namespace": given.namespace, "refs": before})


@dataclass(frozen=True, slots=True)
class _Sought:
    """What to look for, and where the manifest refers to it."""

    wanted: Wanted
    path: Path = ()


@dataclass(frozen=True, slots=True)
class _One:
    """An object that was found, and in which file: "" for one of the cluster."""

    data: Object
    place: str
    sought: _Sought


def _alternatives(output: Any, rule: Reference) -> list[_Sought]:
    """What one output looks for; a list is of places where it may be, one before the other."""
    return [_sought(one, rule) for one in (output if isinstance(output, list) and output else [output])]


def _sought(output: Any, rule: Reference) -> _Sought:
    if not isinstance(output, dict):
        raise unreadable(f"a reference gives {shapes.kind_of(output)}, no object's group, kind and name", rule.find)
    texts = {key: output.get(key) or "" for key in ("group", "kind", "name", "namespace")}
    needed = ("kind",) if rule.pick == "all" else ("kind", "name")
    wrong = [key for key, text in texts.items() if not isinstance(text, str) or (key in needed and not text)]
    if wrong:
        raise unreadable(f"a reference gives no {wrong[0]} that is text", rule.find)
    path: Any = output.get("at")
    return _Sought(Wanted(**texts), tuple(path) if outputs.is_path(path) else ())


@dataclass(frozen=True, slots=True)
class _Look:
    """One reference of a profile: what it finds, and where that is looked up. `refs`: those that stand before it."""

    sought: Sequence[Sequence[_Sought]]
    rule: Reference
    given: Context
    refs: Mapping[str, Any]
    known: Known

    @property
    def namespace(self) -> str:
        return self.given.namespace

    @property
    def flat(self) -> list[_Sought]:
        return [one for alternatives in self.sought for one in alternatives]

    def first(self, sought: Sequence[_Sought]) -> _One | None:
        """The files come before the cluster, and in each the alternatives in their order.

        In the cluster, what may yet be there stands before what is there.
        """
        for one in sought:
            for held in self.in_files(one):
                return held
        for one in sought:
            for held in self.in_cluster(one):
                return held
            if not self.was_looked_up(one):
                break
        return None

    def in_files(self, one: _Sought) -> list[_One]:
        found = self.known.in_files(one.wanted, self.namespace)
        return [_One(_normal(document.data), str(document.where), one) for document in found]

    def in_cluster(self, one: _Sought) -> list[_One]:
        held = self._held(one)
        return [_One(_normal(data), "", one) for data in held.objects] if held else []

    def was_looked_up(self, one: _Sought) -> bool:
        return self._held(one) is not None

    def is_whole(self, one: _Sought) -> bool:
        """Is all surely known that the cluster has of it?"""
        held = self._held(one)
        return held is not None and held.whole

    def _held(self, one: _Sought) -> Held | None:
        return self.known.in_cluster.get(one.wanted.within(self.namespace))

    def lacks(self, *sought: _Sought) -> tuple[Missing, ...]:
        """None of these was found; that is worth a word where it is needed, or where nobody looked."""
        rule = self.rule
        if not sought or (not rule.required and all(map(self.was_looked_up, sought))):
            return ()
        absent = all(map(self.is_whole, sought))
        names = tuple(one.wanted for one in sought)
        return (Missing(names, rule.required, absent, self._guesses(), that=rule.that, path=sought[0].path),)

    def counts(self, one: _One) -> bool:
        """Is it one of those that the profile means?"""
        return self.rule.where is None or bool(self._given(self.rule.where, prepare(one.data)))

    def _guesses(self) -> bool:
        guessed = self.rule.guessed
        return guessed if isinstance(guessed, bool) else bool(self._given(guessed, self.given.document))

    def _given(self, condition: str, document: Prepared) -> Any:
        given = self.given
        variables = {"namespace": given.namespace, "refs": self.refs, "object": given.document.data}
        return outputs.checked(
            outputs.FLAG, replace(given, refs=self.refs).one(condition, document, variables), condition
        )


@dataclass(frozen=True, slots=True)
class _LookedUp:
    value: Any
    missing: tuple[Missing, ...] = ()
    notes: tuple[Note, ...] = ()


def _first(look: _Look) -> _LookedUp:
    held = look.first(look.flat)
    return _LookedUp(held.data, notes=(_note(held),)) if held else _LookedUp(None, look.lacks(*look.flat))


def _each(look: _Look) -> _LookedUp:
    found = [(alternatives, look.first(alternatives)) for alternatives in look.sought]
    return _LookedUp(
        [held and held.data for _, held in found],
        tuple(missing for sought, held in found if held is None for missing in look.lacks(*sought)),
        tuple(_note(held) for _, held in found if held),
    )


def _all(look: _Look) -> _LookedUp:
    """Of one name, what the files have counts. The list is whole only where the cluster was asked, too."""
    found: dict[tuple[Wanted, str], _One] = {}
    for one in look.flat:
        for held in (*look.in_cluster(one), *look.in_files(one)):
            found[one.wanted, held.data["metadata"]["name"]] = held
    kept = [held for key in sorted(found) if look.counts(held := found[key])]
    if not kept:
        return _LookedUp([], look.lacks(*look.flat))
    open_ones = [one for one in look.flat if not look.was_looked_up(one)]
    that = look.rule.that
    further = tuple(Missing((one.wanted,), required=False, others=True, that=that, path=one.path) for one in open_ones)
    return _LookedUp([held.data for held in kept], further, tuple(map(_note, kept)))


_PICKS = {"first": _first, "each": _each, "all": _all}


def _normal(data: Object) -> Object:
    """As expressions see the object itself: stored, and whole floats are integers."""
    value: Object = json.loads(prepare(nulls.stored(data)).text)
    return value


def _note(held: _One) -> Note:
    title = f"{held.sought.wanted.kind} {held.data['metadata']['name']}"
    return Note("reference", f"is {title} of {held.place or 'the cluster'}", dotted(held.sought.path))
