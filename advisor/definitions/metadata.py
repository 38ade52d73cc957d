"""What the API server wants of every object's metadata, whatever the kind: names, labels, annotations.

Mirrors `ValidateObjectMeta` of apimachinery with names as DNS subdomains, the widest that a kind of ours takes; what a
kind wants beyond that is in the rules of its profile.
"""

from __future__ import annotations

from advisor.definitions import plain
from advisor.definitions.noticed import SUBDOMAIN
from advisor.definitions.plain import Data
from advisor.definitions.refused import check_labels
from advisor.errors import Faults
from advisor.labels import is_key

LONGEST = 253
LONGEST_BEGINNING = 58
"""Of a name that five characters are added to; what is longer is cut off."""
LONGEST_ANNOTATIONS = 256 * 1024
HINT = "lower case letters and digits, with - and . inside, 253 at most"


def check(data: Data) -> None:
    """Raises InputError with every fault, each with its path in the metadata."""
    metadata = plain.mapping(data, "metadata")
    faults = Faults()
    name, begin = plain.text(metadata, "name"), plain.text(metadata, "generateName")
    if not name and not begin:
        faults.add("is required", "name", hint="or generateName, for one that the API server makes up")
    if name and not _is_name(name):
        faults.add("is no name of an object", "name", hint=HINT)
    if begin and not (_is_name(_masked(begin)) and _is_name(f"{begin[:LONGEST_BEGINNING]}aaaaa")):
        faults.add("is no beginning of a name", "generateName", hint=HINT)
    with faults.collect("labels"):
        check_labels(plain.pairs(metadata, "labels"))
    annotations = plain.pairs(metadata, "annotations")
    for key in annotations:
        if not is_key(key.lower()):
            faults.add("is no annotation key", "annotations", key)
    if sum(len(f"{key}{value}".encode()) for key, value in annotations.items()) > LONGEST_ANNOTATIONS:
        faults.add("are longer than 256 KiB together", "annotations")
    faults.raise_if_any()


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST and bool(SUBDOMAIN.fullmatch(text))


def _masked(begin: str) -> str:
    """As it is looked at by itself: a dash at the end is followed by what is made up (`maskTrailingDash`)."""
    return f"{begin[:-2]}a" if len(begin) > 1 and begin.endswith("-") else begin
