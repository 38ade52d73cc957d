"""Installs CustomResourceDefinitions, and waits until their kinds are really served."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from tests.servers.client import THREADS, Api, RefusedError
from tests.servers.objects import Object, Objects, name_of

KIND = "CustomResourceDefinition"
PLURAL = "customresourcedefinitions"
LIMIT = 60


def read(path: Path) -> Objects:
    """The definitions in a YAML file; what else lies in it is not our business."""
    documents = yaml.load_all(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return [document for document in documents if document and document.get("kind") == KIND]


def install(api: Api, definitions: Iterable[Object]) -> None:
    """Several at once: for each the server takes a tenth of a second to a second of work, and one of waiting."""
    definitions = list(definitions)
    if not definitions:
        return
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda definition: _apply(api, _without_conversion(definition)), definitions))
    _wait_until_served(api, definitions)


def settle(api: Api, names: Iterable[str]) -> None:
    """Waits until those of the named definitions that exist are served, and the others no longer are."""
    existing = {name_of(definition): definition for definition in api.list(PLURAL)}
    gone = set(names) - existing.keys()
    _wait(lambda: gone.isdisjoint(f"{resource.plural}.{resource.group}" for resource in api.discover()))
    _wait_until_served(api, [existing[name] for name in names if name in existing])


def _wait_until_served(api: Api, definitions: Objects) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda definition: _wait(lambda: _served(api, definition)), definitions))
    served = {version for definition in definitions for version in _versions(definition)}
    _wait(lambda: served <= _discovered(api))


def _wait(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"custom resources are not as they should be after {LIMIT} s")
        time.sleep(0.1)


def _apply(api: Api, definition: Object) -> None:
    try:
        api.create(definition)
    except RefusedError as refused:
        if refused.reason != "AlreadyExists":
            raise
        api.patch(definition, {"spec": definition["spec"]})


def _without_conversion(definition: Object) -> Object:
    """No webhook converts between versions here, and a server that calls one in vain fails every request."""
    metadata = {field: definition["metadata"].get(field) for field in ("name", "labels", "annotations")}
    spec = {field: value for field, value in definition["spec"].items() if field != "conversion"}
    return {"apiVersion": definition["apiVersion"], "kind": KIND, "metadata": metadata, "spec": spec}


def _versions(definition: Object) -> Iterator[tuple[str, str]]:
    """The plural and apiVersion of every version that is to be served."""
    spec = definition["spec"]
    for version in spec["versions"]:
        if version["served"]:
            yield spec["names"]["plural"], f"{spec['group']}/{version['name']}"


def _discovered(api: Api) -> set[tuple[str, str]]:
    return {(resource.plural, resource.api_version) for resource in api.discover()}


def _served(api: Api, definition: Object) -> bool:
    """Whether a list of every version is answered: it comes after the condition Established, and is cheaper to ask."""
    try:
        for plural, api_version in _versions(definition):
            api.request("GET", f"/apis/{api_version}/{plural}?limit=1")
    except RefusedError:
        return False
    return True
