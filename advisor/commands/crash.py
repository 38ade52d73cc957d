"""A fault of ours: what a report needs to hold, and nothing of what belongs to the user."""

from __future__ import annotations

import platform
import traceback
from collections.abc import Collection, Iterator, Sequence
from importlib import metadata
from pathlib import Path

PACKAGES = ("wm-place", "click", "jq", "kubernetes", "msgspec", "numpy", "ortools", "pydantic")
ROOT = Path(__file__).parents[2]


def report(error: BaseException, arguments: Sequence[str], commands: Collection[str], *, whole: bool) -> str:
    """`whole` adds Python's traceback, whose message may hold what the user gave."""
    lines = [
        "this is a fault of wm-place, not yours; please report it with these lines, which hold nothing of your data:",
        f"    {' '.join(_versions())}",
        f"    wm-place {' '.join(_shape(arguments, commands))}".rstrip(),
        *(f"    {line}" for line in _frames(error)),
    ]
    if whole:
        lines += traceback.format_exception(error)
    else:
        lines.append("-vv adds the whole traceback.")
    return "\n".join(line.rstrip("\n") for line in lines) + "\n"


def _versions() -> Iterator[str]:
    yield f"Python={platform.python_version()}"
    yield f"{platform.system()}={platform.machine()}"
    for name in PACKAGES:
        try:
            yield f"{name}={metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name}=none"


def _shape(arguments: Sequence[str], commands: Collection[str]) -> Iterator[str]:
    """Commands and the names of options; every value is left out."""
    for argument in arguments:
        if argument in commands:
            yield argument
        elif argument.startswith("--"):
            yield argument.partition("=")[0]
        elif argument.startswith("-") and len(argument) > 1:
            yield argument[:2]
        else:
            yield "…"


def _frames(error: BaseException) -> Iterator[str]:
    """The way to the error, through our own files only; of the error its type."""
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(ROOT / "advisor"):
            yield f"{path.relative_to(ROOT).as_posix()}:{frame.lineno} in {frame.name}"
    yield f"{type(error).__module__}.{type(error).__qualname__}"


def verbose_enough(arguments: Sequence[str]) -> bool:
    return "-vv" in arguments or arguments.count("-v") > 1 or arguments.count("--verbose") > 1
