"""`python -m benchmarks [NAME…]`: all of them but `live` and `reviews`, or those that are named.

`live` starts an API server, `reviews` takes more than a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from benchmarks import cliffs, live, processes, reviews, warm

Row = tuple[str, str]

BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    "start": processes.start,
    "demo": processes.demo,
    "recorded": processes.recorded,
    "no": processes.proven_no,
    "warm": warm.verdicts,
    "growth": warm.growth,
    "cliffs": cliffs.cliffs,
    "live": live.cluster,
    "reviews": reviews.reviews,
}
ON_REQUEST = ("live", "reviews")


def main(names: list[str]) -> None:
    for name in names or [name for name in BENCHMARKS if name not in ON_REQUEST]:
        for what, figure in BENCHMARKS[name]():
            print(f"{name:9} {what:64} {figure}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
