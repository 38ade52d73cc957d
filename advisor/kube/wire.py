"""The API's objects as far as an answer depends on them, decoded straight from JSON.

Only fields that some rule reads are named (capacity.md 14.8): environment, arguments and commands may hold secrets and
are never built. Amounts, and labels of pods, stay raw JSON, because thousands of pods share few different ones.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Raw, Struct

Strings = dict[str, str]
Quantity = str | int | float
Quantities = dict[str, Quantity]


class Owner(Struct, gc=False, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class Metadata(Struct, gc=False, rename="camel"):
    name: str = ""
    namespace: str | None = None
    labels: Strings | None = None
    annotations: Strings | None = None
    deletion_timestamp: str | None = None
    uid: str = ""

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Told(Struct):
    """A Status of the API as far as it is for people."""

    message: str = ""


class Stored(Struct):
    """An object of which all that it says is kept."""

    metadata: Metadata
    spec: Raw = Raw(b"null")


class Expression(Struct, gc=False):
    """An entry of `matchExpressions` of a label selector."""

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str] | None = None


class LabelSelector(Struct, gc=False, rename="camel"):
    match_labels: Strings | None = None
    match_expressions: list[Expression] | None = None


class NodeExpression(Struct, gc=False):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
    values: list[str] | None = None


class NodeSelectorTerm(Struct, gc=False, rename="camel"):
    match_expressions: list[NodeExpression] | None = None
    match_fields: list[NodeExpression] | None = None


class RequiredNodes(Struct, gc=False, rename="camel"):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class NodeAffinity(Struct, gc=False):
    required: RequiredNodes | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class PodTerm(Struct, gc=False, rename="camel"):
    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class PodAntiAffinity(Struct, gc=False):
    required: list[PodTerm] | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class Affinity(Struct, gc=False, rename="camel"):
    node_affinity: NodeAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Port(Struct, gc=False):
    number: int = msgspec.field(default=0, name="containerPort")
    host_port: int | None = msgspec.field(default=None, name="hostPort")
    host_ip: str | None = msgspec.field(default=None, name="hostIP")
    protocol: str | None = None


class Container(Struct, gc=False, rename="camel"):
    name: str = ""
    resources: Raw = Raw()
    ports: list[Port] | None = None
    restart_policy: str | None = None


class ContainerStatus(Struct, gc=False, rename="camel"):
    name: str = ""
    resources: Raw = Raw()
    allocated_resources: Raw = Raw()


class Condition(Struct, gc=False):
    type: str = ""
    status: str = ""
    reason: str | None = None


class MirrorMark(Struct, gc=False):
    mirror: str | None = msgspec.field(default=None, name="kubernetes.io/config.mirror")


class PodMetadata(Struct, gc=False, rename="camel"):
    """Like `Metadata`, with the labels raw; of the annotations only the one that marks static pods."""

    name: str = ""
    generate_name: str | None = None
    namespace: str | None = None
    labels: Raw = Raw()
    annotations: MirrorMark | None = None
    deletion_timestamp: str | None = None
    owner_references: list[Owner] | None = None

    @property
    def title(self) -> str:
        return f"{self.namespace}/{self.name}"


class PodSpec(Struct, gc=False, rename="camel"):
    node_name: str | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    resources: Raw = Raw()
    overhead: Raw = Raw()
    host_network: bool | None = None
    affinity: Affinity | None = None
    priority: int | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[Raw] | None = None


class PodStatus(Struct, gc=False, rename="camel"):
    phase: str | None = None
    nominated_node_name: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    resources: Raw = Raw()
    allocated_resources: Raw = Raw()


class Pod(Struct, gc=False):
    metadata: PodMetadata
    spec: PodSpec
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class Taint(Struct, gc=False):
    key: str
    effect: str
    value: str | None = None


class NodeSpec(Struct, gc=False):
    unschedulable: bool | None = None
    taints: list[Taint] | None = None


class NodeStatus(Struct, gc=False):
    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None


class Node(Struct, gc=False):
    metadata: Metadata
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class ScopeExpression(Struct, gc=False, rename="camel"):
    scope_name: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str] | None = None


class ScopeSelector(Struct, gc=False, rename="camel"):
    match_expressions: list[ScopeExpression] | None = None


class QuotaSpec(Struct, gc=False, rename="camel"):
    hard: Quantities | None = None
    scopes: list[str] | None = None
    scope_selector: ScopeSelector | None = None


class QuotaStatus(Struct, gc=False):
    hard: Quantities | None = None
    used: Quantities | None = None


class ResourceQuota(Struct, gc=False):
    metadata: Metadata
    spec: QuotaSpec = msgspec.field(default_factory=QuotaSpec)
    status: QuotaStatus = msgspec.field(default_factory=QuotaStatus)


class LimitRangeItem(Struct, gc=False, rename="camel"):
    type: str
    default: Quantities | None = None
    default_request: Quantities | None = None
    min: Quantities | None = None
    max: Quantities | None = None
    max_limit_request_ratio: Quantities | None = None


class LimitRangeSpec(Struct, gc=False):
    limits: list[LimitRangeItem] | None = None


class LimitRange(Struct, gc=False):
    metadata: Metadata
    spec: LimitRangeSpec = msgspec.field(default_factory=LimitRangeSpec)


class Namespace(Struct, gc=False):
    metadata: Metadata


class PriorityClass(Struct, gc=False, rename="camel"):
    metadata: Metadata
    value: int = 0
    global_default: bool | None = None


class Toleration(Struct, gc=False, rename="camel"):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class Overhead(Struct, gc=False, rename="camel"):
    pod_fixed: Quantities | None = None


class RuntimeScheduling(Struct, gc=False, rename="camel"):
    node_selector: Strings | None = None
    tolerations: list[Toleration] | None = None


class RuntimeClass(Struct, gc=False):
    metadata: Metadata
    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None


class ClaimSpec(Struct, gc=False, rename="camel"):
    access_modes: list[str] | None = None
    volume_name: str | None = None


class ClaimStatus(Struct, gc=False):
    phase: str | None = None


class PersistentVolumeClaim(Struct, gc=False):
    metadata: Metadata
    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)


class VolumeNodeAffinity(Struct, gc=False):
    required: RequiredNodes | None = None


class VolumeSpec(Struct, gc=False, rename="camel"):
    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(Struct, gc=False):
    metadata: Metadata
    spec: VolumeSpec = msgspec.field(default_factory=VolumeSpec)


class DeviceClassSpec(Struct, gc=False, rename="camel"):
    extended_resource_name: str | None = None


class DeviceClass(Struct, gc=False):
    metadata: Metadata
    spec: DeviceClassSpec = msgspec.field(default_factory=DeviceClassSpec)


class LocalQueue(Struct, gc=False):
    metadata: Metadata


Item = (
    Node
    | Stored
    | Pod
    | ResourceQuota
    | LimitRange
    | Namespace
    | PriorityClass
    | RuntimeClass
    | PersistentVolumeClaim
    | PersistentVolume
    | DeviceClass
    | LocalQueue
)


class Resources(Struct, gc=False):
    """What the raw `resources` of a container or pod hold; limits of a bound pod bear on nothing."""

    requests: Quantities | None = None


class ListMeta(Struct, gc=False):
    next: str | None = msgspec.field(default=None, name="continue")


class ListHead(Struct, gc=False):
    kind: str = ""
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)


class ObjectHead(Struct, gc=False, rename="camel"):
    api_version: str = ""
    kind: str = ""


class GroupVersion(Struct, gc=False, rename="camel"):
    group_version: str = ""


class ApiGroup(Struct, gc=False, rename="camel"):
    name: str
    preferred_version: GroupVersion = msgspec.field(default_factory=GroupVersion)
    versions: list[GroupVersion] | None = None


class ApiGroupList(Struct, gc=False):
    kind: Literal["APIGroupList"]
    groups: list[ApiGroup] | None = None


class Version(Struct, gc=False, rename="camel"):
    git_version: str


class DiscoveredKind(Struct, gc=False):
    group: str = ""
    version: str = ""
    kind: str = ""


class DiscoveredResource(Struct, gc=False, rename="camel"):
    """A row of aggregated discovery: a resource of one version of a group."""

    resource: str = ""
    response_kind: DiscoveredKind | None = None
    scope: str = ""
    singular_resource: str = ""
    short_names: list[str] | None = None


class DiscoveredVersion(Struct, gc=False):
    version: str = ""
    resources: list[DiscoveredResource] | None = None


class Titled(Struct, gc=False, frozen=True):
    name: str = ""


class DiscoveredGroup(Struct, gc=False):
    metadata: Titled = msgspec.field(default_factory=Titled)
    versions: list[DiscoveredVersion] | None = None


class Discovery(Struct, gc=False):
    """`APIGroupDiscoveryList` of apidiscovery.k8s.io/v2 and v2beta1; groups and versions by the server's preference."""

    items: list[DiscoveredGroup] | None = None
