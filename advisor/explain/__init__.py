"""From what was found to the answer that is given: verdicts, reasons, changes, and the choice among clusters."""

from advisor.explain.choice import choose, rank
from advisor.explain.counts import Case, eligible, heaviest, reasons
from advisor.explain.nearest import changes
from advisor.explain.sentences import tell
from advisor.explain.shown import shown

__all__ = ["Case", "changes", "choose", "eligible", "heaviest", "rank", "reasons", "shown", "tell"]
