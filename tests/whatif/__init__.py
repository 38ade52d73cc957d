"""Tests of what-if: edits, scenarios, comparisons."""
