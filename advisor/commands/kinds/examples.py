"""Do the examples of placement profiles come out as they say?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from advisor.commands import exits, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Clusters, Output, Result
from advisor.commands.kinds import listing
from advisor.definitions import examples, layers
from advisor.definitions.catalog import Builtin
from advisor.definitions.layers import Entry
from advisor.errors import Fault, InputError, Where
from advisor.render import inventory

ENDINGS = (".yaml", ".yml", ".json")


def run(words: tuple[str, ...], named: tuple[str, ...], output: Output, *, every: bool) -> Result:
    """Exit code 1 where an example does not come out. Raises InputError for what cannot be tried at all."""
    chosen = entries(words, named, output, every=every)
    found = [one for entry in chosen for one in examples.tried(entry)]
    without = [entry for entry in chosen if not any(one.definition == entry.definition.name for one in found)]
    terminal.say(list(map(_no_examples, without)), severity="warning", no_color=output.no_color)
    if not found:
        raise InputError("there is no example to try", hint="a profile has them in spec.examples: see docs/profiles.md")
    code = exits.PLACED if all(one.holds for one in found) else exits.NOT_NOW
    if output.output in TREES:
        return Result(TREES[output.output](inventory.test_tree(found, code)), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(inventory.tried(found, style, full=output.output == "wide"), code)


def _no_examples(entry: Entry) -> Fault:
    return Fault(f"{entry.definition.name} has no examples", where=entry.document.where)


def entries(words: Sequence[str], named: tuple[str, ...], output: Output, *, every: bool) -> list[Entry]:
    """The definitions that are meant. Raises InputError for words that mean none."""
    if bool(words) == every:
        raise InputError("name a file or a definition, or say --all", hint="--all tries the whole catalogue of ours")
    if every:
        return list(Builtin().entries)
    of_files = [word for word in words if is_file(word)]
    names = [word for word in words if word not in of_files]
    found = list(in_files(of_files)) if of_files else []
    return [*found, *(listing.chosen(names, listing.at_hand(named, Clusters(), output)) if names else ())]


def is_file(word: str) -> bool:
    """Is a file meant, rather than a name?"""
    return word.endswith(ENDINGS) or Path(word).exists()


def in_files(paths: Sequence[str]) -> Iterator[Entry]:
    """The definitions in files. Raises InputError where one of them cannot be used."""
    layer = layers.from_files(paths)
    if layer.faults:
        raise InputError.of(layer.faults)
    useful = {entry.document.source.name for entry in layer.entries}
    faults = [Fault("holds no definition", where=Where(path)) for path in paths if path not in useful]
    if faults:
        raise InputError.of(faults)
    yield from layer.entries
