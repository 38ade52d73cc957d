"""The algebra of labels: selectors, taints, tolerations, affinity terms, host ports.

Semantics are kube-scheduler's (k8s.io/component-helpers `nodeaffinity`, `corev1.Toleration.ToleratesTaint`, framework
`AffinityTerm` and `HostPortInfo`). Everything is frozen and hashable, so that equal constraints are found equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Labels = tuple[tuple[str, str], ...]
"""Label pairs sorted by key."""

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
HOSTNAME = "kubernetes.io/hostname"
PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints that the node lifecycle sets and takes away again."""

NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
"""Taints by which the node lifecycle says that a node does not report Ready."""

LEAVING = ("ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption")
"""Taints by which cluster-autoscaler and Karpenter announce that a node goes."""


def labels(mapping: Mapping[str, str] | None) -> Labels:
    return tuple(sorted((mapping or {}).items()))


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression over one key. `operator`: In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def accepts(self, value: str | None) -> bool:
        """Does a label of this value (None: the label is missing) satisfy the expression?"""
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        raise ValueError(self.operator)

    def _compares(self, value: str | None) -> bool:
        left, right = _integer(value), _integer(self.values[0] if len(self.values) == 1 else None)
        if left is None or right is None:
            return False
        return left > right if self.operator == "Gt" else left < right

    def __str__(self) -> str:
        match self.operator:
            case "In" if len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
            case "In" | "NotIn":
                word = "in" if self.operator == "In" else "not in"
                return f"{self.key} {word} ({', '.join(self.values)})"
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "Gt" | "Lt":
                return f"{self.key} {'>' if self.operator == 'Gt' else '<'} {' '.join(self.values)}"
        return f"{self.key} {self.operator} {','.join(self.values)}"


def _integer(text: str | None) -> int | None:
    """Go's strconv.ParseInt in base 10: an optional sign and ASCII digits, within 64 bits."""
    if text is None or not text.isascii() or not text.removeprefix("-").removeprefix("+").isdigit():
        return None
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector: all requirements hold. The empty selector matches everything (Kubernetes' `{}`)."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, pairs: Labels) -> bool:
        values = dict(pairs)
        return all(requirement.accepts(values.get(requirement.key)) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements)) or "everything"


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """A nodeSelectorTerm: label expressions and field expressions (`metadata.name` only), all of which must hold."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.labels and not self.fields

    def __str__(self) -> str:
        return " and ".join(map(str, (*self.labels, *self.fields))) or "nothing (an empty term)"


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """`spec.nodeSelector` pairs, and the terms of required node affinity: all pairs, and one term if terms are given.

    `terms` is None when the pod states no required node affinity; an empty tuple matches no node, as in Kubernetes.
    """

    pairs: Labels = ()
    terms: tuple[NodeTerm, ...] | None = None

    @property
    def keys(self) -> frozenset[str]:
        """The label keys that an evaluation looks at."""
        terms = self.terms or ()
        return frozenset(key for key, _ in self.pairs) | {r.key for term in terms for r in term.labels}


ANYWHERE = NodeSelector()


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str = ""
    effect: str = "NoSchedule"

    @property
    def repels(self) -> bool:
        """Does it keep pods off the node? PreferNoSchedule only lowers a score."""
        return self.effect in ("NoSchedule", "NoExecute")

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Toleration:
    """`seconds`: how long a NoExecute taint is borne (None: for ever); it does not matter for placing."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """The operators Gt and Lt sit behind an alpha gate that is off by default, so they tolerate nothing here."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "Exists":
                return True
            case "" | "Equal":
                return bool(self.key) and self.value == taint.value
        return False


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """One required (anti-)affinity term of a pod in `owner_namespace`.

    `selector` None matches no pod. `namespace_selector` None selects no namespace by label, the empty one all of them.
    """

    topology_key: str
    selector: Selector | None
    namespaces: tuple[str, ...]
    namespace_selector: Selector | None = None

    def covers(self, pod_labels: Labels, namespace: str, namespace_labels: Labels) -> bool:
        """Does the term speak of a pod with these labels in that namespace?"""
        if self.selector is None or not self.selector.matches(pod_labels):
            return False
        if namespace in self.namespaces:
            return True
        return self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)

    def __str__(self) -> str:
        return f"{self.topology_key} against {self.selector or 'nothing'}"


@dataclass(frozen=True, slots=True, order=True)
class HostPort:
    port: int
    protocol: str = "TCP"
    ip: str = "0.0.0.0"

    def clashes(self, other: HostPort) -> bool:
        """kube-scheduler's rule: same protocol and port, and equal addresses or one of them the IPv4 wildcard."""
        if (self.port, self.protocol) != (other.port, other.protocol):
            return False
        return self.ip == other.ip or "0.0.0.0" in (self.ip, other.ip)

    def __str__(self) -> str:
        address = "" if self.ip == "0.0.0.0" else f"{self.ip}:"
        return f"{address}{self.port}/{self.protocol}"
