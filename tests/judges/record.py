"""What the controllers said, kept beside the tests: the table in `docs/coverage.md` is made of it.

One entry for each object that was tried: the same run gives the same text, so it holds no time and no address. A run of
some manifests renews their entries and leaves the others alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.judges.trial import Finding, Verdict

FILE = Path(__file__).parent / "record.json"


class Record:
    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = entries

    @classmethod
    def read(cls) -> Record:
        return cls(json.loads(FILE.read_text()) if FILE.is_file() else {})

    def note(self, verdict: Verdict, controller: str, version: str) -> None:
        self._entries[verdict.manifest.key] = {
            "kind": str(verdict.manifest.kind),
            "controller": f"{controller} {version}",
            "objects": [{"name": one.name, "pods": one.pods, **_outcome(one)} for one in verdict.findings],
            **({"refused": list(verdict.refused)} if verdict.refused else {}),
        }

    def keep(self, names: Collection[str]) -> None:
        """Forgets the manifests that are no more."""
        self._entries = {name: entry for name, entry in self._entries.items() if name in names}

    def write(self) -> None:
        FILE.write_text(json.dumps(self._entries, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def _outcome(finding: Finding) -> dict[str, Any]:
    """`equal`, `argued` (by the controller's source, `argued.yaml`) or `differs`."""
    if finding.differences:
        return {"outcome": "differs", "differences": list(finding.differences)}
    return {"outcome": "argued", "argued": list(finding.argued)} if finding.argued else {"outcome": "equal"}
