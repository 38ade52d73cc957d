"""The algebra of labels: selectors, taints, tolerations, affinity terms, host ports.

Semantics are kube-scheduler's (k8s.io/component-helpers `nodeaffinity`, `corev1.Toleration.ToleratesTaint`, framework
`AffinityTerm` and `HostPortInfo`). Everything is frozen and hashable, so that equal constraints are found equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

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


_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_DOMAIN = 253


def is_key(text: str) -> bool:
    """Can it be the key of a label or of a taint (apimachinery `IsQualifiedName`)?"""
    domain, slash, name = text.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (
        not slash or (len(domain) <= _LONGEST_DOMAIN and bool(_DOMAIN.fullmatch(domain)))
    )


def is_value(text: str) -> bool:
    """Can it be the value of a label or of a taint (apimachinery `IsValidLabelValue`)?"""
    return not text or bool(_NAME.fullmatch(text))


def labels(mapping: Mapping[str, str] | None) -> Labels:
    return tuple(sorted((mapping or {}).items()))


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression over one key. `operator`: In, NotIn, Exists, DoesNotExist, Gt, Lt.

    Same and Other are the API server's In and NotIn with the value of a label that a controller makes (`MadeLabel`):
    what matchLabelKeys and mismatchLabelKeys become when the pod is there. They need `Selector.match`.
    """

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

    def accepts_made(self, label: MadeLabel) -> bool | None:
        """Does a label whose value is not known satisfy the expression? None where that hangs on the value."""
        match self.operator:
            case "Exists":
                return True if label.sure else None
            case "DoesNotExist":
                return False if label.sure else None
            case "In":
                return None if label.guessable else False
            case "NotIn":
                return None if label.guessable else True
        return None

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
            case "Same" | "Other":
                return f"{self.key} {'as' if self.operator == 'Same' else 'other than'} its own"
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


@dataclass(frozen=True, slots=True, order=True)
class MadeLabel:
    """A label that a controller gives to its pods, with a value that the manifest does not tell.

    of         whose value it is: the `workload`'s, the `role`'s, that of a `part` of the role's pods, of a `group` of
               pods from several roles, each `pod`'s own, or the pod's `priority`
    guessable  an index or a name, which a selector may name beforehand; a hash or a uid is named by none
    sure       False: only some of the pods bear it, or only some versions of the controller give it
    value      known after all, for the workload at its size (or the priority on this cluster)
    resized    `of` when the workload has another size, where that differs
    """

    key: str
    of: str = "part"
    guessable: bool = False
    sure: bool = True
    value: str = ""
    resized: str = ""

    def at_another_size(self) -> MadeLabel:
        return replace(self, value="", of=self.resized or self.of)

    def equals(self, other: MadeLabel, alike: bool) -> bool | None:
        """Do two pods of one workload have the same value? `alike`: they are of one role. None: some do."""
        if not (self.sure and other.sure):
            return None
        if alike:
            return {"workload": True, "role": True, "priority": True, "pod": False}.get(self.of)
        if self.of == other.of == "workload":
            return True
        return None if "group" in (self.of, other.of) or self.guessable or other.guessable else False


ALIKE, KIN, STRANGERS = "alike", "kin", "strangers"
"""What two pods are to each other: of one role, of two roles of one workload, or of different workloads."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """The labels of a pod as selectors see them: those whose value is known, and those that a controller makes."""

    pairs: Labels
    made: tuple[MadeLabel, ...] = ()

    def value(self, key: str) -> str | MadeLabel | None:
        made = next((label for label in self.made if label.key == key), None)
        return made.value or made if made else next((value for name, value in self.pairs if name == key), None)


@dataclass(frozen=True, slots=True)
class Match:
    """A selector matches a pod: surely, or if the unknown values of these labels are such."""

    hangs_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector: all requirements hold. The empty selector matches everything (Kubernetes' `{}`)."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, pairs: Labels) -> bool:
        values = dict(pairs)
        return all(requirement.accepts(values.get(requirement.key)) for requirement in self.requirements)

    def match(self, own: Bearer, other: Bearer, kinship: str) -> Match | None:
        """Does the selector of the pod `own` match the pod `other`? None: it does not, whatever the unknown values."""
        held = [(one.key, _accepted(one, own, other, kinship)) for one in self.requirements]
        if any(accepted is False for _, accepted in held):
            return None
        return Match(tuple(sorted({key for key, accepted in held if accepted is None})))

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements)) or "everything"


def _accepted(wanted: Requirement, own: Bearer, other: Bearer, kinship: str) -> bool | None:
    value = other.value(wanted.key)
    if wanted.operator in ("Same", "Other"):
        same = _same(own.value(wanted.key), value, kinship)
        return same if same is None or wanted.operator == "Same" else not same
    return wanted.accepts_made(value) if isinstance(value, MadeLabel) else wanted.accepts(value)


def _same(own: str | MadeLabel | None, other: str | MadeLabel | None, kinship: str) -> bool | None:
    """Is the label of the other pod equal to the own one? None also where it is not sure that there is an own one."""
    if own is None or (isinstance(own, MadeLabel) and not own.sure):
        return None
    if other is None:
        return False
    if isinstance(own, MadeLabel) and isinstance(other, MadeLabel) and kinship != STRANGERS:
        return own.equals(other, kinship == ALIKE)
    made = [label for label in (own, other) if isinstance(label, MadeLabel)]
    if not made:
        return own == other
    return None if all(label.guessable for label in made) else False


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
