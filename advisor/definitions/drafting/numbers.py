"""Which numbers of an object say how many pods a place makes, held against the pods that there are.

Numbers are whole numbers, text that holds some (`"4"`, `"2x4"`), and lengths of lists; a count may be one of them, one
times another, or one less. The simplest that is right for every instance, and nearest to the pods, is proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

from advisor import quantity
from advisor.definitions.drafting.found import Place
from advisor.definitions.drafting.steps import ITEM, MEMBER, Site, Steps, path
from advisor.errors import InputError

USUAL = (
    *("replicas", "parallelism", "size", "count", "workers", "nodes", "numNodes", "numWorkers", "instances"),
    *("hosts", "numOfHosts", "completions"),
)
"""Names of fields that mostly hold a number of pods, the likeliest first."""
LEAST = ("minReplicas", "minAvailable", "minMember", "minSize")
MOST = ("maxReplicas", "maxSize")
"""Names of bounds: no factor of a number of pods."""
FAR = 100
"""The cost of a field that nothing but its value speaks for."""
MOST_FACTORS = 24
"""Numbers that are tried as factors, the likeliest of those that divide the number of pods."""

_OF_PODS = ("containers", "initContainers", "volumes")
_NOT_OF_SPEC = ("status", "metadata", "apiVersion", "kind")
_DIGITS = re.compile(r"[0-9]+")
_SHORT = re.compile(r"[A-Za-z0-9_*:,-]{1,24}")
"""Text that may say a shape: no address, version or image."""
_NUMBER, _TEXT, _PRODUCT, _FIRST, _LAST, _LENGTH = (
    "{}",
    "({} | tonumber)",
    '({} | [scan("[0-9]+") | tonumber] | reduce .[] as $n (1; . * $n))',
    '({} | [scan("[0-9]+") | tonumber] | first)',
    '({} | [scan("[0-9]+") | tonumber] | last)',
    "({} | length)",
)
_COSTS = {_NUMBER: 0, _TEXT: 2, _PRODUCT: 3, _FIRST: 4, _LAST: 4, _LENGTH: 5}


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the object states, for every instance.

    text   jq that gives it: on an item of the list where `inner`, else on the object
    steps  the field
    cost   how unlikely it is that it is a number of pods: 0 is a field of a usual name beside the pods
    factor may it be one factor of several?
    """

    text: str
    steps: Steps
    values: tuple[int, ...]
    inner: bool
    cost: int
    factor: bool = True

    def divides(self, wanted: Sequence[int], less: int = 0) -> bool:
        """May the numbers, each so much less, be factors of these?"""
        whole = [value - less for value in self.values]
        return all(not want or (value and not want % value) for value, want in zip(whole, wanted, strict=True))


@dataclass(frozen=True, slots=True)
class Count:
    """jq for the number of pods of a component, one output for each instance."""

    text: str
    cost: int

    @property
    def is_guess(self) -> bool:
        """Does nothing but the value speak for it?"""
        return self.cost >= FAR


@dataclass(frozen=True, slots=True)
class _Formula:
    """`body` on an item where `inner`, else on the object; `bound` are numbers of the object that it names."""

    body: str
    cost: int
    inner: bool
    bound: tuple[str, ...] = ()

    def count(self, shared: Steps) -> Count:
        before = "".join(f"{one} | " for one in self.bound)
        if self.inner:
            return Count(f"{before}{path(shared)} | {self.body}", self.cost)
        return Count(f"{self.body} as $n | {path(shared)} | $n" if shared else self.body, self.cost)


def counts(data: Any, places: Sequence[Place], wanted: Sequence[int]) -> list[Count]:
    """Expressions that give these numbers for the instances of one component, the best first."""
    numbers = list(_numbers(data, places))
    found = [*_plain(numbers, wanted), *_products(numbers, wanted), *_shifted(numbers, wanted)]
    best = sorted(found, key=lambda one: (one.cost, len(one.body), one.body))
    return [one.count(places[0].site.shared) for one in best]


def of_fields(fields: Sequence[Steps], site: Site) -> str:
    """One field times the others, each 1 where it is left out; those outside of the list are named before it."""
    shared = site.shared
    inner = [f"({path(steps[len(shared) :])} // 1)" for steps in fields if steps[: len(shared)] == shared]
    outer = [f"({path(steps)} // 1)" for steps in fields if steps[: len(shared)] != shared]
    if not shared:
        return " * ".join(inner)
    names = [f"${'abcdefgh'[at]}" for at in range(len(outer))]
    bound = "".join(f"{text} as {name} | " for text, name in zip(outer, names, strict=True))
    return f"{bound}{path(shared)} | {' * '.join([*inner, *names])}"


def usual(data: Any, places: Sequence[Place]) -> Count | None:
    """A field that holds the number by its name and place, whatever it is."""
    found = [one for one in _numbers(data, places) if one.cost < FAR]
    if not found:
        return None
    best = min(found, key=lambda one: (one.cost, one.text))
    return _Formula(best.text, best.cost, best.inner).count(places[0].site.shared)


def _plain(numbers: Sequence[Number], wanted: Sequence[int]) -> Iterator[_Formula]:
    for one in numbers:
        if list(one.values) == list(wanted):
            yield _Formula(one.text, one.cost, one.inner)


