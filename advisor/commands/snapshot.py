"""Record clusters to a file that every other command accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from advisor.cluster import ClusterSnapshot
from advisor.commands import definitions, exits, fleet, progress, terminal
from advisor.commands.given import Clusters, Output, Result
from advisor.errors import Fault
from advisor.kube import recorded, recording
from advisor.kube.collect import collect
from advisor.kube.conversation import Needs
from advisor.workload import Reference

STDOUT = ("", "-")
NOTHING = ("cluster", "nodes", "pods")
"""Gaps with which a snapshot says nothing of what fits."""


def run(looking: Clusters, namespaces: tuple[str, ...], path: str, output: Output) -> Result:
    """Raises InputError for flags and files. Nothing is written where no cluster could be read."""
    planned = fleet.plan(looking)
    if output.verbose:
        terminal.note(planned.origin, no_color=output.no_color)
    accelerators = definitions.accelerators()
    sources = planned.sources(accelerators, definitions.referred())
    names = [source.name for source in sources]
    needs = Needs(namespaces or None, references=tuple(_referred(namespaces)))
    with progress.reading(names, no_color=output.no_color) as advance:
        clusters = collect(sources, needs, accelerators, advance)
    unread = [cluster for cluster in clusters if any(cluster.gap(what) for what in NOTHING)]
    _say(clusters, len(clusters) - len(unread), output)
    code = exits.CANNOT_TELL if unread else exits.PLACED
    if len(unread) == len(clusters):
        return Result("", code)
    if path in STDOUT:
        return Result(recording.encode(clusters).decode(), code)
    recorded.write(Path(path).expanduser(), clusters)
    return Result("", code)


def _referred(namespaces: Sequence[str]) -> Iterator[Reference]:
    """All objects to which a workload may refer, of these namespaces; of all of them where none is named."""
    for kind in definitions.referred():
        yield from (kind.within(namespace) for namespace in namespaces or ("",))


def _say(clusters: Sequence[ClusterSnapshot], read: int, output: Output) -> None:
    """What will be missing in every answer from this recording."""
    gaps = [Fault(f"{cluster.name}, {gap.what}: {gap.text}") for cluster in clusters for gap in cluster.gaps]
    terminal.say(gaps, severity="warning", no_color=output.no_color)
    terminal.note(f"{read} of {len(clusters)} clusters read", no_color=output.no_color)
