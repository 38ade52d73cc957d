"""A draft, and its text: a definition with a placement profile behind it, commented for whoever goes on with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor import files
from advisor.definitions.drafting.steps import Site, ids, name, path
from advisor.inventory import Kind

Object = Mapping[str, Any]

STATUSES: Mapping[str, tuple[str, ...]] = {
    "initializing": ("pending", "creating", "created", "initializing", "starting", "queued", "waiting"),
    "running": ("running", "ready", "active", "available", "healthy"),
    "completed": ("succeeded", "completed", "complete", "finished", "done"),
    "failed": ("failed", "error", "unhealthy"),
    "suspended": ("suspended", "paused", "stopped"),
}
"""Words that kinds use for their phases, by upstream's words for statuses."""


MADE_UP = "example.com/item"


@dataclass(frozen=True, slots=True)
class Part:
    """A component with pods.

    replicas    jq for the number of pods of each instance; None: one
    least, most jq for the bounds between which they may be
    label       a label, and its value, that all of its pods bear and no others
    id_label    the label whose value is the instance
    doubt       why the number of pods is no more than a guess; "" where the pods that were seen prove it
    remarks     what else a reader should check
    """

    site: Site
    name: str = ""
    replicas: str | None = None
    least: str | None = None
    most: str | None = None
    label: tuple[str, str] | None = None
    id_label: str = ""
    doubt: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.name or name(self.site)


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything that is proposed for a kind.

    made_from  in words
    phase      where the status has its phase, and the phases that are known
    group_key  a label that all pods of an object share
    example    an object to try it on, and the roles that must come out of it
    """

    kind: Kind
    made_from: str
    parts: tuple[Part, ...]
    phase: str | None = None
    phases: tuple[str, ...] = ()
    conditions: bool = False
    group_key: str = ""
    example: Object | None = None
    expected: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The catalogue's rule: group with dashes, kind, version."""
        group = self.kind.group.replace(".", "-") or "core"
        return f"{group}-{self.kind.kind.lower()}-{self.kind.version}"

    @property
    def is_root(self) -> bool:
        """Pods of one sort belong to the object itself."""
        return len(self.parts) == 1 and not self.parts[0].site.shared

    @property
    def components(self) -> tuple[str, ...]:
        """What the parts are called, in their order."""
        return (self.kind.kind.lower(),) if self.is_root else tuple(part.title for part in self.parts)


def text(draft: Draft) -> str:
    return "".join(f"{line}\n" for line in (*_head(draft), *_definition(draft), "---", *_profile(draft)))


def _head(draft: Draft) -> Iterator[str]:
    yield f"# A draft for {draft.kind}, made from {draft.made_from}."
    yield "# What it guesses is commented. Read it, correct it, then:"
    yield "#   wm-place definitions validate FILE"
    yield "#   wm-place definitions test FILE"
    for remark in draft.remarks:
        yield f"# {remark}"


def _definition(draft: Draft) -> Iterator[str]:
    kind = draft.kind
    root = kind.kind.lower()
    yield from ("apiVersion: run.ai/v1alpha1", "kind: Karta", f"metadata: {{name: {draft.name}}}", "spec:")
    yield from ("  structureDefinition:", "    rootComponent:", f"      name: {root}")
    yield f"      kind: {{group: {_quoted(kind.group)}, version: {kind.version}, kind: {kind.kind}}}"
    if draft.is_root:
        yield from _indented(_body(draft.parts[0], recognised=False), 6)
    yield from _indented(_status(draft), 6)
    if draft.parts and not draft.is_root:
        yield "    childComponents:"
        for part in draft.parts:
            first, *more = [f"name: {part.title}", f"ownerRef: {root}", *_body(part, recognised=len(draft.parts) > 1)]
            yield f"      - {first}"
            yield from _indented(more, 8)
    yield from _gang(draft)


def _body(part: Part, *, recognised: bool) -> Iterator[str]:
    for remark in filter(None, (part.doubt, *part.remarks)):
        yield f"# {remark}"
    told_apart = ids(part.site)
    if told_apart:
        yield f"instanceIdPath: {_quoted(told_apart)}"
    yield from _source(part)
    yield from _scale(part)
    yield from _selector(part, recognised=recognised)


def _source(part: Part) -> Iterator[str]:
    where = path(part.site.steps)
    if part.site.form:
        yield f"specDefinition: {{{part.site.form}: {_quoted(where)}}}"
        return
    yield "# There is no pod template here, only parts of a pod: what else shapes the pods is not seen."
    yield from ("specDefinition:", "  fragmentedPodSpecDefinition:")
    if part.site.image:
        yield f"    imagePath: {_quoted(f'{where}.image')}"
    yield f"    resourcesPath: {_quoted(f'{where}.resources')}"


