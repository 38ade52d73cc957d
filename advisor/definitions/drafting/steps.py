"""Places in an object and jq paths to them. Items of lists and members of maps are one step, whatever their number."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

ITEM, MEMBER = "[]", "{}"
"""Any item of a list, any member of a map whose keys are names that people choose."""

Steps = tuple[str, ...]
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


@dataclass(frozen=True, slots=True)
class Site:
    """Where an object says what pods of one sort are.

    steps  to the pod template, the pod spec, or the parts of one
    form   the field of a definition that takes it: `podTemplateSpecPath`, `podSpecPath`, or "" for parts: an image and
           resources beside one another
    named  the field by which items of the list on the way are told apart; "" where there is none
    image  of parts: is the image one text?
    """

    steps: Steps
    form: str
    named: str = "name"
    image: bool = True

    @property
    def shared(self) -> Steps:
        """The way to the innermost list or map on the way, that step included; empty where there is none."""
        places = [at for at, step in enumerate(self.steps) if step in (ITEM, MEMBER)]
        return self.steps[: places[-1] + 1] if places else ()

    @property
    def own(self) -> Steps:
        """The way from there."""
        return self.steps[len(self.shared) :]


def path(steps: Steps) -> str:
    """As jq has it."""
    text = ""
    for step in steps:
        if step in (ITEM, MEMBER):
            text += "[]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}"
        else:
            text += f"[{json.dumps(step)}]" if text else f".[{json.dumps(step)}]"
    return text or "."


def ids(site: Site) -> str | None:
    """What tells the instances apart; None where the pods are of one instance."""
    shared = site.shared
    if not shared:
        return None
    above = path(shared[:-1])
    if shared[-1] == MEMBER:
        return f"{above} | keys[]"
    return f"{above}[].{site.named}" if site.named else f"{above} | keys[] | tostring"


def name(site: Site) -> str:
    """The role's name: the last step that says something."""
    telling = [step for step in site.steps if step not in (ITEM, MEMBER) and step.lower() not in _SILENT]
    words = re.sub(r"(Replica)?(Specs?|Templates?|Groups?)$", "", telling[-1]) if telling else ""
    plain = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", words or "pods").lower()).strip("-")
    return plain.removesuffix("s") if site.shared and plain != "pods" else plain


_SILENT = ("spec", "template", "templates", "podtemplate", "podtemplatespec", "podspec", "pod", "extrapodspec")


def value(data: Any, steps: Steps) -> Any:
    """What stands at steps without lists or maps; None where nothing does."""
    for step in steps:
        data = data.get(step) if isinstance(data, dict) else None
    return data
