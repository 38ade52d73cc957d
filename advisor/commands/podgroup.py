"""The gangs of workloads as objects for a scheduler, one document after the other; what to know of them on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor import files
from advisor.cluster import ClusterSnapshot
from advisor.commands import terminal
from advisor.commands.given import Output
from advisor.errors import InputError
from advisor.render import podgroup
from advisor.verdict import Answer
from advisor.workload import Workload

FORMAT = "podgroup"


def written(workloads: Sequence[tuple[Workload, str]], output: Output) -> str:
    """The objects for each workload, for the scheduler beside it."""
    documents: list[str] = []
    made: dict[tuple[str, str, str, str], Workload] = {}
    for workload, scheduler in workloads:
        _must_be_alike(workload, scheduler)
        for one in podgroup.objects(workload, scheduler):
            _name(one, workload, made)
            documents.append(files.dump(one))
        for text in _said(workload, scheduler):
            terminal.note(f"{workload.title}{text}", no_color=output.no_color)
    return "---\n".join(documents)


def _must_be_alike(workload: Workload, scheduler: str) -> None:
    """Raises InputError for a gang that its scheduler would never start."""
    if said := podgroup.unlike(workload, scheduler):
        told = f"{workload.title} cannot be a gang of {scheduler}: its pods {said}, and none of them would start"
        raise InputError(told, hint="give all pods of a gang the same, or name another scheduler with --for")


def _name(made: podgroup.Tree, workload: Workload, others: dict[tuple[str, str, str, str], Workload]) -> None:
    """Raises InputError where another workload's object has this name: one would overwrite the other."""
    metadata = made["metadata"]
    key = (made["apiVersion"], made["kind"], metadata["namespace"], metadata["name"])
    other = others.setdefault(key, workload)
    if other is not workload:
        told = f"{other.title} and {workload.title} would both have {made['kind']} {metadata['name']}"
        raise InputError(told, hint="rename one of them")


def _said(workload: Workload, scheduler: str) -> Iterator[str]:
    """How pods join, and which of them have no gang here, and why."""
    found = podgroup.gangs(workload)
    if found:
        yield f": its pods join by their {podgroup.FORMATS[scheduler].joins}"
    if found and scheduler == "kubernetes" and not podgroup.in_one_workload(workload, found):
        yield ": PodGroups alone, since a Workload holds at most 8 templates, all of one priority"
    names = [role for gang in found for role in gang.members]
    if together := podgroup.interchangeable(workload, scheduler):
        yield f": {' and '.join(together)} count together: {scheduler} may start it without some pod that it needs"
    several = ", ".join(sorted({role for role in names if names.count(role) > 1}))
    if several:
        yield f": {several} are in several gangs, and a template names one only: what makes the pods has to name theirs"
    had = podgroup.taken(workload)
    for title in dict.fromkeys(had.values()):
        roles = ", ".join(role for role, of in had.items() if of == title)
        yield f": the pods of {roles} have a gang already, {title}"
    left = [role for role in workload.roles if role.replicas and role.name not in {*names, *had}]
    if left and found:
        yield f": the pods of {', '.join(role.name for role in left)} are in none, since they may start one by one"
    elif left:
        yield " has no gang: its pods may start one by one"


def of_placed(answers: Sequence[Answer], clusters: Sequence[ClusterSnapshot], output: Output) -> str:
    """For what is placed, and the scheduler named or else what the chosen cluster serves.

    Raises InputError where that cluster is not known to serve any.
    """
    by_name = {cluster.name: cluster for cluster in clusters}
    asked = []
    for answer in answers:
        if answer.choice is None:
            terminal.note(f"{answer.workload.title} is not placed, so nothing is written", no_color=output.no_color)
        else:
            chosen = output.scheduler or _of(by_name[answer.choice.cluster])
            asked.append((answer.workload, chosen))
    return written(asked, output)


def _of(cluster: ClusterSnapshot) -> str:
    found = podgroup.served(cluster.api_versions or ())
    if found:
        return found
    versions = ", ".join(version for form in podgroup.FORMATS.values() for version in form.versions)
    known = "serves none of" if cluster.api_versions is not None else "is not known to serve any of"
    hint = f"name a scheduler with --for: {', '.join(podgroup.FORMATS)}"
    raise InputError(f"{cluster.name} {known} the APIs for gangs ({versions})", hint=hint)
