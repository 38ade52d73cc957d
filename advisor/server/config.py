"""What the operator of a server decides; `schema.py` reads it from a server.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from advisor.kube.clusters import ClusterEntry


@dataclass(frozen=True, slots=True)
class Strictness:
    """What is refused in an enforced namespace besides a sure no: an answer that hangs on what nobody knows.

    refuse_unknown  some cluster could not be judged wholly, or the object not at all
    refuse_stale    some cluster was not read for too long
    """

    refuse_unknown: bool = False
    refuse_stale: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """A whole server.yaml; times are seconds.

    refresh   between two reads of a cluster
    max_age   a snapshot that is older says nothing of the cluster any more
    deadline  for one review; what is not decided by then is allowed with a warning
    expiry    how long room is held for pods that do not appear
    hub       the way to the cluster whose API server asks; None: objects there cannot be looked at
    """

    certificate: Path
    key: Path
    clusters: Path
    address: str = "0.0.0.0"
    port: int = 8443
    definitions: tuple[Path, ...] = ()
    refresh: float = 15.0
    max_age: float = 60.0
    deadline: float = 3.0
    expiry: float = 300.0
    strictness: Strictness = field(default_factory=Strictness)
    hub: ClusterEntry | None = None
    log_level: str = "info"
