"""Admission reviews at a steady rate against a real server process over TLS (bar P8).

Twenty recorded clusters of 1,000 nodes are read again every 15 s while 50 reviews a second come in. Each review is due
at a fixed moment and its time counts from there, so a server that falls behind is not spared. Of five reviews two are
creations, one is a dry run, one an update that changes no pod, one the deletion of an object that was created before.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from advisor.kube.recorded import write
from benchmarks import fleets, manifests
from benchmarks.manifests import jobset
from tests.server.served import Served
from tests.servers.processes import Processes

CLUSTERS, NODES = 20, 1_000
RATE, SECONDS = 50, 60
CLIENTS = 16
LAG = 200
"""So many reviews after its creation an object is deleted."""

Object = dict[str, Any]
GANGS = (
    manifests.FOUR_ROLES,
    manifests.FOUR_GPUS,
    *(jobset(worker=(pods, {"nvidia.com/gpu": gpus, "cpu": "8"})) for pods in (1, 4, 16) for gpus in (1, 8)),
)


def reviews() -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as name:
        processes = Processes(Path(name))
        try:
            yield from _measured(processes, Path(name))
        finally:
            processes.close()


def _measured(processes: Processes, folder: Path) -> Iterator[tuple[str, str]]:
    served = Served(processes, folder / "served", list(_recorded(folder)), maxAge="100000h", refresh="15s")
    _run(served, SECONDS // 6, first=0)
    before, used = served.memory(), served.processor()
    times, errors = _run(served, SECONDS, first=10_000_000)
    used = served.processor() - used
    cuts = quantiles(times, n=1000)
    what = f"{len(times):,} reviews, {RATE} a second, {CLUSTERS} clusters of {NODES:,} nodes"
    figures = f"{errors} errors  p50 {cuts[499]:5.1f} ms  p99 {cuts[989]:5.1f} ms  most {max(times):5.1f} ms"
    yield what, figures
    yield "processor time of the server, reads of the clusters included", f"{used / len(times) * 1000:5.1f} ms a review"
    yield "resident memory of the server, before and after", f"{before >> 20} MB  {served.memory() >> 20} MB"


def _recorded(folder: Path) -> Iterator[Object]:
    for number in range(CLUSTERS):
        path = folder / f"c{number:02}.json"
        write(path, [fleets.cluster(path.stem, NODES, number)])
        yield {"name": path.stem, "snapshot": str(path)}


def _run(served: Served, seconds: int, first: int) -> tuple[list[float], int]:
    """Milliseconds of every review, and how many came to nothing."""
    http = threading.local()
    began = time.perf_counter() + 0.5

    def send(number: int, body: bytes) -> float | None:
        due = began + number / RATE
        time.sleep(max(0.0, due - time.perf_counter()))
        if not hasattr(http, "pool"):
            http.pool = served.connect()
        answer = http.pool.request(
            "POST", "/v1/review/advise?timeout=5s", body=body, headers={"Content-Type": "application/json"}
        )
        good = answer.status == 200 and b"undecided" not in answer.data and b'"fault"' not in answer.data
        return (time.perf_counter() - due) * 1000 if good else None

    bodies = [json.dumps(_review(first + number)).encode() for number in range(seconds * RATE)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        found = list(clients.map(send, range(len(bodies)), bodies))
    times = [one for one in found if one is not None]
    return times, len(found) - len(times)


def _review(number: int) -> Object:
    operation = ("CREATE", "CREATE", "DRY", "UPDATE", "DELETE")[number % 5]
    whose = number - LAG - number % 5 if operation == "DELETE" else number
    found = deepcopy(GANGS[whose % len(GANGS)])
    found["metadata"] = {"name": f"gang-{whose}", "namespace": "default", "uid": str(whose)}
    gone = operation == "DELETE"
    asked = {
        "uid": f"review-{number}",
        "kind": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"},
        "operation": "CREATE" if operation == "DRY" else operation,
        "dryRun": operation == "DRY",
        "namespace": "default",
        "name": found["metadata"]["name"],
        "object": None if gone else found,
        "oldObject": found if gone or operation == "UPDATE" else None,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
