"""What `kubectl get … -o json` or `-o yaml` prints, as one cluster: lists, single objects, several files.

Such a recording says less than a server: kinds that it does not hold are taken as "there are none", and of the API
groups only those are known that have an object in it. The notes of the snapshot say so. Objects to which workloads
refer may have been left out as well: what is there is used, what is not there is never called missing for sure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

import msgspec

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot, Gap, Looked
from advisor.errors import Fault, InputError
from advisor.kube import decode, kinds, lookup
from advisor.kube.failure import NOT_FOUND
from advisor.kube.kinds import Kind
from advisor.kube.summarise import Summary
from advisor.kube.texts import Text

MOST_FAULTS = 20
NO_NODES = Gap(kinds.NODE.plural, NOT_FOUND, "the recording holds no nodes")
_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")


class _DefinedGroup(msgspec.Struct):
    group: str = ""


class _Definition(msgspec.Struct):
    spec: _DefinedGroup = msgspec.field(default_factory=_DefinedGroup)


class Recording:
    """Takes the objects of one cluster in any order, and each only once, however many files repeat it.

    `referred`: groups and kinds of objects that workloads depend on.
    """

    def __init__(self, accelerators: Accelerators, referred: Collection[tuple[str, str]] = ()) -> None:
        self.objects = 0
        self._referred = referred
        self._looked_up: dict[tuple[str, str], list[str]] = {}
        self._summary = Summary(accelerators)
        self._seen: set[tuple[str, str]] = set()
        self._groups: set[str] = set()
        self._pod_namespaces: set[str] = set()
        self._faults: list[Fault] = []
        self._repeated = 0

    def take(self, text: Text) -> None:
        """Keeps the faults of the object for later, unless there are so many that the rest does not matter."""
        self.objects += 1
        try:
            self._take(text)
        except InputError as error:
            self._faults += text.placed(error).faults
            if len(self._faults) >= MOST_FAULTS:
                raise InputError.of(self._faults) from None

    def _take(self, text: Text) -> None:
        head = text.head
        if not head.kind:
            raise InputError("is no Kubernetes object: it has no kind")
        group = head.api_version.rpartition("/")[0]
        self._groups.add(group)
        if (group, head.kind) == _DEFINITION:
            self._groups.add(decode.plain(_Definition, text.body).spec.group)
        kind = kinds.known(group, head.kind)
        if kind:
            self._add(kind, decode.one(kind, text.body))
        elif (group, head.kind) in self._referred:
            found = {"apiVersion": head.api_version, "kind": head.kind, **decode.plain(dict[str, Any], text.body)}
            self._looked_up.setdefault((group, head.kind), []).append(lookup.kept(found))

    def _add(self, kind: Kind, found: Any) -> None:
        identity = kind.name, found.metadata.title
        if identity in self._seen:
            self._repeated += 1
            return
        self._seen.add(identity)
        if not self._summary.begun(kind):
            self._summary.begin(kind)
        self._summary.add(kind, (found,))
        if kind is kinds.POD:
            self._pod_namespaces.add(found.metadata.namespace or "")

    def snapshot(self, name: str, taken_at: datetime | None) -> ClusterSnapshot:
        """Raises InputError with all faults, or when there was no Kubernetes object at all."""
        if self._faults:
            raise InputError.of(self._faults)
        if not self.objects:
            raise InputError("holds no Kubernetes object", hint="record it with: kubectl get nodes,pods -A -o json")
        return self._summary.snapshot(
            name,
            taken_at,
            api_groups=frozenset(self._groups - {""}),
            looked_up=tuple(
                Looked(group, kind, objects=tuple(self._looked_up.get((group, kind), ())), whole=False)
                for group, kind in sorted(self._referred)
            ),
            gaps=() if self._summary.begun(kinds.NODE) else (NO_NODES,),
            notes=tuple(self._notes()),
        )

    def _notes(self) -> Iterable[str]:
        begun = self._summary.begun
        yield "recorded by kubectl: when is not said in it; its age is counted from the last change of the file"
        if not begun(kinds.NODE):
            yield "THE RECORDING HOLDS NO NODES: it says nothing of what fits"
        elif not begun(kinds.POD):
            yield "THE RECORDING HOLDS NO PODS: every node counts as empty, which is wrong if they were left out"
        elif len(self._pod_namespaces) == 1:
            (only,) = self._pod_namespaces
            yield f"all recorded pods are of namespace {only}: those of others are missing if it was made without -A"
        absent = [kind.plural for kind in kinds.KINDS if not begun(kind) and kind not in (kinds.NODE, kinds.POD)]
        absent += [f"{kind}.{group}" for group, kind in sorted({*self._referred} - self._looked_up.keys())]
        if absent:
            yield f"taken as none, because the recording holds none: {', '.join(absent)}"
        if self._repeated:
            yield f"{self._repeated} objects are recorded more than once; the first of each counts"
