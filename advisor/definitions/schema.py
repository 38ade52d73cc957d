"""What a definition may say: upstream's `run.ai/v1alpha1` Karta as frozen models (definitions.md 2).

Mirrors the CRD (`charts/karta/crds/run.ai_kartas.yaml`): required fields, types, defaults of `statusDefinition`, rules
on lists. What the fields mean together is `validate.py`'s business. Unknown fields are left out with a warning;
the API server leaves them out in silence, and nulls too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from advisor.definitions.shapes import kind_of
from advisor.errors import Fault, InputError, Path

CURRENT = ("run.ai/v1alpha1", "Karta")
_OLD = ("optimization.nvidia.com/v1alpha1", "ResourceInterface")
_LISTS = (
    ("run.ai/v1alpha1", "KartaList"),
    ("optimization.nvidia.com/v1alpha1", "ResourceInterfaceList"),
    ("v1", "List"),
)


class Expression(str):
    """A jq text of a definition; everything else that is text is a plain str."""

    __slots__ = ()


Jq = Annotated[str, AfterValidator(Expression)]


def _unique(field: str) -> AfterValidator:
    """A list that the CRD declares as a map by `field` (or, without one, as a set)."""

    def check(items: tuple[Any, ...]) -> tuple[Any, ...]:
        seen: set[Hashable] = set()
        for item in items:
            key = getattr(item, field) if field else item
            if key in seen:
                raise PydanticCustomError("twice", "has {key} twice", {"key": key})
            seen.add(key)
        return items

    return AfterValidator(check)


def _not_empty(value: Any) -> Any:
    if not value:
        raise PydanticCustomError("rule", "must not be empty")
    return value


_FILLED = AfterValidator(_not_empty)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class GroupVersionKind(_Model):
    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"


class Fragments(_Model):
    scheduler_name_path: Jq | None = None
    priority_class_name_path: Jq | None = None
    image_path: Jq | None = None
    labels_path: Jq | None = None
    annotations_path: Jq | None = None
    resources_path: Jq | None = None
    resource_claims_path: Jq | None = None
    pod_affinity_path: Jq | None = None
    node_affinity_path: Jq | None = None
    containers_path: Jq | None = None
    container_path: Jq | None = None


class SpecDefinition(_Model):
    pod_template_spec_path: Jq | None = None
    pod_spec_path: Jq | None = None
    metadata_path: Jq | None = None
    fragmented_pod_spec_definition: Fragments | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Which of the three ways to say a pod are used; a valid definition uses one or none."""
        names = ("pod_template_spec_path", "pod_spec_path", "fragmented_pod_spec_definition")
        return tuple(to_camel(name) for name in names if getattr(self, name) is not None)


class ScaleDefinition(_Model):
    replicas_path: Jq | None = None
    min_replicas_path: Jq | None = None
    max_replicas_path: Jq | None = None


class ComponentTypeSelector(_Model):
    key_path: Annotated[Jq, _FILLED] | None = None
    value: str | None = None
    match_labels: Annotated[Mapping[str, str], _FILLED] | None = None

    @model_validator(mode="after")
    def _as_the_crd_demands(self) -> ComponentTypeSelector:
        if self.key_path is None and self.match_labels is None:
            raise PydanticCustomError("rule", "needs keyPath or matchLabels")
        if self.key_path is None and self.value is not None:
            raise PydanticCustomError("rule", "has a value but no keyPath to compare it with")
        return self


class ComponentInstanceSelector(_Model):
    id_path: Jq


class ReplicaSelector(_Model):
    key_path: Jq


class PodSelector(_Model):
    component_type_selector: ComponentTypeSelector | None = None
    component_instance_selector: ComponentInstanceSelector | None = None
    replica_selector: ReplicaSelector | None = None


class PhaseDefinition(_Model):
    path: Jq


class ConditionsDefinition(_Model):
    path: Jq
    type_field_name: str = "type"
    status_field_name: str = "status"
    message_field_name: str = "message"
    reason_field_name: str = "reason"


class ConditionMatcher(_Model):
    type: str
    status: str | None = None
    reason: str | None = None


class ExpressionMatcher(_Model):
    expression: Jq
    expected_result: str


class StatusMatcher(_Model):
    by_phase: str | None = None
    by_conditions: tuple[ConditionMatcher, ...] = ()
    by_expression: ExpressionMatcher | None = None


