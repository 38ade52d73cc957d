"""From what is known of a kind to a draft: its schema, an object of it, and the pods that came of that object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from advisor import private
from advisor.definitions.drafting import found, numbers, schematic
from advisor.definitions.drafting.draft import STATUSES, Draft, Part
from advisor.definitions.drafting.found import Origins, Place
from advisor.definitions.drafting.moment import PHASES
from advisor.definitions.drafting.numbers import USUAL, Count
from advisor.definitions.drafting.schematic import Crd
from advisor.definitions.drafting.steps import ITEM, MEMBER, Site, name, path
from advisor.errors import InputError
from advisor.inventory import Kind

Object = Mapping[str, Any]
MOST_OTHERS = 3
"""Expressions that are named beside the best."""
_NO_PODS = "has nothing that looks like a pod: containers with a name, or an image beside resources"


def of_schema(crd: Crd, made_from: str) -> Draft:
    """Raises InputError where no place for pods is found."""
    sites = schematic.sites(crd.schema)
    if not sites:
        raise InputError(f"the schema of {crd.kind} {_NO_PODS}", hint="name a live object: init --from TYPE/NAME")
    parts = tuple(_of_site(site, crd.schema) for site in sites)
    return _with_status(Draft(crd.kind, made_from, _distinct(parts)), crd.schema)


def _of_site(site: Site, schema: Mapping[str, Any]) -> Part:
    """With the fields of usual names beside the pods and on the way to them, each times the others."""
    levels = [
        (length, schematic.fields(schema, site.steps[:length], "integer"))
        for length in range(len(site.steps) - 1, 0, -1)
        if site.steps[length - 1] not in (ITEM, MEMBER) or length == len(site.shared)
    ]
    factors = [
        (length, next(key for key in USUAL if key in fields)) for length, fields in levels if {*USUAL} & {*fields}
    ]
    if not factors:
        return Part(site, name(site), doubt="No field beside the pods looks like their number: one for each.")
    nearest, own = factors[0]
    beside = dict(levels)[nearest]
    stated = {key: path((*site.steps[:nearest], key)) for key in beside if key != own}
    return Part(
        site,
        name(site),
        numbers.of_fields([(*site.steps[:length], key) for length, key in factors], site),
        next((stated[key] for key in numbers.LEAST if key in stated), None),
        next((stated[key] for key in numbers.MOST if key in stated), None),
        doubt="The number of pods is a guess by the names of fields.",
    )


def _with_status(draft: Draft, schema: Mapping[str, Any]) -> Draft:
    texts = schematic.fields(schema, ("status",), "string")
    phase = next((key for key in PHASES if key in texts), None)
    phases = schematic.at(schema, ("status", phase)).get("enum") if phase else None
    conditions = "conditions" in schematic.fields(schema, ("status",), "array")
    words = tuple(one for one in phases if isinstance(one, str)) if isinstance(phases, list) else ()
    return replace(draft, phase=f".status.{phase}" if phase else None, phases=words, conditions=conditions)


def of_object(data: Object, made_from: str, crd: Crd | None = None) -> Draft:
    """By an object alone: how many pods it makes is told by names of fields. Raises InputError where it has no pods."""
    places = _places(data, crd)
    parts = tuple(_of_places(data, group, None) for group in _components(places))
    return _finished(Draft(_kind(data), made_from, _distinct(parts)), data, crd)


def of_pods(
    data: Object, pods: Sequence[Object], made_from: str, crd: Crd | None = None, doubt: str = ""
) -> tuple[Draft, Origins]:
    """By an object and its pods, with which of them came of what. Raises InputError where it has no pods inside.

    `doubt`: why these may not be all of its pods, so that no number of theirs is proven.
    """
    places = _places(data, crd)
    came = found.origins(places, pods)
    parts = []
    for group in _components(places):
        part = _of_places(data, group, came, doubt)
        parts.append(replace(part, label=_label_of(group, came), id_label=_id_label(group, came)))
    draft = Draft(_kind(data), made_from, _distinct(parts), group_key=_common_label(data, pods))
    return replace(_finished(draft, data, crd), remarks=tuple(_open(came))), came


def _places(data: Object, crd: Crd | None) -> list[Place]:
    places = found.places(data, crd.schema if crd else None)
    if not places:
        raise InputError(f"the object {_NO_PODS}", path=("spec",))
    return places


def _components(places: Sequence[Place]) -> list[list[Place]]:
    """Places that are items of one list or members of one map belong to one component."""
    groups: dict[Site, list[Place]] = {}
    for place in places:
        groups.setdefault(place.site, []).append(place)
    return [sorted(group, key=lambda place: place.steps) for group in groups.values()]


def _of_places(data: Object, group: Sequence[Place], came: Origins | None, doubt: str = "") -> Part:
    site = group[0].site
    part = Part(site, name(site))
    wanted = [len(came.of[place]) for place in group] if came else []
    if any(wanted):
        return _counted(data, part, group, wanted, doubt)
    usual = numbers.usual(data, group)
    why = _unseen(group, came) if came else "No pods were looked at"
    remark = (
        f"{why}: the number is a guess by the field's name." if usual else f"{why}, and no field says their number."
    )
    return replace(part, replicas=usual.text if usual else None, doubt=remark)


def _unseen(group: Sequence[Place], came: Origins) -> str:
    if any(place in alike for alike, _ in came.together for place in group):
        return "Its pods look like those of another place"
    return "No pod of it was seen"


def _counted(data: Object, part: Part, group: Sequence[Place], wanted: Sequence[int], doubt: str) -> Part:
    """With the expression that gives the numbers of pods that there are, and why that may be another one."""
    ranked = numbers.counts(data, group, wanted)
    seen = f"{', '.join(map(str, wanted))} {'pod of it was' if list(wanted) == [1] else 'pods of it were'} there"
    more = (f"There may be more: {doubt}.",) if doubt else ()
    if set(wanted) == {1} and (not ranked or ranked[0].is_guess):
        why = "One pod of it was there, and no field says so: it is taken to be always one."
        return replace(part, doubt=" ".join(more), remarks=(why,))
    if not ranked:
        return replace(part, doubt=" ".join((f"{seen}: no number in the object comes to that.", *more)))
    best, *others = ranked
    reasons = (*more, *_reasons(best, others))
    return replace(part, replicas=best.text, doubt=" ".join((f"{seen}.", *reasons)) if reasons else "")


def _reasons(best: Count, others: Sequence[Count]) -> Iterator[str]:
    """Why the best expression may not be the right one, though it gives the right numbers."""
    also = [other.text for other in others if other.cost < best.cost + numbers.FAR // 2][:MOST_OTHERS]
    if best.is_guess:
        yield "The field is far from the pods, so it may only happen to have this value: check it."
    if also:
        yield f"This would give the same: {', or '.join(also)}."


def _label_of(group: Sequence[Place], came: Origins) -> tuple[str, str] | None:
    """A label with one value on all pods of the component, and on no other pod."""
    own = [pod for place in group for pod in came.of[place]]
    others = [pod for pods in came.of.values() for pod in pods if pod not in own] + came.strangers
    if not own or not others:
        return None
    shared = set.intersection(*(set(_labels(pod).items()) for pod in own))
    telling = [(key, value) for key, value in shared if all(_labels(pod).get(key) != value for pod in others)]
    words = frozenset().union(*(place.words for place in group)) | {name(group[0].site)}
    ranked = sorted(telling, key=lambda pair: (pair[1].lower() not in words, pair))
    return ranked[0] if ranked else None


def _id_label(group: Sequence[Place], came: Origins) -> str:
    """The label whose value is the id of the instance; "" where there is none, or no instances."""
    pairs = [(place.id, pod) for place in group for pod in came.of[place]]
    if not group[0].site.shared or not pairs:
        return ""
    keys = set.intersection(*(set(_labels(pod)) for _, pod in pairs))
    telling = sorted(key for key in keys if all(_labels(pod)[key] == own for own, pod in pairs))
    return telling[0] if telling else ""


def _common_label(data: Object, pods: Sequence[Object]) -> str:
    """A label of all pods that holds the object's name."""
    own = data["metadata"].get("name")
    keys = set.intersection(*(set(_labels(pod)) for pod in pods)) if pods else set()
    return next((key for key in sorted(keys) if all(_labels(pod)[key] == own for pod in pods)), "")


