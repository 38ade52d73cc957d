"""API servers that a command line can be pointed at: a stub per cluster, and one kubeconfig with a context for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.cli.fleet import write
from tests.kube.objects import Object
from tests.kube.stub import Behaviour, listing, reply

CORE = "/api/v1"
PLURALS = {
    "Node": "nodes",
    "Pod": "pods",
    "Namespace": "namespaces",
    "ResourceQuota": "resourcequotas",
    "LimitRange": "limitranges",
}
VERSION = {"groupVersion": "jobset.x-k8s.io/v1alpha2", "version": "v1alpha2"}
GROUPS = [{"name": "jobset.x-k8s.io", "versions": [VERSION], "preferredVersion": VERSION}]


def routes(objects: Iterable[Object], namespace: str = "default") -> dict[str, Behaviour]:
    """What a cluster with these objects and JobSets answers; quotas are asked for in one namespace, or in all."""
    there = [*objects, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}]
    found = {"/apis": reply({"kind": "APIGroupList", "apiVersion": "v1", "groups": GROUPS})}
    for kind, plural in PLURALS.items():
        answer = reply(listing(kind, *(obj for obj in there if obj["kind"] == kind)))
        found[f"{CORE}/{plural}"] = found[f"{CORE}/namespaces/{namespace}/{plural}"] = answer
    return found


def kubeconfig(path: Path, urls: Mapping[str, str], namespaces: Mapping[str, str] | None = None) -> Path:
    """The first context is the current one."""
    contexts = [
        {"name": name, "context": {"cluster": name, "user": "me", "namespace": (namespaces or {}).get(name, "")}}
        for name in urls
    ]
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": next(iter(urls)),
        "clusters": [{"name": name, "cluster": {"server": url}} for name, url in urls.items()],
        "users": [{"name": "me", "user": {"token": "secret-token"}}],
        "contexts": contexts,
    }
    return write(path, content)
