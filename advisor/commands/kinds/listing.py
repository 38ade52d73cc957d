"""Which definitions there are, where each comes from, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from advisor import files
from advisor.cluster import ClusterSnapshot
from advisor.commands import definitions, exits, fleet, stored, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Clusters, Output, Result
from advisor.definitions import listing
from advisor.definitions.catalog import Catalog
from advisor.definitions.layers import Entry
from advisor.definitions.schema import GroupVersionKind
from advisor.errors import Fault
from advisor.inventory import Listed
from advisor.render import inventory, json
from advisor.render.style import Style

TEXTS: Mapping[str, Callable[[Sequence[Listed], Style], str]] = {
    "table": inventory.table,
    "wide": inventory.wide,
    "name": inventory.names,
}


def run(named: tuple[str, ...], looking: Clusters, output: Output) -> Result:
    """Raises InputError for a file that was named and cannot be used."""
    found = at_hand(named, looking, output)
    listed = listing.listed(found)
    if output.output in TREES:
        return Result(TREES[output.output](inventory.list_tree(listed)), exits.PLACED)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(TEXTS[output.output](listed, style), exits.PLACED)


def show(words: tuple[str, ...], named: tuple[str, ...], looking: Clusters, output: Output) -> Result:
    """The definitions that the words mean: as their files have them, or as data. Raises InputError."""
    found = at_hand(named, looking, output)
    entries = chosen(words, found)
    terminal.say(list(_said(entries, found)), severity="note", no_color=output.no_color)
    if output.output == "json":
        items = [data for entry in entries for data in _documents(entry)]
        tree = {"apiVersion": "v1", "kind": "List", "items": items} if len(items) > 1 else items[0]
        return Result(json.text(tree), exits.PLACED)
    if output.output == "yaml":
        return Result("---\n".join(files.dump(data) for entry in entries for data in _documents(entry)), exits.PLACED)
    texts = dict.fromkeys(_text(entry) for entry in entries)
    return Result("---\n".join(texts), exits.PLACED)


def at_hand(named: Sequence[str], looking: Clusters, output: Output) -> Catalog:
    """All definitions, those of the clusters that are named among them; what cannot be used is said."""
    clusters: tuple[ClusterSnapshot, ...] = ()
    if definitions.names_clusters(looking):
        accelerators = definitions.accelerators()
        clusters = stored.read(fleet.plan(looking).sources(accelerators), accelerators)
    found = Catalog((*definitions.own(named), *stored.of_clusters(clusters, check=True)))
    terminal.say([*found.faults, *stored.unread(clusters)], severity="warning", no_color=output.no_color)
    if output.verbose:
        terminal.say(list(stored.without(clusters)), severity="note", no_color=output.no_color)
    return found


def chosen(words: Sequence[str], found: Catalog) -> list[Entry]:
    """The definition that each word means, one for each kind. Raises InputError for a word that means none."""
    kept: dict[GroupVersionKind, Entry] = {}
    for word in words:
        for entry in listing.used(word, found):
            kept.setdefault(entry.kind, entry)
    return list(kept.values())


def _said(entries: Sequence[Entry], found: Catalog) -> Iterator[Fault]:
    for entry in entries:
        wins = listing.winner(found, entry.kind)
        others = [str(other.origin) for other in found.entries if other.kind == entry.kind and other is not wins]
        if wins is not None and entry is not wins:
            yield Fault(f"{entry.kind} is not read by this definition of {entry.origin}, but by that of {wins.origin}")
        elif wins is not None and others:
            yield Fault(f"{entry.kind} is read by this definition of {wins.origin}, not by that of {', '.join(others)}")


def _documents(entry: Entry) -> list[Any]:
    return [document.data for document in (entry.document, entry.profile_document) if document]


def _text(entry: Entry) -> str:
    """The file as it is; a definition that lies in no file is written down as YAML."""
    text = entry.document.source.text
    return (text if text.endswith("\n") else f"{text}\n") if text else files.dump(entry.document.data)
