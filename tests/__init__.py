"""The tests mirror the rooms of the package; real servers stand in tests/servers."""
