"""The examples of a definition before the controller itself: created in a user's cluster for a moment, and compared.

Pods of templates name a scheduler that does not exist, so that no node takes them; others may run (`held.py`). Their
status is set as if a node had taken them, for controllers that wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor.commands import exits, fleet, live, terminal
from advisor.commands.ending import endable
from advisor.commands.formats import TREES
from advisor.commands.given import Clusters, Judging, Output, Result
from advisor.commands.kinds import examples as of_examples
from advisor.definitions import created, examples, held
from advisor.definitions.examples import Trial
from advisor.definitions.layers import Entry
from advisor.definitions.live import is_scheduled
from advisor.errors import Fault, InputError
from advisor.inventory import Tried
from advisor.kube import owned, resources, temporary
from advisor.kube.client import Access, Api
from advisor.kube.deadline import Deadline
from advisor.kube.failure import EXISTS, FORBIDDEN, INVALID, OF_THE_KIND, ApiError
from advisor.kube.resources import Resource
from advisor.kube.temporary import LeftError, Space
from advisor.render import inventory
from advisor.workload import Workload

WAIT = 60.0
PAUSE = 0.5
STILL = 3
"""Looks in a row that must agree before nothing more is expected."""

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Court:
    """The cluster, and how long pods, and the end of a namespace, are waited for, in seconds."""

    api: Api
    access: Access
    served: Sequence[Resource]
    name: str
    wait: float
    to_leave: float


@dataclass(frozen=True, slots=True)
class _Case:
    """An example with the namespace that it gets, and the manifest whose pods nobody takes; or why it has none.

    `loose`: roles whose pods a scheduler, or a node, may take all the same.
    """

    outcome: Tried
    space: str
    trial: Trial
    workload: Workload | None = None
    manifest: Object | None = None
    loose: tuple[str, ...] = ()


def run(given: Judging, output: Output) -> Result:
    """Exit code 1 where the controller makes other pods. Raises InputError where nothing can be tried."""
    entry = _entry(given, output)
    trials = list(examples.trials(entry))
    if not trials:
        raise InputError(f"{entry.definition.name} has no examples to try", hint="a profile has them in spec.examples")
    looking = Clusters(context=(given.live,), kubeconfig=given.kubeconfig, impersonate=given.impersonate)
    context, _ = live.context(looking)
    access = Access(context, given.impersonate)
    wait = given.wait or WAIT
    patience = given.timeout or fleet.TIMEOUT
    seconds = patience + (2 * wait + patience) * len(trials)
    try:
        with access.open(Deadline(seconds)) as api:
            court = _Court(api, access, resources.served(api), context.name, wait, patience + wait)
            found, left = _found(court, entry, trials, given, output)
    except ApiError as error:
        raise InputError(f"cluster {context.name}: {error.text}") from None
    if left:
        terminal.say([Fault(f"cluster {context.name}: {left.text}")], no_color=output.no_color)
    return _result(found, exits.INPUT if left else _code(found), output)


def _code(found: Sequence[Tried]) -> int:
    tried = [one for one in found if not one.untried]
    if not tried:
        return exits.CANNOT_TELL
    return exits.PLACED if all(one.holds for one in tried) else exits.NOT_NOW


def _result(found: Sequence[Tried], code: int, output: Output) -> Result:
    if output.output in TREES:
        return Result(TREES[output.output](inventory.test_tree(found, code)), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(inventory.tried(found, style, full=output.output == "wide"), code)


def _entry(given: Judging, output: Output) -> Entry:
    entries = of_examples.entries(given.words, given.definition, output, every=False)
    if len(entries) != 1:
        raise InputError(f"--live tries one definition, not {len(entries)}", hint="name it: jobset.jobset.x-k8s.io")
    return entries[0]


def _resource(court: _Court, entry: Entry) -> Resource:
    found = resources.of_kind(court.served, entry.kind.api_version, entry.kind.kind)
    if found is None or not found.namespaced:
        raise InputError(f"cluster {court.name} does not serve {entry.kind}")
    return found


def _found(
    court: _Court, entry: Entry, trials: Sequence[Trial], given: Judging, output: Output
) -> tuple[list[Tried], LeftError | None]:
    """What became of each example; and of what was created what is left, after which nothing more was tried."""
    resource = _resource(court, entry)
    name = temporary.new_name()
    temporary.check_rights(court.api, f"{name}-0")
    cases = [_case(court, entry, resource, trial, f"{name}-{number}") for number, trial in enumerate(trials)]
    ready = [case for case in cases if case.workload]
    if ready:
        _ask(court, entry, name, ready, given, output)
    try:
        with endable():
            return _outcomes(court, resource, cases)
    except KeyboardInterrupt:
        terminal.last_note(f"ended on request, nothing is left in cluster {court.name}", no_color=output.no_color)
        raise


def _case(court: _Court, entry: Entry, resource: Resource, trial: Trial, space: str) -> _Case:
    """Raises ApiError."""
    case = _Case(Tried(entry.definition.name, trial.example.name, trial.document.where), space, trial)
    why = _untriable(court, entry, resource, trial, space)
    if why:
        return replace(case, outcome=replace(case.outcome, untried=why))
    try:
        workload = trial.workload()
        faults = workload.faults or tuple(one.fault for one in workload.lacking)
        manifest = held.back(entry, trial.example.manifest)
    except InputError as error:
        faults = error.faults
    if faults:
        return replace(case, outcome=replace(case.outcome, faults=faults))
    return replace(case, workload=workload, manifest=manifest, loose=held.loose(trial, manifest))


def _untriable(court: _Court, entry: Entry, resource: Resource, trial: Trial, space: str) -> str:
    """Why an example cannot be tried for a moment in this cluster; "" where it can. Raises ApiError."""
    known = trial.catalog.find(entry.kind.api_version, entry.kind.kind)
    if known and is_scheduled(known):
        return "its pods come at times of its own, for which nobody waits here"
    needed = [resource]
    for data in trial.example.with_:
        other = resources.of_kind(court.served, str(data.get("apiVersion")), str(data.get("kind")))
        if other is None:
            return f"it needs {data.get('kind')}, which cluster {court.name} does not serve"
        if not other.namespaced:
            return f"it needs {data.get('kind')}, which is in no namespace, and so cannot be made for a moment"
        needed.append(other)
    for one in needed:
        if not temporary.may(court.api, "create", {"group": one.group, "resource": one.plural, "namespace": space}):
            return f"may not create {one.title} in namespaces of {court.name}"
    return ""


def _ask(court: _Court, entry: Entry, name: str, cases: Sequence[_Case], given: Judging, output: Output) -> None:
    """What will be done, and whether it may be. Raises InputError where nobody says yes."""
    what = f"{len(cases)} {entry.kind.kind} object{'' if len(cases) == 1 else 's'}"
    loose = ", ".join(dict.fromkeys(name for case in cases for name in case.loose))
    pods = (
        "pods of its templates name a scheduler that does not exist, every other pod that comes of it "
        f"MAY BE SCHEDULED AND RUN{loose and f', such as those of {loose}'}"
    )
    text = f"creates {what} in cluster {court.name}, in namespaces {name}-N of their own, waits for their pods"
    terminal.note(f"{text}, and deletes the namespaces; {pods}", no_color=output.no_color)
    if not given.yes and not terminal.confirmed("Go on?"):
        raise InputError("nothing was created", hint="say y when asked, or --yes")


def _outcomes(court: _Court, resource: Resource, cases: Sequence[_Case]) -> tuple[list[Tried], LeftError | None]:
    found: list[Tried] = []
    left: LeftError | None = None
    for case in cases:
        if left and case.workload:
            found.append(replace(case.outcome, untried="it ended before, because a namespace could not be deleted"))
        else:
            outcome, left = _judged(court, resource, case) if case.workload else (case.outcome, left)
            found.append(outcome)
    return found, left


def _judged(court: _Court, resource: Resource, case: _Case) -> tuple[Tried, LeftError | None]:
    """Raises ApiError where nothing can be told of the cluster any more."""
    pods: Sequence[Object] | None = None
    left: LeftError | None = None
    try:
        with temporary.space(court.access, court.api, case.space, court.to_leave) as space:
            pods = _pods(court, space, resource, case)
    except LeftError as error:
        left = error
    except ApiError as error:
        if error.cause not in (INVALID, FORBIDDEN, EXISTS):
            raise
        return replace(case.outcome, faults=(Fault(error.text, where=case.outcome.where),)), None
    if pods is None or case.workload is None:
        return replace(case.outcome, untried="it ended before its pods were seen"), left
    return replace(case.outcome, differences=tuple(created.differences(case.workload, pods))), left


def _pods(court: _Court, space: Space, resource: Resource, case: _Case) -> Sequence[Object]:
    """The pods that come of an example, once their number does not change any more. Raises ApiError."""
    for data in case.trial.example.with_:
        other = resources.of_kind(court.served, str(data.get("apiVersion")), str(data.get("kind")))
        assert other is not None
        space.create(other, data)
    assert case.workload is not None and case.manifest is not None
    made = space.create(resource, case.manifest)
    end = time.monotonic() + court.wait
    looks: list[int] = []
    running: set[str] = set()
    while True:
        pods = owned.pods_of(court.api, court.served, made).pods
        looks.append(len(pods))
        settled = len(set(looks[-STILL:])) == 1 and len(looks) >= STILL
        if (settled and created.is_complete(case.workload, pods)) or time.monotonic() > end:
            return pods
        for pod in pods:
            if pod["metadata"]["uid"] not in running:
                running.add(pod["metadata"]["uid"])
                _pretend(space, pod)
        time.sleep(PAUSE)


def _pretend(space: Space, pod: Object) -> None:
    """Where that is not allowed, or the pod has gone, the controller has to do without."""
    try:
        space.pretend_to_run(pod)
    except ApiError as error:
        if error.cause not in OF_THE_KIND:
            raise
