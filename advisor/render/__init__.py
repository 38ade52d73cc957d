"""Nouns to text. A renderer is a function that prints nothing and decides nothing; `Style` says how wide and whether
in colour. What it shows is in the nouns already: sentences come from `explain`, here they are only laid out."""
