"""What a user said on the command line, as plain values; every option that was left out has its empty value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manifests:
    """What is asked about. `namespace`: of documents that name none ("": the default, which depends).

    `beside`: files of objects to which the manifests refer.
    """

    manifests: tuple[str, ...]
    filename: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    namespace: str = ""
    selector: str = ""
    definition: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        return (*self.filename, *self.manifests)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which clusters are looked at, and as whom. `timeout`: seconds for each, None where nothing was said."""

    from_snapshot: tuple[str, ...] = ()
    clusters: str = ""
    context: tuple[str, ...] = ()
    all_contexts: bool = False
    kubeconfig: tuple[str, ...] = ()
    impersonate: str = ""
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Choosing:
    """How to choose, and how patient to be in seconds; what is left out is for clusters.yaml to say."""

    allow_reduced: bool = False
    strategy: str | None = None
    prefer: tuple[tuple[str, str], ...] = ()
    max_age: float | None = None
    wait: float | None = None


@dataclass(frozen=True, slots=True)
class Editing:
    """What shall be otherwise than it is, each as its option has it."""

    add_nodes: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    cordon: tuple[str, ...] = ()
    lose_cluster: tuple[str, ...] = ()
    replicas: tuple[str, ...] = ()
    quota: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def stated(self) -> bool:
        return self != Editing()


@dataclass(frozen=True, slots=True)
class Drafting:
    """What a draft of a definition is made from: one of `subject` (a file, or GROUP/KIND), `crd` and `live`."""

    subject: str = ""
    crd: str = ""
    live: str = ""
    namespace: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Judging:
    """A definition whose examples are created in a cluster for a moment. `wait`: seconds for the pods of each."""

    words: tuple[str, ...]
    live: str
    definition: tuple[str, ...] = ()
    kubeconfig: tuple[str, ...] = ()
    impersonate: str = ""
    timeout: float | None = None
    wait: float | None = None
    yes: bool = False


@dataclass(frozen=True, slots=True)
class Registering:
    """Which kinds are registered with which control plane. `category` and `priority`: names or ids.

    timeout  seconds for everything together
    """

    words: tuple[str, ...]
    definition: tuple[str, ...] = ()
    category: str = ""
    priority: str = ""
    to: str = ""
    token_file: str = ""
    authority: str = ""
    dry_run: bool = False
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """How the answer is printed. `scheduler`: whom the gangs are written for (None: what the chosen cluster has)."""

    output: str = "table"
    no_headers: bool = False
    no_color: bool = False
    verbose: int = 0
    scheduler: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a command comes to: a text for stdout, and the exit code."""

    text: str
    code: int
