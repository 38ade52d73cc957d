"""The examples of a definition before the controller itself: created in a user's cluster for a moment, and compared.

Nothing runs there: pods name a scheduler that does not exist, so that no node takes them. Their status is set as if one
had, for controllers that wait for it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from advisor.commands import exits, fleet, live, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Clusters, Judging, Output, Result
from advisor.commands.kinds import examples as of_examples
from advisor.definitions import created, examples, rules, suspend
from advisor.definitions.engine import prepare
from advisor.definitions.examples import Trial
from advisor.definitions.layers import Entry
from advisor.definitions.tree import leaves
from advisor.errors import Fault, InputError
from advisor.inventory import Tried
from advisor.kube import owned, resources, temporary
from advisor.kube.client import Access, Api
from advisor.kube.deadline import Deadline
from advisor.kube.failure import EXISTS, FORBIDDEN, INVALID, OF_THE_KIND, ApiError
from advisor.kube.resources import Resource
from advisor.kube.temporary import Space
from advisor.render import inventory
from advisor.workload import Workload

NOBODY = "wm-place-nobody"
"""The scheduler of pods that are only looked at."""

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
            resource = _resource(court, entry)
            name = temporary.new_name()
            _ask(court, entry, name, trials, given, output)
            with _endable():
                found = [
                    _judged(court, entry, resource, trial, f"{name}-{number}") for number, trial in enumerate(trials)
                ]
    except ApiError as error:
        raise InputError(f"cluster {context.name}: {error.text}") from None
    code = exits.PLACED if all(one.holds for one in found) else exits.NOT_NOW
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


def _ask(court: _Court, entry: Entry, name: str, trials: Sequence[Trial], given: Judging, output: Output) -> None:
    """What will be done, and whether it may be. Raises InputError where nobody says yes."""
    what = f"{len(trials)} {entry.kind.kind} object{'' if len(trials) == 1 else 's'}"
    held = all(held_back(entry, trial.example.manifest)[1] for trial in trials)
    pods = "which no scheduler takes" if held else "WHICH MAY BE SCHEDULED AND RUN"
    text = f"creates {what} in cluster {court.name}, in namespaces {name}-N of their own, waits for their pods, {pods},"
    terminal.note(f"{text} and deletes the namespaces", no_color=output.no_color)
    if not given.yes and not terminal.confirmed("Go on?"):
        raise InputError("nothing was created", hint="say y when asked, or --yes")


@contextmanager
def _endable() -> Iterator[None]:
    """A request to end is an interruption like Ctrl-C, so that everything is taken away first."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _judged(court: _Court, entry: Entry, resource: Resource, trial: Trial, name: str) -> Tried:
    outcome = Tried(entry.definition.name, trial.example.name, trial.document.where)
    try:
        workload = trial.workload()
    except InputError as error:
        return replace(outcome, faults=error.faults)
    if workload.faults or workload.lacking:
        return replace(outcome, faults=workload.faults or tuple(one.fault for one in workload.lacking))
    try:
        with temporary.space(court.access, court.api, name, court.to_leave) as space:
            pods = _pods(court, space, resource, trial, entry, workload)
    except ApiError as error:
        if error.cause not in (INVALID, FORBIDDEN, EXISTS):
            raise
        return replace(outcome, faults=(Fault(error.text, where=trial.document.where),))
    return replace(outcome, differences=tuple(created.differences(workload, pods)))


def _pods(
    court: _Court, space: Space, resource: Resource, trial: Trial, entry: Entry, workload: Workload
) -> Sequence[Object]:
    """The pods that come of an example, once their number does not change any more. Raises ApiError."""
    for data in trial.example.with_:
        other = resources.of_kind(court.served, str(data.get("apiVersion")), str(data.get("kind")))
        if other is None or not other.namespaced:
            raise ApiError(INVALID, f"the example needs {data.get('kind')}, which cannot be made for a moment here")
        space.create(other, data)
    made = space.create(resource, held_back(entry, trial.example.manifest)[0])
    end = time.monotonic() + court.wait
    looks: list[int] = []
    running: set[str] = set()
    while True:
        pods = owned.pods_of(court.api, court.served, made).pods
        looks.append(len(pods))
        settled = len(set(looks[-STILL:])) == 1 and len(looks) >= STILL
        if (settled and created.is_complete(workload, pods)) or time.monotonic() > end:
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


def held_back(entry: Entry, manifest: Object) -> tuple[Object, bool]:
    """The manifest, resumed, with its pods given to a scheduler that is not there; and were there any to be given?

    Only where a path of the definition leads to them: pods that are put together of parts cannot be held.
    """
    given = suspend.resumed(entry.definition, prepare(dict(manifest)), entry.origin.engine)
    data, held = deepcopy(given.data), False
    for component in leaves(entry.definition):
        spec = component.spec_definition
        template, pod = (spec.pod_template_spec_path, spec.pod_spec_path) if spec else (None, None)
        for text, inner in ((template, "spec"), (pod, "")):
            for path, value in rules.places(text, given, entry.origin.engine) if text else ():
                if isinstance(value, dict):
                    found = _at(data, (*path, inner) if inner else path)
                    found["schedulerName"] = NOBODY
                    held = True
    return data, held


def _at(data: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        data = data.setdefault(step, {}) if isinstance(data, dict) else data[step]
    return data
