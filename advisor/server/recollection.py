"""What trials came to, remembered while the snapshots that they looked at are in use.

Many reviews ask for the same pods under other names. What a trial comes to hangs on the workload's pods, its kind and
its namespace, and on the snapshot; never on its name, and on labels only where an (anti-)affinity term could see them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from advisor.cluster import ClusterSnapshot
from advisor.errors import Where
from advisor.memo import Judged
from advisor.trial import Trial
from advisor.workload import Workload

MOST = 512
"""Trials remembered per snapshot; a fleet sees few shapes of gangs between two reads."""

NOWHERE = Where("")


@dataclass
class _Page:
    """What is remembered of one snapshot."""

    snapshot: ClusterSnapshot
    labels_matter: bool
    found: dict[str, Judged] = field(default_factory=dict)


class Recollection:
    """A memo for questions that differ in workloads and snapshots only. Not for several threads."""

    def __init__(self) -> None:
        self._pages: dict[str, _Page] = {}
        self._asked: Workload | None = None
        self._keys = {True: "", False: ""}

    def recall(self, trial: Trial, find: Callable[[Trial], Judged]) -> Judged:
        page = self._page(trial.cluster)
        key = self._key(trial.workload, page.labels_matter)
        if key not in page.found:
            if len(page.found) >= MOST:
                page.found.clear()
            page.found[key] = find(trial)
        return page.found[key]

    def _page(self, snapshot: ClusterSnapshot) -> _Page:
        """Another snapshot of the same cluster begins another page."""
        page = self._pages.get(snapshot.name)
        if page is None or page.snapshot is not snapshot:
            page = self._pages[snapshot.name] = _Page(snapshot, _is_selective(snapshot))
        return page

    def _key(self, workload: Workload, labels_matter: bool) -> str:
        """Written down once for all clusters of a question."""
        if self._asked is not workload:
            own = replace(workload, name="", source=NOWHERE, labels=(), notes=())
            selects = any(role.template.affinity or role.template.anti_affinity for role in own.roles)
            self._asked = workload
            self._keys = {True: repr(own), False: repr(own if selects else _without_labels(own))}
        return self._keys[labels_matter]


def _is_selective(snapshot: ClusterSnapshot) -> bool:
    """May a pod that is there, or is expected, keep others away by their labels?"""
    there = any(pods.anti_affinity for pods in snapshot.pods)
    return there or any(pending.anti_affinity for pending in snapshot.nominated)


def _without_labels(workload: Workload) -> Workload:
    roles = (replace(role, template=replace(role.template, labels=())) for role in workload.roles)
    return replace(workload, roles=tuple(roles))
