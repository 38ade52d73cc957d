"""Node names, many of them, in few characters: `gpu-[01-04,07]`, as Slurm writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_NUMBERED = re.compile(r"(?P<head>[^.]*?)(?P<number>[0-9]{1,15})(?P<tail>(\..*)?)", re.DOTALL)
"""A first DNS label that ends in digits."""


def compact(names: Iterable[str]) -> str:
    """All names, sorted, those that differ by their number only drawn together."""
    found: dict[tuple[str, str], list[str]] = {}
    whole = []
    for name in sorted(set(names)):
        match = _NUMBERED.fullmatch(name)
        if match:
            found.setdefault((match["head"], match["tail"]), []).append(match["number"])
        else:
            whole.append(name)
    ranges = (_bracketed(head, numbers, tail) for (head, tail), numbers in found.items())
    return ", ".join(sorted([*whole, *ranges]))


def _bracketed(head: str, numbers: list[str], tail: str) -> str:
    if len(numbers) == 1:
        return f"{head}{numbers[0]}{tail}"
    runs: list[list[str]] = []
    for number in sorted(numbers, key=lambda digits: (int(digits), len(digits))):
        if runs and _follows(runs[-1][-1], number):
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = (run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"{head}[{','.join(parts)}]{tail}"


def _follows(one: str, other: str) -> bool:
    """Is `other` the next number in the same notation? 09 is followed by 10, 9 by 10, and 009 by neither."""
    padded = one[0] == "0" or other[0] == "0"
    return int(other) == int(one) + 1 and (len(one) == len(other) or not padded)


def assigned(nodes: Mapping[str, int]) -> str:
    """Node → pods as ranges; counts are written where a node takes more than one pod."""
    by_count: dict[int, list[str]] = {}
    for node, count in nodes.items():
        by_count.setdefault(count, []).append(node)
    if list(by_count) == [1]:
        return compact(nodes)
    parts = sorted(by_count.items(), reverse=True)
    return "; ".join(f"{count} {'each on' if len(names) > 1 else 'on'} {compact(names)}" for count, names in parts)
