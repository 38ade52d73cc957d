"""Where an object describes pods, place by place, and the pods that came of each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from advisor import quantity
from advisor.definitions.drafting import schematic
from advisor.definitions.drafting.steps import ITEM, MEMBER, Site, Steps
from advisor.errors import InputError

Object = Mapping[str, Any]
_DEEPEST = 30
_IDS = ("name", "groupName", "id")


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A pod in the object: the steps with keys and places of lists, and the parts of it that can be recognised.

    words  by which people would name the pods: the keys on the way, and what tells the item of a list apart
    """

    site: Site
    steps: tuple[str | int, ...]
    id: str
    containers: tuple[Object, ...]
    words: frozenset[str]


def places(data: Object, schema: Mapping[str, Any] | None = None) -> list[Place]:
    """Every pod that the object describes. `schema` tells maps from mappings with fields of their own.

    Parts of pods only count where there is no whole one, as in `schematic.sites`.
    """
    found = list(_places(data.get("spec"), ("spec",), schema or {}, data))
    return [place for place in found if place.site.form] or found


def _places(value: Any, steps: tuple[str | int, ...], schema: Mapping[str, Any], root: Object) -> Iterator[Place]:
    if len(steps) > _DEEPEST:
        return
    form = _form(value)
    if form is not None:
        yield _place(value, steps, form, schema, root)
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _places(member, (*steps, key), schema, root)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _places(item, (*steps, at), schema, root)


