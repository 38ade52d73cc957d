"""`wm-place serve` as a process of its own, and the way to it over TLS."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import urllib3
import yaml

from tests.servers.certificates import Authority
from tests.servers.processes import Process, Processes

Object = dict[str, Any]
LIMIT = 60.0


class Served:
    """A server that is ready. `clusters` are entries of a clusters.yaml; `config` are keys of the server.yaml."""

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        clusters: Sequence[Mapping[str, Any]],
        *,
        ready: bool = True,
        **config: Any,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._processes = folder, processes
        self.authority = Authority(folder)
        self.identity = self.authority.issue("serving", "/CN=wm-place", "server")
        self._write("clusters.yaml", {"kind": "ClusterList", "defaults": {"timeout": "2s"}, "clusters": list(clusters)})
        settings = {
            "listen": {"address": "127.0.0.1", "port": 0},
            "tls": {"certificate": str(self.identity.certificate), "key": str(self.identity.key)},
            "clusters": "clusters.yaml",
            **config,
        }
        path = self._write("server.yaml", {"kind": "ServerConfig", **settings})
        self.process: Process = processes.start(
            f"{folder.parent.name}-{folder.name}", [sys.executable, "-m", "advisor", "serve", "--config", str(path)]
        )
        self.until(lambda: any(line["event"] == "listening" for line in self.lines()))
        self.port: int = next(line["port"] for line in self.lines() if line["event"] == "listening")
        self.url = f"https://127.0.0.1:{self.port}"
        self.http = self.connect()
        if ready:
            self.until(lambda: self.get("/readyz").status == 200)

    def _write(self, name: str, content: Mapping[str, Any]) -> Path:
        path = self.folder / name
        path.write_text(yaml.safe_dump({"apiVersion": "wm-place/v1", **content}, sort_keys=False))
        return path

    def connect(self, **settings: Any) -> urllib3.HTTPSConnectionPool:
        certificate = str(self.authority.certificate)
        return urllib3.HTTPSConnectionPool(
            "127.0.0.1",
            self.port,
            ca_certs=certificate,
            timeout=LIMIT,
            retries=False,
            maxsize=4,
            block=True,
            **settings,
        )

    # -- requests

    def get(self, path: str) -> urllib3.BaseHTTPResponse:
        return self.http.request("GET", path)

    def post(self, path: str, body: bytes | str, media: str = "application/json") -> urllib3.BaseHTTPResponse:
        return self.http.request("POST", path, body=body, headers={"Content-Type": media})

    def review(self, body: Object, mode: str = "advise", timeout: str = "10s") -> Object:
        """The response part of what comes back."""
        answer = self.post(f"/v1/review/{mode}?timeout={timeout}", json.dumps(body))
        assert answer.status == 200, answer.data
        found: Object = answer.json()["response"]
        return found

    def cluster(self, name: str) -> Object:
        rows: list[Object] = self.get("/v1/clusters").json()["clusters"]
        return next(row for row in rows if row["name"] == name)

    def held(self) -> int:
        """Pods that room is held for."""
        return sum(row["holds"]["pods"] for row in self.get("/v1/clusters").json()["clusters"])

    # -- its life

    def lines(self) -> list[Object]:
        """What it has logged."""
        text = self.process.log.read_text()
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def until(self, wanted: Callable[[], bool], limit: float = LIMIT) -> None:
        self.process.wait_until(wanted, limit)

    def memory(self) -> int:
        """Bytes that are resident."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def processor(self) -> float:
        """Seconds of processor time used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.http.close()
        self._processes.stop(self.process)
