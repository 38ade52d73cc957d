"""The API servers of a session: started once, lent to one test after another, reset in between.

Starting one costs seconds of processor time, resetting it milliseconds. Servers with equal options are
interchangeable, and get the names that a test asks for while it has them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.servers import kubeconfig
from tests.servers.apiserver import ApiServer, Options
from tests.servers.etcd import Etcd
from tests.servers.processes import Processes


class Fleet:
    """Several API servers, by name, and the kubeconfigs that lead to all of them."""

    def __init__(self, servers: Mapping[str, ApiServer], folder: Path) -> None:
        self.servers, self._folder = servers, folder

    def __getitem__(self, name: str) -> ApiServer:
        return self.servers[name]

    def __iter__(self) -> Iterator[ApiServer]:
        return iter(self.servers.values())

    @property
    def kubeconfig(self) -> Path:
        """One file, one context per server, each a token user with only the read role."""
        return self.write_kubeconfig("reader")

    @property
    def admin_kubeconfig(self) -> Path:
        return self.write_kubeconfig("admin")

    def write_kubeconfig(self, user: str, *, inline: bool = True) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{user}-{'inline' if inline else 'files'}.kubeconfig"
        return kubeconfig.write(path, [server.context(user) for server in self], inline=inline)


class Servers:
    """What one test borrows from the pool; all of it is given back when the test ends."""

    def __init__(self, pool: "Pool") -> None:
        self._pool = pool
        self._lent: list[Fleet] = []

    def fleet(self, *names: str, **options: Any) -> Fleet:
        """One API server per name; `options` are those of apiserver.Options."""
        self._lent.append(self._pool.lend(*names, **options))
        return self._lent[-1]

    def server(self, name: str = "main", **options: Any) -> ApiServer:
        return self.fleet(name, **options)[name]

    def give_back(self) -> None:
        while self._lent:
            self._pool.take_back(self._lent.pop())


class Pool:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes = Processes(folder)
        self._etcd: Etcd | None = None
        self._servers: list[ApiServer] = []
        self._idle: list[ApiServer] = []
        self._fleets = 0

    def lend(self, *names: str, **options: Any) -> Fleet:
        wanted = Options(**options)
        servers = [self._take(wanted) or self._start(wanted) for _ in names]
        for name, server in zip(names, servers, strict=True):
            server.name = name
        for server in servers:
            server.prepare()
        self._fleets += 1
        return Fleet(dict(zip(names, servers, strict=True)), self.folder / f"fleet-{self._fleets}")

    def _take(self, options: Options) -> ApiServer | None:
        found = next((server for server in self._idle if server.options == options), None)
        if found:
            self._idle.remove(found)
        return found

    def _start(self, options: Options) -> ApiServer:
        self._etcd = self._etcd or Etcd(self.processes)
        name = f"apiserver-{len(self._servers)}"
        server = ApiServer(name, self.processes, self._etcd, self.folder / name, options)
        self._servers.append(server)
        return server

    def take_back(self, fleet: Fleet) -> None:
        """Takes the servers back; one that a test stopped is not worth reviving."""
        for server in fleet:
            if server.running():
                server.reset()
                self._idle.append(server)
            else:
                server.close()

    def close(self) -> None:
        for server in self._servers:
            server.close()
        if self._etcd:
            self._etcd.close()
        self.processes.close()
