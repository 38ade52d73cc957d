"""Everything in a pod spec that the API server refuses while the rest can be read, by subject.

A pod that has it never comes, whichever kind makes it: what a controller mends is mended by the `template` of its
profile before it is read.
"""

from __future__ import annotations

from advisor.definitions import (
    lenient,
    noticed,
    openapi,
    refused_containers,
    refused_placement,
    refused_pods,
    refused_volumes,
)
from advisor.definitions.plain import Data
from advisor.workload import Malformed

SUBJECTS = (refused_placement.found, refused_containers.found, refused_volumes.found, refused_pods.found)


def found(spec: Data) -> tuple[Malformed, ...]:
    further = (one for subject in SUBJECTS for one in lenient.under(("spec",), subject(spec)))
    return (*noticed.malformed(spec), *openapi.words(spec), *further)
