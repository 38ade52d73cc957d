"""One etcd for all API servers of a session, and the way back to what a server held at some moment.

An API server keeps everything under a prefix of its own. etcd keeps every revision (nobody compacts), so a moment is a
number, and the way back to it costs one write per object that changed since. API servers and controllers see these
writes through their watches, like any other.
"""

import base64
import json
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import urllib3

from tests.servers.build import program
from tests.servers.processes import Port, Processes

OPERATIONS = 1000


class Etcd:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        executable = str(program("kubernetes", "etcd"))
        self._client, self._peer = Port(), Port()
        self._data = processes.folder / "etcd.data"
        self.url = f"http://127.0.0.1:{self._client.number}"
        self._http = urllib3.HTTPConnectionPool("127.0.0.1", self._client.number, timeout=60, retries=False)
        self._process = processes.start("etcd", [executable, *self._flags()])
        self._process.wait_until(self._healthy, limit=30)

    def _flags(self) -> Iterator[str]:
        peer = f"http://127.0.0.1:{self._peer.number}"
        yield f"--data-dir={self._data}"
        yield from (f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.url}")
        yield from (f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}")
        yield from ("--name=tests", f"--initial-cluster=tests={peer}", "--socket-reuse-port")
        yield from ("--unsafe-no-fsync", f"--quota-backend-bytes={8 << 30}", "--log-level=warn")
        yield from ("--heartbeat-interval=20", "--election-timeout=100")  # it elects itself: 0.1 s instead of 1 s
        yield f"--max-txn-ops={OPERATIONS}"

    def _healthy(self) -> bool:
        try:
            return self._http.request("GET", "/health").status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def revision(self) -> int:
        return int(self._call("range", {"key": _base64("none"), "count_only": True})["header"]["revision"])

    def restore(self, prefix: str, revision: int) -> list[str]:
        """Puts everything under the prefix back to what it was at that revision; returns the keys that it touched."""
        then, now = self._keys(prefix, revision), self._keys(prefix)
        new = sorted(now.keys() - then.keys())
        changed = sorted(key for key in then if now.get(key) != then[key])
        operations = [{"request_delete_range": {"key": key}} for key in new]
        operations += [{"request_put": {"key": key, "value": self._value(key, revision)}} for key in changed]
        for start in range(0, len(operations), OPERATIONS):
            self._call("txn", {"success": operations[start : start + OPERATIONS]})
        self._step()
        return [base64.b64decode(key).decode() for key in new + changed]

    def _step(self) -> None:
        """Writes once more: a cache that has seen *one* change of a transaction takes itself for up to date with it."""
        self._call("put", {"key": _base64("/step"), "value": ""})

    def _keys(self, prefix: str, revision: int = 0) -> dict[str, str]:
        """Key to the revision of its last change."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        wanted = {"key": _base64(prefix), "range_end": _base64(end), "keys_only": True, "revision": revision}
        return {found["key"]: found["mod_revision"] for found in self._call("range", wanted).get("kvs", ())}

    def _value(self, key: str, revision: int) -> str:
        value: str = self._call("range", {"key": key, "revision": revision})["kvs"][0]["value"]
        return value

    def _call(self, method: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._http.request("POST", f"/v3/kv/{method}", body=json.dumps(body))
        if answer.status != 200:
            raise RuntimeError(f"etcd {method}: {answer.status} {answer.data[:500]!r}")
        content: dict[str, Any] = answer.json()
        return content

    def close(self) -> None:
        self._processes.stop(self._process)
        self._http.close()
        self._client.close()
        self._peer.close()
        shutil.rmtree(self._data, ignore_errors=True)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
