"""One object through one definition: instances, scales and pods, as upstream would see them (definitions.md 4.3, 5).

This is the compatible layer: nothing is defaulted or corrected, and a path that fails is an error of its component,
never a zero. `strict` adds our own checks of the pairing by position, which upstream leaves out. Knows no kind by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Any

from advisor.definitions import fragments, openapi, schema, shapes, tree
from advisor.definitions.engine import EXHAUSTED, Engine, Prepared
from advisor.definitions.schema import Component, Definition, Fragments
from advisor.errors import Fault, Faults, InputError, dotted

SINGLE = ""
"""The instance id of a component that has no instanceIdPath."""


@dataclass(frozen=True, slots=True)
class Scale:
    """As the manifest says; None is unset. Nothing is clamped."""

    replicas: int | None = None
    minimum: int | None = None
    maximum: int | None = None

    @property
    def desired(self) -> int:
        """As upstream's tool counts: replicas, else the minimum, else 1."""
        return next((number for number in (self.replicas, self.minimum) if number is not None), 1)


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a component.

    `pod` has `metadata` and `spec`; it is None when the component has no pods of its own, or when all that its paths
    give for this instance is null. `source` is the field of the definition that gave the pod.
    """

    component: str
    id: str
    scale: Scale | None = None
    pod: Mapping[str, Any] | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A component with its instances. `absent`: it could have pods, and everything its paths give is null (5.6)."""

    component: Component
    instances: tuple[Instance, ...]

    @property
    def absent(self) -> bool:
        return self.component.is_leaf and all(instance.pod is None for instance in self.instances)


