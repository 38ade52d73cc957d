"""Edits as options say them: CLUSTER=WHAT, which a cluster's own name cannot contain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields

from advisor.commands import selector
from advisor.commands.given import Editing
from advisor.errors import Faults, InputError
from advisor.whatif import edits
from advisor.whatif.edits import Edit, Which
from advisor.whatif.scenario import Step
from advisor.whatif.schema import limits

Reader = Callable[[str], Edit]


def step(given: Editing) -> Step:
    """All edits, in the order of the options in the help. Raises InputError for all that cannot be read."""
    faults = Faults()
    found: list[Edit] = []
    options: list[str] = []
    for option, text, read in _stated(given):
        with faults.collect(option):
            found.append(read(text))
            options.append(option)
    faults.raise_if_any()
    return Step("what if", tuple(found), options=tuple(options))


def _stated(given: Editing) -> Iterator[tuple[str, str, Reader]]:
    for field in fields(given):
        for text in getattr(given, field.name):
            yield f"--{field.name.replace('_', '-')}", text, READERS[field.name]


def _add_nodes(text: str) -> Edit:
    cluster, what = _two(text, "CLUSTER=COUNTxNODE", "eu-h200=2xgpu-001")
    count, x, node = what.partition("x")
    if not (x and node and count.isascii() and count.isdigit() and len(count) < 6):
        raise InputError(f'"{what}" is not COUNTxNODE', hint="how many nodes, and which node they are like: 2xgpu-001")
    return edits.AddNodes(cluster, int(count), node)


def _which(text: str) -> Which:
    """A word is the name of a node, everything else a label selector."""
    cluster, what = _two(text, "CLUSTER=NODE or CLUSTER=SELECTOR", "eu-h200=gpu-001 or eu-h200=rack=r7")
    if any(sign in what for sign in "=!<> ,"):
        return Which(cluster, selector=selector.parse(what))
    return Which(cluster, (what,))


def _replicas(text: str) -> Edit:
    role, count = _two(text, "ROLE=N", "worker=4")
    if not (count.isascii() and count.isdigit() and len(count) < 6):
        raise InputError(f'"{count}" is not a number of pods')
    return edits.Replicas(role, int(count))


def _quota(text: str) -> Edit:
    cluster, what = _two(text, "CLUSTER=NAMESPACE/KEY=VALUE", "eu-h200=research/requests.nvidia.com/gpu=16")
    namespace, slash, limit = what.partition("/")
    key, equals, value = limit.rpartition("=")
    if not (namespace and slash and key and equals and value):
        hint = "such as research/requests.nvidia.com/gpu=16"
        raise InputError(f'"{what}" is not NAMESPACE/KEY=VALUE', hint=hint)
    return edits.SetQuota(cluster, namespace, limits({key: value}))


def _without(text: str) -> Edit:
    return edits.RemovePods(*_two(text, "CLUSTER=NAMESPACE", "eu-h200=serving"))


def _two(text: str, form: str, example: str) -> tuple[str, str]:
    first, equals, rest = text.partition("=")
    if not (first and equals and rest):
        raise InputError(f'"{text}" is not {form}', hint=f"such as {example}")
    return first, rest


READERS: dict[str, Reader] = {
    "add_nodes": _add_nodes,
    "drain": lambda text: edits.Drain(_which(text)),
    "cordon": lambda text: edits.Cordon(_which(text)),
    "lose_cluster": edits.LoseCluster,
    "replicas": _replicas,
    "quota": _quota,
    "without": _without,
}
"""Field of `Editing` → what reads its texts."""
