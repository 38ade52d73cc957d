"""Fields of placement that the API server refuses though they can be read: keys, values and selectors of a wrong form.

Mirrors kubernetes/pkg/apis/core/validation: `ValidateTolerations`, `validateAffinity`,
`validateTopologySpreadConstraints`, `validateSchedulingGates`, `validateSchedulingGroup`, `validatePodResourceClaims`.
"""

from __future__ import annotations

import re
from typing import Any

from advisor.definitions import forms, lenient
from advisor.definitions.lenient import Data, Wrong, under
from advisor.definitions.noticed import NAME, PREFERRED, REQUIRED, SUBDOMAIN
from advisor.errors import InputError, Path
from advisor.labels import is_key, is_value
from advisor.workload import Malformed

NO_KEY, NO_VALUE = "is no label key", "is no label value"
ONE_VALUE = ("Gt", "Lt")
WITH_VALUES = ("In", "NotIn")
WITHOUT_VALUES = ("Exists", "DoesNotExist")
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")


def found(spec: Data) -> Wrong:
    for place, toleration in lenient.items(spec, "tolerations"):
        yield from under(("tolerations", place), _toleration(toleration))
    for key, value in lenient.pairs(spec, "nodeSelector").items():
        if not is_key(key) or not is_value(value):
            yield Malformed(("nodeSelector", key), NO_VALUE if is_key(key) else NO_KEY)
    yield from under(("affinity",), _affinity(lenient.mapping(spec, "affinity")))
    for place, constraint in lenient.items(spec, "topologySpreadConstraints"):
        yield from under(("topologySpreadConstraints", place), _spread(constraint))
    yield from under(("schedulingGates",), _gates(spec))
    yield from under(("schedulingGroup",), _group(spec))
    yield from under(("resourceClaims",), _claims(spec))


def _toleration(toleration: Data) -> Wrong:
    key, value, operator = (lenient.text(toleration, field) for field in ("key", "value", "operator"))
    if key and not is_key(key):
        yield Malformed(("key",), "is no key of a taint")
    if operator in ("", "Equal") and not is_value(value):
        yield Malformed(("value",), "is no value of a taint")
    if operator in ONE_VALUE and not INTEGER.fullmatch(value):
        yield Malformed(("value",), "must be a whole number")


def _affinity(affinity: Data) -> Wrong:
    nodes = lenient.mapping(affinity, "nodeAffinity")
    if nodes.get(REQUIRED) is not None and not lenient.listed(lenient.mapping(nodes, REQUIRED), "nodeSelectorTerms"):
        yield Malformed(("nodeAffinity", REQUIRED, "nodeSelectorTerms"), "must have a term")
    for place, term in lenient.items(lenient.mapping(nodes, REQUIRED), "nodeSelectorTerms"):
        yield from under(("nodeAffinity", REQUIRED, "nodeSelectorTerms", place), _node_term(term, strict=True))
    for place, item in lenient.items(nodes, PREFERRED):
        term = lenient.mapping(item, "preference")
        yield from under(("nodeAffinity", PREFERRED, place, "preference"), _node_term(term, strict=False))
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = lenient.mapping(affinity, kind)
        for place, term in lenient.items(terms, REQUIRED):
            yield from under((kind, REQUIRED, place), _pod_term(term))
        for place, item in lenient.items(terms, PREFERRED):
            term = lenient.mapping(item, "podAffinityTerm")
            yield from under((kind, PREFERRED, place, "podAffinityTerm"), _pod_term(term))


