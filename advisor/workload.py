"""What is asked for: a workload, its roles, and the pods that its controller will create.

Knows no kind by name and no cluster. A `PodTemplate` is what the manifest says; what a cluster makes of it (LimitRange,
RuntimeClass, priority) is a `PodShape` (`diagnosis.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from advisor.errors import Fault, Path, Where
from advisor.labels import ANYWHERE, HostPort, Labels, MadeLabel, NodeSelector, PodAffinityTerm, Toleration
from advisor.quantity import Amounts
from advisor.resources import Init, may_be_pod_level, pod_sum

Stages = tuple[int, ...]
"""The stages at which a role's pods are alive. A stage is a set of roles that may be there at once; roles without a
stage in common never are, since the pods of one have ended before those of the other are made."""


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a template; amounts in thousandths, as written (no default applied)."""

    name: str
    requests: Amounts = field(default_factory=dict)
    limits: Amounts = field(default_factory=dict)
    ports: tuple[HostPort, ...] = ()
    sidecar: bool = False

    def with_requests(self) -> Container:
        """A limit without a request is the request too: pods get this default, the templates they come from do not."""
        return replace(self, requests={**self.limits, **self.requests})


@dataclass(frozen=True, slots=True)
class PodAmounts:
    """Pod-level `spec.resources`, in thousandths."""

    requests: Amounts = field(default_factory=dict)
    limits: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A value of a pod that the API server refuses, though the rest can be read: its path, and what is wrong there.

    `is_name`: it stands where a name does, and may be a placeholder. `lacks`: something is left out there.
    """

    path: Path
    message: str
    is_name: bool = False
    lacks: bool = False


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod as its controller will submit it, reduced to what scheduling and admission look at.

    `added` are the keys of those labels that the controller adds with known values, `made` are labels that it adds with
    values that the manifest does not tell. `namespaces` of affinity terms are filled in with the workload's own where
    the manifest left them out. `used` lists the paths of fields that bear on placement and that no rule of ours reads
    (capacity.md 0.3), `exposed` those of fields that Pod Security forbids below the level privileged; `malformed` are
    names and words that have no such form.
    """

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    pod_level: PodAmounts | None = None
    overhead: Amounts = field(default_factory=dict)
    labels: Labels = ()
    added: tuple[str, ...] = ()
    made: tuple[MadeLabel, ...] = ()
    annotations: Labels = ()
    nodes: NodeSelector = ANYWHERE
    tolerations: tuple[Toleration, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    volume_claims: tuple[str, ...] = ()
    device_claims: tuple[DeviceClaim, ...] = ()
    node_name: str = ""
    scheduler: str = "default-scheduler"
    runtime_class: str = ""
    priority_class: str = ""
    priority: int | None = None
    preemption: str = ""
    service_account: str = ""
    gates: tuple[str, ...] = ()
    scheduling_group: str = ""
    has_deadline: bool = False
    host_network: bool = False
    crosses_namespaces: bool = False
    operating_system: str = ""
    used: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    malformed: tuple[Malformed, ...] = ()

    def as_pod(self) -> PodTemplate:
        """The template with the defaults that the API server gives to every pod made from it (`SetDefaults_Pod`)."""
        return replace(
            self,
            containers=tuple(container.with_requests() for container in self.containers),
            init_containers=tuple(container.with_requests() for container in self.init_containers),
        )

    def with_pod_level(self) -> PodTemplate:
        """Pod-level requests that are not stated: cpu and memory as the containers ask for them, else the limit."""
        stated = self.pod_level
        if stated is None or not (stated.requests or stated.limits):
            return self
        asked = replace(self, pod_level=None).requests()
        summed = {name: amount for name, amount in asked.items() if name in ("cpu", "memory")}
        from_limits = {name: amount for name, amount in stated.limits.items() if may_be_pod_level(name)}
        return replace(self, pod_level=PodAmounts({**from_limits, **summed, **stated.requests}, stated.limits))

    def requests(self, overhead: Amounts | None = None) -> dict[str, int]:
        """What one pod asks of a node, in thousandths."""
        inits = [Init(container.requests, container.sidecar) for container in self.init_containers]
        level = self.pod_level.requests if self.pod_level else None
        return pod_sum([container.requests for container in self.containers], inits, level, overhead)

    def effective(self) -> dict[str, int]:
        """What one pod asks of a node once it is created: limits stand in for requests, as the API server has it."""
        return self.as_pod().with_pod_level().requests()

    def limits(self, overhead: Amounts | None = None) -> dict[str, int]:
        """The pod's limits, in thousandths; overhead counts only where there is a limit at all (`PodLimits`)."""
        inits = [Init(container.limits, container.sidecar) for container in self.init_containers]
        level = self.pod_level.limits if self.pod_level else None
        limits = pod_sum([container.limits for container in self.containers], inits, level)
        return {name: amount and amount + (overhead or {}).get(name, 0) for name, amount in limits.items()}


@dataclass(frozen=True, slots=True)
class DeviceClaim:
    """An entry of `spec.resourceClaims`: a claim of its own for each pod (`template`) or one shared claim (`claim`).

    `devices` are those of one claim, by DeviceClass; None where they are not known. `shared`: one for several pods.
    """

    name: str
    claim: str = ""
    template: str = ""
    devices: Mapping[str, int] | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True)
