"""A live cluster of 5,000 nodes and 50,000 pods, read and decided, against downloading the same lists (P1b, P2, P3).

Needs the test servers (`tests/servers`); loading the fleet takes about two minutes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import manifests
from benchmarks.measure import Run, process, wm_place
from tests.kube import fleet
from tests.servers.apiserver import ApiServer
from tests.servers.pool import Pool, Servers

NODES, PODS = 5_000, 50_000


def cluster() -> Iterator[tuple[str, str]]:
    with TemporaryDirectory() as name:
        pool = Pool(Path(name))
        try:
            yield from _measured(Servers(pool).server("live"), Path(name))
        finally:
            pool.close()


def _measured(server: ApiServer, folder: Path) -> Iterator[tuple[str, str]]:
    began = time.monotonic()
    server.load(_objects())
    yield f"loaded {NODES:,} nodes and {PODS:,} pods", f"{time.monotonic() - began:6.1f} s"
    path = folder / "gang.json"
    path.write_text(json.dumps(manifests.FOUR_GPUS))
    read = process(_curl(server, folder), runs=3)
    yield "curl of the same pages to nowhere", str(read)
    yield from _against("wm-place, read and decided", process(_placed(server, path), runs=3), read)


def _against(what: str, run: Run, base: Run) -> Iterator[tuple[str, str]]:
    yield what, f"{run}  {run.wall / base.wall:4.2f} × curl"


def _objects() -> Iterator[dict[str, object]]:
    for number in range(NODES):
        yield {"apiVersion": "v1", "kind": "Node", **fleet.node(number)}
    for number in range(PODS):
        yield {"apiVersion": "v1", "kind": "Pod", **fleet.pod(number, NODES)}


def _placed(server: ApiServer, manifest: Path) -> list[str]:
    return wm_place(str(manifest), "--kubeconfig", str(server.reader_kubeconfig), "--timeout", "120s")


def _curl(server: ApiServer, folder: Path) -> list[str]:
    """Pages of the size that the product asks for, one after the other; `jq` is not needed to follow `continue`."""
    script = folder / "pages.sh"
    script.write_text(_SCRIPT)
    return ["bash", str(script), server.url, str(server.ca), server.token]


_SCRIPT = """
fetch() {
  local more="" page="$(mktemp)"
  while :; do
    curl -s -A x --cacert "$2" -H "Authorization: Bearer $3" "$1?limit=1000$more" -o "$page"
    token=$(head -c 4096 "$page" | grep -o '"continue":"[^"]*"' | cut -d'"' -f4)
    [ -n "$token" ] || break
    more="&continue=$token"
  done
  rm -f "$page"
}
fetch "$1/api/v1/nodes" "$2" "$3"
fetch "$1/api/v1/pods" "$2" "$3"
"""
