"""What is wrong with an input, and where it stands.

The code that finds a fault says what; each caller adds its step of the path (`at`); `files.py` adds file and line.
Only wrong input is an exception here. "Does not fit" is a value (`verdict.py`).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a file: lines and columns count from 1; `None` is "not known"."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: what, under which path, in which file, and what to do about it."""

    message: str
    path: Path = ()
    where: Where | None = None
    hint: str = ""
    code: str = "invalid"

    def __str__(self) -> str:
        place = " ".join(str(part) for part in (self.where, dotted(self.path)) if part)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n    {self.hint}" if self.hint else text


class InputError(Exception):
    """What the user gave cannot be used; carries every fault found, never a traceback."""

    def __init__(self, message: str = "", *, path: Path = (), hint: str = "", code: str = "invalid") -> None:
        super().__init__(message)
        self.faults: tuple[Fault, ...] = (Fault(message, path, hint=hint, code=code),) if message else ()

    @classmethod
    def of(cls, faults: Sequence[Fault]) -> InputError:
        error = cls()
        error.faults = tuple(faults)
        return error

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)


@contextmanager
def at(*steps: str | int) -> Iterator[None]:
    """Put `steps` in front of the path of every fault that passes through."""
    try:
        yield
    except InputError as error:
        error.faults = tuple(replace(fault, path=(*steps, *fault.path)) for fault in error.faults)
        raise


class Faults:
    """Gathers the faults of independent parts, so that all of them are reported at once, equal ones once.

    `with faults.collect("spec", 0): …` swallows an `InputError` of that part and goes on; `raise_if_any` ends it.
    """

    def __init__(self) -> None:
        self.found: list[Fault] = []

    @contextmanager
    def collect(self, *steps: str | int) -> Iterator[None]:
        try:
            with at(*steps):
                yield
        except InputError as error:
            self.found.extend(error.faults)

    def add(self, message: str, *path: str | int, hint: str = "") -> None:
        self.found.append(Fault(message, path, hint=hint))

    def raise_if_any(self) -> None:
        if self.found:
            raise InputError.of(tuple(dict.fromkeys(self.found)))


def dotted(path: Path) -> str:
    """`("spec", "roles", 1, "app.io/x")` as `spec.roles[1]["app.io/x"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum():
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text


def likely(name: str, among: Iterable[str]) -> str:
    """The names most like a wrong one, as a question; "" when none is."""
    close = difflib.get_close_matches(name, list(among), n=3)
    return f"did you mean {' or '.join(close)}?" if close else ""


def unknown(what: str, name: str, among: Collection[str]) -> InputError:
    """There is no such thing; the hint is the likely spelling, else what there is."""
    return InputError(f'there is no {what} "{name}"', hint=likely(name, among) or f"{what}s are {', '.join(among)}")