def _node_term(term: Data, *, strict: bool) -> Wrong:
    """`strict`: it is required, so its values are looked at, too; what else a required one lacks is a fault already."""
    for place, one in lenient.items(term, "matchExpressions"):
        where: Path = ("matchExpressions", place)
        if not is_key(lenient.text(one, "key")):
            yield Malformed((*where, "key"), NO_KEY)
        if strict:
            wrong = (index for index, value in lenient.texts(one, "values") if not is_value(value))
            yield from (Malformed((*where, "values", index), NO_VALUE) for index in wrong)
        else:
            yield from under((*where, "values"), _values(one))
    for place, one in lenient.items(term, "matchFields"):
        where = ("matchFields", place)
        wrong = (index for index, value in lenient.texts(one, "values") if not SUBDOMAIN.fullmatch(value))
        yield from (Malformed((*where, "values", index), "is no name of a node", is_name=True) for index in wrong)
        if not strict and lenient.text(one, "key") != "metadata.name":
            yield Malformed((*where, "key"), "must be metadata.name")
        if not strict and not (one.get("operator") in WITH_VALUES and len(lenient.listed(one, "values")) == 1):
            yield Malformed(where, "needs In or NotIn and one value")


def _values(one: Data) -> Wrong:
    operator, values = lenient.text(one, "operator"), len(lenient.listed(one, "values"))
    if operator in WITHOUT_VALUES and values:
        yield Malformed((), "takes no values")
    elif operator in WITH_VALUES and not values:
        yield Malformed((), "needs values")
    elif operator in ONE_VALUE and values != 1:
        yield Malformed((), "needs one value")


def _pod_term(term: Data) -> Wrong:
    if not is_key(lenient.text(term, "topologyKey")):
        yield Malformed(("topologyKey",), NO_KEY if term.get("topologyKey") else "is required")
    for field in ("labelSelector", "namespaceSelector"):
        yield from under((field,), selector(term.get(field)))
    for place, name in lenient.texts(term, "namespaces"):
        if not NAME.fullmatch(name):
            yield Malformed(("namespaces", place), "is no name of a namespace", is_name=True)
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        yield from under((field,), _keys(term, field))


def _keys(data: Data, field: str) -> Wrong:
    return (Malformed((place,), NO_KEY) for place, key in lenient.texts(data, field) if not is_key(key))


def selector(value: Any) -> Wrong:
    """A selector of labels, with keys and values of the right form."""
    try:
        forms.check("selector", value)
    except InputError as error:
        yield from (Malformed(fault.path, fault.message) for fault in error.faults)


def _spread(constraint: Data) -> Wrong:
    yield from under(("labelSelector",), selector(constraint.get("labelSelector")))
    yield from under(("matchLabelKeys",), _keys(constraint, "matchLabelKeys"))


def _gates(spec: Data) -> Wrong:
    names = [(place, lenient.text(gate, "name")) for place, gate in lenient.items(spec, "schedulingGates")]
    for number, (place, name) in enumerate(names):
        if not is_key(name):
            yield Malformed((place, "name"), "is no name of a gate: it has the form of a label key")
        elif name in [other for _, other in names[:number]]:
            yield Malformed((place, "name"), f"{name} is there already")


def _group(spec: Data) -> Wrong:
    if spec.get("schedulingGroup") is None:
        return
    name = lenient.mapping(spec, "schedulingGroup").get("podGroupName")
    if name is None:
        yield Malformed(("podGroupName",), "is required")
    elif isinstance(name, str) and not SUBDOMAIN.fullmatch(name):
        yield Malformed(("podGroupName",), "is no name of a PodGroup", is_name=True)


def _claims(spec: Data) -> Wrong:
    seen: set[str] = set()
    for place, claim in lenient.items(spec, "resourceClaims"):
        name = lenient.text(claim, "name")
        if not NAME.fullmatch(name):
            yield Malformed((place, "name"), "is no name", is_name=True)
        elif name in seen:
            yield Malformed((place, "name"), f"{name} is there already")
        seen.add(name)
        stated = [field for field in CLAIMED if claim.get(field) is not None]
        if len(stated) != 1:
            yield Malformed((place,), f"must have one of {' and '.join(CLAIMED)}")
        for field in stated:
            if isinstance(claim[field], str) and not SUBDOMAIN.fullmatch(claim[field]):
                yield Malformed((place, field), "is no name", is_name=True)


CLAIMED = ("resourceClaimName", "resourceClaimTemplateName")
