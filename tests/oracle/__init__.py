"""A second opinion: raw objects judged by a naive scheduler of our own, which shares no code with the product."""
