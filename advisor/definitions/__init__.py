"""Workload definitions: what they may say, where they are found, and what they make of a manifest."""
