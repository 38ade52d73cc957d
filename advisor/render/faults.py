"""Faults as people read them: where, what, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.errors import Fault
from advisor.render.style import BOLD, CYAN, RED, YELLOW, Style, visible

TONES = {"error": RED, "warning": YELLOW, "note": CYAN}


def faults(found: Sequence[Fault], style: Style, severity: str = "error") -> str:
    """One fault after another, each on a line of its own, so that editors and grep can jump to it."""
    return "".join(_fault(fault, style, severity) for fault in found)


def _fault(fault: Fault, style: Style, severity: str) -> str:
    label = style.paint(severity, f"{BOLD};{TONES[severity]}")
    return f"{label}: {visible(str(fault))}\n"
