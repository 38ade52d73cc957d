"""What trials came to, remembered while the snapshots that they looked at are in use.

Many reviews ask for the same pods under other names. What a trial comes to hangs on the workload's pods, its kind and
its namespace, and on the snapshot; on its name and on labels only where an (anti-)affinity term could see them, or
where a quota counts pods of it that are there already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from advisor.cluster import ClusterSnapshot
from advisor.errors import Where
from advisor.memo import Judged
from advisor.trial import Trial
from advisor.workload import Workload

MOST = 512
"""Trials remembered per snapshot; a fleet sees few shapes of gangs between two reads."""

LARGEST = 16 << 20
"""Characters that everything remembered has, written down: few of the largest, thousands of the usual ones."""

NOWHERE = Where("")


@dataclass
class _Page:
    """What is remembered of one snapshot.

    selective  may pods that are there, or expected, keep others away by their labels?
    limited    namespaces with a quota
    size       characters of what is found
    """

    snapshot: ClusterSnapshot
    selective: bool
    limited: frozenset[str]
    found: dict[bytes, Judged] = field(default_factory=dict)
    size: int = 0

    def forget(self) -> None:
        self.found.clear()
        self.size = 0


class Recollection:
    """A memo for questions that differ in workloads and snapshots only. Not for several threads."""

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._pages: dict[str, _Page] = {}
        self._asked: Workload | None = None
        self._keys = {True: b"", False: b""}

    def recall(self, trial: Trial, find: Callable[[Trial], Judged]) -> Judged:
        page = self._page(trial.cluster)
        key = self._key(trial.workload, page.selective or trial.workload.namespace in page.limited)
        if key not in page.found:
            judged = find(trial)
            self._keep(page, key, judged)
            return judged
        return page.found[key]

    def _keep(self, page: _Page, key: bytes, judged: Judged) -> None:
        """What is too much is forgotten, all at once."""
        size = len(repr(judged))
        if len(page.found) >= MOST:
            page.forget()
        if sum(one.size for one in self._pages.values()) + size > self._largest:
            for one in self._pages.values():
                one.forget()
        page.found[key] = judged
        page.size += size

    def _page(self, snapshot: ClusterSnapshot) -> _Page:
        """Another snapshot of the same cluster begins another page."""
        page = self._pages.get(snapshot.name)
        if page is None or page.snapshot is not snapshot:
            limited = frozenset(quota.namespace for quota in snapshot.quotas)
            page = self._pages[snapshot.name] = _Page(snapshot, _is_selective(snapshot), limited)
        return page

    def _key(self, workload: Workload, identity_matters: bool) -> bytes:
        """Written down once for all clusters of a question; its digest tells it from any other."""
        if self._asked is not workload:
            own = replace(workload, source=NOWHERE, labels=(), notes=())
            selects = any(role.template.affinity or role.template.anti_affinity for role in own.roles)
            self._asked = workload
            self._keys = {True: _digest(own), False: _digest(own if selects else _without_identity(own))}
        return self._keys[identity_matters]


def _digest(workload: Workload) -> bytes:
    return blake2b(repr(workload).encode(errors="surrogatepass")).digest()


def _is_selective(snapshot: ClusterSnapshot) -> bool:
    there = any(pods.anti_affinity for pods in snapshot.pods)
    return there or any(pending.anti_affinity for pending in snapshot.nominated)


def _without_identity(workload: Workload) -> Workload:
    """Less its name and all labels, also those that its controller makes of the name."""
    roles = (replace(role, template=replace(role.template, labels=(), made=()), owners=()) for role in workload.roles)
    return replace(workload, name="", roles=tuple(roles))
