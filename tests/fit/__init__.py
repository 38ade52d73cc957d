"""Tests of the filters: both sides of every rule, named by the rule of capacity.md that it belongs to."""
