"""Tests of the room `definitions`: the compatible layer, and what may not get through it."""
