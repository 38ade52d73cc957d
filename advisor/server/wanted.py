"""`Request` to the pods that it adds: those that somebody has to find room for.

Children of an object that is asked about itself, subresources and updates that change no pod add none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.cluster import ClusterSnapshot
from advisor.definitions import live, plain, reading, variants
from advisor.definitions.catalog import Catalog
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster
from advisor.errors import InputError, Where
from advisor.files import Document, Source
from advisor.server import size
from advisor.server.request import CONNECT, CREATE, Request
from advisor.workload import GangGroup, PodTemplate, Role, Workload

Clusters = Callable[[], Sequence[ClusterSnapshot]]

SYSTEM, ANYBODY = "system:", "system:anonymous"
"""What the names of components and of service accounts begin with, and the one of these that is nobody."""

COMPLETED = "Completed"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pods to find room for, and the pods that room need not be held for any more.

    workload    None: there is no pod to find room for
    additional  the object is there already, and these come on top
    replacing   they take the place of pods that are there, so that a no is not sure and no room is held
    later       they come later, so that no room is held, and only a no for ever is one
    growth      role → pods more than before, or fewer (less than zero)
    ended       nothing that room is held for is to come any more
    """

    workload: Workload | None = None
    additional: bool = False
    replacing: bool = False
    later: bool = False
    growth: Mapping[str, int] = field(default_factory=dict)
    ended: bool = False


NOTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Held:
    """What is held for the object of a request: `room` for pods on a cluster, of which some have `begun` to come."""

    room: bool = False
    begun: bool = False
    cluster: str = ""


NOTHING_HELD = Held()


def wanted(request: Request, catalog: Catalog, held: Held = NOTHING_HELD, clusters: Clusters = lambda: ()) -> Wanted:
    """Raises InputError for an object that cannot be read.

    Where room is held and no pod has come, the object is asked about as if it were new. `clusters`: where objects are
    looked up to which the object refers.
    """
    if request.subresource or request.operation == CONNECT:
        return NOTHING
    if held.room and _is_over(request.object, catalog):
        return Wanted(ended=True)
    if _is_the_same(request) or _is_child(request, catalog):
        return NOTHING
    new = _workload(request.object, request, catalog, clusters)
    if new is None:
        return NOTHING
    if new.faults:
        raise InputError.of(new.faults)
    if request.operation == CREATE:
        return Wanted(new if _has_pods_anywhere(new) else None, later=new.waits)
    return _changed(_before(request, catalog, clusters), new, held)


def _changed(old: Workload | None, new: Workload, held: Held) -> Wanted:
    if not _has_pods_anywhere(new):
        return Wanted(ended=True)
    more, replacing = _on_top(old, new)
    if new.waits:
        return Wanted(_there(new) if more else None, later=True, ended=True)
    if old and old.waits:
        return Wanted(_there(new), additional=True)
    growth = _growth(old.on(held.cluster), new.on(held.cluster)) if old else {}
    if more is None:
        return Wanted(growth=growth)
    if held.room and not held.begun:
        return Wanted(new, growth=growth)
    return Wanted(_there(more), additional=True, replacing=replacing, growth=growth)


def _there(workload: Workload) -> Workload:
    return workload.each(lambda one: replace(one, there=True))


def _everywhere(workload: Workload) -> Mapping[str, Workload]:
    """What it is in every cluster; the same in all of them (""), where that hangs on nothing of theirs."""
    return workload.variants or {"": workload}


def _has_pods_anywhere(workload: Workload) -> bool:
    return any(map(_may_have_pods, _everywhere(workload).values()))


def _may_have_pods(workload: Workload) -> bool:
    return bool(workload.pods or workload.is_open or workload.faults)


def _is_known(workload: Workload) -> bool:
    return not (workload.is_open or workload.faults)


def _on_top(old: Workload | None, new: Workload) -> tuple[Workload | None, bool]:
    """The pods that come on top of those that are there, in each cluster; None where there are none.

    With them: do some take the place of others?
    """
    more: dict[str, Workload] = {}
    replacing = False
    for name, one in _everywhere(new).items():
        before = old.on(name) if old else None
        added, exchanged = (
            (one, False) if not _is_known(one) else _more(before if before and _is_known(before) else None, one)
        )
        more[name] = added or replace(one, roles=(), groups=(), min_available=None)
        replacing |= exchanged
    if not any(map(_may_have_pods, more.values())):
        return None, False
    return replace(new, variants=more) if new.variants else more[""], replacing


