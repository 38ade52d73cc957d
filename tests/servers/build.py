"""Finds the programs that the tests start, or builds them.

A folder beside this file is a Go module that pins its programs by `tool` lines; MODULES says under which name each is
installed. A program is looked for in the folder KUBEBUILDER_ASSETS (the convention of envtest), then in the cache, and
is built into the cache last. The folder of the cache is named by the content of go.mod and go.sum, so versions never
mix, and a file that lies there is complete, because it was renamed into its place.

    python -m tests.servers.build [MODULE…]      builds what is missing, of all modules when none is named
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MODULES: Mapping[str, Mapping[str, str]] = {
    "kubernetes": {
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    },
    "jobset": {"jobset-controller": "sigs.k8s.io/jobset"},
    "lws": {"lws-controller": "sigs.k8s.io/lws/cmd"},
    "kuberay": {"kuberay-operator": "github.com/ray-project/kuberay/ray-operator"},
    "training": {"training-operator": "github.com/kubeflow/training-operator/cmd/training-operator.v1"},
    "mpi": {"mpi-operator": "github.com/kubeflow/mpi-operator/cmd/mpi-operator"},
    "trainer": {"trainer-controller": "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"},
    "knative": {
        "knative-controller": "knative.dev/serving/cmd/controller",
        "knative-webhook": "knative.dev/serving/cmd/webhook",
        "knative-autoscaler": "knative.dev/serving/cmd/autoscaler",
    },
    "kserve": {"kserve-controller": "github.com/kserve/kserve/cmd/manager"},
}

HERE = Path(__file__).parent
VERSION = "k8s.io/component-base/version"


class UnavailableError(Exception):
    """This machine can neither find nor make what a test needs; the message says what would help."""


class BuildError(Exception):
    """Go is there and refused; the message ends with what it said."""


def program(module: str, name: str) -> Path:
    """The path of a program, built first when it is nowhere to be found."""
    return _asset(name) or _cached(module, name) or _build(module, name)


@dataclass(frozen=True, slots=True)
class Source:
    """A module of the proxy as it lies unpacked, with its version."""

    folder: Path
    version: str


@cache
def source(module: str, path: str) -> Source:
    """Where a module lies on which one of ours depends: CRDs and release manifests come with it."""
    go = _go(path)
    command = [go, "mod", "download", "-json", path]
    done = subprocess.run(command, cwd=HERE / module, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"go mod download {path} failed:\n{done.stderr[-4000:]}")
    found = json.loads(done.stdout)
    return Source(Path(found["Dir"]), found["Version"])


def prepare(module: str, *names: str) -> None:
    """Builds ahead what can be built; what can't is reported when somebody asks for it."""
    for name in names:
        with suppress(UnavailableError):
            program(module, name)


def _asset(name: str) -> Path | None:
    folder = os.environ.get("KUBEBUILDER_ASSETS")
    path = Path(folder, name) if folder else None
    return path if path and path.is_file() else None


def _cached(module: str, name: str) -> Path | None:
    path = _cache(module) / name
    return path if path.is_file() else None


def _cache(module: str) -> Path:
    pins = b"".join((HERE / module / file).read_bytes() for file in ("go.mod", "go.sum"))
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root, "wm-place", "servers", hashlib.sha256(pins).hexdigest()[:16])


def _build(module: str, name: str) -> Path:
    go = _go(name)
    target = _cache(module) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.parent / ".lock"):
        if not target.is_file():  # nobody built it while we waited
            _compile(go, module, name, target)
    return target


def _go(name: str) -> str:
    go = shutil.which("go")
    if go is None:
        raise UnavailableError(f"{name} is needed: install Go, or set KUBEBUILDER_ASSETS to a folder that holds it")
    return go


def _environment() -> dict[str, str]:
    return os.environ | {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _compile(go: str, module: str, name: str, target: Path) -> None:
    package, started = MODULES[module][name], time.monotonic()
    _say(f"building {name} from {package}, which can take minutes …")
    unfinished = target.with_name(f".{name}.unfinished")
    flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", _link_flags(module)]
    done = subprocess.run(
        [go, "build", *flags, "-o", str(unfinished), package],
        cwd=HERE / module,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise BuildError(f"go build {package} failed:\n{done.stderr[-4000:]}")
    unfinished.replace(target)
    _say(f"built {target} in {time.monotonic() - started:.0f} s")


def _link_flags(module: str) -> str:
    """Kubernetes learns its own version from the linker and without it takes itself for v0.0.0."""
    found = re.search(r"k8s\.io/kubernetes (v(\d+)\.(\d+)\S*)", (HERE / module / "go.mod").read_text())
    facts = zip(("gitVersion", "gitMajor", "gitMinor"), found.groups() if found else (), strict=False)
    return " ".join(["-s -w", *(f"-X {VERSION}.{fact}={value}" for fact, value in facts)])


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def main(modules: Sequence[str]) -> None:
    for module in modules or MODULES:
        for name in MODULES[module]:
            print(program(module, name))


if __name__ == "__main__":
    main(sys.argv[1:])
