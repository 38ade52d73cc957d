"""How long a fleet of 5,000 nodes and 50,000 pods takes to decode, fold and summarise, from pages on disk.

`python -m benchmarks.fold FOLDER` makes the pages when the folder has none, then reads them in a process of its own.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from advisor.kube import decode, kinds
from advisor.kube.summarise import Summary
from tests.kube import fleet
from tests.kube.objects import shipped


def measure(folder: Path) -> dict[str, float]:
    """Seconds of processor time by step, and the peak of memory in MB."""
    spent = dict.fromkeys(("decode", "fold", "snapshot"), 0.0)
    summary = Summary(shipped())
    for kind in (kinds.NODE, kinds.POD):
        summary.begin(kind)
        for path in sorted(folder.glob(f"{kind.plural}-*.json")):
            body = path.read_bytes()
            began = time.process_time()
            objects = decode.objects(kind, body)
            decoded = time.process_time()
            summary.add(kind, objects)
            spent["decode"] += decoded - began
            spent["fold"] += time.process_time() - decoded
    began = time.process_time()
    found = summary.snapshot("fleet", None)
    spent["snapshot"] = time.process_time() - began
    assert len(found.nodes)
    return {**spent, "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main(folder: Path) -> None:
    if not list(folder.glob("*.json")):
        fleet.write(folder, nodes=5_000, pods=50_000, size=1_000)
        print("the pages are written; run again to measure without them in memory")
        return
    print(", ".join(f"{name} {value:.2f}" for name, value in measure(folder).items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
