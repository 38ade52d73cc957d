"""Upstream's definitions on the public manifests, as upstream counts: desired pods, and GPUs of one name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from advisor import files, quantity
from advisor.definitions.extract import Extraction
from advisor.definitions.schema import Definition
from advisor.errors import InputError
from advisor.resources import Init, pod_total
from tests.definitions.builders import Definitions, definition_in, extraction

GPU = "nvidia.com/gpu"
CUSTOM = {"dynamographdeployment/qwen3-32b-4p8d-vke.yaml", "dynamographdeployment/qwen3-8b-8p4d-multinode.yaml"}
TWICE = "knativeservice/tag-header-two-revisions.yaml"
"""One object in two documents, which is an update: MEASURED.md leaves it out."""
REPEATED_KEY = "pod/nccl-a4-two-pods.yaml"
"""Has a key twice in one mapping; our reader refuses it, upstream's takes the later."""


class Outcome(NamedTuple):
    """What was read of one object, and what is true. `pods` None: unreadable."""

    manifest: str
    kind: str
    pods: int | None
    gpus: int
    true_pods: int
    true_gpus: int
    read: Extraction

    @property
    def right(self) -> bool:
        return (self.pods, self.gpus) == (self.true_pods, self.true_gpus)


def definitions(corpus: Path) -> Definitions:
    """Upstream's 23 catalogue definitions by (apiVersion, kind) of the objects that they read."""
    found: dict[tuple[str, str], Definition] = {}
    for path in sorted((corpus / "definitions").glob("*.yaml")):
        definition = definition_in(path)
        kind = definition.root.kind
        assert kind
        found[f"{kind.group}/{kind.version}".removeprefix("/"), kind.kind] = definition
    return found


def outcomes(corpus: Path, catalogue: Definitions) -> list[Outcome]:
    folder = corpus / "workloads"
    names = (str(path.relative_to(folder)) for path in sorted(folder.rglob("*.yaml")))
    manifests = [name for name in names if not name.endswith(".expected.yaml") and name != TWICE]
    return [outcome for name in manifests for outcome in judged(folder, name, catalogue)]


def judged(folder: Path, name: str, catalogue: Definitions) -> Iterator[Outcome]:
    answers = folder / name.replace(".yaml", ".expected.yaml")
    expected = documents(answers)[0]["workloads"] if answers.exists() else []
    for manifest in documents(folder / name):
        kind = (manifest["apiVersion"], manifest["kind"])
        if kind in catalogue:
            truth = next(one for one in expected if identity(one) in (identity(manifest), (*kind, None)))
            expected.remove(truth)
            read = extraction(catalogue[kind], manifest, strict=False)
            pods, gpus = counted(read)
            yield Outcome(
                name,
                f"{manifest['kind']} {manifest['apiVersion']}",
                pods,
                gpus,
                truth["totals"]["pods"],
                truth["totals"].get(GPU, 0),
                read,
            )


def documents(path: Path) -> list[Any]:
    text = path.read_text()
    if str(path).endswith(REPEATED_KEY):
        text = re.sub(r"      resources:\n        requests:\n.*\n", "", text)
    found = [document.data for document in files.documents(files.Source(path.name, text))]
    return [item for one in found for item in (one["items"] if one.get("kind") == "List" else [one])]


def identity(manifest: Mapping[str, Any]) -> tuple[str, str, str | None]:
    metadata = manifest.get("metadata") or {}
    name = manifest.get("name") or metadata.get("name") or metadata.get("generateName")
    return manifest["apiVersion"], manifest["kind"], name


def counted(read: Extraction) -> tuple[int | None, int]:
    """Pods and GPUs as upstream's tool counts them."""
    try:
        instances = [instance for part in read.leaves() for instance in part.instances]
    except InputError:
        return None, 0
    desired = [instance.scale.desired if instance.scale else 1 for instance in instances]
    return sum(desired), sum(n * gpus(instance.pod or {}) for n, instance in zip(desired, instances, strict=True))


def gpus(pod: Mapping[str, Any]) -> int:
    spec = pod.get("spec") or {}
    running = [amounts(container) for container in spec.get("containers") or ()]
    return pod_total(running, [Init(amounts(one)) for one in spec.get("initContainers") or ()]).get(GPU, 0)


def amounts(container: Mapping[str, Any]) -> dict[str, int]:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.get(GPU)
    return {} if asked is None else {GPU: quantity.parse(asked)}
