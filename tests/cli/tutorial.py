"""The tutorial's files and transcripts, as they stand on the page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/tutorial-new-kind.md"
NAMES = ("crd.yaml", "gridjob.yaml", "definition.yaml")


def files(folder: Path) -> dict[str, Path]:
    """The YAML blocks of the page, each with its name in its first line."""
    found = {}
    for block in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL):
        name = block.partition("\n")[0].removeprefix("# ")
        found[name] = folder / name
        found[name].write_text(block)
    assert tuple(found) == NAMES
    return found


def transcripts() -> Iterator[tuple[list[str], str]]:
    """Commands of the page, as words, and what they print on both streams."""
    for block in re.findall(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield shlex.split(command), printed
