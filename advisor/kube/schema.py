"""What people may write: clusters.yaml (product.md 3) and the catalogue of accelerators, as models that check it.

Everything that is wrong with a file is said at once, each with its line, and an unknown key with the likely spelling.
"""

from __future__ import annotations

import re
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from advisor.accelerators import Accelerators, Mark, Sign
from advisor.errors import Fault, Faults, InputError, Path
from advisor.files import Document
from advisor.kube.clusters import ClusterEntry, ClusterFile
from advisor.kube.kubeconfig import likely
from advisor.labels import Requirement, labels
from advisor.question import Policy

M = TypeVar("M", bound=BaseModel)

_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ms|h|m|s)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_EXAMPLE = "such as 20s, 1m30s or 500ms"


def duration(text: str) -> float:
    """Seconds of a duration as Go writes it. Raises InputError for anything else, and for none at all."""
    parts = _PART.findall(text)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text or seconds <= 0:
        raise InputError(f'"{text[:20]}" is not a duration', hint=_EXAMPLE)
    return seconds


def _seconds(value: object) -> float:
    try:
        return duration(value if isinstance(value, str) else repr(value))
    except InputError as error:
        raise PydanticCustomError("duration", "{text}", {"text": f"{error.faults[0].message}, {_EXAMPLE}"}) from None


Seconds = Annotated[float, BeforeValidator(_seconds)]
Text = Annotated[str, Field(min_length=1)]


class Model(BaseModel):
    """A mapping that people write: keys in camel case, none that is not known, and no text taken for a number."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel)


class _Defaults(Model):
    timeout: Seconds = 20.0
    max_age: Seconds = 30.0


class _Preference(Model):
    label: Text
    value: str


class _Policy(Model):
    strategy: Literal["pack", "spread", "cost", "headroom"] = "pack"
    prefer: list[_Preference] = []
    allow_reduced: bool = False


class _Assume(Model):
    namespaces: Literal["create"] | None = None


class _Cluster(Model):
    name: Text
    kubeconfig: Text | None = None
    context: Text | None = None
    in_cluster: bool = False
    snapshot: Text | None = None
    labels: dict[str, str] = {}
    price_per_accelerator_hour: dict[str, Annotated[float, Field(ge=0)]] = {}
    assume: _Assume = _Assume()


class _ClusterList(Model):
    api_version: Literal["wm-place/v1"]
    kind: Literal["ClusterList"]
    defaults: _Defaults = _Defaults()
    policy: _Policy = _Policy()
    clusters: list[_Cluster] = []


class _Label(Model):
    key: Text
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    values: list[str] = []


class _Sign(Model):
    resource: Text
    means: Literal["time-sliced", "one-per-container", "reconfiguring", "split"]
    label: _Label | None = None
    annotation: Text | None = None

    @model_validator(mode="after")
    def _one_thing_to_see(self) -> _Sign:
        if (self.label is None) == (self.annotation is None):
            raise PydanticCustomError("sign", "needs a label or an annotation, and not both")
        return self


class _Catalogue(Model):
    api_version: Literal["wm-place/v1"]
    kind: Literal["AcceleratorCatalog"]
    resources: list[Text]
    products: list[Text]
    signs: list[_Sign] = []


def cluster_file(document: Document) -> ClusterFile:
    """A clusters.yaml. Relative paths in it start from its own folder. Raises InputError with every fault placed."""
    faults = Faults()
    with document.faults():
        with faults.collect():
            found = checked(_ClusterList, document.data)
        for check in (_check_names, _check_ways):
            check(_entries(document.data), faults)
        faults.raise_if_any()
    folder = FilePath(document.source.name).parent
    policy = found.policy
    return ClusterFile(
        document=document,
        clusters=tuple(_entry(cluster, folder) for cluster in found.clusters),
        timeout=found.defaults.timeout,
        max_age=found.defaults.max_age,
        policy=Policy(policy.strategy, tuple((wish.label, wish.value) for wish in policy.prefer), policy.allow_reduced),
    )


def _entries(data: Any) -> list[dict[str, Any]]:
    """The entries as they are written, so that they can be looked at beside faults of another kind."""
    entries = data.get("clusters", []) if isinstance(data, dict) else [{}]
    return [entry if isinstance(entry, dict) else {} for entry in entries] if isinstance(entries, list) else [{}]


def _check_names(entries: list[dict[str, Any]], faults: Faults) -> None:
    if not entries:
        faults.add("names no cluster", "clusters")
    names = [entry.get("name") for entry in entries]
    for position, name in enumerate(names):
        if name is not None and name in names[:position]:
            faults.add(f'"{name}" is the name of an earlier cluster', "clusters", position, "name")


def _check_ways(entries: list[dict[str, Any]], faults: Faults) -> None:
    """A kubeconfig with a context is one way. Where a key is not known, that may be the way: one fault is enough."""
    for position, entry in enumerate(entries):
        ways = {
            "kubeconfig or context": entry.get("kubeconfig") or entry.get("context"),
            "inCluster": entry.get("inCluster"),
            "snapshot": entry.get("snapshot"),
        }
        stated = [way for way, value in ways.items() if value]
        if len(stated) > 1:
            faults.add(f"says {' and '.join(stated)}: which is it?", "clusters", position)
        if entry and not stated and all(key in _CLUSTER_KEYS for key in entry):
            faults.add(f"does not say where it is: {', '.join(ways)}", "clusters", position)


_CLUSTER_KEYS = frozenset(field.alias for field in _Cluster.model_fields.values())


def _entry(cluster: _Cluster, folder: FilePath) -> ClusterEntry:
    def path(stated: str | None) -> FilePath | None:
        return folder / FilePath(stated).expanduser() if stated else None

    return ClusterEntry(
        name=cluster.name,
        kubeconfig=path(cluster.kubeconfig),
        context=cluster.context or "",
        in_cluster=cluster.in_cluster,
        snapshot=path(cluster.snapshot),
        labels=labels(cluster.labels),
        price=cluster.price_per_accelerator_hour,
        creates_namespaces=cluster.assume.namespaces == "create",
    )


def accelerators(document: Document) -> Accelerators:
    """The catalogue of accelerators. Raises InputError with every fault placed."""
    with document.faults():
        found = checked(_Catalogue, document.data)
    return Accelerators(tuple(found.resources), tuple(found.products), tuple(_sign(sign) for sign in found.signs))


def _sign(found: _Sign) -> Sign:
    mark, seen = Mark(found.resource, found.means), found.label
    label = Requirement(seen.key, seen.operator, tuple(seen.values)) if seen else None
    return Sign(mark, label, found.annotation or "")


def checked(model: type[M], data: Any) -> M:
    """The data as `model`. Raises InputError with every fault at its path."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InputError.of([_fault(model, detail) for detail in error.errors(include_url=False)]) from None


