"""The main job: what is asked, on the clusters that are named, as a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

from advisor.cluster import ClusterSnapshot
from advisor.commands import definitions, exits, fleet, manifests, podgroup, stored, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Choosing, Clusters, Manifests, Output, Result
from advisor.commands.manifests import Asked
from advisor.commands.watch import Look, Watch
from advisor.definitions import reading, variants
from advisor.errors import Fault, InputError
from advisor.kube import beside
from advisor.question import Policy
from advisor.render import json, table
from advisor.render.style import Style
from advisor.verdict import Answer, Report
from advisor.workload import Workload

TEXTS: Mapping[str, Callable[[Report, Style], str]] = {"table": table.table, "wide": table.wide, "name": table.names}


def run(asking: Manifests, looking: Clusters, choosing: Choosing, output: Output) -> Result:
    """Raises InputError for input that cannot be used at all; a workload that cannot be read stands in the report."""
    if choosing.wait and looking.from_snapshot:
        raise InputError("--wait and --from-snapshot contradict each other", hint="a recording does not change")
    watch, asked = watching(asking, looking, choosing, output)
    if watch is None:
        return _nothing_asked(asked, output)
    look = watch.until_placed()
    say(watch, look.clusters, output)
    manifests.say_more(look.asked or asked, asked, output)
    manifests.say_of_clusters(look.workloads, output)
    return printed(look, look.asked or asked, output)


def watching(asking: Manifests, looking: Clusters, choosing: Choosing, output: Output) -> tuple[Watch | None, Asked]:
    """The question to the clusters, which are not read yet; None where nothing sound is asked."""
    documents = manifests.documents(asking.sources)
    planned = fleet.plan(looking)
    if output.verbose:
        terminal.note(planned.origin, no_color=output.no_color)
    asked = manifests.asked(documents, asking, planned.namespace)
    accelerators = definitions.accelerators()
    if asked.missing and not asked.sound:
        asked = asked.informed(stored.read(planned.sources(accelerators), accelerators)) or asked
    manifests.say(asked, output, asking=True)
    if not asked.sound:
        return None, asked
    sources = planned.sources(accelerators, variants.sought(asked.sound))
    brought = beside.brought(reading.members(documents), asking.namespace or planned.namespace)
    return Watch(asked, brought, planned, sources, choosing, accelerators, output.no_color), asked


def say(watch: Watch, clusters: Sequence[ClusterSnapshot], output: Output) -> None:
    """On stderr: what to know of the clusters before an answer is believed."""
    _say_what_was_recorded(clusters, output)
    _say_which_are_the_same(clusters, output)
    _say_what_nobody_offers(watch.policy, clusters, output)


def _say_what_was_recorded(clusters: Sequence[ClusterSnapshot], output: Output) -> None:
    """What to know of how clusters were recorded, each thing once."""
    of: dict[str, list[str]] = {}
    for cluster in clusters:
        for text in cluster.notes:
            of.setdefault(text, []).append(cluster.name)
    notes = [Fault(f"{', '.join(names)}: {text}") for text, names in of.items()]
    terminal.say(notes, severity="note", no_color=output.no_color)


def _say_which_are_the_same(clusters: Sequence[ClusterSnapshot], output: Output) -> None:
    """One cluster under two names has its room only once."""
    for one, other in combinations(clusters, 2):
        if one.is_the_same_as(other):
            text = f"{one.name} and {other.name} are the same cluster: what is placed on one is taken from both"
            terminal.note(text, no_color=output.no_color)


def _say_what_nobody_offers(policy: Policy, clusters: Sequence[ClusterSnapshot], output: Output) -> None:
    """Only a clusters.yaml gives labels to clusters, so that a preference may be without effect."""
    offered = {pair for cluster in clusters for pair in cluster.labels}
    for key, value in policy.prefer:
        if (key, value) not in offered:
            text = f"no cluster has the label {key}={value} that is preferred: labels are those of clusters.yaml"
            terminal.note(text, no_color=output.no_color)


def _nothing_asked(asked: Asked, output: Output) -> Result:
    """Programs get their report, with what is wrong, also where no cluster needed to be looked at."""
    if output.output not in TREES or not asked.workloads:
        return Result("", exits.worst(asked.codes))
    return printed(Look((), Report(datetime.now(UTC), ())), asked, output)


def printed(look: Look, asked: Asked, output: Output) -> Result:
    code = _code(look, asked)
    if output.output == podgroup.FORMAT:
        return Result(podgroup.of_placed(look.report.answers, look.clusters, output), code)
    if output.output in TREES:
        return Result(TREES[output.output](tree(look, asked)), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(TEXTS[output.output](_report(look, asked), style), code)


def tree(look: Look, asked: Asked) -> json.Tree:
    """The PlacementReport."""
    return json.placement_report(_report(look, asked), _code(look, asked), asked.passed_over, recorded(look))


def recorded(look: Look) -> dict[str, tuple[str, ...]]:
    """What to know of how each cluster was recorded."""
    return {cluster.name: cluster.notes for cluster in look.clusters}


def _code(look: Look, asked: Asked) -> int:
    return exits.worst([look.code, *asked.codes])


def _report(look: Look, asked: Asked) -> Report:
    return replace(look.report, answers=tuple(_in_order(asked.workloads, look.report.answers)))


def _in_order(workloads: Sequence[Workload], answers: Sequence[Answer]) -> Iterator[Answer]:
    """An answer for every workload; one that could not be read has no verdicts."""
    given = iter(answers)
    for workload in workloads:
        yield Answer(workload, (), None) if workload.faults else next(given)
