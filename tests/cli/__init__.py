"""The command line as a user meets it: real files, real exit codes, both streams."""
