"""Formats that every report has: the same tree as JSON or as YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from advisor import files
from advisor.render import json

TREES: Mapping[str, Callable[[json.Tree], str]] = {"json": json.text, "yaml": files.dump}