def _scale(part: Part) -> Iterator[str]:
    given = {"replicasPath": part.replicas, "minReplicasPath": part.least, "maxReplicasPath": part.most}
    stated = {key: one for key, one in given.items() if one}
    if stated:
        yield "scaleDefinition:"
        yield from (f"  {key}: {_quoted(one)}" for key, one in stated.items())


def _selector(part: Part, *, recognised: bool) -> Iterator[str]:
    """How the pods of a component, and of its instances, are known; a guess where no pod was seen."""
    if recognised and not part.label and not part.id_label:
        yield "# By which label are these pods known among the others? Such as"
        yield "#   podSelector: {componentTypeSelector: {keyPath: '.metadata.labels.role', value: worker}}"
    if not part.site.shared and not (recognised and part.label):
        return
    if part.site.shared and not part.id_label:
        yield "# Which label of a pod holds the name of its item? This one is made up."
    yield "podSelector:"
    if part.label:
        key, value = part.label
        yield f"  componentTypeSelector: {{keyPath: {_quoted(_label(key))}, value: {_quoted(value)}}}"
    elif recognised:
        yield f"  componentTypeSelector: {{keyPath: {_quoted(_label(part.id_label or MADE_UP))}}}"
    if part.site.shared:
        yield f"  componentInstanceSelector: {{idPath: {_quoted(_label(part.id_label or MADE_UP))}}}"


def _label(key: str) -> str:
    return f".metadata.labels[{json.dumps(key)}]"


def _status(draft: Draft) -> Iterator[str]:
    yield "statusDefinition:"
    if draft.phase:
        yield f"  phaseDefinition: {{path: {_quoted(draft.phase)}}}"
    if draft.conditions:
        yield "  conditionsDefinition: {path: .status.conditions}"
    mapped = {status: [word for word in draft.phases if word.lower() in words] for status, words in STATUSES.items()}
    known = {status: words for status, words in mapped.items() if words}
    if known and draft.phase:
        yield "  statusMappings:"
        for status, words in known.items():
            yield f"    {status}: [{', '.join(f'{{byPhase: {_quoted(word)}}}' for word in words)}]"
        return
    yield "  # What the object's phases or conditions mean, such as"
    yield "  #   running: [{byPhase: Running}]"
    yield '  #   failed: [{byConditions: [{type: Failed, status: "True"}]}]'
    yield "  statusMappings: {}"


def _gang(draft: Draft) -> Iterator[str]:
    keys = f", groupByKeyPaths: [{_quoted(_label(draft.group_key))}]" if draft.group_key else ""
    yield "  # Pods that must start together, for schedulers that read definitions (the profile says it for wm-place):"
    yield "  # optimizationInstructions:"
    yield "  #   gangScheduling:"
    yield "  #     podGroups:"
    yield f"  #       - name: {draft.kind.kind.lower()}"
    yield "  #         members:"
    yield from (f"  #           - {{componentName: {one}{keys}}}" for one in draft.components)


def _profile(draft: Draft) -> Iterator[str]:
    kind = draft.kind
    yield from ("apiVersion: wm-place/v1", "kind: PlacementProfile", f"metadata: {{name: {draft.name}}}", "spec:")
    yield f"  for: {{group: {_quoted(kind.group)}, kind: {kind.kind}, versions: [{kind.version}]}}"
    yield "  # What the controller fills in where a field is left out, such as"
    yield "  #   prepare: if .spec.replicas == null then .spec.replicas = 1 else . end"
    yield from ("  roles:", *(f"    - component: {one}" for one in draft.components))
    yield "  # Pods that must start together, all of them once:"
    yield "  #   gang: {groups: '[{count: 1, members: ($roles | map_values(.minimum))}]'}"
    yield from _doubts(draft)
    if draft.example is not None and draft.expected:
        yield "  examples:"
        one = {"name": "as it was found", "manifest": draft.example, "roles": draft.expected}
        first, *more = files.dump(one).rstrip("\n").split("\n")
        yield f"    - {first}"
        yield from _indented(more, 6)
    else:
        yield "  # An object, and the roles that must come out of it: wm-place definitions test tries them."
        yield "  # examples: [{name: …, manifest: {…}, roles: {ROLE: {replicas: 1, requests: {cpu: 1}}}}]"


def _doubts(draft: Draft) -> Iterator[str]:
    """A number that is a guess must not make a yes."""
    guessed = [part for part in draft.parts if part.doubt]
    if guessed:
        yield "  # How many pods there are is a guess: as long as this stands, no answer is more than unknown."
        yield "  unmodelled: >-"
        paths = ", ".join(json.dumps(path(part.site.steps).lstrip(".")) for part in guessed)
        yield f'    [{paths}] | map({{path: ., text: "the number of pods, a guess", restricts: false}})'


def _indented(lines: Sequence[str] | Iterator[str], by: int) -> Iterator[str]:
    return (f"{' ' * by}{line}" for line in lines)


def _quoted(value: str) -> str:
    """A YAML scalar that is text whatever it holds."""
    return "'" + value.replace("'", "''") + "'"
