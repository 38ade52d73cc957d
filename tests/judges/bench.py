"""What the start-up of a controller finds: a server, a folder, ports, certificates, and the controller's module."""

from __future__ import annotations

import json
import random
import shutil
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.judges import webhooks
from tests.servers import build, crds
from tests.servers.apiserver import ApiServer
from tests.servers.processes import Process

LIMIT = 90


class Bench:
    """Of one controller on one server."""

    def __init__(self, server: ApiServer, name: str, folder: Path) -> None:
        self.server, self.name, self.folder = server, name, folder / name
        self.folder.mkdir(parents=True)
        self.processes: list[Process] = []

    def source(self, module: str) -> Path:
        """The folder of the controller's module: its release manifests lie there."""
        return build.source(self.name, module).folder

    def install(self, *files: Path) -> None:
        """The custom resources in these files."""
        crds.install(self.server.api, [one for file in files for one in crds.read(file)])

    def stub(self, group: str, version: str, kind: str) -> None:
        """A custom resource that takes anything: what a controller writes for another one that does not run here."""
        plural = f"{kind.lower()}s"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
        spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [served]}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": crds.KIND,
            "metadata": {"name": f"{plural}.{group}"},
            "spec": spec,
        }
        crds.install(self.server.api, [definition])

    def certificates(self, *place: str, certificate: str = "tls.crt", key: str = "tls.key") -> Path:
        """A folder with the server's certificate, as webhook servers want it."""
        folder = self.folder.joinpath(*(place or ("certificates",)))
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.server.identity.certificate, folder / certificate)
        shutil.copy(self.server.identity.key, folder / key)
        return folder

    def webhooks(self, port: int, *files: Path, pods: Mapping[str, str] | None = None) -> None:
        """Registers the controller's webhooks; only when it serves them, or nothing can be created."""
        given = [one for file in files for one in webhooks.read(file)]
        for configuration in webhooks.here(given, self.name, port, self.server.ca, pods or {}):
            self.server.create(configuration)

    def component(self, api_version: str, port: int, **more: Any) -> Path:
        """A configuration as projects of controller-runtime have it; nothing is served but webhooks."""
        settings = {
            "apiVersion": api_version,
            "kind": "Configuration",
            "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(self.certificates())},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": False},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": "0"},
            **more,
        }
        return self.write("config.yaml", json.dumps(settings))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def start(
        self, program: str, *flags: str, environment: Mapping[str, str] | None = None, port: int | None = None
    ) -> Process:
        """Starts a program of the module and waits until it listens on the port, if one is given."""
        command = [str(build.program(self.name, program)), *flags]
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        process = self.server.start_helper(program, command, {"TMPDIR": str(temporary), **(environment or {})})
        self.processes.append(process)
        if port:
            process.wait_until(lambda: listens(port), LIMIT)
        return process

    @property
    def kubeconfig(self) -> Path:
        return self.server.admin_kubeconfig


def listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def wait_until_free(port: int) -> None:
    """For those that insist on a port: perhaps another session's program is about to end."""
    until = time.monotonic() + LIMIT
    while listens(port) and time.monotonic() < until:
        time.sleep(1)


def free_port() -> int:
    """A port that nobody has: not of those that outgoing connections are given."""
    while True:
        number = random.randint(20000, 30000)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", number)) != 0:
                return number