def _form(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    if _is_pod_spec(value.get("spec")):
        return "podTemplateSpecPath"
    if _is_pod_spec(value):
        return "podSpecPath"
    resources = value.get("resources")
    if "image" in value and isinstance(resources, dict) and {"limits", "requests"} & resources.keys():
        return ""
    return None


def _is_pod_spec(value: Any) -> bool:
    containers = value.get("containers") if isinstance(value, dict) else None
    return isinstance(containers, list) and any(
        isinstance(one, dict) and {"name", "image"} & {*one} for one in containers
    )


def _place(value: Object, steps: tuple[str | int, ...], form: str, schema: Mapping[str, Any], root: Object) -> Place:
    general = tuple(_general(steps, schema))
    inside = value["spec"] if form == "podTemplateSpecPath" else value
    containers = inside.get("containers") if form else [value]
    named, own = _identity(root, steps)
    site = Site(general, form, named, bool(form) or isinstance(value.get("image"), str))
    words = {step.lower() for step in steps if isinstance(step, str)} | ({own.lower()} if own else set())
    kept = tuple(one for one in containers or () if isinstance(one, dict))
    key = own if site.shared and site.shared[-1] == ITEM else _member(steps, general)
    return Place(site, steps, key, kept, frozenset(words - {"spec", "template"}))


def _general(steps: tuple[str | int, ...], schema: Mapping[str, Any]) -> Iterator[str]:
    done: Steps = ()
    for step in steps:
        open_map = isinstance(step, str) and schematic.at(schema, (*done, MEMBER))
        one = ITEM if isinstance(step, int) else MEMBER if open_map else step
        done = (*done, one)
        yield one


def _member(steps: tuple[str | int, ...], general: Steps) -> str:
    """The key of the innermost map on the way; "" where there is none."""
    found = [step for step, one in zip(steps, general, strict=True) if one == MEMBER]
    return str(found[-1]) if found else ""


def _identity(root: Object, steps: tuple[str | int, ...]) -> tuple[str, str]:
    """The field by which items of the innermost list are told apart, and its value here."""
    places = [at for at, step in enumerate(steps) if isinstance(step, int)]
    if not places:
        return "", ""
    items = _walk(root, steps[: places[-1]])
    for key in _IDS:
        values = [item.get(key) for item in items if isinstance(item, dict)]
        if values and all(isinstance(one, str) and one for one in values) and len(set(values)) == len(values):
            return key, str(items[steps[places[-1]]][key])
    return "", str(steps[places[-1]])


def _walk(data: Any, steps: Iterable[str | int]) -> Any:
    for step in steps:
        data = data[step]
    return data


@dataclass(slots=True)
class Origins:
    """Which pods came of which place. `together`: pods that several places could have made; `strangers`: of none."""

    of: dict[Place, list[Object]] = field(default_factory=dict)
    together: list[tuple[tuple[Place, ...], list[Object]]] = field(default_factory=list)
    strangers: list[Object] = field(default_factory=list)


def origins(found: Sequence[Place], pods: Sequence[Object]) -> Origins:
    """By containers: name, image and what they ask for. Places that are alike are told apart by labels and names."""
    result = Origins({place: [] for place in found})
    tied: dict[tuple[Place, ...], list[Object]] = {}
    for pod in pods:
        fitting = _fitting(found, pod)
        if len(fitting) == 1:
            result.of[fitting[0]].append(pod)
        elif fitting:
            tied.setdefault(fitting, []).append(pod)
        else:
            result.strangers.append(pod)
    for alike, members in tied.items():
        _tell_apart(alike, members, result)
    return result


def _fitting(found: Sequence[Place], pod: Object) -> tuple[Place, ...]:
    """Those that ask for just that; else those that ask for no more of it; else those of these names and images."""
    for alike in (_asks_the_same, _asks_no_more, _asks_anything):
        fitting = tuple(place for place in found if _made(place, pod, alike))
        if fitting:
            return fitting
    return ()


Alike = Callable[[Object, Object], bool]


def _made(place: Place, pod: Object, alike: Alike) -> bool:
    """Are the place's containers in the pod?"""
    there = pod["spec"].get("containers") or []
    return bool(place.containers) and all(
        any(_is_named(container, one) and alike(container, one) for one in there) for container in place.containers
    )


def _is_named(stated: Object, made: Object) -> bool:
    if stated.get("name") and "containers" not in stated and stated["name"] != made.get("name"):
        return False
    return not isinstance(stated.get("image"), str) or stated["image"] == made.get("image")


def _asks_the_same(stated: Object, made: Object) -> bool:
    return _asks(stated) == _asks(made)


def _asks_no_more(stated: Object, made: Object) -> bool:
    return _asks(stated).items() <= _asks(made).items()


def _asks_anything(stated: Object, made: Object) -> bool:
    return True


def _asks(container: Object) -> dict[tuple[str, str], int]:
    """Requests and limits; a limit without a request is the request too, as in every pod."""
    resources = container.get("resources") or {}
    limits = resources.get("limits") or {}
    found: dict[tuple[str, str], int] = {}
    for part, amounts in (("requests", {**limits, **(resources.get("requests") or {})}), ("limits", limits)):
        for name, amount in amounts.items():
            try:
                found[part, name] = quantity.parse(amount)
            except InputError:
                continue
    return found


def _tell_apart(alike: tuple[Place, ...], members: Sequence[Object], result: Origins) -> None:
    keys = sorted(set.intersection(*(set(_labels(pod)) for pod in members)))
    names = [str(pod["metadata"].get("name", "")) for pod in members]
    for texts in (*([_labels(pod)[key] for pod in members] for key in keys), names):
        claimed = [[place for place in alike if _speaks_of(place, text, alike)] for text in texts]
        if all(len(one) == 1 for one in claimed) and len({one[0] for one in claimed}) > 1:
            for pod, (place,) in zip(members, claimed, strict=True):
                result.of[place].append(pod)
            return
    result.together.append((alike, list(members)))


def _speaks_of(place: Place, text: str, alike: Sequence[Place]) -> bool:
    """Does a label or name hold a word that is this place's alone?"""
    others = frozenset().union(*(other.words for other in alike if other is not place))
    own = f"-{text.lower()}-"
    return any(f"-{word}-" in own for word in place.words - others)


def _labels(pod: Object) -> Mapping[str, str]:
    return pod["metadata"].get("labels") or {}
