"""A suspended object is the normal pending one: it is sized as if resumed (definitions.md 8)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from advisor.definitions import rules
from advisor.definitions.engine import Engine, Prepared, prepare
from advisor.definitions.schema import Action, Definition
from advisor.errors import InputError, Path, at


def resumed(definition: Definition, document: Prepared, engine: Engine) -> Prepared:
    """A copy of the object to which the resumeActions of every component were applied, in order."""
    for component in definition.components:
        for i, action in enumerate(component.suspend_definition.resume_actions if component.suspend_definition else ()):
            with at("suspendDefinition", "resumeActions", i):
                document = _assigned(action, document, engine)
    return document


def suspended(definition: Definition, document: Prepared, engine: Engine) -> bool:
    """Does the object as a whole say already what its suspendActions would make it say?

    An action that cannot be read is no sign of it.
    """
    stated = definition.root.suspend_definition
    try:
        return stated is not None and all(_says(action, document, engine) for action in stated.suspend_actions)
    except (InputError, ValueError):
        return False


def path(definition: Definition) -> str:
    """Where the object says that it is suspended, "" where it cannot."""
    stated = definition.root.suspend_definition
    return stated.suspend_actions[0].path.lstrip(".") if stated else ""


def misstated(definition: Definition, document: Prepared, engine: Engine) -> Iterator[tuple[Path, Any]]:
    """Where something else stands than the true or false that the definition writes there."""
    stated = definition.root.suspend_definition
    for action in stated.suspend_actions if stated else ():
        if action.value.strip() in ("true", "false"):
            found = rules.places(action.path, document, engine)
            yield from ((path, value) for path, value in found if value is not None and not isinstance(value, bool))


def _says(action: Action, document: Prepared, engine: Engine) -> bool:
    wanted = json.dumps(json.loads(action.value))
    found = engine.evaluate(action.path, document)
    return bool(found) and all(json.dumps(one) == wanted for one in found)


def _assigned(action: Action, document: Prepared, engine: Engine) -> Prepared:
    try:
        value = json.loads(action.value)
    except ValueError:
        raise InputError("is not JSON text", path=("value",)) from None
    engine.compile(action.path)
    (result,) = engine.evaluate(f"({action.path}\n) = $value", document, variables={"value": value}, edits=True)
    return prepare(result)
