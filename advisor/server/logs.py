"""Log lines: one JSON object each, on stderr. Nothing of an object's spec goes in, only what names it."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LOG = logging.getLogger("wm-place")
LONGEST = 300
"""Characters of a text in a line; names of objects have 253 at most."""
ROOT = Path(__file__).parents[1]


def begin(level: str) -> None:
    """From now on everything that is logged in this process comes out as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def say(event: str, level: int = logging.INFO, **facts: Any) -> None:
    LOG.log(level, event, extra={"facts": facts})


def fault(event: str, error: BaseException) -> None:
    """A fault of ours: its type and the way to it, not its message, which may hold what a user sent."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(ROOT)]
    way = [f"{Path(frame.filename).relative_to(ROOT).as_posix()}:{frame.lineno}" for frame in ours]
    say(event, logging.ERROR, error=type(error).__qualname__, at=way)


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        head = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        facts = {key: _cut(value) for key, value in getattr(record, "facts", {}).items()}
        return json.dumps(head | facts, default=str)


def _cut(value: Any) -> Any:
    """What names an object may be anything as long as nobody has checked it."""
    return f"{value[: LONGEST - 3]}..." if isinstance(value, str) and len(value) > LONGEST else value
