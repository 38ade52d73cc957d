"""What is asked of one API server, in which order (capacity.md 14.1): nodes first, then pods, then the short lists.

One list at a time, because large lists cost an API server dearly. Kinds of an API group that is not served are not
there; a kind that may not be read is `Missed`, and the others are still asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from advisor.cluster import Gap, Looked
from advisor.kube import kinds, wire
from advisor.kube.answer import promised
from advisor.kube.failure import NOT_FOUND, OF_THE_KIND, ApiError
from advisor.kube.kinds import Kind
from advisor.kube.lookup import looked_up
from advisor.kube.paging import Page, Reader, pages
from advisor.workload import Reference

UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
SHORT_LISTS = (
    *(kinds.NAMESPACE, kinds.RESOURCE_QUOTA, kinds.LIMIT_RANGE, kinds.PRIORITY_CLASS),
    *(kinds.RUNTIME_CLASS, kinds.DEVICE_CLASS, kinds.LOCAL_QUEUE),
)
VOLUMES = (kinds.CLAIM, kinds.VOLUME)


@dataclass(frozen=True, slots=True)
class Needs:
    """What the workloads in question make necessary.

    namespaces  those whose quotas, limits, queues and claims matter; None: all
    volumes     does some pod use a PersistentVolumeClaim?
    references  other objects that workloads depend on, each with its namespace; without a name, all of the kind
    alone       nothing but the references, and
    definitions those of kinds of workload
    """

    namespaces: tuple[str, ...] | None = None
    volumes: bool = True
    references: tuple[Reference, ...] = ()
    alone: bool = False
    definitions: bool = True

    def cover(self, other: Needs) -> bool:
        """Was everything read that is asked for there? References are looked up on their own."""
        known, wanted = self.namespaces, other.namespaces
        spaces = known is None or (wanted is not None and set(wanted) <= set(known))
        return spaces and (self.volumes or not other.volumes)

    @property
    def types(self) -> frozenset[tuple[str, str]]:
        """Group and kind of what is referred to."""
        return frozenset((one.group, one.kind) for one in self.references)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        definitions = kinds.DEFINITIONS if self.definitions else ()
        if self.alone:
            return definitions
        return (kinds.NODE, kinds.POD, *SHORT_LISTS, *(VOLUMES if self.volumes else ()), *definitions)


@dataclass(frozen=True, slots=True)
class Version:
    text: str


@dataclass(frozen=True, slots=True)
class Groups:
    """API group → the version of it that the server prefers, and every `group/version` that it serves."""

    preferred: Mapping[str, str]
    versions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Part:
    """A page of a kind, of one namespace or of the whole cluster ("")."""

    kind: Kind
    namespace: str
    page: Page


@dataclass(frozen=True, slots=True)
class Done:
    """All pages of a kind are there."""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Missed:
    gap: Gap


@dataclass(frozen=True, slots=True)
class Found:
    """What there is of something that workloads depend on."""

    looked: Looked


Event = Version | Groups | Part | Done | Missed | Found


def conversation(api: Reader, needs: Needs) -> Iterator[Event]:
    """Everything that is needed, as it arrives. Raises ApiError for what makes further questions pointless."""
    if not needs.alone:
        yield from _version(api)
    groups = _groups(api) if needs.kinds else None
    if groups:
        yield groups
    for kind in needs.kinds:
        try:
            yield from _kind(api, kind, groups, needs)
        except ApiError as error:
            if kind.optional and error.cause == NOT_FOUND:
                yield Done(kind)
                continue
            yield _missed(kind, error)
            if kind is kinds.NODE:
                yield from _are_pods_missed_too(api)
            if kind in (kinds.NODE, kinds.POD):
                return
        else:
            yield Done(kind)
    for found in looked_up(api, needs.references, groups.preferred if groups else None):
        yield Found(found) if isinstance(found, Looked) else Missed(found)


def nodes_again(api: Reader) -> Iterator[Event]:
    """The list of nodes alone. Raises ApiError."""
    return _list(api, kinds.NODE, kinds.NODE.version)


def _missed(kind: Kind, error: ApiError) -> Missed:
    if error.cause not in OF_THE_KIND:
        raise error
    return Missed(Gap(kind.plural, error.cause, error.text))


def _are_pods_missed_too(api: Reader) -> Iterator[Event]:
    """Both missing permissions are worth saying at once."""
    try:
        api.read(kinds.POD.path(), _errand(kinds.POD), limit=1)
    except ApiError as error:
        yield _missed(kinds.POD, error)


def _version(api: Reader) -> Iterator[Event]:
    try:
        body = api.read("/version", "say its version")
    except ApiError as error:
        if error.cause not in OF_THE_KIND:
            raise
    else:
        yield Version(promised(wire.Version, body, api.host).git_version)


def _groups(api: Reader) -> Groups | None:
    """None when the server does not say, which every authenticated user may normally ask."""
    try:
        body = api.read("/apis", "list API groups")
    except ApiError as error:
        if error.cause not in OF_THE_KIND:
            raise
        return None
    found = promised(wire.ApiGroupList, body, api.host).groups or ()
    preferred = {group.name: group.preferred_version.group_version.rpartition("/")[2] for group in found}
    return Groups(preferred, frozenset(one.group_version for group in found for one in group.versions or ()))


def _kind(api: Reader, kind: Kind, groups: Groups | None, needs: Needs) -> Iterator[Event]:
    if not is_served(kind, groups):
        return
    version = kind.version or (groups.preferred[kind.group] if groups else "")
    if not version:
        raise ApiError(NOT_FOUND, f"whether {kind.plural} exist is not known: {api.host} does not list its API groups")
    if kind.namespaced and kind is not kinds.POD and needs.namespaces is not None:
        for namespace in needs.namespaces:
            yield from _list(api, kind, version, namespace)
    else:
        yield from _list(api, kind, version)


def is_served(kind: Kind, groups: Groups | None) -> bool:
    """As far as that is known; what a server need not know is not asked for where it is not said."""
    if groups is None or not kind.group:
        return not kind.optional
    if kind.optional:
        return f"{kind.group}/{kind.version}" in groups.versions
    return kind.group in groups.preferred


def _list(api: Reader, kind: Kind, version: str, namespace: str = "") -> Iterator[Event]:
    query = {"fieldSelector": UNFINISHED} if kind is kinds.POD else {}
    for page in pages(api, kind.path(version, namespace), _errand(kind, namespace), **query):
        yield Part(kind, namespace, page)


def _errand(kind: Kind, namespace: str = "") -> str:
    return f"list {kind.plural} {f'in namespace {namespace}' if namespace else 'at cluster scope'}"