class SharedClaim:
    """`count` claims with `devices` each (DeviceClass → devices, None: not known), shared by the pods of `roles`.

    `made`: the controller makes them for this workload; others exist beside it.
    """

    name: str
    devices: Mapping[str, int] | None
    roles: Mapping[str, int]
    count: int = 1
    made: bool = False


@dataclass(frozen=True, slots=True)
class TopologyRequest:
    """All pods of one unit of a role want one domain of `key`; `exclusive`: no other unit may share that domain.

    `unit` names what is kept together (the role, one group, one child job); `path` is where the manifest says so.
    """

    key: str
    unit: str
    exclusive: bool
    path: str


@dataclass(frozen=True, slots=True)
class Role:
    """Pods that are interchangeable: `replicas` of one template.

    `minimum` is how many of them a start needs at least (equal to `replicas` unless something that the controller or
    scheduler honours says less), `floor` what an autoscaler keeps of it whoever says less, `maximum` how far one may go
    (None: no bound known). Its pods come in
    multiples of `step`; 0: by itself their number never changes. They run in `block`s, all of a block or none.
    `made_after`: roles whose pods must be scheduled, run or have ended before its own are even made; the role itself:
    they are made one by one. `owners` are forms of what looks after its pods (`naming.py`), as far
    as that is known.
    """

    name: str
    replicas: int
    template: PodTemplate
    minimum: int
    maximum: int | None = None
    component: str = ""
    instance: str = ""
    starts_after: str = ""
    injected: bool = False
    stages: Stages = (0,)
    topology: tuple[TopologyRequest, ...] = ()
    step: int = 1
    block: int = 1
    made_after: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    floor: int = 0

    @property
    def one_by_one(self) -> bool:
        return self.name in self.made_after


def waves(roles: Sequence[Role]) -> dict[str, int]:
    """Role → how many sets of pods have to be there, one after the other, before its own are made."""
    found = dict.fromkeys((role.name for role in roles), 0)
    for _ in roles:
        for role in roles:
            later = [found[other] + 1 for other in role.made_after if other in found and other != role.name]
            found[role.name] = max([found[role.name], *later])
    return found


@dataclass(frozen=True, slots=True)
class GangGroup:
    """`count` groups, each needing its `members` (role name → pods) at once.

    `most`: up to so many pods of a role belong to each of them, where that is more. `further`: the workload starts
    without them; they follow groups of the first kind, each of which has its share of them. `partly`: the workload's
    `min_available` of them are enough, whichever they are.
    """

    count: int
    members: Mapping[str, int]
    most: Mapping[str, int] = field(default_factory=dict)
    further: bool = False
    partly: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """The pods of `role` do nothing before so many of one of the others are there: role → pods, None for all."""

    role: str
    one_of: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class GangObject:
    """An object by which a scheduler learns that the pods of these roles, and of others that name it, start together.

    key      the same for all that name one object; empty: the controller makes one for this workload alone
    minimum  pods that it waits for; None: it waits for none, or nobody knows
    given    it is among the files, or the controller makes it
    alike    its scheduler wants one priority of it and of its pods, and one preemption policy and scheduler name of
             these; the API server admits its priority class, as it does those of pods
    """

    key: str
    title: str
    name: str
    roles: tuple[str, ...]
    minimum: int | None = None
    given: bool = True
    alike: bool = False
    priority_class: str = ""
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class RoleState:
    """Pods that are there: how many live, are ready, are finished, of these failed; and node → living pods on it."""

    pods: int
    ready: int
    finished: int
    nodes: Mapping[str, int]
    failed: int = 0

    @property
    def listed(self) -> int:
        return self.pods + self.finished


NO_PODS = RoleState(0, 0, 0, {})


