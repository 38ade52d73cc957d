"""Workloads as their definitions see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from advisor.commands import exits, fleet, manifests, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Manifests, Output, Result
from advisor.render import describe, json
from advisor.render.style import Style
from advisor.workload import Workload

TEXTS: Mapping[str, Callable[[Sequence[Workload], Style], str]] = {
    "table": describe.describe,
    "wide": describe.wide,
    "name": describe.names,
}


def run(asking: Manifests, output: Output) -> Result:
    """Raises InputError for input that cannot be used at all. No cluster is asked, so none lends its namespace."""
    asked = manifests.asked(manifests.documents(asking.sources), asking, fleet.NAMESPACE)
    manifests.say(asked, output)
    terminal.say(asked.open, no_color=output.no_color)
    code = exits.worst([*asked.codes, *[exits.CANNOT_TELL] * bool(asked.open)])
    if not asked.workloads:
        return Result("", code)
    if output.output in TREES:
        return Result(TREES[output.output](json.workload_report(asked.workloads, asked.passed_over)), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(TEXTS[output.output](asked.workloads, style), code)
