"""A live object's status in upstream's nine words (definitions.md 7).

Several may match; none of them decides whether a manifest is pending (many definitions match a manifest without
status). Mirrors karta `pkg/resource` (`ExtractStatus`, `matchStatus`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.definitions import schema, shapes
from advisor.definitions.engine import Engine, Prepared
from advisor.errors import InputError, at

UNDEFINED = "Undefined"


@dataclass(frozen=True, slots=True)
class Condition:
    type: str = ""
    status: str | None = None
    reason: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """`phase` None: the definition names none, or its path gives nothing. `matched` is never empty."""

    phase: str | None
    conditions: tuple[Condition, ...]
    matched: tuple[str, ...]


def read(definition: schema.Definition, document: Prepared, engine: Engine) -> Status:
    """Raises InputError when any path or expression of the root's statusDefinition fails."""
    defined = definition.root.status_definition
    if defined is None:
        return Status(None, (), (UNDEFINED,))
    phase = None
    if defined.phase_definition:
        with at("statusDefinition", "phaseDefinition"):
            phase = _phase(engine.evaluate(defined.phase_definition.path, document))
    conditions: tuple[Condition, ...] = ()
    if defined.conditions_definition:
        with at("statusDefinition", "conditionsDefinition"):
            conditions = _conditions(defined.conditions_definition, document, engine)
    facts = _Facts(phase, {condition.type: condition for condition in conditions}, document, engine)
    matched = []
    for name, matchers in defined.status_mappings:
        with at("statusDefinition", "statusMappings", name):
            if any(facts.match(matcher) for matcher in matchers):
                matched.append(name.capitalize())
    return Status(phase, conditions, tuple(matched) or (UNDEFINED,))


def _phase(outputs: Sequence[Any]) -> str | None:
    for output in outputs:
        shapes.check(output, str)
    return (outputs[0] or "") if outputs else None


def _conditions(defined: schema.ConditionsDefinition, document: Prepared, engine: Engine) -> tuple[Condition, ...]:
    outputs = engine.evaluate(defined.path, document)
    for output in outputs:
        shapes.check(output, [{}])
    found = (condition or {} for output in outputs for condition in output or ())
    return tuple(_condition(defined, condition) for condition in found)


def _condition(defined: schema.ConditionsDefinition, condition: Mapping[str, Any]) -> Condition:
    """A value that is not text counts as missing, as in upstream."""
    texts = {name: value for name, value in condition.items() if isinstance(value, str)}
    return Condition(
        texts.get(defined.type_field_name, ""),
        texts.get(defined.status_field_name),
        texts.get(defined.reason_field_name),
        texts.get(defined.message_field_name),
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    phase: str | None
    conditions: Mapping[str, Condition]
    document: Prepared
    engine: Engine

    def match(self, matcher: schema.StatusMatcher) -> bool:
        """All that the matcher has must hold; an empty one always does."""
        return (
            (matcher.by_phase is None or matcher.by_phase == self.phase)
            and all(self._has(condition) for condition in matcher.by_conditions)
            and (matcher.by_expression is None or self._answers(matcher.by_expression))
        )

    def _has(self, wanted: schema.ConditionMatcher) -> bool:
        found = self.conditions.get(wanted.type)
        if found is None:
            return False
        return wanted.status in (None, "", found.status) and wanted.reason in (None, "", found.reason)

    def _answers(self, wanted: schema.ExpressionMatcher) -> bool:
        """Upstream's text, in which the expected result stands unescaped. Only the first output counts."""
        text = f'({wanted.expression}) | tostring == "{wanted.expected_result}"'
        outputs = self.engine.evaluate(text, self.document)
        if not outputs or outputs[0] is None:
            return False
        if not isinstance(outputs[0], bool):
            raise InputError("gives neither true nor false")
        return outputs[0]