class Extraction:
    """What a definition makes of an object; each path is evaluated when it is first asked for."""

    def __init__(self, definition: Definition, document: Prepared, engine: Engine, *, strict: bool = True) -> None:
        self.definition = definition
        self.document = document
        self.engine = engine
        self.strict = strict
        self.ids = cache(self._ids)
        self.scales = cache(self._scales)
        self.part = cache(self._part)

    def parts(self) -> tuple[Part, ...]:
        """Every component, the root first. Raises InputError with the faults of all that cannot be read."""
        return self._all(self.definition.components)

    def leaves(self) -> tuple[Part, ...]:
        """Like `parts`, but only the components that have pods: others may fail, and the pods are still known."""
        return self._all(tree.leaves(self.definition))

    def _all(self, components: Iterable[Component]) -> tuple[Part, ...]:
        faults = Faults()
        found = []
        for component in components:
            with faults.collect():
                found.append(self.part(component.name))
        faults.raise_if_any()
        return tuple(found)

    def _ids(self, name: str) -> tuple[str, ...]:
        """The instance ids of a component, in the order of its path's outputs."""
        component = tree.component(self.definition, name)
        if component.instance_id_path is None:
            return (SINGLE,)
        ids = self._values(component, "instanceIdPath", component.instance_id_path, str)
        with _reading(component, "instanceIdPath", component.instance_id_path):
            if not all(ids):
                raise InputError("an instance id is empty")
            twice = [id_ for i, id_ in enumerate(ids) if id_ in ids[:i]]
            if twice and self.strict:
                raise InputError(f"the instance id {twice[0]} is given twice")
        return tuple(ids)

    def _scales(self, name: str) -> Mapping[str, Scale] | None:
        """Instance id → scale; None when the component has no scaleDefinition."""
        component = tree.component(self.definition, name)
        if component.scale_definition is None:
            return None
        lists = {
            field: self._values(component, field, path, shapes.int32)
            for field, path in schema.paths(component.scale_definition).items()
        }
        rows = self._padded(component, "scaleDefinition", lists)
        return {id_: Scale(*(row.get(field) for field in _SCALE)) for id_, row in rows.items()}

    def _part(self, name: str) -> Part:
        component = tree.component(self.definition, name)
        scales = self.scales(name) or {}
        pods = self._pods(component)
        source = component.spec_definition.sources[0] if component.spec_definition and component.is_leaf else ""
        return Part(
            component,
            tuple(Instance(name, id_, scales.get(id_), pods.get(id_), source) for id_ in dict.fromkeys(self.ids(name))),
        )

    def _pods(self, component: Component) -> Mapping[str, Mapping[str, Any] | None]:
        spec = component.spec_definition
        if spec is None:
            return {}
        columns = {
            field: self._paired(component, field, self._values(component, field, path, _SHAPES[field]))
            for field, path in schema.paths(spec).items()
        }
        if spec.fragmented_pod_spec_definition is not None:
            return self._from_fragments(component, spec.fragmented_pod_spec_definition)
        if spec.pod_template_spec_path is not None:
            templates = columns["podTemplateSpecPath"]
        else:
            metadata = columns.get("metadataPath", {})
            pods = {id_: pod for id_, pod in columns.get("podSpecPath", {}).items() if pod is not None}
            templates = {id_: {"metadata": metadata.get(id_), "spec": pod} for id_, pod in pods.items()}
        return {id_: _whole_pod(template) for id_, template in templates.items()}

    def _from_fragments(self, component: Component, spec: Fragments) -> Mapping[str, Mapping[str, Any] | None]:
        lists = {
            field: self._values(component, field, path, fragments.SHAPES[field])
            for field, path in schema.paths(spec).items()
        }
        rows = self._padded(component, "fragmentedPodSpecDefinition", lists)
        with _reading(component, "fragmentedPodSpecDefinition"):
            return {id_: fragments.pod(component.name, row, strict=self.strict) for id_, row in rows.items()}

    def _values(self, component: Component, field: str, path: str, shape: shapes.Shape) -> list[Any]:
        with _reading(component, field, path):
            outputs = self.engine.evaluate(path, self.document)
            for output in outputs:
                shapes.check(output, shape)
            return outputs

    def _paired(self, component: Component, field: str, outputs: Sequence[Any]) -> Mapping[str, Any]:
        """Instance id → output, by position. With an id given twice the later wins, as in upstream's map."""
        ids = self.ids(component.name)
        with _reading(component, field):
            _as_many(len(outputs), len(ids))
        return dict(zip(ids, outputs, strict=True))

    def _padded(
        self, component: Component, field: str, lists: Mapping[str, Sequence[Any]]
    ) -> Mapping[str, Mapping[str, Any]]:
        """Instance id → field → output, by position, shorter lists filled up with null at their end.

        A list that lacks one in the middle is shifted by this without a sound, so `strict` wants each list whole;
        only a component that has one instance by nature may have an empty one.
        """
        ids = self.ids(component.name)
        for name, outputs in lists.items() if self.strict else ():
            with _reading(component, name):
                if outputs or ids != (SINGLE,):
                    _as_many(len(outputs), len(ids))
        rows = [dict(zip(lists, row, strict=True)) for row in zip_longest(*lists.values())]
        return self._paired(component, field, rows)


_SCALE = ("replicasPath", "minReplicasPath", "maxReplicasPath")
_SHAPES = {
    "podTemplateSpecPath": openapi.check("PodTemplateSpec"),
    "podSpecPath": openapi.check("PodSpec"),
    "metadataPath": openapi.check("ObjectMeta"),
}


def _whole_pod(template: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if template is None:
        return None
    return {"metadata": template.get("metadata") or {}, "spec": template.get("spec") or {}}


def _as_many(values: int, instances: int) -> None:
    if values != instances:
        raise InputError(f"{values} value{'s' * (values != 1)} for {instances} instance{'s' * (instances != 1)}")


@contextmanager
def _reading(component: Component, field: str, path: str = "") -> Iterator[None]:
    """Name the component and the field in every fault that passes through."""
    try:
        yield
    except InputError as error:
        error.faults = tuple(_unreadable(fault, component, field, path) for fault in error.faults)
        raise


def _unreadable(fault: Fault, component: Component, field: str, path: str) -> Fault:
    reason = f"{dotted(fault.path)} {fault.message}" if fault.path else fault.message
    message = f"cannot be read: {component.name}, {field}, {reason}"
    code = EXHAUSTED if fault.code == EXHAUSTED else "unreadable"
    return Fault(message, hint=fault.hint or path, code=code)
