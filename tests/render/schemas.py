"""The schemas that are shipped, and whether a report keeps to them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError  # type: ignore[import-untyped]

__all__ = ["ValidationError", "check", "validator"]


@cache
def validator(kind: str) -> Any:
    """Of `PlacementReport` or `WorkloadReport`."""
    name = {"PlacementReport": "placement-report", "WorkloadReport": "workload-report"}[kind]
    schema = json.loads(files("advisor.render").joinpath(f"schemas/{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def check(report: Any) -> Any:
    """The report itself, once it has been found valid."""
    validator(report["kind"]).validate(report)
    return report
