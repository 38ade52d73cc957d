"""`Request` to the pods that it adds: those that somebody has to find room for.

Children of an object that is asked about itself, subresources and updates that change no pod add none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.cluster import ClusterSnapshot
from advisor.definitions import live, plain, reading, variants
from advisor.definitions.catalog import Catalog
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster
from advisor.errors import InputError, Where
from advisor.files import Document, Source
from advisor.server import coming, size
from advisor.server.request import CONNECT, CREATE, UPDATE, Request
from advisor.workload import PodTemplate, Workload

Clusters = Callable[[], Sequence[ClusterSnapshot]]

SYSTEM, ANYBODY = "system:", "system:anonymous"
"""What the names of components and of service accounts begin with, and the one of these that is nobody."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pods to find room for, and the pods that room need not be held for any more.

    workload    None: there is no pod to find room for
    additional  some of the object's pods are there already, and these join them
    unsure      pods make room for them, or nobody can tell how many are there: only a no for ever is one, and no room
                is held
    later       they come later: only a no for ever is one, and no room is held
    growth      role → pods more than before, or fewer (less than zero)
    ended       nothing that room is held for is to come any more
    replaced    roles whose pods are to be others than before
    old         what it was before, where some of its pods are taken to be there and others join them
    """

    workload: Workload | None = None
    additional: bool = False
    unsure: bool = False
    later: bool = False
    growth: Mapping[str, int] = field(default_factory=dict)
    ended: bool = False
    replaced: frozenset[str] = frozenset()
    old: Workload | None = None


NOTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Held:
    """What is held for the object of a request on a `cluster`.

    due      role → pods still to come, with room for some of them
    begun    some of its pods have come, or exist
    is_seen  may any pod in some cluster be one of a workload's?
    """

    due: Mapping[str, int] = field(default_factory=dict)
    begun: bool = False
    cluster: str = ""
    is_seen: Callable[[Workload], bool] = lambda _: True


NOTHING_HELD = Held()


def wanted(request: Request, catalog: Catalog, held: Held = NOTHING_HELD, clusters: Clusters = lambda: ()) -> Wanted:
    """Raises InputError for an object that cannot be read.

    What is asked about are all pods that are still to come: those that the object will have, less those that it had and
    that are not due any more, which are taken to be there unless none is seen anywhere. `clusters`: where objects are
    looked up to which it refers.
    """
    if request.subresource or request.operation == CONNECT:
        return NOTHING
    same = tells_nothing(request, catalog)
    if request.operation == UPDATE and (held.due or not same) and _is_over(request.object, catalog):
        return Wanted(ended=True)
    if same or _is_child(request, catalog):
        return NOTHING
    new = _workload(request.object, request, catalog, clusters)
    if new is None:
        return NOTHING
    if new.faults:
        raise InputError.of(new.faults)
    if request.operation == CREATE:
        return Wanted(new if coming.has_pods(new) else None, later=new.waits)
    old = before(request, catalog, clusters)
    asked = _changed(old, new, held)
    if old is None:
        return asked
    return replace(asked, replaced=coming.replaced(old.on(held.cluster), new.on(held.cluster)))


def _changed(old: Workload | None, new: Workload, held: Held) -> Wanted:
    if not coming.has_pods(new):
        return Wanted(ended=True)
    if new.waits:
        return Wanted(_there(new) if old is None or coming.adds(old, new) else None, later=True, ended=True)
    if old is None:
        return Wanted(_there(new), additional=True, unsure=True)
    if old.waits:
        return Wanted(_there(new), additional=True)
    growth = coming.growth(old.on(held.cluster), new.on(held.cluster))
    if not coming.adds(old, new):
        return Wanted(growth=growth)
    if not (coming.runs(old, held.due) and held.is_seen(old)):
        return Wanted(new if held.due and not held.begun else _there(new), growth=growth)
    joining = coming.joining(old, _there(new), held.due)
    return Wanted(joining.workload, additional=True, unsure=joining.unsure, growth=growth, old=old)


def _there(workload: Workload) -> Workload:
    return workload.each(lambda one: replace(one, there=True))


def _is_over(found: Mapping[str, Any] | None, catalog: Catalog) -> bool:
    """Does its status say that it has run to its end? What cannot be told is no end."""
    return bool(found and found.get("status")) and _holds(live.is_over, found, catalog)


def _is_let_go(request: Request, catalog: Catalog) -> bool:
    """Is what keeps the pods of an object away in what is written on it, and is that put there or taken away?"""
    old, new = (one.get("metadata") if one else None for one in (request.old, request.object))
    if not (isinstance(old, dict) and isinstance(new, dict)) or old.get("annotations") == new.get("annotations"):
        return False
    return is_kept_away(request.old, catalog) != is_kept_away(request.object, catalog)


def is_kept_away(found: Mapping[str, Any] | None, catalog: Catalog) -> bool:
    """Does something in it keep its pods away? What cannot be told does not."""
    return _holds(live.is_kept_away, found, catalog)


def _holds(test: Callable[[Document, Catalog], bool], found: Mapping[str, Any] | None, catalog: Catalog) -> bool:
    """What cannot be read does not."""
    try:
        size.check(found)
        return test(_document(found), catalog)
    except InputError:
        return False


def _document(found: Mapping[str, Any] | None) -> Document:
    return Document(found, Source("object", ""), 0, Where("object"))


def tells_nothing(request: Request, catalog: Catalog) -> bool:
    """Is it an update of what is written on an object and about it, that brings no pods and keeps none away?"""
    return says_the_same(request) and not _is_let_go(request, catalog)


def says_the_same(request: Request) -> bool:
    """Do both objects say the same, whatever is written on them and about them? Most updates are of that kind."""
    return request.object is not None and request.old is not None and said(request.object) == said(request.old)


def said(found: Mapping[str, Any]) -> dict[str, Any]:
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
    document = _document(found)
    most = _left(document, catalog) if request.operation == UPDATE else {}

    def again(held: InCluster) -> Sequence[Workload]:
        read = reading.read([document], catalog, request.namespace or "default", in_cluster=held)
        named = (replace(one, name=request.name or one.name) for one in read.workloads)
        return tuple(coming.left(_anywhere(one, found), most) for one in named)

    first = again(NOTHING_LOOKED_UP)
    open_ones = variants.sought(first)
    return next(iter(variants.on_clusters(first, again, clusters()) if open_ones else first), None)


def _left(document: Document, catalog: Catalog) -> Mapping[str, int]:
    """Where that cannot be read, all pods may still be alive."""
    try:
        return live.left(document, catalog)
    except InputError:
        return {}


def _anywhere(workload: Workload, found: Mapping[str, Any] | None) -> Workload:
    """Without the labels in which this API server has written the object's uid: in another cluster it has another."""
    metadata = found.get("metadata") if found else None
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    roles = (replace(role, template=_without(role.template, uid)) for role in workload.roles)
    return replace(workload, roles=tuple(roles)) if uid else workload


def _without(template: PodTemplate, uid: object) -> PodTemplate:
    return replace(template, labels=tuple((key, value) for key, value in template.labels if value != uid))


def before(request: Request, catalog: Catalog, clusters: Clusters) -> Workload | None:
    """What was placed until now; None where that cannot be told."""
    try:
        old = _workload(request.old, request, catalog, clusters) if request.old else None
    except InputError:
        return None
    return None if old is None or old.faults else old
