"""What there is to know of the definitions at hand: which there are, what is wrong with them, do their examples hold.

Values for people and scripts only; nothing is decided by them.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.errors import Fault, Where


@dataclass(frozen=True, slots=True)
class Kind:
    """Whose definition it is; `group` is empty for Kubernetes' core."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.api_version} {self.kind}"


@dataclass(frozen=True, slots=True)
class Listed:
    """One definition among all.

    origin         where it comes from, in words: `file train.yaml`, `folder …`, `cluster eu`, `builtin`
    overridden_by  the origin of the one that is used in its place; "" where this one is used
    rivals         other definitions of the same kind in the same origin: whoever needs the kind is refused
    profile        the origin of the placement profile that goes with it; "" where there is none
    differs        clusters whose own definition of this kind says something else
    """

    kind: Kind
    name: str
    origin: str
    where: Where
    overridden_by: str = ""
    rivals: int = 0
    profile: str = ""
    examples: int = 0
    warnings: int = 0
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """A definition, or what was meant to be one, with all that is wrong with it. `kind` None: it does not say."""

    where: Where
    name: str = ""
    kind: Kind | None = None
    errors: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that did not come out as expected; None: it is not there."""

    what: str
    expected: str | None
    found: str | None


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of an example: `faults` where it could not be read at all, else the differences.

    `untried`: why it was left out, which says nothing about the definition.
    """

    definition: str
    example: str
    where: Where
    differences: tuple[Difference, ...] = ()
    faults: tuple[Fault, ...] = ()
    untried: str = ""

    @property
    def holds(self) -> bool:
        return not (self.differences or self.faults or self.untried)