class StatusMappings(_Model):
    resuming: tuple[StatusMatcher, ...] = ()
    suspending: tuple[StatusMatcher, ...] = ()
    suspended: tuple[StatusMatcher, ...] = ()
    running: tuple[StatusMatcher, ...] = ()
    failed: tuple[StatusMatcher, ...] = ()
    completed: tuple[StatusMatcher, ...] = ()
    initializing: tuple[StatusMatcher, ...] = ()
    degraded: tuple[StatusMatcher, ...] = ()


class StatusDefinition(_Model):
    phase_definition: PhaseDefinition | None = None
    conditions_definition: ConditionsDefinition | None = None
    status_mappings: StatusMappings


class Action(_Model):
    path: Jq
    value: str


class SuspendDefinition(_Model):
    suspend_actions: Annotated[tuple[Action, ...], _FILLED]
    resume_actions: Annotated[tuple[Action, ...], _FILLED]


class Component(_Model):
    name: str
    kind: GroupVersionKind | None = None
    owner_ref: str | None = None
    spec_definition: SpecDefinition | None = None
    scale_definition: ScaleDefinition | None = None
    instance_id_path: Jq | None = None
    pod_selector: PodSelector | None = None
    status_definition: StatusDefinition | None = None
    suspend_definition: SuspendDefinition | None = None

    @property
    def is_leaf(self) -> bool:
        """Does it have pods?"""
        return bool(self.spec_definition and self.spec_definition.sources)

    @property
    def type_selector(self) -> ComponentTypeSelector | None:
        return self.pod_selector.component_type_selector if self.pod_selector else None

    @property
    def instance_selector(self) -> ComponentInstanceSelector | None:
        return self.pod_selector.component_instance_selector if self.pod_selector else None


class Structure(_Model):
    root_component: Component
    child_components: tuple[Component, ...] = ()
    additional_child_kinds: Annotated[tuple[GroupVersionKind, ...], _unique("kind")] = ()


class Topology(_Model):
    topology_name: str
    required_topology_level: str
    preferred_topology_level: str


class SubGroup(_Model):
    component_name: str
    topology: Topology | None = None


class PodGroup(_Model):
    name: str
    topology: Topology | None = None
    sub_groups: Annotated[tuple[SubGroup, ...], _unique("component_name")] = ()


class Member(_Model):
    component_name: str
    group_by_key_paths: Annotated[tuple[Jq, ...], _unique("")] = ()
    filters: Annotated[tuple[Jq, ...], _unique("")] = ()


class MemberGroup(_Model):
    """The older form: an entry of `podGroups`."""

    name: str
    members: Annotated[tuple[Member, ...], _unique("component_name")]


class GangScheduling(_Model):
    pod_group: PodGroup | None = None
    pod_groups: Annotated[tuple[MemberGroup, ...], _unique("name")] = ()


class Instructions(_Model):
    gang_scheduling: GangScheduling | None = None


class Spec(_Model):
    structure_definition: Structure
    optimization_instructions: Instructions = Instructions()


class Metadata(_Model):
    model_config = ConfigDict(extra="ignore")

    name: str = ""
    labels: Mapping[str, str] = {}


class Definition(_Model):
    """A whole definition. `components` are in upstream's order: the root, then the children as the file lists them."""

    api_version: str
    kind: str
    metadata: Metadata = Metadata()
    spec: Spec
    status: Any = None

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def structure(self) -> Structure:
        return self.spec.structure_definition

    @property
    def root(self) -> Component:
        return self.structure.root_component

    @property
    def components(self) -> tuple[Component, ...]:
        return (self.root, *self.structure.child_components)

    @property
    def gang(self) -> GangScheduling | None:
        return self.spec.optimization_instructions.gang_scheduling


def places(definition: Definition) -> Iterator[tuple[Path, Component]]:
    """Each component with its path in the document."""
    structure = ("spec", "structureDefinition")
    yield (*structure, "rootComponent"), definition.root
    for i, child in enumerate(definition.structure.child_components):
        yield (*structure, "childComponents", i), child


def expressions(part: BaseModel) -> Iterator[tuple[Path, Expression]]:
    """Every jq text at and below `part`, with its path from there."""
    for name in type(part).model_fields:
        for path, expression in _expressions_of(getattr(part, name)):
            yield (to_camel(name), *path), expression


