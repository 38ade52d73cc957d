"""What a CustomResourceDefinition tells of its kind: where pods may be described, how many, and where the status is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from advisor import errors
from advisor.definitions import plain, versions
from advisor.definitions.drafting.steps import ITEM, MEMBER, Site, Steps
from advisor.errors import InputError, unknown
from advisor.inventory import Kind

Schema = Mapping[str, Any]
_TEMPLATES = ("template", "podTemplate", "podTemplateSpec")
_IDS = ("name", "groupName", "id")
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class Crd:
    """A kind with the schema of one of its versions."""

    kind: Kind
    plural: str
    namespaced: bool
    schema: Schema


def is_crd(data: Any) -> bool:
    return isinstance(data, dict) and data.get("kind") == "CustomResourceDefinition" and "spec" in data


def read(data: Mapping[str, Any], version: str = "") -> Crd:
    """The version asked for, else the most mature that is served. Raises InputError for what is no whole CRD."""
    spec = plain.mapping(data, "spec")
    with errors.at("spec"):
        served = {name: one for name, one in _served(spec) if name}
        if version and version not in served:
            raise unknown("version", version, served)
        chosen = version or max(served, key=versions.maturity, default="")
        schema = plain.below(served.get(chosen, {}), ("schema", "openAPIV3Schema"))
        names = plain.mapping(spec, "names")
        kind = Kind(plain.text(spec, "group"), chosen, plain.text(names, "kind"))
        crd = Crd(kind, plain.text(names, "plural"), plain.text(spec, "scope") == "Namespaced", schema)
    if not (kind.group and kind.kind and crd.plural and schema):
        raise InputError("is no whole CustomResourceDefinition", path=("spec",))
    return crd


def _served(spec: Schema) -> Iterator[tuple[str, Schema]]:
    for place, one in plain.mappings(spec, "versions"):
        with errors.at("versions", place):
            if one.get("served", True):
                yield plain.text(one, "name"), one


def sites(schema: Schema) -> list[Site]:
    """Every place where the schema has a pod; what lies inside a pod is not looked at.

    An image beside resources is only taken for parts of a pod where there is no whole one: else it is what a kind lets
    people change of pods that it makes itself.
    """
    spec = _properties(schema).get("spec")
    found = list(_sites(spec, ("spec",), ())) if spec else []
    return [site for site in found if site.form] or found


def _sites(schema: Schema, steps: Steps, named: tuple[str, ...]) -> Iterator[Site]:
    form = _form(schema, steps)
    if form is not None:
        image = at(schema, ("image",)).get("type") == "string"
        yield Site(steps, form, named[-1] if named else "name", bool(form) or image)
        return
    if len(steps) > _DEEPEST:
        return
    for key, member in _properties(schema).items():
        yield from _sites(member, (*steps, key), named)
    items = schema.get("items")
    if isinstance(items, dict):
        own = next((key for key in _IDS if key in _properties(items)), "")
        yield from _sites(items, (*steps, ITEM), (*named, own))
    members = schema.get("additionalProperties")
    if isinstance(members, dict):
        yield from _sites(members, (*steps, MEMBER), (*named, ""))


def _form(schema: Schema, steps: Steps) -> str | None:
    properties = _properties(schema)
    if _is_pod_spec(properties.get("spec")) and len(steps) > 1:
        return "podTemplateSpecPath"
    if _is_pod_spec(schema):
        return "podSpecPath"
    if not properties and steps[-1] in _TEMPLATES and schema.get("x-kubernetes-preserve-unknown-fields"):
        return "podTemplateSpecPath"
    if "image" in properties and _is_resources(properties.get("resources")):
        return ""
    return None


def _is_pod_spec(schema: Any) -> bool:
    containers = _properties(schema).get("containers") if isinstance(schema, dict) else None
    return isinstance(containers, dict) and containers.get("type") == "array" and _is_container(containers.get("items"))


def _is_container(schema: Any) -> bool:
    properties = _properties(schema) if isinstance(schema, dict) else {}
    return "image" in properties or bool(
        isinstance(schema, dict) and schema.get("x-kubernetes-preserve-unknown-fields")
    )


def _is_resources(schema: Any) -> bool:
    return isinstance(schema, dict) and {"limits", "requests"} <= _properties(schema).keys()


def _properties(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return {key: one for key, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}


def at(schema: Schema, steps: Steps) -> Schema:
    """The schema of what stands at the steps; empty where there is none."""
    for step in steps:
        if step == ITEM:
            found = schema.get("items")
        elif step == MEMBER:
            found = schema.get("additionalProperties")
        else:
            found = _properties(schema).get(step)
        if not isinstance(found, dict):
            return {}
        schema = found
    return schema


def fields(schema: Schema, steps: Steps, *types: str) -> tuple[str, ...]:
    """The members of these types of the mapping at the steps."""
    found = _properties(at(schema, steps))
    return tuple(key for key, one in found.items() if one.get("type") in types or _int_or_string(one, types))


def _int_or_string(schema: Schema, types: tuple[str, ...]) -> bool:
    return "integer" in types and bool(schema.get("x-kubernetes-int-or-string"))
