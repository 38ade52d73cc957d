"""What Kubernetes' own description of its types (OpenAPI v3) says of pods and of the objects that make them, in short.

python -m tests.live.openapi      writes `catalog/openapi.json` anew, from a real API server
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from advisor.definitions.openapi import FILE
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Pool

GROUPS = ("api/v1", "apis/apps/v1", "apis/batch/v1")
KINDS = (
    "v1 Pod",
    "apps/v1 Deployment",
    "apps/v1 ReplicaSet",
    "apps/v1 StatefulSet",
    "batch/v1 Job",
    "batch/v1 CronJob",
)
NOT_MISSED = {
    "EvictionResponder.name",
    "EvictionResponder.priority",
    "HTTPHeader.value",
    "ISCSIVolumeSource.lun",
    "PodFailurePolicy.rules",
    "PreferredSchedulingTerm.preference",
    "SleepAction.seconds",
    "Sysctl.value",
    "TopologyConstraint.key",
    "WorkloadPodGroupResourceClaim.name",
}
"""What the description calls required and a server does not miss: nothing is as good as empty or zero there, or the
field is behind a feature gate that is off."""
ANY_WORD = {"GRPCAction.mode", "HTTPGetAction.protocol", "Lifecycle.stopSignal"}
"""Enumerations behind a feature gate that is off: the server drops the field, whatever it says."""
WORDS = {
    "Container.restartPolicy": "Always|Never|OnFailure",
    "ContainerResizePolicy.restartPolicy": "NotRequired|RestartContainer",
    "ContainerRestartRule.action": "Restart|RestartAllContainers",
    "ContainerRestartRuleOnExitCodes.operator": "In|NotIn",
    "PodSecurityContext.seLinuxChangePolicy": "MountOption|Recursive",
}
"""Enumerations that a server has and its description lacks."""
LEAVES = {
    "Time": "time",
    "FieldsV1": "any",
    "Quantity": "quantity",
    "IntOrString": "intOrText",
}
FORMATS = {"int32": "int32", "int64": "int64"}
TYPES = {"string": "text", "boolean": "flag"}

Schema = Mapping[str, Any]


def table(server: ApiServer) -> dict[str, Any]:
    """`kinds`: apiVersion and kind → type; `types`: type → field → form, as `advisor.definitions.openapi` reads it."""
    minor = server.api.request("GET", "/version")["minor"]
    schemas: dict[str, Schema] = {}
    for group in GROUPS:
        schemas.update(server.api.request("GET", f"/openapi/v3/{group}")["components"]["schemas"])
    types: dict[str, dict[str, str]] = {}
    waiting = [
        name for name in schemas if name.endswith(tuple(f".{one.replace('/', '.').replace(' ', '.')}" for one in KINDS))
    ]
    while waiting:
        name = waiting.pop()
        if _short(name) not in types:
            types[_short(name)] = {
                field: _form(name, field, schema, schemas, waiting)
                for field, schema in sorted(schemas[name].get("properties", {}).items())
            }
    return {
        "version": f"1.{minor}",
        "kinds": {one: one.split()[1] for one in KINDS},
        "types": dict(sorted(types.items())),
    }


def _has_kind(schema: Schema) -> bool:
    return "x-kubernetes-group-version-kind" in schema


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _form(owner: str, field: str, schema: Schema, schemas: Mapping[str, Schema], waiting: list[str]) -> str:
    if _has_kind(schemas[owner]) and field == "status":
        return "any"
    needed = field in schemas[owner].get("required", ()) and f"{_short(owner)}.{field}" not in NOT_MISSED
    if f"{_short(owner)}.{field}" in ANY_WORD:
        return _leaf(schema)
    if words := WORDS.get(f"{_short(owner)}.{field}"):
        return f"{'!' * needed}={words}"
    return f"{'!' * needed}{_value(schema, schemas, waiting)}"


def _value(schema: Schema, schemas: Mapping[str, Schema], waiting: list[str]) -> str:
    if schema.get("type") == "array":
        return f"[]{_value(schema['items'], schemas, waiting)}"
    if "additionalProperties" in schema:
        return f"{{}}{_value(schema['additionalProperties'], schemas, waiting)}"
    reference = next((one["$ref"] for one in (schema, *schema.get("allOf", ())) if "$ref" in one), "")
    if not reference:
        return f"={'|'.join(schema['enum'])}" if "enum" in schema else _leaf(schema)
    name = reference.rpartition("/")[2]
    if _short(name) in LEAVES:
        return LEAVES[_short(name)]
    waiting.append(name)
    return _short(name)


def _leaf(schema: Schema) -> str:
    return FORMATS[schema["format"]] if schema["type"] == "integer" else TYPES[schema["type"]]


def text(found: Mapping[str, Any]) -> str:
    """One type on each line, so that a difference between two versions can be read."""
    lines = ["{", f'  "version": {json.dumps(found["version"])},']
    for part, end in (("kinds", ","), ("types", "")):
        members = [f"    {json.dumps(name)}: {json.dumps(one)}" for name, one in found[part].items()]
        lines += [f'  "{part}": {{', ",\n".join(members), f"  }}{end}"]
    return "\n".join((*lines, "}", ""))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(Path(folder))
        try:
            FILE.write_text(text(table(pool.lend("main")["main"])))
        finally:
            pool.close()


if __name__ == "__main__":
    main()
