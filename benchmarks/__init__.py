"""How fast it is, as figures of one run and ratios between things measured in that run. No test asserts any of it."""
