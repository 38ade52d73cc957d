"""One kube-apiserver: its flags, its users, its files, and what a test can do to it.

The default flags are for a static fleet, where nobody heartbeats: no service accounts, and no taint on a node that was
just created. RBAC is on, every API version is served, and gang scheduling (GenericWorkload) is there.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import urllib3

from tests.servers import access, controllers, crds, kubeconfig, load
from tests.servers.build import program
from tests.servers.certificates import Authority, Identity
from tests.servers.client import Api, RefusedError
from tests.servers.etcd import Etcd
from tests.servers.kubeconfig import Context
from tests.servers.objects import Object, Objects
from tests.servers.processes import Port, Process, Processes

READY_LIMIT = 60
WATCHED_INSIDE = ("priorityclasses", "limitranges", "resourcequotas", "clusterroles", "clusterrolebindings")
"""What the server's own admission and authorization read through watches, so a moment late."""
SPARE_USERS = tuple(f"reader-{number}" for number in range(10))


@dataclass(frozen=True, slots=True)
class Options:
    """What may differ from one API server to the next; equal options share the servers of a pool.

    `crds` are installed before the first test and stay, `more` are further flags.
    """

    disabled_plugins: tuple[str, ...] = ("ServiceAccount", "TaintNodesByCondition")
    enabled_plugins: tuple[str, ...] = ()
    runtime_config: str = "api/all=true"
    feature_gates: str = "GenericWorkload=true"
    crds: tuple[Path, ...] = ()
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class User:
    """A user with a token, and what it looks at the server with."""

    name: str
    token: str
    token_file: Path
    kubeconfig: Path
    api: Api


