"""Workloads as their definitions see them: in manifests, or live ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from advisor.commands import definitions, exits, fleet, live, manifests, podgroup, stored, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Clusters, Manifests, Output, Result
from advisor.commands.manifests import Asked
from advisor.errors import InputError
from advisor.render import describe, json
from advisor.render.podgroup import FORMATS
from advisor.render.style import Style
from advisor.workload import Workload

TEXTS: Mapping[str, Callable[[Sequence[Workload], Style], str]] = {
    "table": describe.describe,
    "wide": describe.wide,
    "name": describe.names,
}


def run(asking: Manifests, looking: Clusters, output: Output) -> Result:
    """Raises InputError for input that cannot be used at all. For manifests a cluster is only asked for definitions,
    and only where one is named, so none lends its namespace.
    """
    asked = _live(asking, looking, output) if live.are_meant(asking) else _written(asking, looking)
    manifests.say(asked, output)
    terminal.say(asked.open, no_color=output.no_color)
    code = exits.worst([*asked.codes, *[exits.CANNOT_TELL] * bool(asked.open)])
    if not asked.workloads:
        return Result("", code)
    if output.output == podgroup.FORMAT:
        return Result(
            podgroup.written([(one, _scheduler(output)) for one in asked.sound if not one.is_open], output), code
        )
    if output.output in TREES:
        return Result(TREES[output.output](json.workload_report(asked.workloads, asked.passed_over)), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(TEXTS[output.output](asked.workloads, style), code)


def _live(asking: Manifests, looking: Clusters, output: Output) -> Asked:
    """Where an object cannot be read, what is wrong with definitions may be why. Raises InputError."""
    seen = live.seen(asking, looking)
    if seen.faults:
        terminal.say(seen.warnings, severity="warning", no_color=output.no_color)
        raise InputError.of(seen.faults)
    return Asked(seen.workloads, {}, (), (), seen.warnings)


def _written(asking: Manifests, looking: Clusters) -> Asked:
    asked = manifests.asked(manifests.documents(asking.sources), asking, fleet.NAMESPACE)
    if not looking.context:
        return asked
    accelerators = definitions.accelerators()
    clusters = stored.read(fleet.plan(looking).sources(accelerators), accelerators)
    informed = asked.informed(clusters) or asked
    return replace(informed, warnings=(*informed.warnings, *stored.unread(clusters)))


def _scheduler(output: Output) -> str:
    if not output.scheduler:
        hint = f"name it with --for: {', '.join(FORMATS)}"
        raise InputError("no cluster is asked here that could tell which scheduler the gang is for", hint=hint)
    return output.scheduler
