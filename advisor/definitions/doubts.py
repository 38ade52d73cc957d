"""What a definition says that will probably not do what its author meant (definitions.md 3, rules 18 to 25).

Nothing here keeps a definition from being used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from advisor.definitions import expressions, schema
from advisor.definitions.schema import Component, Definition, ScaleDefinition, places
from advisor.errors import Fault


def about(definition: Definition, *, readable: bool) -> Iterator[Fault]:
    """All doubts; `readable` says that every expression of the definition can be read."""
    for rule in (*_ALWAYS, *(_ABOUT_EXPRESSIONS if readable else ())):
        yield from rule(definition)


def _unknown_answers(definition: Definition) -> Iterator[Fault]:
    for path, text in schema.expressions(definition):
        yield from (replace(fault, path=path) for fault in expressions.warnings(text))


def _suspend_values(definition: Definition) -> Iterator[Fault]:
    for path, component in places(definition):
        for field, actions in _actions(component):
            for i, action in enumerate(actions):
                if not _is_json(action.value):
                    hint = 'text needs its own quotes: "\\"Suspended\\""'
                    yield Fault("is not JSON text", (*path, "suspendDefinition", field, i, "value"), hint=hint)


def _actions(component: Component) -> Iterator[tuple[str, tuple[schema.Action, ...]]]:
    if component.suspend_definition:
        yield "suspendActions", component.suspend_definition.suspend_actions
        yield "resumeActions", component.suspend_definition.resume_actions


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _matchers(definition: Definition) -> Iterator[Fault]:
    """Rules 18 and 19."""
    for path, component in places(definition):
        status = component.status_definition
        for name, matchers in status.status_mappings if status else ():
            for i, matcher in enumerate(matchers):
                where = (*path, "statusDefinition", "statusMappings", name, i)
                if matcher == schema.StatusMatcher():
                    yield Fault("an empty matcher always matches", where)
                if matcher.by_phase is not None and status and not status.phase_definition:
                    yield Fault("never matches: there is no phaseDefinition", (*where, "byPhase"))
                if matcher.by_conditions and status and not status.conditions_definition:
                    yield Fault("never matches: there is no conditionsDefinition", (*where, "byConditions"))


def _scales(definition: Definition) -> Iterator[Fault]:
    """Rule 20, and the empty definitions of 2.6."""
    for path, component in places(definition):
        scale, spec = component.scale_definition, component.spec_definition
        if scale == ScaleDefinition():
            yield Fault("is empty, so no scale can be read", (*path, "scaleDefinition"))
        elif scale and scale.replicas_path is None:
            yield Fault("has no replicasPath, so the desired size is unknown", (*path, "scaleDefinition"))
        if spec and spec.fragmented_pod_spec_definition == schema.Fragments():
            yield Fault("is empty, so no pod can be read", (*path, "specDefinition", "fragmentedPodSpecDefinition"))


def _selectors(definition: Definition) -> Iterator[Fault]:
    """Rules 21 and 22: the pods of which leaf can be recognised?"""
    leaves = [(path, component) for path, component in places(definition) if component.is_leaf]
    if len(leaves) < 2:
        return
    for i, (path, leaf) in enumerate(leaves):
        selector = leaf.type_selector
        if selector is None:
            yield Fault("has no componentTypeSelector, so its pods cannot be recognised", (*path, "podSelector"))
        elif selector.value is None and not selector.match_labels:
            shadowed = [later.name for _, later in leaves[i + 1 :] if _key(later) == selector.key_path]
            if shadowed:
                message = f"only asks whether the key exists, so it takes the pods of {', '.join(shadowed)} too"
                yield Fault(message, (*path, "podSelector", "componentTypeSelector"))


def _key(component: Component) -> str | None:
    return component.type_selector.key_path if component.type_selector else None


def _shortened(definition: Definition) -> Iterator[Fault]:
    """Rule 23: values are given to instances by position, so a list that leaves one out gives it another's."""
    for path, component in places(definition):
        spec, scale = component.spec_definition, component.scale_definition
        fragments = spec.fragmented_pod_spec_definition if spec else None
        if component.instance_id_path is None:
            continue
        for field, part in (("specDefinition", fragments), ("scaleDefinition", scale)):
            inner = ("fragmentedPodSpecDefinition",) if part is fragments else ()
            for step, text in schema.expressions(part) if part else ():
                if expressions.may_shorten(text):
                    message = "may give fewer values than there are instances, and so give one the value of another"
                    yield Fault(message, (*path, field, *inner, *step))


def _lonely_metadata(definition: Definition) -> Iterator[Fault]:
    """Rule 24."""
    for path, component in places(definition):
        spec = component.spec_definition
        if spec and spec.metadata_path is not None and spec.pod_spec_path is None:
            yield Fault("is read only beside podSpecPath", (*path, "specDefinition", "metadataPath"))


def _precedence(definition: Definition) -> Iterator[Fault]:
    """Rule 25."""
    for path, component in places(definition):
        selector = component.type_selector
        if (
            selector
            and selector.key_path
            and selector.value is not None
            and expressions.has_alternative(selector.key_path)
        ):
            hint = "upstream appends == and the value: write ( ) around the path"
            message = "// binds weaker than the comparison with the value"
            yield Fault(message, (*path, "podSelector", "componentTypeSelector", "keyPath"), hint=hint)


_ALWAYS: tuple[Callable[[Definition], Iterable[Fault]], ...] = (
    _suspend_values,
    _matchers,
    _scales,
    _selectors,
    _lonely_metadata,
)
_ABOUT_EXPRESSIONS: tuple[Callable[[Definition], Iterable[Fault]], ...] = (_unknown_answers, _shortened, _precedence)
