"""wm-place: which cluster can take the whole gang."""