class ApiServer:
    def __init__(self, name: str, processes: Processes, etcd: Etcd, folder: Path, options: Options) -> None:
        self.name, self.folder, self.options = name, folder, options
        self._processes, self._etcd = processes, etcd
        self._executable = str(program("kubernetes", "kube-apiserver"))
        authority = Authority(folder)
        self.ca = authority.certificate
        self.identity = authority.issue("server", "/CN=kube-apiserver", "server")
        self.admin = authority.issue("admin", "/O=system:masters/CN=admin", "client")
        self._tokens = _tokens(folder)
        self._users: list[User] = []
        self._helpers: list[Process] = []
        self._port = Port()
        self.url = f"https://127.0.0.1:{self._port.number}"
        self._born: int | None = None
        self.api = self.connect()
        self.start()

    # -- its life

    def start(self) -> None:
        """Starts it; also after `stop`, on the same port and with the same data."""
        self._process = self._processes.start(self.folder.name, [self._executable, *self._flags()])

    def _flags(self) -> Iterator[str]:
        options, certificate, key = self.options, self.identity.certificate, self.identity.key
        yield from (f"--etcd-servers={self._etcd.url}", f"--etcd-prefix=/{self.folder.name}")
        yield from ("--service-cluster-ip-range=10.0.0.0/16", "--bind-address=127.0.0.1")
        yield from (f"--secure-port={self._port.number}", "--permit-port-sharing")
        yield from (f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}")
        yield from (f"--client-ca-file={self.ca}", f"--token-auth-file={self.folder / 'tokens.csv'}")
        yield from ("--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc")
        yield from (f"--service-account-key-file={certificate}", f"--service-account-signing-key-file={key}")
        yield f"--disable-admission-plugins={','.join(options.disabled_plugins)}"
        yield f"--enable-admission-plugins={','.join(options.enabled_plugins)}"
        yield from (f"--runtime-config={options.runtime_config}", f"--feature-gates={options.feature_gates}")
        yield "--etcd-compaction-interval=0"  # the way back to a checkpoint leads through old revisions
        yield from ("--etcd-count-metric-poll-period=0", "--etcd-db-metric-poll-interval=0", "--profiling=false")
        yield from ("--enable-priority-and-fairness=false", "--endpoint-reconciler-type=none")
        yield from options.more

    def wait_ready(self) -> None:
        self._process.wait_until(self._answers_ready, READY_LIMIT)

    def _answers_ready(self) -> bool:
        try:
            return bool(self.api.request("GET", "/readyz") == "ok")
        except (RefusedError, urllib3.exceptions.HTTPError):
            return False

    @property
    def pid(self) -> int:
        return self._process.pid

    def running(self) -> bool:
        return self._process.running()

    def pause(self) -> None:
        """Makes it hang, with its port still open, until `resume`."""
        self._process.pause()

    def resume(self) -> None:
        self._process.resume()

    def stop(self) -> None:
        """From now on connections are refused; the port stays reserved."""
        self.stop_controllers()
        self._processes.stop(self._process)

    def close(self) -> None:
        self.stop()
        self._forget_users()
        self.api.close()
        self._port.close()

    # -- its state

    def prepare(self) -> None:
        """Waits for a new server, gives it its reader and remembers the state to which `reset` leads back."""
        if self._born is None:
            self.wait_ready()
            self._grant("reader", ())
            self.install(*self.options.crds)
            self._born = self.checkpoint()

    def checkpoint(self) -> int:
        return self._etcd.revision()

    def restore(self, checkpoint: int) -> None:
        """Puts every object back to what it was at the checkpoint, whoever changed it since."""
        self.api.forget()
        touched = self._etcd.restore(f"/{self.folder.name}/", checkpoint)
        if any(f"/{plural}/" in key for key in touched for plural in WATCHED_INSIDE):
            time.sleep(load.INFORMED)
        kinds = [key.rpartition("/")[2] for key in touched if f"/{crds.PLURAL}/" in key]
        if kinds:
            crds.settle(self.api, kinds)

    def reset(self) -> None:
        """Makes it as good as new: helpers ended, all objects but the first ones gone, no users but the reader."""
        self.resume()
        self.stop_controllers()
        assert self._born is not None
        self.restore(self._born)
        self._forget_users()

    # -- its users

    @property
    def token(self) -> str:
        """The token of a user with only the read role."""
        return self._tokens["reader"].read_text()

    def token_user(self, name: str, without: Collection[str] = ()) -> User:
        """A further user with only the read role, less the resources named (`without=("pods",)`)."""
        spare = SPARE_USERS[len(self._users)]
        self._grant(spare, without)
        token_file = self._tokens[spare]
        path = self.folder / f"{spare}.kubeconfig"
        kubeconfig.write(path, [Context(self.name, self.url, self.ca, name, token_file)])
        token = token_file.read_text()
        self._users.append(User(name, token, token_file, path, self.connect(token)))
        return self._users[-1]

    def _grant(self, user: str, without: Collection[str]) -> None:
        role = f"wm-place-{user}"
        self.create(access.read_role(role, without))
        self.create(access.binding(role, user))
        granted = next((g, p) for g, plurals in access.READS.items() for p in plurals if p not in without)
        self._process.wait_until(lambda: self._allows(user, *granted), limit=10)

    def _allows(self, user: str, group: str, plural: str) -> bool:
        return bool(self.create(access.review(user, group, plural))["status"]["allowed"])

    def _forget_users(self) -> None:
        for user in self._users:
            user.api.close()
        self._users.clear()

    def connect(self, token: str | None = None, *, timeout: float = 30) -> Api:
        """A door of your own (close it): as admin, or as the user of a token."""
        return Api(self._port.number, self.ca, token or self.admin, timeout=timeout)

    # -- its kubeconfigs

    def context(self, user: str) -> Context:
        """The way in of `admin` (by certificate) or `reader` (by token)."""
        login: Identity | Path = self.admin if user == "admin" else self._tokens[user]
        return Context(self.name, self.url, self.ca, user, login)

    @property
    def admin_kubeconfig(self) -> Path:
        return self.kubeconfig("admin")

    @property
    def reader_kubeconfig(self) -> Path:
        return self.kubeconfig("reader")

    def kubeconfig(self, user: str, *, inline: bool = True) -> Path:
        path = self.folder / f"{self.name}-{user}-{'inline' if inline else 'files'}.kubeconfig"
        return kubeconfig.write(path, [self.context(user)], inline=inline)

    # -- its objects

    def load(self, objects: Iterable[Object]) -> Mapping[str, str]:
        """Loads recorded objects; returns the new uid for every old one."""
        return load.load(self.api, objects)

    def install(self, *files: Path) -> None:
        """Installs the CRDs in these files and waits until they are served."""
        crds.install(self.api, [definition for file in files for definition in crds.read(file)])

    def get(self, plural: str, name: str, namespace: str | None = None) -> Object:
        return self.api.get(plural, name, namespace)

    def list(self, plural: str, namespace: str | None = None) -> Objects:
        return self.api.list(plural, namespace)

    def create(self, obj: Object) -> Object:
        return self.api.create(obj)

    def patch(self, obj: Object, change: Object, subresource: str | None = None) -> Object:
        return self.api.patch(obj, change, subresource)

    def delete(self, obj: Object, grace: int | None = None) -> None:
        self.api.delete(obj, grace)

    # -- its controllers

    def start_scheduler(self, profile: Object | None = None) -> Process:
        """Starts a kube-scheduler; `profile` is a KubeSchedulerConfiguration, without the connection."""
        return self.start_helper(
            "scheduler", controllers.scheduler(self.admin_kubeconfig, self.options.feature_gates, profile)
        )

    def start_controller_manager(
        self, names: Iterable[str] = controllers.FOR_STATIC_FLEETS, more: Sequence[str] = ()
    ) -> Process:
        """Starts a kube-controller-manager with only these controllers; `more` are further flags."""
        gates, key = self.options.feature_gates, self.identity.key
        command = controllers.manager(self.admin_kubeconfig, gates, key, names)
        return self.start_helper("controller-manager", [*command, *more])

    def start_helper(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> Process:
        """Starts a program that works on this server and ends with it."""
        helper = self._processes.start(f"{self.folder.name}-{name}", command, environment)
        self._helpers.append(helper)
        return helper

    def stop_controllers(self, *which: Process) -> None:
        """Ends the given ones, or all."""
        ended = which or tuple(self._helpers)
        self._processes.stop(*ended)
        self._helpers = [helper for helper in self._helpers if helper not in ended]


def _tokens(folder: Path) -> Mapping[str, Path]:
    """Tokens of the reader and the spare users: a server reads its file at the start, roles may come later."""
    users = {user: folder / f"{user}.token" for user in ("reader", *SPARE_USERS)}
    for user, file in users.items():
        file.write_text(f"token-of-{user}-at-{folder.name}")
    lines = (f"{file.read_text()},{user},{user}\n" for user, file in users.items())
    (folder / "tokens.csv").write_text("".join(lines))
    return users
