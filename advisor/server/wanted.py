"""`Request` to the pods that it adds: those that somebody has to find room for.

Children of an object that is asked about itself, subresources and updates that change no pod add none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor.cluster import ClusterSnapshot
from advisor.definitions import plain, reading, variants
from advisor.definitions.catalog import Catalog
from advisor.definitions.references import NOTHING_LOOKED_UP, InCluster
from advisor.errors import InputError, Where
from advisor.files import Document, Source
from advisor.server import size
from advisor.server.request import CONNECT, CREATE, Request
from advisor.workload import GangGroup, PodTemplate, Role, Workload

Clusters = Callable[[], Sequence[ClusterSnapshot]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pods to find room for.

    additional  the object is there already, and these come on top
    replacing   they take the place of pods that are there, so that a no is not sure and no room is held
    """

    workload: Workload
    additional: bool = False
    replacing: bool = False


def wanted(request: Request, catalog: Catalog, pending: bool = False, clusters: Clusters = lambda: ()) -> Wanted | None:
    """The pods that the request adds; None where it adds none. Raises InputError for an object that cannot be read.

    `pending`: room is held for the object, and none of its pods has come: it is asked about as if it were new.
    `clusters`: where objects are looked up to which the object refers.
    """
    if request.subresource or request.operation == CONNECT or _is_the_same(request):
        return None
    if _is_child(request.object, catalog):
        return None
    new = _workload(request.object, request, catalog, clusters)
    if new is None:
        return None
    if new.faults:
        raise InputError.of(new.faults)
    if not any(map(_may_have_pods, _everywhere(new).values())):
        return None
    if request.operation == CREATE:
        return Wanted(new)
    old = _before(request, catalog, clusters)
    if pending:
        return None if old and _are_alike(old, new) else Wanted(new)
    return _on_top(old, new)


def _everywhere(workload: Workload) -> Mapping[str, Workload]:
    """What it is in every cluster; the same in all of them (""), where that hangs on nothing of theirs."""
    return workload.variants or {"": workload}


def _may_have_pods(workload: Workload) -> bool:
    return bool(workload.pods or workload.is_open or workload.faults)


def _are_alike(old: Workload, new: Workload) -> bool:
    return all(_is_known(one) and _needs(old.on(name)) == _needs(one) for name, one in _everywhere(new).items())


def _is_known(workload: Workload) -> bool:
    return not (workload.is_open or workload.faults)


def _on_top(old: Workload | None, new: Workload) -> Wanted | None:
    """The pods that come on top of those that are there, in each cluster; None where there are none."""
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
        return None
    workload = replace(new, variants=more) if new.variants else more[""]
    return Wanted(workload, additional=True, replacing=replacing)


def _needs(workload: Workload) -> list[tuple[str, int, Any]]:
    return [(role.name, role.replicas, _essence(role)) for role in workload.roles]


def _is_the_same(request: Request) -> bool:
    """Do both objects say the same, whatever is written on them and about them? Most updates are of that kind."""
    return request.object is not None and request.old is not None and _said(request.object) == _said(request.old)


def _said(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key not in ("metadata", "status")}


def _is_child(found: Mapping[str, Any] | None, catalog: Catalog) -> bool:
    """Does the controller of a known kind look after it, or one of what such a controller makes? Then an object of that
    kind was asked about."""
    metadata = found.get("metadata") if found else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    return isinstance(owners, list) and any(_is_of_ours(owner, catalog) for owner in owners)


def _is_of_ours(owner: Any, catalog: Catalog) -> bool:
    if not isinstance(owner, dict) or owner.get("controller") is not True:
        return False
    version, kind = plain.text(owner, "apiVersion"), plain.text(owner, "kind")
    return (version.rpartition("/")[0], kind) in catalog.made or catalog.find(version, kind) is not None


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
