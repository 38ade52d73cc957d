"""Is a file of definitions right? Everything that is wrong with it, and everything that is only doubtful."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from advisor import files
from advisor.commands import exits, manifests, terminal
from advisor.commands.formats import TREES
from advisor.commands.given import Output, Result
from advisor.definitions import checking, sandbox
from advisor.errors import Fault, Faults, InputError, Where
from advisor.files import Document
from advisor.inventory import Checked
from advisor.render import inventory
from advisor.render.style import Style

SHAPE = "a definition has apiVersion: run.ai/v1alpha1 and kind: Karta"
TEXTS: Mapping[str, Callable[[Sequence[Checked], Style], str]] = {
    "table": inventory.findings,
    "wide": inventory.findings,
    "name": inventory.sound_names,
}


def run(names: tuple[str, ...], output: Output) -> Result:
    """The findings are the answer, so they stand on stdout. Raises InputError where no file is named."""
    if not names:
        raise InputError("no file is named", hint="name a file, a folder, or - for stdin")
    found = _found(names)
    code = exits.INPUT if any(one.errors for one in found) else exits.PLACED
    if output.output in TREES:
        return Result(TREES[output.output](inventory.check_tree(found, code)), code)
    style = terminal.answer_style(no_color=output.no_color, no_headers=output.no_headers)
    return Result(TEXTS[output.output](found, style), code)


def _found(names: Sequence[str]) -> tuple[Checked, ...]:
    """What the arguments hold; a file that cannot be read is a finding like any other."""
    read = Faults()
    documents: list[Document] = []
    looked_at: dict[str, list[str]] = {}
    for name in names:
        with read.collect():
            for path in manifests.paths(name):
                with read.collect():
                    text = manifests.source(path)
                    looked_at.setdefault(name, []).append(text.name)
                    documents += files.documents(text)
    found = checking.checked(documents, sandbox.SANDBOX)
    useful = {fault.where.file for fault in read.found if fault.where} | {one.where.file for one in found}
    empty = [name for name, inside in looked_at.items() if useful.isdisjoint(inside)]
    lost = [*read.found, *(Fault("holds no definition", where=Where(name), hint=SHAPE) for name in empty)]
    return (*(Checked(fault.where or Where(names[0]), errors=(fault,)) for fault in lost), *found)
