"""Which resources an API server serves, and which of them a word means: `TYPE` as kubectl has it.

Asked by aggregated discovery (Kubernetes 1.27 and newer): two answers hold all groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import quote

from advisor.errors import InputError
from advisor.kube import wire
from advisor.kube.answer import promised
from advisor.kube.paging import Reader

_FORM = "application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
ACCEPT = ",".join(_FORM.format(version=version) for version in ("v2", "v2beta1"))


@dataclass(frozen=True, slots=True)
class Resource:
    """`group` is empty for the core's; `names` are those by which people call it, all in small letters."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    names: frozenset[str]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def title(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str, name: str = "") -> str:
        """The URL path of an object, or of the list: of all of them where no namespace is given."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace else ""
        return f"{root}{scope}/{self.plural}" + (f"/{quote(name, safe='')}" if name else "")


def served(api: Reader) -> tuple[Resource, ...]:
    """All of them; of a group's versions the preferred one first. Raises ApiError."""
    return tuple(resource for path in ("/api", "/apis") for resource in _of(api, path))


def _of(api: Reader, path: str) -> Iterator[Resource]:
    body = api.read(path, "list API resources", accept=ACCEPT)
    for group in promised(wire.Discovery, body, api.host).items or ():
        for version in group.versions or ():
            for found in version.resources or ():
                if found.response_kind and "/" not in found.resource:
                    yield _resource(group.metadata.name, version.version, found, found.response_kind.kind)


def _resource(group: str, version: str, found: wire.DiscoveredResource, kind: str) -> Resource:
    names = {found.resource, found.singular_resource, kind, *(found.short_names or ())}
    known = frozenset(name.lower() for name in names if name)
    return Resource(group, version, kind, found.resource, found.scope == "Namespaced", known)


def called(resources: Sequence[Resource], word: str) -> Resource:
    """The resource that a word means: its plural, singular, short name or kind, with or without `.group` or
    `.version.group`. The core comes first, then the server's order. Raises InputError.
    """
    name, _, rest = word.lower().partition(".")
    found = [one for one in resources if name in one.names and _is_of(one, rest)]
    if found:
        return min(found, key=lambda one: one.group != "")
    known = sorted({name for one in resources for name in one.names})
    near = get_close_matches(name, known, n=1)
    raise InputError(f'the server has no resource "{word}"', hint=f"did you mean {near[0]}?" if near else "")


def _is_of(resource: Resource, rest: str) -> bool:
    """The core's group is empty: `pod.v1.` has its name, as kubectl has it, and may do without the last point."""
    return rest in ("", resource.group) or rest.rstrip(".") == f"{resource.version}.{resource.group}".rstrip(".")


def of_kind(resources: Sequence[Resource], api_version: str, kind: str) -> Resource | None:
    return next((one for one in resources if (one.api_version, one.kind) == (api_version, kind)), None)
