"""What people may write in a server.yaml, as a model that checks it; every fault at once, each with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from advisor.errors import Fault, Faults, InputError, Where
from advisor.files import Document
from advisor.kube.clusters import ClusterEntry
from advisor.schema import Model, Seconds, Text, checked
from advisor.server.config import Config, Strictness

LONGEST_TIMEOUT = 30.0
"""Seconds that an API server waits for a webhook at most."""


class _Listen(Model):
    address: Text = "0.0.0.0"
    port: Annotated[int, Field(ge=0, le=65535)] = 8443


class _Tls(Model):
    certificate: Text
    key: Text


class _Reservations(Model):
    expiry: Seconds = 300.0


class _Enforcement(Model):
    refuse_unknown: bool = False
    refuse_stale: bool = False


class _Hub(Model):
    """As in a clusters.yaml."""

    kubeconfig: Text | None = None
    context: Text | None = None
    in_cluster: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> _Hub:
        if self.in_cluster == bool(self.kubeconfig or self.context):
            raise PydanticCustomError("hub", "needs inCluster or a kubeconfig (or a context of one), and not both")
        return self


class _ServerConfig(Model):
    api_version: Literal["wm-place/v1"]
    kind: Literal["ServerConfig"]
    listen: _Listen = _Listen()
    tls: _Tls
    clusters: Text
    definitions: list[Text] = Field(default=[])
    hub: _Hub | None = None
    refresh: Seconds = 15.0
    max_age: Seconds = 60.0
    deadline: Seconds = 3.0
    reservations: _Reservations = _Reservations()
    enforcement: _Enforcement = _Enforcement()
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def server_config(document: Document) -> Config:
    """A server.yaml. Relative paths in it start from its own folder. Raises InputError with every fault placed."""
    with document.faults():
        found = checked(_ServerConfig, document.data)
        _check_times(found)
    folder = Path(document.source.name).parent
    return Config(
        certificate=folder / found.tls.certificate,
        key=folder / found.tls.key,
        clusters=folder / found.clusters,
        address=found.listen.address,
        port=found.listen.port,
        definitions=tuple(folder / path for path in found.definitions),
        refresh=found.refresh,
        max_age=found.max_age,
        deadline=found.deadline,
        expiry=found.reservations.expiry,
        hub=_hub(found.hub, folder) if found.hub else None,
        strictness=Strictness(found.enforcement.refuse_unknown, found.enforcement.refuse_stale),
        log_level=found.log_level,
    )


def _hub(found: _Hub, folder: Path) -> ClusterEntry:
    kubeconfig = folder / Path(found.kubeconfig).expanduser() if found.kubeconfig else None
    return ClusterEntry("hub", kubeconfig, found.context or "", in_cluster=found.in_cluster)


def _check_times(found: _ServerConfig) -> None:
    faults = Faults()
    if found.max_age <= found.refresh:
        hint = "every snapshot would count as stale before the next one comes"
        if "refresh" in found.model_fields_set:
            faults.add(f"should be shorter than maxAge ({found.max_age:g}s)", "refresh", hint=hint)
        else:
            faults.add(f"should be longer than refresh ({found.refresh:g}s)", "maxAge", hint=hint)
    if found.deadline >= LONGEST_TIMEOUT:
        hint = f"an API server waits no longer than {LONGEST_TIMEOUT:g}s for a webhook"
        faults.add(f"should be shorter than {LONGEST_TIMEOUT:g}s", "deadline", hint=hint)
    faults.raise_if_any()


def only(documents: list[Document], path: str) -> Document:
    """The one document that the file holds. Raises InputError for more, or none."""
    if len(documents) != 1:
        raise InputError.of([Fault(f"holds {len(documents)} documents, a ServerConfig is one", where=Where(path))])
    return documents[0]
