"""Drafts of definitions: from the schema of a kind, from an example object, or from a live one and its pods.

A draft is a guess that a person reads: where it cannot know, it says so in a comment, and what it proposes is held
against the pods that there are (`likeness.py`).
"""
