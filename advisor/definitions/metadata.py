"""What the API server wants of every object's metadata, whatever the kind: names, labels, annotations, owners.

Mirrors `ValidateObjectMeta` of apimachinery with names as DNS subdomains, the widest that a kind of ours takes; what a
kind wants beyond that is in the rules of its profile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from advisor.definitions import plain
from advisor.definitions.noticed import SUBDOMAIN
from advisor.definitions.plain import Data
from advisor.errors import Faults
from advisor.labels import is_key, is_value

LONGEST = 253
LONGEST_BEGINNING = 58
"""Of a name that five characters are added to; what is longer is cut off."""
LONGEST_ANNOTATIONS = 256 * 1024
HINT = "lower case letters and digits, with - and . inside, 253 at most"
FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
"""Those that need no domain."""
TIMES = ("creationTimestamp", "deletionTimestamp")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
OF_AN_OWNER = ("apiVersion", "kind", "name", "uid")


def check(data: Data, *, core: bool = False) -> None:
    """Raises InputError with every fault, each with its path in the metadata. `core`: a kind of Kubernetes itself."""
    metadata = plain.mapping(data, "metadata")
    faults = Faults()
    name, begin = plain.text(metadata, "name"), plain.text(metadata, "generateName")
    if not name and not begin:
        faults.add("is required", "name", hint="or generateName, for one that the API server makes up")
    if name and not _is_name(name):
        faults.add("is no name of an object", "name", hint=HINT)
    if begin and not (_is_name(_masked(begin)) and _is_name(f"{begin[:LONGEST_BEGINNING]}aaaaa")):
        faults.add("is no beginning of a name", "generateName", hint=HINT)
    with faults.collect():
        check_inner(metadata, core=core)
    with faults.collect():
        _owners(metadata)
    for field in TIMES:
        if isinstance(metadata.get(field), str) and not _is_time(metadata[field]):
            faults.add("is no time, such as 2026-01-31T12:00:00Z", field, hint="the API server sets it; leave it away")
    faults.raise_if_any()


def as_decoded(data: Data) -> Data:
    """The object without an empty name, which is none: rules and expressions look whether one is there."""
    metadata = plain.mapping(data, "metadata")
    if metadata.get("name") != "":
        return data
    return {**data, "metadata": {key: value for key, value in metadata.items() if key != "name"}}


def check_inner(metadata: Data, *, core: bool = True) -> None:
    """What pods take over from their template, too. Raises InputError with every fault."""
    faults = Faults()
    with faults.collect("labels"):
        check_labels(plain.pairs(metadata, "labels"))
    with faults.collect("annotations"):
        _annotations(plain.pairs(metadata, "annotations"))
    for place, text in enumerate(plain.texts(metadata, "finalizers")):
        if not is_key(text) or (core and "/" not in text and text not in FINALIZERS):
            faults.add("is no name of a finalizer", "finalizers", place, hint="such as example.com/cleanup")
    faults.raise_if_any()


def check_labels(pairs: Mapping[str, str]) -> None:
    faults = Faults()
    for key, value in pairs.items():
        if not is_key(key):
            faults.add("is no label key", key, hint="letters, digits, - _ . and a domain before a slash")
        if not is_value(value):
            faults.add(f'"{value}" is no label value', key, hint="letters, digits and - _ . inside, 63 at most")
    faults.raise_if_any()


def _annotations(pairs: Mapping[str, str]) -> None:
    faults = Faults()
    for key in pairs:
        if not is_key(key.lower()):
            faults.add("is no annotation key", key)
    if sum(len(f"{key}{value}".encode()) for key, value in pairs.items()) > LONGEST_ANNOTATIONS:
        faults.add("are longer than 256 KiB together")
    faults.raise_if_any()


def _owners(metadata: Data) -> None:
    faults = Faults()
    steered = 0
    for place, owner in plain.mappings(metadata, "ownerReferences"):
        for field in OF_AN_OWNER:
            if not owner.get(field):
                faults.add("is required", "ownerReferences", place, field)
        steered += owner.get("controller") is True
        if steered > 1:
            faults.add("is true already for another owner", "ownerReferences", place, "controller")
    faults.raise_if_any()


def _is_time(text: str) -> bool:
    try:
        return bool(TIME.fullmatch(text)) and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST and bool(SUBDOMAIN.fullmatch(text))


def _masked(begin: str) -> str:
    """As it is looked at by itself: a dash at the end is followed by what is made up (`maskTrailingDash`)."""
    return f"{begin[:-2]}a" if len(begin) > 1 and begin.endswith("-") else begin
