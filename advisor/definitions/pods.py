"""Which component, instance, replica and gang does a running pod belong to (definitions.md 6)?

Every expression here is evaluated on the pod. Mirrors karta `pkg/resource/pod_querier.go`, `pkg/instructions/pod.go`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from advisor.definitions import tree
from advisor.definitions.engine import Engine, Prepared
from advisor.definitions.extract import SINGLE, Extraction
from advisor.definitions.schema import Component, ComponentTypeSelector, Definition
from advisor.errors import InputError


def component(definition: Definition, pod: Prepared, engine: Engine) -> Component:
    """The component whose pod this is. Raises InputError when there is none."""
    leaves = tree.leaves(definition)
    if len(leaves) == 1:
        return leaves[0]
    for leaf in leaves:
        if leaf.type_selector and matches(leaf.type_selector, pod, engine):
            return leaf
    raise InputError("the pod belongs to no component of the definition")


def matches(selector: ComponentTypeSelector, pod: Prepared, engine: Engine) -> bool:
    labels = (pod.data.get("metadata") or {}).get("labels") or {}
    if not (selector.match_labels or {}).items() <= labels.items():
        return False
    if selector.key_path is None:
        return True
    if selector.value is None:
        return any(output is not None for output in engine.evaluate(selector.key_path, pod))
    # upstream's text: without parentheses, so a // or an `and` in the path takes the comparison with it
    return True in engine.evaluate(f"{selector.key_path} == {json.dumps(selector.value)}", pod)


def instance(extraction: Extraction, found: Component, pod: Prepared) -> str:
    """The id of the pod's instance; empty when the component has no instances. Raises InputError when none fits."""
    return instance_among(extraction.ids(found.name), found, pod, extraction.engine)


def instance_among(ids: Sequence[str], found: Component, pod: Prepared, engine: Engine) -> str:
    """As `instance`, where the ids are known otherwise than from the object as it is written."""
    if not ids or ids[0] == SINGLE or found.pod_selector is None:
        return SINGLE
    if found.instance_selector is None:
        raise InputError(f"{found.name} has instances and no componentInstanceSelector")
    own = _one(found.instance_selector.id_path, pod, engine)
    if own not in ids:
        raise InputError(f"{found.name} has no instance {own}, only {', '.join(ids)}")
    return own


def replica(found: Component, pod: Prepared, engine: Engine) -> str | None:
    """The key that pods of one replica share; None when the component has no replicaSelector."""
    selector = found.pod_selector.replica_selector if found.pod_selector else None
    return _one(selector.key_path, pod, engine) if selector and selector.key_path else None


def passes(filters: Sequence[str], pod: Prepared, engine: Engine) -> bool:
    return all(_single(text, pod, engine) is True for text in filters)


def keys(paths: Sequence[str], pod: Prepared, engine: Engine) -> tuple[str, ...]:
    return tuple(_one(path, pod, engine) for path in paths)


def _one(path: str, pod: Prepared, engine: Engine) -> str:
    value = _single(path, pod, engine)
    return value if isinstance(value, str) else json.dumps(value)


def _single(text: str, pod: Prepared, engine: Engine) -> Any:
    outputs = engine.evaluate(text, pod)
    if len(outputs) != 1 or outputs[0] in (None, ""):
        raise InputError("must give one value that is not empty", hint=text)
    return outputs[0]