def _products(numbers: Sequence[Number], wanted: Sequence[int]) -> Iterator[_Formula]:
    """Two or three numbers, or one times another less one; what is one everywhere explains nothing."""
    factors = _likely(numbers, wanted)
    for size in (2, 3):
        for group in combinations(factors, size):
            if _are_others(group) and _multiplied(one.values for one in group) == list(wanted):
                yield _of_several(group, " * ".join(["{}"] * size), 4 * (size - 1))
    for left, right in product(factors, _likely(numbers, wanted, less=1)):
        less = [value - 1 for value in right.values]
        if _are_others((left, right)) and _multiplied([left.values, less]) == list(wanted):
            yield _of_several((left, right), "{} * ({} - 1)", 6)


def _likely(numbers: Sequence[Number], wanted: Sequence[int], less: int = 0) -> list[Number]:
    """The likeliest factors, in the order of the object. That they are few bounds the search."""
    able = [one for one in numbers if one.factor and set(one.values) != {1} and one.divides(wanted, less)]
    kept = set(sorted(able, key=lambda one: (one.cost, one.text))[:MOST_FACTORS])
    return [one for one in able if one in kept]


def _are_others(numbers: Sequence[Number]) -> bool:
    """No field twice: a shape is not its first number times its last."""
    return len({(one.inner, one.steps) for one in numbers}) == len(numbers)


def _multiplied(values: Iterable[Sequence[int]]) -> list[int]:
    return [prod(ones) for ones in zip(*values, strict=True)]


def _of_several(numbers: Sequence[Number], form: str, cost: int) -> _Formula:
    """Numbers of the object are bound to a name before the items of a list are visited."""
    inner = any(one.inner for one in numbers)
    outer = [one.text for one in numbers if inner and not one.inner]
    names = dict(zip(outer, ("$a", "$b", "$c"), strict=False))
    body = form.format(*(one.text if one.inner else names.get(one.text, one.text) for one in numbers))
    bound = tuple(f"{text} as {name}" for text, name in names.items())
    return _Formula(body, sum(one.cost for one in numbers) + cost, inner, bound)


def _shifted(numbers: Sequence[Number], wanted: Sequence[int]) -> Iterator[_Formula]:
    for one in (one for one in numbers if one.factor and one.cost < FAR):
        for sign, change in (("-", -1), ("+", 1)):
            if [value + change for value in one.values] == list(wanted):
                yield _Formula(f"{one.text} {sign} 1", one.cost + 6, one.inner)


def _numbers(data: Any, places: Sequence[Place]) -> Iterator[Number]:
    site = places[0].site
    if site.shared:
        yield from _of_all([item(data, place) for place in places], site.own, inner=True)
    way = site.shared[:-1] or site.steps
    yield from _of_all([data] * len(places), tuple(step for step in way if step not in (ITEM, MEMBER)), inner=False)


def item(data: Any, place: Place) -> Any:
    """The item of the innermost list or map on the way to the pods; the object itself where there is none."""
    for step in place.steps[: len(place.site.shared)]:
        data = data[step]
    return data


def _of_all(roots: Sequence[Any], to_pods: Steps, *, inner: bool) -> Iterator[Number]:
    """Numbers that every root states; a usual one may be left out somewhere, then it is one."""
    found: dict[tuple[Steps, str], list[int | None]] = {}
    for at, root in enumerate(roots):
        for steps, form, value in _scalars(root, ()):
            found.setdefault((steps, form), [None] * len(roots))[at] = value
    for (steps, form), values in found.items():
        cost = _cost(steps, to_pods) + _COSTS[form]
        text, is_factor = form.format(path(steps)), form != _LENGTH and steps[-1] not in (*LEAST, *MOST)
        if form == _NUMBER and (cost < FAR or (inner and None in values)):
            for default in (1, 0) if None in values else (1,):
                whole = tuple(default if value is None else value for value in values)
                yield Number(f"({text} // {default})", steps, whole, inner, cost + 2 * (1 - default), is_factor)
        elif None not in values:
            yield Number(text, steps, tuple(value for value in values if value is not None), inner, cost, is_factor)


def _scalars(value: Any, steps: Steps) -> Iterator[tuple[Steps, str, int]]:
    """Numbers below a mapping, outside of pods, with the form of the expression that makes them."""
    if not isinstance(value, Mapping) or any(key in value for key in _OF_PODS):
        return
    for key, member in value.items():
        below = (*steps, key)
        if key in _NOT_OF_SPEC or isinstance(member, bool):
            continue
        if isinstance(member, int):
            yield below, _NUMBER, member
        elif isinstance(member, str):
            yield from ((below, form, number) for form, number in _in_text(member))
        elif isinstance(member, list):
            if not any(isinstance(one, dict) for one in member):
                yield below, _LENGTH, len(member)
        else:
            yield from _scalars(member, below)


def _in_text(text: str) -> Iterator[tuple[str, int]]:
    found = [int(one) for one in _DIGITS.findall(text) if len(one) < 7]
    if found and text.isascii() and text.isdigit():
        yield _TEXT, found[0]
    elif found and _SHORT.fullmatch(text) and not _is_quantity(text):
        yield _PRODUCT, prod(found)
        if len(found) > 1:
            yield _FIRST, found[0]
            yield _LAST, found[-1]


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except InputError:
        return False
    return True


def _cost(steps: Steps, to_pods: Steps) -> int:
    """Usual names beside the pods, or on the way to them, cost least; then what is near, then the rest."""
    shared = 0
    while shared < min(len(steps), len(to_pods)) and steps[shared] == to_pods[shared]:
        shared += 1
    beyond = len(steps) - shared - 1
    away = len(to_pods) - shared + beyond
    if steps[-1] in USUAL and not beyond:
        return USUAL.index(steps[-1]) + away
    return FAR + 10 * away
