"""How much of what is public is read rightly: `docs/coverage.md`, made of the corpus and of the judges' record."""