def _growth(old: Workload, new: Workload) -> dict[str, int]:
    if not (_is_known(old) and _is_known(new)):
        return {}
    sizes = Counter({role.name: role.replicas for role in new.roles})
    sizes.subtract({role.name: role.replicas for role in old.roles})
    return {role: pods for role, pods in sizes.items() if pods}


def _is_over(found: Mapping[str, Any] | None, catalog: Catalog) -> bool:
    """Does its status say that it has run to its end? What cannot be told is no end."""
    if not found or not found.get("status"):
        return False
    try:
        size.check(found)
        document = Document(found, Source("object", ""), 0, Where("object"))
        return COMPLETED in live.states(document, catalog)
    except InputError:
        return False


def _is_the_same(request: Request) -> bool:
    """Do both objects say the same, whatever is written on them and about them? Most updates are of that kind."""
    return request.object is not None and request.old is not None and _said(request.object) == _said(request.old)


def _said(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in ("metadata", "status")}


def _is_child(request: Request, catalog: Catalog) -> bool:
    """Does the controller of a known kind look after it, or one of what such a controller makes? Then an object of that
    kind was asked about.

    Anybody may write down an owner, so it is believed of components and service accounts alone, which controllers are.
    """
    if not request.user.startswith(SYSTEM) or request.user == ANYBODY:
        return False
    metadata = request.object.get("metadata") if request.object else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return isinstance(owners, list) and any(_is_of_ours(owner, catalog) for owner in owners)


def _is_of_ours(owner: Any, catalog: Catalog) -> bool:
    if not isinstance(owner, dict) or owner.get("controller") is not True:
        return False
    version, kind = plain.text(owner, "apiVersion"), plain.text(owner, "kind")
    found = catalog.find(version, kind)
    if found is None:
        return (version.rpartition("/")[0], kind) in catalog.made
    return not live.is_scheduled(found)


def _workload(
    found: Mapping[str, Any] | None, request: Request, catalog: Catalog, clusters: Clusters
) -> Workload | None:
    """None for kinds without a definition. Raises InputError also for what would take too long."""
    size.check(found)
    document = Document(found, Source("object", ""), 0, Where("object"))

    def again(held: InCluster) -> Sequence[Workload]:
        read = reading.read([document], catalog, request.namespace or "default", in_cluster=held)
        return tuple(_anywhere(replace(one, name=request.name or one.name), found) for one in read.workloads)

    first = again(NOTHING_LOOKED_UP)
    open_ones = variants.sought(first)
    return next(iter(variants.on_clusters(first, again, clusters()) if open_ones else first), None)


def _anywhere(workload: Workload, found: Mapping[str, Any] | None) -> Workload:
    """Without the labels in which this API server has written the object's uid: in another cluster it has another."""
    metadata = found.get("metadata") if found else None
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    roles = (replace(role, template=_without(role.template, uid)) for role in workload.roles)
    return replace(workload, roles=tuple(roles)) if uid else workload


def _without(template: PodTemplate, uid: object) -> PodTemplate:
    return replace(template, labels=tuple((key, value) for key, value in template.labels if value != uid))


def _before(request: Request, catalog: Catalog, clusters: Clusters) -> Workload | None:
    """What was placed until now; None where that cannot be told, so that all of the new one is asked about."""
    try:
        old = _workload(request.old, request, catalog, clusters) if request.old else None
    except InputError:
        return None
    return None if old is None or old.faults else old


def _more(old: Workload | None, new: Workload) -> tuple[Workload | None, bool]:
    """The pods that come on top: more of the same, and all of those that are not what they were.

    With them: do some take the place of others?
    """
    before = {role.name: role for role in old.roles} if old else {}
    grown = [(role, role.replicas - _kept(before.get(role.name), role)) for role in new.roles]
    roles = tuple(replace(role, replicas=n, minimum=n, maximum=None) for role, n in grown if n > 0)
    if not roles:
        return None, False
    together = (GangGroup(1, {role.name: role.replicas for role in roles}),) if new.groups else ()
    replacing = any(role.name in before and not _kept(before[role.name], role) for role in roles)
    return replace(new, roles=roles, groups=together, min_available=None), replacing


def _kept(old: Role | None, new: Role) -> int:
    return old.replicas if old and _essence(old) == _essence(new) else 0


def _essence(role: Role) -> Any:
    """What decides where a pod goes. Annotations do not, and labels only where an affinity term may see them.

    Labels that the controller makes change with the number of pods alone, and say nothing of what a pod needs.
    """
    template = replace(role.template, annotations=(), made=())
    selects = template.affinity or template.anti_affinity
    return template if selects else replace(template, labels=())
