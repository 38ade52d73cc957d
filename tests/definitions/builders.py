"""Short ways to write definitions and manifests in tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from advisor import files
from advisor.definitions import engine, reading, schema
from advisor.definitions.catalog import Catalog
from advisor.definitions.engine import Prepared
from advisor.definitions.extract import Extraction
from advisor.definitions.schema import Definition
from advisor.errors import Fault, dotted
from advisor.resources import in_base_units
from advisor.workload import Role, Workload

Definitions = Mapping[tuple[str, str], Definition]
Object = dict[str, Any]
MAIN = {"name": "main", "image": "x"}


def yaml(text: str) -> Any:
    """The first document of a YAML text."""
    return files.documents(files.Source("test", text))[0].data


def prepared(text: str) -> Prepared:
    return engine.prepare(yaml(text))


def karta(root: str = "{}", children: str = "[]", instructions: str = "{}", structure: str = "{}") -> dict[str, Any]:
    """A small valid definition of example.com/v1 Thing; the arguments are YAML laid over it."""
    component = {
        "name": "thing",
        "kind": {"group": "example.com", "version": "v1", "kind": "Thing"},
        "statusDefinition": {"statusMappings": {}},
    }
    return {
        "apiVersion": "run.ai/v1alpha1",
        "kind": "Karta",
        "metadata": {"name": "example-com-thing-v1"},
        "spec": {
            "structureDefinition": {
                "rootComponent": {**component, **yaml(root)},
                "childComponents": yaml(children),
                **yaml(structure),
            },
            "optimizationInstructions": yaml(instructions),
        },
    }


def definition(root: str = "{}", children: str = "[]", instructions: str = "{}") -> Definition:
    return schema.parse(karta(root, children, instructions))[0]


def definition_in(path: Path) -> Definition:
    return schema.parse(files.documents(files.read(str(path)))[0].data)[0]


def extraction(made: Definition, manifest: Mapping[str, Any], *, strict: bool = True) -> Extraction:
    return Extraction(made, engine.prepare(manifest), engine.TRUSTED, strict=strict)


def lines(faults: tuple[Fault, ...]) -> list[str]:
    """Faults as `path: message`, the shared beginning of all paths of a definition left out."""
    texts = (f"{dotted(fault.path)}: {fault.message}" for fault in faults)
    return [text.removeprefix("spec.structureDefinition.").removeprefix("spec.") for text in texts]


def read(*objects: Mapping[str, Any]) -> Workload:
    """The workload among these objects, by our own catalogue."""
    text = "\n---\n".join(map(json.dumps, objects))
    (workload,) = reading.read(files.documents(files.Source("x.yaml", text)), Catalog()).workloads
    return workload


def roles(*objects: Mapping[str, Any]) -> dict[str, Role]:
    workload = read(*objects)
    assert not workload.faults
    return {role.name: role for role in workload.roles}


def requests(role: Role) -> dict[str, int]:
    return in_base_units(role.template.as_pod().requests())


def jobs(**spec: Any) -> Object:
    template = {"spec": {"containers": [MAIN], "restartPolicy": "Never", **spec}}
    made = {"name": "w", "replicas": 1, "template": {"spec": {"template": template}}}
    version = "jobset.x-k8s.io/v1alpha2"
    return {"apiVersion": version, "kind": "JobSet", "metadata": {"name": "it"}, "spec": {"replicatedJobs": [made]}}


def workspace(**spec: Any) -> Object:
    template = {"spec": {"containers": [MAIN], **spec}}
    resource = {"instanceType": "any", "labelSelector": {"matchLabels": {"a": "b"}}}
    made = {"resource": resource, "inference": {"template": template}}
    return {"apiVersion": "kaito.sh/v1beta1", "kind": "Workspace", "metadata": {"name": "it"}, **made}


def container(**fields: Any) -> Object:
    return {"containers": [{**MAIN, **fields}]}


def asking(**resources: Any) -> Object:
    return container(resources=resources)
