"""Nouns to text, letter by letter."""
