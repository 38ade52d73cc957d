"""All definitions of a run by precedence, and those that a word means: a name, a kind, or group, version and kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from advisor.definitions import profile_schema
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Entry
from advisor.definitions.schema import GroupVersionKind
from advisor.errors import InputError, likely
from advisor.inventory import Kind, Listed


def listed(catalog: Catalog) -> tuple[Listed, ...]:
    """Every definition, those that are used before those that they override where origins differ."""
    entries = catalog.entries
    of: dict[GroupVersionKind, list[Entry]] = {}
    for entry in entries:
        of.setdefault(entry.kind, []).append(entry)
    return tuple(_listed(entry, of[entry.kind], entries) for entry in entries)


def _listed(entry: Entry, same: Sequence[Entry], entries: Sequence[Entry]) -> Listed:
    winner = same[0]
    profile = _profile(entry, entries)
    return Listed(
        kind=kind(entry),
        name=entry.definition.name,
        origin=str(entry.origin),
        where=entry.document.where,
        overridden_by="" if winner.origin == entry.origin else str(winner.origin),
        rivals=sum(other.origin == entry.origin for other in same) - 1,
        profile=str(profile.origin) if profile else "",
        examples=_examples(profile),
        warnings=len(entry.warnings),
        differs=_differing(entry, same) if entry is winner else (),
    )


def kind(entry: Entry) -> Kind:
    found = entry.kind
    return Kind(found.group, found.version, found.kind)


def _profile(entry: Entry, entries: Sequence[Entry]) -> Entry | None:
    """Its own, else that of the next definition of the kind that brings one (`Catalog.find`)."""
    if entry.profile_document:
        return entry
    same = (other for other in entries if other.kind == entry.kind and other.profile_document)
    return next(same, None)


def _examples(profile: Entry | None) -> int:
    if profile is None or profile.profile_document is None:
        return 0
    try:
        return len(profile_schema.parse(profile.profile_document).spec.examples)
    except InputError:
        return 0


def _differing(entry: Entry, same: Sequence[Entry]) -> tuple[str, ...]:
    """Clusters that hold another definition of the kind than the one that is used."""
    others = (other for other in same if other.origin.kind == "cluster" and other.origin != entry.origin)
    return tuple(dict.fromkeys(other.origin.name for other in others if other.definition.spec != entry.definition.spec))


def meant(word: str, entries: Sequence[Entry]) -> list[Entry]:
    """The definitions that a word means, by precedence; for each kind only those of the name where one has it.

    A word is a definition's name, a kind (`JobSet`, in any case), `kind.group`, `kind.version.group`,
    `group/version/kind`, or `group/version Kind` as `list` prints it. Raises InputError when there is none.
    """
    named = [entry for entry in entries if entry.definition.name == word]
    found = named or [entry for entry in entries if word.lower() in _spellings(entry.kind)]
    if not found:
        known = {entry.definition.name for entry in entries} | {entry.kind.kind.lower() for entry in entries}
        hint = likely(word.lower(), sorted(known)) or "wm-place definitions list shows all of them"
        raise InputError(f'there is no definition of "{word}"', hint=hint)
    return found


def _spellings(found: GroupVersionKind) -> Iterator[str]:
    kind, version, group = found.kind.lower(), found.version.lower(), found.group.lower()
    yield kind
    yield f"{version} {kind}" if not group else f"{group}/{version} {kind}"
    yield "/".join(part for part in (group, version, kind) if part)
    yield ".".join(part for part in (kind, group) if part)
    yield ".".join(part for part in (kind, version, group) if part)


def used(entries: Sequence[Entry]) -> Mapping[GroupVersionKind, Entry]:
    """For each kind the first, which is the one that is used."""
    found: dict[GroupVersionKind, Entry] = {}
    for entry in entries:
        found.setdefault(entry.kind, entry)
    return found