def paths(part: BaseModel) -> dict[str, Expression]:
    """The jq texts that are fields of `part` itself: field name → text."""
    values = ((to_camel(name), getattr(part, name)) for name in type(part).model_fields)
    return {field: value for field, value in values if isinstance(value, Expression)}


def _expressions_of(value: Any) -> Iterator[tuple[Path, Expression]]:
    if isinstance(value, Expression):
        yield (), value
    elif isinstance(value, BaseModel):
        yield from expressions(value)
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            for path, expression in _expressions_of(item):
                yield (i, *path), expression
    elif isinstance(value, Mapping):
        for key, item in value.items():
            for path, expression in _expressions_of(item):
                yield (key, *path), expression


def is_definition(data: Any) -> bool:
    """A definition under its current or its old name?"""
    return isinstance(data, Mapping) and (data.get("apiVersion"), data.get("kind")) in (CURRENT, _OLD)


def is_list(data: Any) -> bool:
    return isinstance(data, Mapping) and (data.get("apiVersion"), data.get("kind")) in _LISTS


def parse(data: Mapping[str, Any]) -> tuple[Definition, tuple[Fault, ...]]:
    """The definition that `data` says, and warnings. Raises InputError with every fault in its form."""
    if not is_definition(data):
        raise InputError(f"is not a definition ({CURRENT[0]} {CURRENT[1]})", path=("kind",))
    definition, warnings = _checked(_without_nulls(data))
    return definition, (*_about_names(definition), *warnings)


def _checked(data: Any) -> tuple[Definition, list[Fault]]:
    """The definition, with warnings, if unknown fields are all that is wrong with it."""
    try:
        return Definition.model_validate(data), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    unknown = [detail["loc"] for detail in details if detail["type"] == "extra_forbidden"]
    faults = [fault(detail) for detail in details if detail["type"] != "extra_forbidden"]
    faults += [_reference(path) for path in unknown if path[-1] == "references"]
    warnings = [_unknown(path) for path in unknown if path[-1] != "references"]
    if faults:
        raise InputError.of([*faults, *warnings])
    for path in unknown:
        data = _without(data, path)
    definition, more = _checked(data)  # some rules are only asked of a model without unknown fields
    return definition, [*warnings, *more]


def _about_names(definition: Definition) -> Iterator[Fault]:
    if definition.kind == _OLD[1]:
        hint = f"write apiVersion: {CURRENT[0]} and kind: {CURRENT[1]}, nothing else changes"
        yield Fault(f"{_OLD[1]} is the old name of this kind", ("kind",), hint=hint)
    if not definition.name:
        yield Fault("is missing; a cluster would refuse the definition", ("metadata", "name"))


def _unknown(path: Path) -> Fault:
    near = get_close_matches(str(path[-1]), _FIELDS, n=1, cutoff=0.8)
    hint = f"did you mean {near[0]}?" if near else ""
    return Fault("is not a field of a definition and is left out", path, hint=hint)


def _reference(path: Path) -> Fault:
    hint = "upstream has designed them, no release has them; name the pod template by a path in the object itself"
    return Fault("references to other objects cannot be read", path, hint=hint)


def _without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    return [_without_nulls(item) for item in data] if isinstance(data, list) else data


def _without(data: Any, path: Path) -> Any:
    """A copy of `data` in which `path` does not exist; what lies beside the path is shared."""
    step, rest = path[0], path[1:]
    copy = data.copy()
    if rest:
        copy[step] = _without(data[step], rest)
    else:
        del copy[step]
    return copy


_WANTED = {
    "string_type": "must be text",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "mapping_type": "must be a mapping",
    "dict_type": "must be a mapping",
}


def fault(detail: ErrorDetails) -> Fault:
    """What pydantic found, in our words."""
    message = detail["msg"]
    if detail["type"] == "missing":
        message = "is required"
    elif detail["type"] in _WANTED:
        message = f"{_WANTED[detail['type']]}, not {kind_of(detail['input'])}"
    return Fault(message, detail["loc"])


def _all_fields(model: type[BaseModel]) -> Iterator[str]:
    for sub in model.__subclasses__():
        yield from map(to_camel, sub.model_fields)


_FIELDS = sorted(set(_all_fields(_Model)))
