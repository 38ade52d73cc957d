"""The schemas that are shipped, and whether a report keeps to them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError  # type: ignore[import-untyped]
from referencing import Registry, Resource

NAMES = {
    "PlacementReport": "placement-report",
    "WorkloadReport": "workload-report",
    "ScenarioReport": "scenario-report",
    "DefinitionList": "definition-list",
    "DefinitionCheck": "definition-check",
    "DefinitionTest": "definition-test",
}

__all__ = ["ValidationError", "check", "validator"]


@cache
def validator(kind: str) -> Any:
    """Of a kind of report."""
    schema = _schema(NAMES[kind])
    Draft202012Validator.check_schema(schema)
    found = [Resource.from_contents(_schema(name)) for name in NAMES.values()]
    registry: Registry[Any] = Registry().with_resources((one.id() or "", one) for one in found)
    return Draft202012Validator(schema, format_checker=FormatChecker(), registry=registry)


def _schema(name: str) -> Any:
    return json.loads(files("advisor.render").joinpath(f"schemas/{name}.schema.json").read_text())


def check(report: Any) -> Any:
    """The report itself, once it has been found valid."""
    validator(report["kind"]).validate(report)
    return report
