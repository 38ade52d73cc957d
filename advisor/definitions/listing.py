"""All definitions of a run by precedence, and those that a word means: a name, a kind, or group, version and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from advisor.definitions import profile_schema
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Entry
from advisor.definitions.schema import GroupVersionKind
from advisor.errors import InputError, likely
from advisor.inventory import Kind, Listed


def listed(catalog: Catalog) -> tuple[Listed, ...]:
    """Every definition, by precedence."""
    entries = catalog.entries
    of: dict[GroupVersionKind, list[Entry]] = {}
    for entry in entries:
        of.setdefault(entry.kind, []).append(entry)
    winners = {kind: winner(catalog, kind) for kind in of}
    return tuple(_listed(entry, of[entry.kind], winners[entry.kind]) for entry in entries)


def winner(catalog: Catalog, kind: GroupVersionKind) -> Entry | None:
    """The definition that is used for a kind; None where that is refused, because there are two."""
    try:
        found = catalog.find(kind.api_version, kind.kind)
    except InputError:
        return None
    return found.entry if found else None


def _listed(entry: Entry, same: Sequence[Entry], wins: Entry | None) -> Listed:
    profile = entry if entry.profile_document else next((one for one in same if one.profile_document), None)
    rivals = sum(other.origin == entry.origin for other in same) - 1
    return Listed(
        kind=kind(entry),
        name=entry.definition.name,
        origin=str(entry.origin),
        where=entry.document.where,
        overridden_by="" if wins is None or wins.origin == entry.origin else str(wins.origin),
        rivals=rivals,
        profile=str(profile.origin) if profile else "",
        examples=_examples(profile),
        warnings=len(entry.warnings),
        differs=_differing(entry, same) if entry is wins else (),
    )


def kind(entry: Entry) -> Kind:
    found = entry.kind
    return Kind(found.group, found.version, found.kind)


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


def used(word: str, catalog: Catalog) -> list[Entry]:
    """The definition that a word means, for each kind that it could be: the one of that name, else the one in use.

    Raises InputError where there is none, or two of one origin.
    """
    found = meant(word, catalog.entries)
    if found[0].definition.name == word:
        return [found[0]]
    kinds = dict.fromkeys(entry.kind for entry in found)
    known = (catalog.find(kind.api_version, kind.kind) for kind in kinds)
    return [one.entry for one in known if one]
