"""The tutorial's files and transcripts, as they stand on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorial-new-kind.md"
NAMES = ("crd.yaml", "gridjob.yaml", "controller.sh", "definition.yaml")


def files(folder: Path) -> dict[str, Path]:
    """The files of the page, each with its name in its first line."""
    found = {}
    for block in re.findall(r"```(?:yaml|sh)\n(.*?)```", PAGE.read_text(), re.DOTALL):
        name = block.partition("\n")[0].removeprefix("# ")
        found[name] = folder / name
        found[name].write_text(block)
    assert tuple(found) == NAMES
    return found


def transcripts() -> Iterator[tuple[str, str]]:
    """Commands of the page, and what they print on both streams."""
    for block in re.findall(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed
