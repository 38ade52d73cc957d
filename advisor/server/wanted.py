"""`Request` to the pods that it adds: those that somebody has to find room for.

Children of an object that is asked about itself, subresources and updates that change no pod add none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from advisor.definitions import live, plain, reading
from advisor.definitions.catalog import Catalog
from advisor.errors import InputError, Where
from advisor.files import Document, Source
from advisor.server import size
from advisor.server.request import CONNECT, CREATE, Request
from advisor.workload import GangGroup, PodTemplate, Role, Workload

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
    """What is held for the object of a request: `room` for pods, of which some have `begun` to come."""

    room: bool = False
    begun: bool = False


NOTHING_HELD = Held()


def wanted(request: Request, catalog: Catalog, held: Held = NOTHING_HELD) -> Wanted:
    """Raises InputError for an object that cannot be read.

    Where room is held and no pod has come, the object is asked about as if it were new.
    """
    if request.subresource or request.operation == CONNECT:
        return NOTHING
    if held.room and _is_over(request.object, catalog):
        return Wanted(ended=True)
    if _is_the_same(request) or _is_child(request, catalog):
        return NOTHING
    new = _workload(request.object, request, catalog)
    if new is None:
        return NOTHING
    if new.faults:
        raise InputError.of(new.faults)
    if new.is_open:
        return Wanted(new, additional=request.operation != CREATE, later=new.waits)
    if request.operation == CREATE:
        return Wanted(new if new.pods else None, later=new.waits)
    return _changed(_before(request, catalog), new, held)


def _changed(old: Workload | None, new: Workload, held: Held) -> Wanted:
    if not new.pods:
        return Wanted(ended=True)
    more, replacing = _more(old, new)
    if new.waits:
        return Wanted(replace(new, there=True) if more else None, later=True, ended=True)
    if old and old.waits:
        return Wanted(replace(new, there=True), additional=True)
    growth = _growth(old, new) if old else {}
    if more is None:
        return Wanted(growth=growth)
    if held.room and not held.begun:
        return Wanted(new, growth=growth)
    return Wanted(replace(more, there=True), additional=True, replacing=replacing, growth=growth)


def _growth(old: Workload, new: Workload) -> dict[str, int]:
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
    """Does the controller of an object of a known kind look after it? Then that object was asked about.

    Anybody may write down an owner, so it is believed of components and service accounts alone, which controllers are.
    """
    if not request.user.startswith(SYSTEM) or request.user == ANYBODY:
        return False
    metadata = request.object.get("metadata") if request.object else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return isinstance(owners, list) and any(_is_known(owner, catalog) for owner in owners)


def _is_known(owner: Any, catalog: Catalog) -> bool:
    if not isinstance(owner, dict) or owner.get("controller") is not True:
        return False
    found = catalog.find(plain.text(owner, "apiVersion"), plain.text(owner, "kind"))
    return found is not None and not live.is_scheduled(found)


def _workload(found: Mapping[str, Any] | None, request: Request, catalog: Catalog) -> Workload | None:
    """None for kinds without a definition. Raises InputError also for what would take too long."""
    size.check(found)
    document = Document(found, Source("object", ""), 0, Where("object"))
    read = reading.read([document], catalog, request.namespace or "default")
    return next((_anywhere(replace(one, name=request.name or one.name), found) for one in read.workloads), None)


def _anywhere(workload: Workload, found: Mapping[str, Any] | None) -> Workload:
    """Without the labels in which this API server has written the object's uid: in another cluster it has another."""
    metadata = found.get("metadata") if found else None
    uid = metadata.get("uid") if isinstance(metadata, dict) else None
    roles = (replace(role, template=_without(role.template, uid)) for role in workload.roles)
    return replace(workload, roles=tuple(roles)) if uid else workload


def _without(template: PodTemplate, uid: object) -> PodTemplate:
    return replace(template, labels=tuple((key, value) for key, value in template.labels if value != uid))


def _before(request: Request, catalog: Catalog) -> Workload | None:
    """What was placed until now; None where that cannot be told, so that all of the new one is asked about."""
    try:
        old = _workload(request.old, request, catalog) if request.old else None
    except InputError:
        return None
    return None if old is None or old.faults or old.is_open else old


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
