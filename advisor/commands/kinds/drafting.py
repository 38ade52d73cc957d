"""A draft of a definition: from a schema, from an example, or from a live object and the pods that came of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from advisor import files
from advisor.commands import exits, fleet, live, manifests, terminal
from advisor.commands.given import Clusters, Drafting, Output, Result
from advisor.definitions import reading
from advisor.definitions.drafting import likeness, propose, schematic
from advisor.definitions.drafting.draft import Draft, text
from advisor.definitions.drafting.likeness import Likeness
from advisor.definitions.drafting.moment import Moment, moment
from advisor.definitions.drafting.schematic import Crd
from advisor.errors import Fault, InputError, Where
from advisor.files import Document
from advisor.kube import crds, resources
from advisor.kube.client import Api
from advisor.kube.failure import NOT_FOUND, OF_THE_KIND, ApiError
from advisor.kube.resources import Resource
from advisor.workload import Workload

KINDS = "a file with a CRD or an object, GROUP/KIND, --crd NAME, or --from TYPE/NAME"


def run(given: Drafting, looking: Clusters, output: Output) -> Result:
    """The draft on stdout or in a file; on stderr how well it does. Raises InputError where there is none to make."""
    if sum(map(bool, (given.subject, given.crd, given.live))) != 1:
        raise InputError("name what to make a draft from", hint=f"one of {KINDS}")
    if given.live:
        return _from_live(given, looking, output)
    draft = _draft(given, looking)
    code = exits.PLACED
    if draft.example is not None:
        read = _read(draft, fleet.NAMESPACE, output)
        code = exits.PLACED if read else exits.NOT_NOW
        draft = likeness.with_expectation(draft, read) if read else draft
    return _written(draft, given, output, code)


def _read(draft: Draft, namespace: str, output: Output) -> Workload | None:
    """The example as the draft reads it; None where it cannot, which is said: the draft is still of use."""
    try:
        return likeness.workload(draft, draft.example or {}, namespace)
    except InputError as error:
        faults = [
            Fault(f"the draft cannot read the object: {fault.message}", fault.path, hint=fault.hint)
            for fault in error.faults
        ]
        terminal.say(faults, severity="warning", no_color=output.no_color)
        return None


def _draft(given: Drafting, looking: Clusters) -> Draft:
    if given.crd:
        with live.door(looking) as (api, _, name):
            return propose.of_schema(_crd(api, given.crd), f"the CRD {given.crd} of cluster {name}")
    if given.subject == manifests.STDIN or Path(given.subject).exists():
        return _from_file(given.subject)
    group, slash, kind = given.subject.rpartition("/")
    if not (slash and group and kind):
        raise InputError(f'there is no file "{given.subject}"', hint=f"a draft is made from {KINDS}")
    with live.door(looking) as (api, _, name):
        served = resources.served(api)
        found = next((one for one in served if (one.group, one.kind.lower()) == (group, kind.lower())), None)
        if found is None:
            raise InputError(f"cluster {name} has no kind {kind} in group {group}")
        return propose.of_schema(_crd(api, found.title), f"the CRD {found.title} of cluster {name}")


def _from_file(path: str) -> Draft:
    documents = files.documents(manifests.source(path))
    found = next((one for one in documents if schematic.is_crd(one.data)), None)
    if found:
        with found.faults():
            return propose.of_schema(schematic.read(found.data), f"the CRD in {found.source.name}")
    objects = [one for one in reading.members(documents) if _is_object(one)]
    if len(objects) != 1:
        message = f"holds {len(objects)} objects, an example is one"
        raise InputError.of([Fault(message, where=Where(path), hint="or a CustomResourceDefinition")])
    with objects[0].faults():
        return propose.of_object(objects[0].data, f"the object in {objects[0].where}")


def _is_object(document: Document) -> bool:
    data = document.data
    whole = isinstance(data, dict) and isinstance(data.get("metadata"), dict)
    return whole and all(isinstance(data.get(key), str) for key in ("apiVersion", "kind"))


def _from_live(given: Drafting, looking: Clusters, output: Output) -> Result:
    with live.door(looking) as (api, usual, name):
        served = resources.served(api)
        namespace = given.namespace or usual
        found = live.find(api, served, given.live, namespace)
        crd = _crd_if_any(api, served, found.document.data)
    now = moment(found.document.data, found.pods.pods)
    made_from = f"{given.live} and its {len(now.pods)} pods in cluster {name}"
    doubt = ", and ".join(filter(None, (now.doubt, *found.pods.unread)))
    with found.document.faults():
        draft, came = propose.of_pods(found.document.data, now.pods, made_from, crd, doubt)
    _say_what_there_is(now, found.pods.unread, output)
    read = _read(draft, namespace, output)
    if read is None:
        return _written(draft, given, output, exits.NOT_NOW)
    likely = likeness.held_against(read, came, namespace)
    _say(likely, draft, output)
    draft = likeness.with_expectation(draft, read)
    is_proven = bool(now.pods) and likely.holds and not any(part.doubt for part in draft.parts)
    return _written(draft, given, output, exits.PLACED if is_proven else exits.NOT_NOW)


def _say_what_there_is(now: Moment, unread: Sequence[str], output: Output) -> None:
    terminal.say([Fault(f"pods may be missing: {one}") for one in unread], severity="warning", no_color=output.no_color)
    if now.ended:
        is_one = now.ended == 1
        what = f"{now.ended} pod{'' if is_one else 's'} of the object ended or must end"
        terminal.note(f"{what}, and {'is' if is_one else 'are'} left out", no_color=output.no_color)
    if not now.pods:
        fault = Fault("the object has no living pods, so nothing shows that the draft is right")
        terminal.say([fault], severity="warning", no_color=output.no_color)


def _say(likely: Likeness, draft: Draft, output: Output) -> None:
    """How well the proposal reproduces the pods, and what of it that does not prove."""
    right = (f"{name}: {pods} of {pods} pod{'' if pods == 1 else 's'} as they are" for name, pods in likely.right)
    terminal.say([Fault(one) for one in right], severity="note", no_color=output.no_color)
    differing = (
        f"{one.what}: {one.expected} there, {one.found or 'nothing'} in the draft" for one in likely.differences
    )
    terminal.say([Fault(one) for one in differing], severity="warning", no_color=output.no_color)
    unproven = (
        f"{name}: the number of its pods is not proven. {part.doubt}"
        for name, part in zip(draft.components, draft.parts, strict=True)
        if part.doubt
    )
    terminal.say([Fault(one) for one in unproven], severity="warning", no_color=output.no_color)
    terminal.say([Fault(one) for one in draft.remarks], severity="warning", no_color=output.no_color)


def _crd(api: Api, name: str) -> Crd:
    try:
        return schematic.read(crds.read(api, name))
    except ApiError as error:
        if error.cause != NOT_FOUND:
            raise
        hint = "for a kind that is built in, name an object: --from TYPE/NAME"
        raise InputError(f"there is no CustomResourceDefinition {name}", hint=hint) from None


def _crd_if_any(api: Api, served: Sequence[Resource], data: dict[str, Any]) -> Crd | None:
    """That of the object's version: it tells maps from mappings. It is not necessary."""
    resource = resources.of_kind(served, str(data.get("apiVersion")), str(data.get("kind")))
    if resource is None or not resource.group:
        return None
    try:
        return schematic.read(crds.read(api, resource.title), resource.version)
    except ApiError as error:
        if error.cause not in OF_THE_KIND:
            raise
        return None


def _written(draft: Draft, given: Drafting, output: Output, code: int) -> Result:
    found = text(draft)
    if not given.file or given.file == manifests.STDIN:
        return Result(found, code)
    path = Path(given.file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(found)
    except OSError as error:
        hint = "choose another name, or remove it first" if path.exists() else ""
        raise InputError.of(
            [Fault(f"cannot be written: {error.strerror}", where=Where(given.file), hint=hint)]
        ) from None
    terminal.note(f"written to {given.file}", no_color=output.no_color)
    return Result("", code)
