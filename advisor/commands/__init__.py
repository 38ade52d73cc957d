"""The commands, behind the command line: each takes plain values and gives a `Result`.

The shell: the only place beside the server where sources, core and sinks meet. Nothing here knows click, nothing writes
to stdout, and everything is imported only when its command runs, because some of it is slow to import.
"""
