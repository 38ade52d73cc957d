"""Pods that the API server will refuse, found where the manifest says so.

Where it checks the template together with the object, that is a fault. Elsewhere the object is taken and its pods never
come: a warning, and only if the controller makes such pods, for it may fill in what the manifest leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor import podrules
from advisor.definitions import templates
from advisor.definitions.plain import Data
from advisor.errors import Fault, Faults, Path, dotted
from advisor.files import Document
from advisor.podrules import Refusal
from advisor.workload import Note, PodTemplate, Role

HINT = "the API server refuses such pods"
RULE = "refused-pods"

Found = tuple[Path, Refusal]
"""A place in the object and what is wrong there."""


def refusals(pod: Data, namespace: str) -> list[Refusal]:
    """What a pod as it is written would be refused for; of a request that only follows from its limit, the limit."""
    template = templates.template(pod, namespace)
    found = podrules.refusals(template.as_pod())
    return [one for one in found if _is_stated(one.path, template)]


def _is_stated(path: Path, template: PodTemplate) -> bool:
    if path[3:5] != ("resources", "requests") or not isinstance(path[2], int):
        return True
    containers = template.containers if path[1] == "containers" else template.init_containers
    return path[5] in containers[path[2]].requests


def check(pod: Data, namespace: str, *, alone: bool) -> None:
    """Raises InputError for a template that nobody changes before the API server looks at it.

    `alone`: the object is the pod itself, to which a LimitRange may still give what it lacks. Names of other
    things are left to `notes`: they are often placeholders, and the rest can be read all the same.
    """
    faults = Faults()
    for one in refusals(pod, namespace):
        if not (alone and one.lacks) and not one.is_name:
            faults.add(one.message, *one.path, hint=HINT)
    faults.raise_if_any()


def notes(roles: Sequence[Role], written: Iterable[Found], document: Document) -> list[Note]:
    """A warning for each thing that the pods of the roles will be refused for, at every place that says it."""
    doomed = [(role.name, one) for role in roles for one in podrules.refusals(role.template.as_pod())]
    places = list(written) if doomed else []
    found: list[Note] = []
    for role, one in doomed:
        there = [path for path, other in places if _same(one) == _same(other)]
        found += (_note(one, path, document) for path in there)
        if not there and not _follows(one, doomed):
            found.append(Note(RULE, f"{role}: {one.text}: {HINT}{_unless(one)}", warns=True))
    return list(dict.fromkeys(found))


def _same(one: Refusal) -> tuple[object, ...]:
    """What is wrong, in which field of a container or pod: containers may stand elsewhere in what is written."""
    return one.message, tuple(step for step in one.path[1:] if isinstance(step, str))


def _follows(one: Refusal, doomed: Sequence[tuple[str, Refusal]]) -> bool:
    """Is it a request that is as wrong as the limit that it follows from?"""
    twin = tuple("limits" if step == "requests" else step for step in one.path)
    return twin != one.path and any((twin, one.message) == (other.path, other.message) for _, other in doomed)


def _note(one: Refusal, path: Path, document: Document) -> Note:
    text = f"{one.message}: {HINT}{_unless(one)}"
    return Note(RULE, text, dotted(path), warns=True, where=document.placed(Fault("", path)).where)


def _unless(one: Refusal) -> str:
    return ", unless a LimitRange gives them one" if one.lacks else ""
