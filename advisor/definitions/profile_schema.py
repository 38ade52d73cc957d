"""What a placement profile may say: `wm-place/v1 PlacementProfile` as frozen models (definitions.md 14.2).

A profile says, in jq, what a definition cannot: defaults, pods that a controller adds, which pods start together. All
expressions see the object after `prepare`; `docs/profiles.md` is the reference for people who write one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from advisor.definitions import schema
from advisor.definitions.schema import Expression, Jq, expressions
from advisor.errors import Fault, InputError, Path, likely
from advisor.files import Document


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class For(_Model):
    group: str
    kind: str
    versions: tuple[str, ...]


class RoleRule(_Model):
    """Pods of one kind: those of a component, once per instance, or pods that the controller adds.

    name         role name; else the instance's id, else the component's name
    when         is the role there at all; else: unless its pod source is null
    replicas     pods that the controller creates at start; else the definition's scale
    minimum      pods that a start needs at least; else all
    maximum      pods up to which an autoscaler may go; else none is stated
    step         its pods come in multiples of this number; 0: by itself their number never changes; else 1
    block        so many of its pods run or none of them; else 1
    template     the pod as the controller submits it, from the pod as extracted (an added role: from the object)
    labels       labels that the controller gives to the pods, key → value: text, or what is known of it otherwise
                 (`library/labels.jq`)
    owner        forms of what looks after its pods, `Kind.group/name` (`advisor/naming.py`): one or several; null where
                 the name is not known
    startsAfter  what its pods wait for, as text
    madeAfter    roles whose pods must be scheduled, run or have ended before its pods are made; itself: one by one
    stages       those at which its pods are alive; else [0]
    topology     [{key, unit, exclusive, path}], requests for co-location

    Expressions see the prepared object; `$id` is the instance, `$scale` its {replicas, minimum, maximum}. `template`
    sees the pod, and has the object as `$object` and the role's name as `$role`.
    """

    component: str = ""
    added: str = ""
    name: Jq | None = None
    when: Jq | None = None
    replicas: Jq | None = None
    minimum: Jq | None = None
    maximum: Jq | None = None
    step: Jq | None = None
    block: Jq | None = None
    template: Jq | None = None
    labels: Jq | None = None
    owner: Jq | None = None
    starts_after: Jq | None = None
    made_after: Jq | None = None
    stages: Jq | None = None
    topology: Jq | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> RoleRule:
        if bool(self.component) == bool(self.added):
            raise PydanticCustomError("rule", "names either a component or an added role")
        if self.added and not self.template:
            raise PydanticCustomError("rule", "an added role needs a template")
        return self


class Reference(_Model):
    """Other objects that the pods depend on, bound as `$refs.NAME` in every expression of the profile.

    find      what is looked for: outputs {group, kind, name, namespace, at}, of the object as it is written. Without a
              `namespace` the object is cluster-scoped or in the workload's own; `at` is the path (a list of steps)
              where the manifest refers to it. A list of them stands for one object that may be in several places
    pick      first: of the outputs that is there, or null; each: a list, in the order of the outputs, null for what is
              not there; all: every object of these kinds in the namespace, a list (the outputs have no `name`)
    where     of all: is this object one of them? Sees the object, and the workload's as `$object`
    that      of which kind they are then, in words that follow "a runtime that"
    required  without it nobody knows the pods; else expressions see null, or a shorter list
    guessed   expressions stand in for what is required and not found: the pods are shown, though the answer is open.
              A condition on the object as it is written: is there something usual to stand in?

    All see the workload's namespace as `$namespace`, and the references that stand before as `$refs`.
    """

    find: Jq
    pick: Literal["first", "each", "all"] = "first"
    where: Jq | None = None
    that: str = ""
    required: bool = True
    guessed: bool | Jq = False

    @model_validator(mode="after")
    def _goes_together(self) -> Reference:
        if self.guessed and not self.required:
            raise PydanticCustomError("rule", "only what is required can be guessed")
        if self.where and self.pick != "all":
            raise PydanticCustomError("rule", "only of all objects some can be picked")
        if bool(self.where) != bool(self.that):
            raise PydanticCustomError("rule", "a condition and its words come together")
        return self


Type = Literal["mapping", "list", "text", "flag"]
Piece = Literal["template", "podSpec", "container", "resources", "nodeSelector", "tolerations", "affinity"]
Form = Literal["schedule", "timeZone", "selector"]
What = Type | Piece | Form


class Rule(_Model):
    """What the kind wants of one place in the manifest as it is written, before any default.

    at        a path; every place at which it points is looked at
    like      the rules of a file of `catalog/library`, from this place on, stand in for this one
    required  something must stand there
    is        what may stand there: a type, a part of a pod (`pieces.py`), looked at as in a pod template, or a form
              (`forms.py`)
    must      a condition on what stands there, not asked where nothing does
    says      what is wrong when something required is missing or the condition is false
    hint      what to do about it
    note      it is only worth a warning: the controller takes it

    `must` sees what stands there, its path as `$path` (a list of steps), and the object as `$object`. `says` is text
    and holds nothing of the manifest: the fault's path says where.
    """

    at: Jq
    like: str = ""
    required: bool = False
    is_: What | None = Field(default=None, alias="is")
    must: Jq | None = None
    says: str = ""
    hint: str = ""
    note: bool = False

    @model_validator(mode="after")
    def _says_what_is_wrong(self) -> Rule:
        if self.must and not self.says:
            raise PydanticCustomError("rule", "a condition needs says: what is wrong when it is false")
        if self.like and self.model_fields_set - {"at", "like"}:
            raise PydanticCustomError("rule", "rules that are taken over stand alone")
        return self


class RuleSet(_Model):
    """Rules that several kinds share, each path from the place where a kind takes them over."""

    api_version: str
    kind: str
    rules: tuple[Rule, ...]


class Gang(_Model):
    """`groups`: [{count, members: {role: pods}}]. `minAvailable`: pods that must start at least, whichever they are.
    `object`: what the controller makes of all pods, for a scheduler that waits for `minAvailable` of them; or null.

    `order`: role → [{role: pods}], what its pods wait for: of each mapping one, with null for all of a role's pods.
    All see the object, and the roles as `$roles`: {name: {replicas, minimum}}.
    """

    groups: Jq | None = None
    order: Jq | None = None
    min_available: Jq | None = None
    object: Jq | None = None


PlainPath = Annotated[str, StringConstraints(pattern=r"^(\.[A-Za-z]+)+$")]
FreePath = Annotated[str, StringConstraints(pattern=r"^(\.([A-Za-z]+|\*))+$")]


def is_below(path: Path, plain: Iterable[str]) -> bool:
    """Is it one of the plain paths, or below one? `*` is any step; places in lists are none."""
    return any(_begins([step for step in path if isinstance(step, str)], _steps(text)) for text in plain)


def _begins(path: Sequence[str], steps: Sequence[str]) -> bool:
    return len(path) >= len(steps) and all(one in ("*", step) for one, step in zip(steps, path, strict=False))


@cache
def _steps(plain: str) -> tuple[str, ...]:
    return tuple(plain[1:].split("."))


class Example(_Model):
    """A manifest and what must come out of it: role → {replicas, minimum, requests}; and the gang's groups.

    `with`: other objects that are at hand.
    """

    name: str
    manifest: Mapping[str, Any]
    with_: tuple[Mapping[str, Any], ...] = Field(default=(), alias="with")
    roles: Mapping[str, Mapping[str, Any]]
    gang: tuple[Mapping[str, Any], ...] | None = None


class ProfileSpec(_Model):
    """`counts`: paths of numbers of pods, which must be whole and not negative where they are given.

    `literal`: the API server checks the templates with the object, so that nobody can fill them in before.
    `fills`: what the controller fills in where containers lack it: their names, what probes and ports do not say.
    `quoted`: paths below which the API server takes a quantity as text or a whole number, not as 0.5.
    `free`: paths below which the kind's schema lets anything pass; `*` is any step, places in lists are none.
    `knows`: fields of the kind's own among those of parts of pods.
    `uses`: files of `catalog/library` whose functions the expressions call. `podless`: true where the object rightly
    has no role at all; anywhere else that is a fault. `claims`: [{name, spec, shared}], the templates of claims of
    devices that the controller makes; `shared` of them, where they are not one for each pod.
    `requires`: API groups that must be served beside the kind's own, or its controller makes no pods.
    `volumes`: names of volumes that the controller adds to the pods, for templates that are checked as a whole.
    `scaled`: the path that the object's subresource `scale` sets. `scheduled`: its children, and their pods, come at
    times of their own. `waits`: the path of what keeps its pods away until it is changed, or null. `over`: has it run
    to its end, so that no pod of it comes any more? `left`: role → pods that may still be alive beside those that have
    run to their end, where these are fewer than all.
    `orphans`: a deletion that says nothing of the pods leaves them behind. `adopts`: a new object of the same name
    takes over those that were left behind; without a word nobody knows.
    """

    for_: For = Field(alias="for")
    literal: bool = False
    fills: tuple[Literal["names", "probes"], ...] = ()
    quoted: tuple[PlainPath, ...] = ()
    free: tuple[FreePath, ...] = ()
    knows: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    counts: tuple[Jq, ...] = ()
    rules: tuple[Rule, ...] = ()
    references: Mapping[str, Reference] = {}
    scaled: Jq | None = None
    volumes: Jq | None = None
    scheduled: bool = False
    waits: Jq | None = None
    over: Jq | None = None
    left: Jq | None = None
    orphans: bool = False
    adopts: bool | None = None
    prepare: Jq | None = None
    roles: tuple[RoleRule, ...] = ()
    podless: Jq | None = None
    gang: Gang = Gang()
    requires: Jq | None = None
    claims: Jq | None = None
    unmodelled: Jq | None = None
    examples: tuple[Example, ...] = ()


class Metadata(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = ""


class Profile(_Model):
    api_version: str
    kind: str
    metadata: Metadata = Metadata()
    spec: ProfileSpec

    def fits(self, definition: schema.Definition) -> bool:
        """Does the definition have every component that the roles speak of?"""
        names = {component.name for component in definition.components}
        return all(rule.component in names for rule in self.spec.roles if rule.component)


def parse(document: Document) -> Profile:
    """Raises InputError with every fault, placed in its file."""
    with document.faults():
        try:
            return Profile.model_validate(document.data)
        except ValidationError as error:
            raise InputError.of([_fault(detail) for detail in error.errors(include_url=False)]) from None


def _fault(detail: ErrorDetails) -> Fault:
    if detail["type"] == "extra_forbidden":
        hint = likely(str(detail["loc"][-1]), _FIELDS)
        return Fault("is not a field of a placement profile", detail["loc"], hint=hint)
    return schema.fault(detail)


def texts(profile: Profile) -> Iterator[tuple[Path, Expression]]:
    """Every expression of the profile, with its path."""
    yield from expressions(profile)


def _aliases(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name


_MODELS: tuple[type[BaseModel], ...] = (*_Model.__subclasses__(), Metadata)
_FIELDS = sorted({name for model in _MODELS for name in _aliases(model)})
