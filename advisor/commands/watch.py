"""Looking at the clusters and taking advice: once, or again and again until everything has its place."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from advisor.accelerators import Accelerators
from advisor.advise import advise
from advisor.cluster import ClusterSnapshot
from advisor.commands import exits, fleet, progress, terminal
from advisor.commands.fleet import Fleet
from advisor.commands.given import Choosing
from advisor.commands.manifests import Asked
from advisor.definitions import variants
from advisor.errors import InputError
from advisor.kube.beside import laid_over
from advisor.kube.collect import Live, Source, collect, supplemented
from advisor.kube.conversation import Needs
from advisor.kube.progress import Progress
from advisor.question import Policy, Question
from advisor.verdict import FULL, REDUCED, UNKNOWN, Answer, Report
from advisor.workload import Workload

PAUSE = 5.0
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the clusters, and the answer that it led to; the workloads as these clusters would make them.

    `asked`: what is asked by the definitions of these clusters; None where no cluster was looked at.
    """

    clusters: tuple[ClusterSnapshot, ...]
    report: Report
    workloads: tuple[Workload, ...] = ()
    asked: Asked | None = None

    @property
    def code(self) -> int:
        return exits.worst(map(exit_code, self.report.answers))


def exit_code(answer: Answer) -> int:
    """An unknown cluster could be a yes, so it comes before a sure no; a full one may have room later."""
    verdicts = {verdict.verdict for verdict in answer.verdicts}
    if answer.choice:
        return exits.PLACED
    if UNKNOWN in verdicts:
        return exits.CANNOT_TELL
    return exits.NOT_NOW if verdicts & {FULL, REDUCED} else exits.NEVER


@dataclass(frozen=True, slots=True)
class Watch:
    """The same question to the same clusters, as often as it is asked.

    `brought`: objects beside the workloads in the manifests, which the clusters will have then.
    """

    asked: Asked
    brought: ClusterSnapshot
    planned: Fleet
    sources: tuple[Source, ...]
    choosing: Choosing
    accelerators: Accelerators
    no_color: bool = False

    def until_placed(self) -> Look:
        """The first look that places everything, or the last one before the time is over. Raises InputError."""
        patience = self.choosing.wait or 0.0
        if patience and not self._live:
            raise InputError("there is nothing to wait for", hint="every cluster is a recording, which never changes")
        end = time.monotonic() + patience
        said = ""
        look = self.look()
        while look.code != exits.PLACED and (left := end - time.monotonic()) > 0:
            said = self._pause(look, left, said)
            look = self.look()
        return look

    def look(self) -> Look:
        clusters, question, asked = self.ask()
        return Look(clusters, advise(question), question.workloads, asked)

    def ask(self) -> tuple[tuple[ClusterSnapshot, ...], Question, Asked]:
        """The clusters as they are read now, the question to them, and what is asked by their definitions."""
        names = [source.name for source in self.sources]
        with progress.reading(names, no_color=self.no_color) as advance:
            clusters, asked = self._read(advance)
            clusters, workloads = self._looked_up(clusters, asked)
        as_of = self._as_of(clusters)
        if self._max_age:
            clusters = tuple(fleet.with_stale_as_unknown(one, as_of, self._max_age) for one in clusters)
        question = Question(
            workloads=workloads,
            clusters=tuple(laid_over(one, self.brought) for one in clusters),
            policy=self.policy,
            as_of=as_of,
            accelerators=self.accelerators,
            assume_namespaces=self.planned.assume_namespaces,
        )
        return clusters, question, asked

    def _read(self, advance: Progress) -> tuple[tuple[ClusterSnapshot, ...], Asked]:
        """The snapshots, and what is asked once their own definitions are known; rarely that needs more of them."""
        needs = _needs(self.asked.sound)
        clusters = collect(self.sources, needs, self.accelerators, advance)
        asked = self.asked.informed(clusters)
        if asked is None:
            return clusters, self.asked
        wanted = _needs(asked.sound)
        if not needs.cover(wanted):
            clusters = collect(self.sources, wanted, self.accelerators, advance)
        return clusters, asked

    def _looked_up(
        self, clusters: tuple[ClusterSnapshot, ...], given: Asked
    ) -> tuple[tuple[ClusterSnapshot, ...], tuple[Workload, ...]]:
        """The workloads as each cluster would make them; what was found may refer to something else."""
        asked = set(variants.sought(self.asked.sound))
        workloads = variants.on_clusters(given.sound, given.again, clusters)
        while further := tuple(one for one in variants.sought(workloads) if one not in asked):
            found = collect(self.sources, Needs(references=further, alone=True, definitions=False), self.accelerators)
            clusters = tuple(supplemented(one, more) for one, more in zip(clusters, found, strict=True))
            workloads = variants.on_clusters(given.sound, given.again, clusters)
            asked |= {*further}
        return clusters, workloads

    @property
    def policy(self) -> Policy:
        """The file's, with what the command line says in its place."""
        stated, said = self.planned.policy, self.choosing
        return Policy(
            said.strategy or stated.strategy, said.prefer or stated.prefer, said.allow_reduced or stated.allow_reduced
        )

    @property
    def _max_age(self) -> float | None:
        return self.choosing.max_age or self.planned.max_age

    @property
    def _live(self) -> bool:
        return any(isinstance(source, Live) for source in self.sources)

    def _as_of(self, clusters: Sequence[ClusterSnapshot]) -> datetime:
        """Now; but recordings alone have a time of their own, so that they give the same answer for ever."""
        newest = max((cluster.taken_at for cluster in clusters if cluster.taken_at), default=None)
        return datetime.now(UTC) if self._live or self._max_age or newest is None else newest

    def _pause(self, look: Look, left: float, said: str) -> str:
        """Until the next look. Where lines stay, a state is said when it begins."""
        state = "; ".join(_state(answer) for answer in look.report.answers)
        with progress.waiting(f"{state}; {left:.0f} s left", no_color=self.no_color) as shown:
            if not shown and state != said:
                terminal.note(f"waiting: {state}", no_color=self.no_color)
            time.sleep(min(PAUSE, left))
        return state


def _state(answer: Answer) -> str:
    verdicts = ", ".join(f"{verdict.cluster} {verdict.verdict}" for verdict in answer.verdicts)
    return f"{answer.workload.title} {'placed' if answer.choice else verdicts}"


def _needs(workloads: Sequence[Workload]) -> Needs:
    templates = [role.template for workload in workloads for role in workload.roles]
    references = variants.sought(workloads)
    return Needs(
        namespaces=tuple(sorted({workload.namespace for workload in workloads})),
        volumes=bool(references) or any(template.volume_claims for template in templates),
        references=references,
    )
