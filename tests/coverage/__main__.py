"""`python -m tests.coverage` writes `docs/coverage.md`; it needs the shared corpus."""

from tests.coverage.page import PAGE, text

PAGE.write_text(text())
