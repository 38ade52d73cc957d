"""Scenarios: the answer before and after changes to the clusters or to what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from advisor import files
from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.commands import editing, exits, manifests, place, podgroup, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Choosing, Clusters, Editing, Manifests, Output, Result
from advisor.commands.manifests import Asked
from advisor.commands.watch import Look, exit_code
from advisor.errors import Fault, InputError, Where
from advisor.question import Question
from advisor.render import comparison, json
from advisor.render.style import Style
from advisor.verdict import Comparison
from advisor.whatif import schema, sizes
from advisor.whatif.compare import compare
from advisor.whatif.scenario import Scenario, Step
from advisor.workload import Workload

TEXTS: Mapping[str, Callable[[Sequence[Comparison], Style], str]] = {
    "table": comparison.table,
    "wide": comparison.wide,
    "name": comparison.names,
}


def run(path: str, asking: Manifests, looking: Clusters, choosing: Choosing, output: Output) -> Result:
    """Raises InputError for a scenario that cannot be used, with its file and line."""
    _refuse_waiting(choosing)
    scenario = _scenario(path)
    asking = replace(asking, manifests=tuple(asked.file for asked in scenario.workloads))
    watch, asked = place.watching(asking, _base(scenario, looking), choosing, output)
    if watch is None or asked.faults:
        return Result("", exits.worst(asked.codes))
    clusters, question, informed = watch.ask()
    place.say(watch, clusters, output)
    manifests.say_more(informed, asked, output)
    manifests.say_of_clusters(question.workloads, output)
    if informed.faults:
        return Result("", exits.worst(informed.codes))
    question = replace(question, workloads=_copied(question, scenario))
    asked = replace(asked, workloads=question.workloads)
    with scenario.document.faults():
        return answered(question, clusters, scenario.steps, asked, output)


def place_otherwise(
    asking: Manifests, looking: Clusters, choosing: Choosing, output: Output, otherwise: Editing
) -> Result:
    """The main job with edits from the command line: one step. Raises InputError as `place.run` does."""
    _refuse_waiting(choosing)
    if output.output == podgroup.FORMAT:
        raise InputError("-o podgroup writes what is asked of a cluster as it is", hint="leave the edits out")
    step = editing.step(otherwise)
    watch, asked = place.watching(asking, looking, choosing, output)
    if watch is None:
        return Result("", exits.worst(asked.codes))
    clusters, question, informed = watch.ask()
    place.say(watch, clusters, output)
    manifests.say_more(informed, asked, output)
    manifests.say_of_clusters(question.workloads, output)
    return answered(question, clusters, (step,), replace(informed, workloads=informed.sound), output)


def _refuse_waiting(choosing: Choosing) -> None:
    if choosing.wait:
        raise InputError("--wait has nothing to wait for", hint="an edited cluster does not change")


def answered(
    question: Question, clusters: Sequence[ClusterSnapshot], steps: Sequence[Step], asked: Asked, output: Output
) -> Result:
    """The answer before and after the steps; a question without steps is answered as any other."""
    look = Look(tuple(clusters), advise(question))
    if not steps:
        return place.printed(look, asked, output)
    compared = compare(question, steps, look.report)
    code = exits.worst([_code(compared, steps), *asked.codes])
    if output.output in TREES:
        tree = json.scenario_report(place.tree(look, asked), compared, code, place.recorded(look))
        return Result(TREES[output.output](tree), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(TEXTS[output.output](compared, style), code)


def _code(compared: Sequence[Comparison], steps: Sequence[Step]) -> int:
    """A scenario that expects something is a test; any other is as good as its last answer."""
    if any(step.expect for step in steps):
        return exits.NOT_NOW if any(step.unmet for step in compared) else exits.PLACED
    return exits.worst(map(exit_code, compared[-1].after.answers))


def _scenario(path: str) -> Scenario:
    source = manifests.source(path)
    found = files.documents(source)
    if len(found) != 1:
        raise InputError.of([Fault(f"holds {len(found)} documents, a Scenario is one", where=Where(source.name))])
    return schema.scenario(found[0])


def _base(scenario: Scenario, looking: Clusters) -> Clusters:
    """What the user names comes before the scenario's own base."""
    named = looking.clusters or looking.from_snapshot or looking.context or looking.all_contexts or looking.kubeconfig
    if named:
        return looking
    return replace(looking, clusters=scenario.clusters, from_snapshot=scenario.snapshots)


def _copied(question: Question, scenario: Scenario) -> tuple[Workload, ...]:
    found: list[Workload] = []
    for workload in question.workloads:
        path = PurePath(workload.source.file)
        counts = (asked.copies for asked in scenario.workloads if path.is_relative_to(asked.file))
        found += sizes.copies(workload, next(counts, 1))
    return tuple(found)
