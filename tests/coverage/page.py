"""The page `docs/coverage.md`: by kind, what was tried, what is right, and what controllers confirmed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.definitions.catalog import Catalog
from advisor.errors import InputError
from tests import corpus, truth
from tests.coverage import upstream
from tests.truth import REFUSED, Public

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
RECORD = ROOT / "tests" / "judges" / "record.json"

HEAD = """\
# Coverage

Written by `make coverage`; a test fails where it is stale. It counts objects: a file may hold several.

- **public**: objects of public manifests (the shared corpus) whose right values are known, and how many of them we read
  so: roles, replicas, requests, totals, bounds, gangs and claims of devices. **refused**: on purpose, as the kind's own
  webhook or controller refuses them, or because they say two things at once (below).
- **confirmed**: objects that the kind's real controller was given; its pods were compared with ours by role, number,
  requests, node selectors, tolerations, affinity and topology, and `describe TYPE/NAME` had to tell its roles, ready
  pods, nodes and status (`make test-controllers ALL=1`). **argued**: they differ for a reason that stands in the
  controller's source (`tests/judges/argued.yaml`). **controller**: which one, in which version.
- **upstream**: the same objects by the definitions of the Workload Map's own catalogue, loaded as they are and counted
  as its tool counts (desired pods, and GPUs of the name nvidia.com/gpu).

"""


@dataclass(frozen=True, slots=True)
class Judged:
    """An object that a real controller was given."""

    kind: str
    controller: str
    outcome: str


@dataclass(slots=True)
class Row:
    """What is known of one kind."""

    kind: str
    public: int = 0
    right: int = 0
    refused: int = 0
    confirmed: int = 0
    argued: int = 0
    differs: int = 0
    controller: str = ""
    upstream: int = 0
    upstream_right: int = 0


def text() -> str:
    """The whole page. Needs the corpus."""
    rows = _rows()
    missed, turned_away = _ours(rows)
    _controllers(rows)
    misses = _upstream(rows)
    ordered = sorted(rows.values(), key=lambda row: row.kind.lower())
    parts = [HEAD, *_table(ordered), "", *_refused(turned_away), *_missed(missed), *_upstream_misses(ordered, misses)]
    return "\n".join(parts).rstrip() + "\n"


def _rows() -> dict[str, Row]:
    """A row for every kind of the catalogue."""
    kinds = (entry.kind for entry in Catalog().entries)
    names = (f"{kind.kind} {kind.group}/{kind.version}".replace(" /", " ") for kind in kinds)
    return {name: Row(name) for name in names}


def _of(rows: dict[str, Row], kind: str) -> Row:
    return rows.setdefault(kind, Row(kind))


def _ours(rows: dict[str, Row]) -> tuple[list[str], list[str]]:
    """Counts what we read rightly; what is wrong, and what is refused."""
    missed: list[str] = []
    refused: list[str] = []
    for one in truth.public():
        kinds = [f"{wanted['kind']} {wanted['apiVersion']}" for wanted in truth.once(one.wanted)]
        for kind in kinds:
            _of(rows, kind).public += 1
        if one.name in REFUSED:
            refused.append(f"{one.title}: {REFUSED[one.name]}")
            for kind in kinds:
                _of(rows, kind).refused += 1
        elif one.is_lost:
            refused.append(f"{one.title}: nobody knows the object on which its pods depend, so the answer is `unknown`")
            for kind in kinds:
                _of(rows, kind).refused += 1
        else:
            for kind, wrong in zip(kinds, _wrong(one, len(kinds)), strict=True):
                _of(rows, kind).right += not wrong
                missed += [f"{one.title}, {kind}: {', '.join(wrong)}"] * bool(wrong)
    return missed, refused


def _wrong(one: Public, count: int) -> list[list[str]]:
    try:
        return [list(truth.differences(workload, wanted)) for workload, wanted in one.pairs()]
    except (InputError, ValueError, AssertionError):
        return [["unreadable"]] * count


def _controllers(rows: dict[str, Row]) -> None:
    for one in judged():
        row = _of(rows, one.kind)
        row.controller = one.controller
        row.confirmed += one.outcome == "equal"
        row.argued += one.outcome == "argued"
        row.differs += one.outcome == "differs"


def judged() -> list[Judged]:
    """What the judges' record says, object by object."""
    entries: Mapping[str, Any] = json.loads(RECORD.read_text())
    return [
        Judged(entry["kind"], entry["controller"], found["outcome"])
        for entry in entries.values()
        for found in entry["objects"]
    ]


def _upstream(rows: dict[str, Row]) -> list[str]:
    folder = corpus.FOLDER
    outcomes = upstream.outcomes(folder, upstream.definitions(folder))
    for one in outcomes:
        row = _of(rows, one.kind)
        row.upstream += 1
        row.upstream_right += one.right
    return [one.manifest for one in outcomes if not one.right]


COLUMNS = ("kind", "public", "right", "refused", "confirmed", "argued", "controller", "upstream", "right")


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join(COLUMNS)} |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |"
    yield from (_line(_cells(row)) for row in rows)
    counted = ("public", "right", "refused", "confirmed", "argued")
    sums = [str(sum(getattr(row, name) for row in rows)) for name in counted]
    theirs = [str(sum(getattr(row, name) for row in rows)) for name in ("upstream", "upstream_right")]
    yield _line(["**all**", *sums, "", *theirs])


def _cells(row: Row) -> list[str]:
    ours = [row.public, row.right, row.refused, row.confirmed, row.argued]
    theirs = [row.upstream, row.upstream_right] if row.upstream else ["", ""]
    return [row.kind, *(str(number or "") for number in ours), row.controller, *map(str, theirs)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _refused(turned_away: Sequence[str]) -> Iterator[str]:
    yield "Refused on purpose:\n"
    yield from (f"- {text}" for text in turned_away)
    yield ""


def _missed(missed: Sequence[str]) -> Iterator[str]:
    if missed:
        yield "Not right:\n"
        yield from (f"- {text}" for text in missed)
        yield ""


def _upstream_misses(rows: Sequence[Row], misses: Sequence[str]) -> Iterator[str]:
    all_, right = sum(row.upstream for row in rows), sum(row.upstream_right for row in rows)
    yield "## Upstream's definitions\n"
    yield f"Right on {right} of {all_} objects. Not right on:\n"
    counted = {name: misses.count(name) for name in dict.fromkeys(misses)}
    yield from (f"- {name}{f' ({count} objects)' if count > 1 else ''}" for name, count in counted.items())