def _labels(pod: Object) -> Mapping[str, str]:
    return pod["metadata"].get("labels") or {}


def _open(came: Origins) -> Iterator[str]:
    for alike, pods in came.together:
        where = " or ".join(path(place.site.steps) for place in alike)
        yield f"NOT TOLD APART: {len(pods)} pods, such as {_title(pods[0])}, could come of {where}."
    if came.strangers:
        one = _title(came.strangers[0])
        yield f"NOT EXPLAINED: {len(came.strangers)} pods, such as {one}, come of nothing in the object:"
        yield "  pods that a controller adds are roles with `added` and `template` in the profile (docs/profiles.md)."


def _title(pod: Object) -> str:
    return str(pod["metadata"].get("name"))


def _kind(data: Object) -> Kind:
    group, _, version = str(data.get("apiVersion", "")).rpartition("/")
    return Kind(group, version, str(data.get("kind", "")))


def _finished(draft: Draft, data: Object, crd: Crd | None) -> Draft:
    """With the status, by the schema where there is one, and with the object as an example."""
    if crd:
        draft = _with_status(draft, crd.schema)
    status = data.get("status") if isinstance(data.get("status"), dict) else {}
    told = next((key for key in PHASES if isinstance((status or {}).get(key), str)), None)
    seen = (str((status or {})[told]),) if told else ()
    known = {word for words in STATUSES.values() for word in words}
    phases = tuple(dict.fromkeys((*draft.phases, *(one for one in seen if one.lower() in known))))
    phase = draft.phase or (f".status.{told}" if told else None)
    conditions = draft.conditions or isinstance((status or {}).get("conditions"), list)
    return replace(draft, phase=phase, phases=phases, conditions=conditions, example=without_private(data))


def without_private(data: Object) -> Object:
    """The object as somebody would write it, without what its containers are told."""
    metadata = {key: data["metadata"][key] for key in ("name", "namespace") if data["metadata"].get(key)}
    return {
        "apiVersion": data["apiVersion"],
        "kind": data["kind"],
        "metadata": metadata,
        "spec": private.without(data.get("spec")),
    }


def _distinct(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Names of components are unique: where two would be alike, the way to them is added."""
    names = [part.title for part in parts]
    return tuple(
        replace(part, name=f"{'-'.join(_way(part))}") if names.count(part.title) > 1 else part for part in parts
    )


def _way(part: Part) -> list[str]:
    return [step.lower() for step in part.site.steps if step.isalnum() and step not in ("spec", "template")]
