"""The admission hook: what is asked, decided, said and held."""