@dataclass(frozen=True, slots=True)
class State:
    """A live object: its own phase (None: it has none), what that means in upstream's words, its pods by role.

    `strangers`: pods that belong to the object and to none of its roles, all of them where nobody knows its roles any
    more. `unread`: why pods may be missing here.
    """

    phase: str | None
    matched: tuple[str, ...]
    roles: Mapping[str, RoleState]
    strangers: RoleState = NO_PODS
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was decided on the way and is worth saying: a default applied, a pod added.

    `warns`: the manifest hardly means it, so it is said even when nobody asks for notes. `where`: the line of `path`,
    if that is known better than the object's.
    """

    rule: str
    text: str
    path: str = ""
    warns: bool = False
    where: Where | None = None


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A request in the manifest that no rule here evaluates yet.

    `restricts`: it can only forbid places, so a no without it is still a no. `needs`: the API group that must be served
    for it to mean anything; empty when it always does. `resource`: what another system than kube-scheduler counts.
    """

    path: str
    text: str
    restricts: bool = True
    needs: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """Which definition read the workload, where it came from (builtin, file, cluster), the kinds that it creates."""

    name: str
    origin: str
    child_kinds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """Another object that bears on a workload's pods. No `name`: every object of that kind.

    `namespace`: the object's own; "" where none is stated: it is cluster-scoped, or in the workload's namespace.
    """

    group: str
    kind: str
    name: str = ""
    namespace: str = ""

    @property
    def title(self) -> str:
        return (
            f"{self.kind} {self.namespace}{'/' * bool(self.namespace)}{self.name}" if self.name else f"any {self.kind}"
        )

    @property
    def type(self) -> str:
        """Kind and group, as a gap names them."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def within(self, namespace: str) -> Reference:
        """With the namespace of an object that refers to it without one."""
        return replace(self, namespace=self.namespace or namespace)


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that a workload refers to and that was not found: none of `alternatives`.

    required  without it nobody knows the pods; else they are those that come where it is not there
    guessed   it is required, and the pods are those that come with what is usual in its place
    absent    it surely is not there: the cluster was asked
    others    some were found, and there may be more of them
    that      of all of a kind: what those that count do, in words that follow "that"
    path      where the manifest refers to it; `where`: in which file
    """

    alternatives: tuple[Reference, ...]
    required: bool = True
    absent: bool = False
    guessed: bool = False
    others: bool = False
    that: str = ""
    path: Path = ()
    where: Where | None = None

    @property
    def title(self) -> str:
        names = " or ".join(reference.title for reference in self.alternatives)
        named = names.replace("any ", "any other ") if self.others else names
        return f"{named} that {self.that}" if self.that else named

    @property
    def none(self) -> str:
        """The title as it follows "there is no"."""
        return self.title.removeprefix("any ").replace(" or any ", " or ")

    @property
    def lacked(self) -> str:
        """What is missing where, in words."""
        return f"{self.title}, which is not in the {'cluster' if self.absent else 'files'}"

    @property
    def is_open(self) -> bool:
        """Without it nobody knows the pods, nor has anything to stand in for it."""
        return self.required and (self.absent or not self.guessed)

    @property
    def fault(self) -> Fault:
        """As something to be mended."""
        message = f"its pods depend on {self.lacked}"
        hint = "create it there, or name the file that holds it: --with FILE"
        hint = hint if self.absent else hint.partition(", or ")[2]
        return Fault(message, self.path, self.where, hint, "missing-reference")


@dataclass(frozen=True, slots=True)
class Workload:
    """One object that creates pods. `faults` not empty: nothing about roles may be relied on.

    `state` is None for what is only written down.

    `generated`: the name is only the beginning of the one that the API server will give. `references`: all other
    objects that its pods depend on; `missing`: what was not found of them. `variants`: what it is in clusters, by their
    names, where those objects are looked up in the cluster. `waits`: its pods come later, when it is resumed or at the
    times of a schedule. `order`: which of its pods wait for others. `there`: the object itself is in the cluster, only
    these pods are not, so that quotas have counted it. `requires`: API groups without which its controller makes none.
    `gangs`: gang objects of its pods. `parts`: it is several objects that go together, and these are they.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    source: Where
    definition: Definition
    roles: tuple[Role, ...] = ()
    groups: tuple[GangGroup, ...] = ()
    order: tuple[Wait, ...] = ()
    gangs: tuple[GangObject, ...] = ()
    min_available: int | None = None
    shared_claims: tuple[SharedClaim, ...] = ()
    labels: Labels = ()
    generated: bool = False
    notes: tuple[Note, ...] = ()
    unmodelled: tuple[Unmodelled, ...] = ()
    requires: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    missing: tuple[Missing, ...] = ()
    variants: Mapping[str, Workload] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    waits: bool = False
    there: bool = False
    state: State | None = None
    parts: tuple[Workload, ...] = ()

    @property
    def objects(self) -> tuple[Workload, ...]:
        """What the API server is given: itself, or its parts."""
        return self.parts or (self,)

    def each(self, change: Callable[[Workload], Workload]) -> Workload:
        """Changed, and so is what it is in every cluster."""
        return replace(change(self), variants={name: change(one) for name, one in self.variants.items()})

    def on(self, cluster: str) -> Workload:
        """The workload as that cluster would make it."""
        return self.variants.get(cluster, self)

    @property
    def is_open(self) -> bool:
        """Nobody knows its pods, because something that they depend on was not found."""
        return bool(self.lacking)

    @property
    def lacking(self) -> tuple[Missing, ...]:
        """What was not found, and without which nobody knows the pods."""
        return tuple(missing for missing in self.missing if missing.is_open)

    @property
    def title(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def api_group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def in_turn(self) -> bool:
        """Are there pods that come only when others have ended?"""
        return len(self.stages) > 1

    @property
    def stages(self) -> Stages:
        """All of those at which some of its pods are alive, in their order."""
        return tuple(sorted({stage for role in self.roles for stage in role.stages}))

    @property
    def sizes(self) -> dict[str, int]:
        """Role → pods."""
        return {role.name: role.replicas for role in self.roles}

    @property
    def pods(self) -> int:
        return sum(role.replicas for role in self.roles)
