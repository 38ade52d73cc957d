"""Tests of the room that reads clusters."""
