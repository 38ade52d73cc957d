"""Where environment variables and files of a container take their values from, as the API server refuses it.

Mirrors `validateEnv`, `validateEnvFrom` and `validateDownwardAPIVolumeFile` of kubernetes/pkg/apis/core/validation. No
name or value of a variable is ever part of a message.
"""

from __future__ import annotations

import re
from fractions import Fraction

from advisor import quantity
from advisor.definitions import lenient
from advisor.definitions.lenient import Data, Wrong, under
from advisor.definitions.noticed import SUBDOMAIN
from advisor.labels import is_key
from advisor.workload import Malformed

PRINTABLE = re.compile(r"[ -<>-~]+")
"""What a variable may be called: printable ASCII without =."""
KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
SUBSCRIPT = re.compile(r"(metadata\.annotations|metadata\.labels)\['(.*)'\]")
OF_FILES = ("metadata.name", "metadata.namespace", "metadata.uid")
OF_VARIABLES = (
    *OF_FILES,
    *("spec.nodeName", "spec.serviceAccountName", "spec.host"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
RESOURCES = re.compile(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)")
THOUSANDTH = Fraction(1, 1000)
VALUES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
OF_A_FILE = ("fieldRef", "resourceFieldRef")
ALL_OF = ("configMapRef", "secretRef")


def of_container(container: Data) -> Wrong:
    for place, variable in lenient.items(container, "env"):
        yield from under(("env", place), _variable(variable))
    for place, source in lenient.items(container, "envFrom"):
        yield from under(("envFrom", place), _all_of(source))


def of_file(item: Data) -> Wrong:
    """A file that a volume makes of a field of the pod."""
    path = lenient.text(lenient.mapping(item, "fieldRef"), "fieldPath")
    if path and path not in (*OF_FILES, "metadata.labels", "metadata.annotations") and not _is_subscript(path):
        yield Malformed(("fieldRef", "fieldPath"), "is no field that a file can hold")
    stated = [field for field in OF_A_FILE if item.get(field) is not None]
    if len(stated) != 1:
        yield Malformed((), f"must have one of {' and '.join(OF_A_FILE)}")
    reference = lenient.mapping(item, "resourceFieldRef")
    if "resourceFieldRef" in stated and not lenient.text(reference, "containerName"):
        yield Malformed(("resourceFieldRef", "containerName"), "is required")
    yield from under(("resourceFieldRef",), _resource(reference))


def _variable(variable: Data) -> Wrong:
    name = lenient.text(variable, "name")
    if name and not PRINTABLE.fullmatch(name):
        yield Malformed(("name",), "is no name of a variable: printable ASCII without =")
    if variable.get("valueFrom") is None:
        return
    source = lenient.mapping(variable, "valueFrom")
    stated = [field for field in VALUES if source.get(field) is not None]
    if not stated:
        yield Malformed(("valueFrom",), f"must have one of {', '.join(VALUES)}")
    elif lenient.text(variable, "value"):
        yield Malformed(("valueFrom",), "cannot be set beside a value")
    elif len(stated) > 1:
        yield Malformed(("valueFrom",), f"has more than one source: {', '.join(stated)}")
    yield from under(("valueFrom",), _value(source))


def _value(source: Data) -> Wrong:
    reference = lenient.mapping(source, "fieldRef")
    path = lenient.text(reference, "fieldPath")
    if lenient.text(reference, "apiVersion") not in ("", "v1"):
        yield Malformed(("fieldRef", "apiVersion"), "must be v1")
    if path and path not in OF_VARIABLES and not _is_subscript(path):
        yield Malformed(("fieldRef", "fieldPath"), "is no field that a variable can hold")
    yield from under(("resourceFieldRef",), _resource(lenient.mapping(source, "resourceFieldRef")))
    for field in ("configMapKeyRef", "secretKeyRef"):
        if source.get(field) is not None:
            yield from under((field,), _key(lenient.mapping(source, field)))


def _is_subscript(path: str) -> bool:
    """`metadata.labels['key']` and its like."""
    found = SUBSCRIPT.fullmatch(path)
    return found is not None and is_key(found[2].lower() if found[1].endswith("annotations") else found[2])


def _resource(reference: Data) -> Wrong:
    resource = lenient.text(reference, "resource")
    if resource and not RESOURCES.fullmatch(resource):
        yield Malformed(("resource",), "is not limits. or requests. with cpu, memory, ephemeral-storage or hugepages-…")
    if resource and not _divides(resource, reference):
        yield Malformed(("divisor",), "must be 1m or 1 for cpu, for bytes 1 or one unit of them such as 1Mi")


def _divides(resource: str, reference: Data) -> bool:
    """What has no form of a quantity is told elsewhere; none at all, or zero, is 1."""
    divisor, amount = reference.get("divisor"), lenient.amount(reference, "divisor")
    if not amount:
        return True
    if resource.endswith(".cpu"):
        return quantity.is_unit(divisor, least=THOUSANDTH) and amount <= 1000
    return quantity.is_unit(divisor, least=Fraction(1))


def _key(reference: Data) -> Wrong:
    if not SUBDOMAIN.fullmatch(lenient.text(reference, "name")):
        yield Malformed(("name",), "is no name of an object", is_name=True)
    key = lenient.text(reference, "key")
    if key and (not KEY.fullmatch(key) or key == "." or key.startswith("..")):
        yield Malformed(("key",), "is no key of a ConfigMap or Secret")


def _all_of(source: Data) -> Wrong:
    prefix = lenient.text(source, "prefix")
    if prefix and not PRINTABLE.fullmatch(prefix):
        yield Malformed(("prefix",), "is no beginning of a variable's name: printable ASCII without =")
    stated = [field for field in ALL_OF if source.get(field) is not None]
    if len(stated) != 1:
        yield Malformed((), f"must have one of {' and '.join(ALL_OF)}")
    for field in stated:
        if not SUBDOMAIN.fullmatch(lenient.text(lenient.mapping(source, field), "name")):
            yield Malformed((field, "name"), "is no name of an object", is_name=True)
