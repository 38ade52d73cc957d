"""A manifest whose pods are only looked at: they name a scheduler that does not exist, so that no node takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from advisor.definitions import rules, suspend
from advisor.definitions.engine import prepare
from advisor.definitions.examples import Trial
from advisor.definitions.layers import Entry
from advisor.definitions.tree import leaves
from advisor.errors import InputError

NOBODY = "wm-place-nobody"
"""That scheduler."""

Object = Mapping[str, Any]


def back(entry: Entry, manifest: Object) -> Object:
    """The manifest, resumed, with every pod to which a path of the definition leads held back. Raises InputError."""
    given = suspend.resumed(entry.definition, prepare(dict(manifest)), entry.origin.engine)
    data: dict[str, Any] = deepcopy(given.data)
    for component in leaves(entry.definition):
        spec = component.spec_definition
        template, pod = (spec.pod_template_spec_path, spec.pod_spec_path) if spec else (None, None)
        for text, inner in ((template, "spec"), (pod, "")):
            for path, value in rules.places(text, given, entry.origin.engine) if text else ():
                if isinstance(value, dict):
                    found = _at(data, (*path, inner) if inner else path)
                    found["schedulerName"] = NOBODY
    return data


def _at(data: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        data = data.setdefault(step, {}) if isinstance(data, dict) else data[step]
    return data


def loose(trial: Trial, manifest: Object) -> tuple[str, ...]:
    """Roles of an example that a scheduler or a node may take though its manifest is held back: their pods are put
    together of parts or added, their controller chooses the scheduler, or they name a node.
    """
    held = replace(trial, example=trial.example.model_copy(update={"manifest": manifest}))
    try:
        roles = held.workload().roles
    except InputError:
        roles = trial.workload().roles
    return tuple(one.name for one in roles if one.template.scheduler != NOBODY or one.template.node_name)