def _fault(model: type[BaseModel], detail: ErrorDetails) -> Fault:
    path: Path = detail["loc"]
    given = detail["input"]
    match detail["type"]:
        case "extra_forbidden":
            return _unknown_key(model, path)
        case "missing":
            return Fault("is missing", path)
        case "string_type":
            return Fault(
                "should be text", path, hint="" if isinstance(given, dict | list | None) else "put it in quotes"
            )
        case "literal_error":
            known = detail["ctx"]["expected"].replace(" or ", ", ").replace("'", "").split(", ")
            hint = likely(str(given), known) or f"one of {', '.join(known)}"
            return Fault(f'"{str(given)[:40]}" is not known here', path, hint=hint)
        case "string_too_short":
            return Fault("should not be empty", path)
        case "model_type" | "dict_type":
            return Fault("should be a mapping", path)
    message = detail["msg"].removeprefix("Input ")
    return Fault(message[:1].lower() + message[1:], path)


_LATER = ("inventories", "secretRef")
"""Keys of product.md that a later version will read."""


def _unknown_key(model: type[BaseModel], path: Path) -> Fault:
    key = str(path[-1])
    if key in _LATER:
        return Fault("not read yet by this version", path, hint="name the clusters one by one, with their kubeconfigs")
    known = [field.alias or name for name, field in _model_at(model, path[:-1]).model_fields.items()]
    return Fault("is not known here", path, hint=likely(key, known) or f"known are {', '.join(known)}")


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel]:
    """The model that checks the mapping at `path`."""
    for step in path:
        if isinstance(step, str):
            (annotation,) = (f.annotation for name, f in model.model_fields.items() if step in (name, f.alias))
            model = _inner(annotation)
    return model


def _inner(annotation: Any) -> Any:
    """The model in `Model`, `Model | None` or `list[Model]`."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return part
    raise TypeError(annotation)
