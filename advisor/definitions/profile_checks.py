"""What can be said of a placement profile before it meets a manifest.

It must speak of its own definition's kind and components, and every expression must compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from advisor.definitions import expressions, profile, profile_schema
from advisor.definitions.engine import Engine
from advisor.definitions.profile_schema import Profile
from advisor.definitions.schema import Definition
from advisor.definitions.shipped import builtin_folder
from advisor.definitions.validate import Findings
from advisor.errors import Fault, InputError, Path
from advisor.files import Document

Names = tuple[str, ...]
_INSTANCE = ("id", "scale")
_VARIABLES: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("rules", "must"): ("object", "path"),
    **{
        ("roles", field): _INSTANCE
        for field in ("name", "replicas", "minimum", "maximum", "step", "block", "labels", "stages", "topology")
    },
    **{("roles", field): _INSTANCE for field in ("startsAfter", "madeAfter", "owner")},
    ("roles", "when"): ("id",),
    ("roles", "template"): (*_INSTANCE, "object", "role"),
    ("gang", "groups"): ("roles",),
    ("gang", "order"): ("roles",),
    ("unmodelled",): ("written",),
    ("gang", "minAvailable"): ("roles",),
    ("gang", "object"): ("roles",),
    ("claims",): ("roles",),
}
_OF_ADDED: Mapping[tuple[str, ...], tuple[str, ...]] = {("roles", "when"): (), ("roles", "template"): _INSTANCE}
"""The variables that an expression of a profile may use, by its field; all others see the object alone.

Pods that are added have no instance when it is asked whether they are there, and nothing to make a template of.
"""


def about_profile(document: Document, definition: Definition | None, engine: Engine) -> Findings:
    """What is wrong with a profile, and with the two of them together."""
    try:
        parsed = profile_schema.parse(document)
    except InputError as error:
        return Findings(error.faults)
    errors = list(_broken_expressions(parsed, engine))
    warnings = list(_doubts(parsed))
    if definition:
        errors = [*_strangers(parsed, definition), *errors]
        warnings += _left_out(parsed, definition)
    return Findings(tuple(map(document.placed, errors)), tuple(map(document.placed, warnings)))


def _strangers(parsed: Profile, definition: Definition) -> Iterator[Fault]:
    kind, stated = definition.root.kind, parsed.spec.for_
    if kind and (stated.group, stated.kind) != (kind.group, kind.kind):
        yield Fault(f"is for another kind than its definition, which is for {kind}", ("spec", "for"))
    elif kind and kind.version not in stated.versions:
        yield Fault(f"does not name {kind.version}, the version of its definition", ("spec", "for", "versions"))
    names = {component.name for component in definition.components}
    for place, rule in enumerate(parsed.spec.roles):
        if rule.component and rule.component not in names:
            hint = f"components are {', '.join(names)}"
            yield Fault(f"there is no component {rule.component}", ("spec", "roles", place, "component"), hint=hint)


def _left_out(parsed: Profile, definition: Definition) -> Iterator[Fault]:
    """Pods that the definition finds and no role counts."""
    counted = {rule.component or rule.added for rule in parsed.spec.roles}
    for component in definition.components if parsed.spec.roles else ():
        if component.is_leaf and component.name not in counted:
            hint = "a list of roles must hold all of them"
            yield Fault(f"has no role for the pods of {component.name}", ("spec", "roles"), hint=hint)


def _doubts(parsed: Profile) -> Iterator[Fault]:
    if not parsed.spec.examples:
        yield Fault("has no examples, so nothing shows that it is right", ("spec",), hint="see docs/profiles.md")
    for path, text in profile_schema.texts(parsed):
        with suppress(InputError):  # what cannot be read at all is an error already
            yield from (replace(fault, path=path) for fault in expressions.of_the_clock(text))


def _broken_expressions(parsed: Profile, engine: Engine) -> Iterator[Fault]:
    functions = ""
    try:
        functions = profile.library(parsed.spec.uses)
    except InputError:
        known = ", ".join(sorted(path.stem for path in (builtin_folder() / "library").glob("*.jq")))
        yield Fault("names a library that is not there", ("spec", "uses"), hint=f"there are {known}")
    for place, rule in enumerate(parsed.spec.rules):
        sets = sorted(path.stem for path in (builtin_folder() / "library").glob("*.yaml"))
        if rule.like and rule.like not in sets:
            hint = f"there are {', '.join(sets)}"
            yield Fault("names rules that are not there", ("spec", "rules", place, "like"), hint=hint)
    texts = [(path, text, variables(parsed, path)) for path, text in profile_schema.texts(parsed)]
    together: dict[Names, list[str]] = {}
    for _, text, names in texts:
        together.setdefault(names, []).append(text)
    sound = {names for names, each in together.items() if _compile(functions, names, each, engine)}
    for path, text, names in texts:
        if names not in sound:
            try:
                engine.compile(f"{functions}{text}", names=names, edits=True)
            except InputError as error:
                yield from (replace(fault, path=path) for fault in error.faults)


def _compile(functions: str, names: Names, texts: Sequence[str], engine: Engine) -> bool:
    """Do all of these compile as one program? The functions of a library take longer than all that use them.

    Each text is looked at alone first: within a program it must stay in its brackets.
    """
    try:
        for text in texts:
            expressions.check(text, edits=True)
        whole = ", ".join(f"({text}\n)" for text in texts)
        engine.compile(f"{functions}[{whole}]", names=names, edits=True)
    except InputError:
        return False
    return True


def variables(parsed: Profile, path: Path) -> tuple[str, ...]:
    """Those that the expression at this path of a profile may use; all know other objects where there are any."""
    fields = tuple(step for step in path if isinstance(step, str) and step != "spec")
    if fields[0] == "references":
        return ("namespace", "refs", *(("object",) if fields[-1] == "where" else ()))
    return (*_own(parsed, path, fields), *(("refs",) if parsed.spec.references else ()))


def _own(parsed: Profile, path: Path, fields: tuple[str, ...]) -> tuple[str, ...]:
    place = next((step for step in path if isinstance(step, int)), None)
    if fields[0] == "roles" and place is not None and parsed.spec.roles[place].added and fields in _OF_ADDED:
        return _OF_ADDED[fields]
    return _VARIABLES.get(fields, ())
