"""Finds the programs that the tests start, or builds them.

A folder beside this file is a Go module that pins its programs by `tool` lines; MODULES says under which name each is
installed. A program is looked for in the folder KUBEBUILDER_ASSETS (the convention of envtest), then in the cache, and
is built into the cache last. The folder of the cache is named by the content of go.mod and go.sum, so versions never
mix, and a file that lies there is complete, because it was renamed into its place.

    python -m tests.servers.build [MODULE…]      builds what is missing, of all modules when none is named
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

MODULES: Mapping[str, Mapping[str, str]] = {
    "kubernetes": {
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    },
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
    go = shutil.which("go")
    if go is None:
        raise UnavailableError(f"{name} is needed: install Go, or set KUBEBUILDER_ASSETS to a folder that holds it")
    target = _cache(module) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.parent / ".lock"):
        if not target.is_file():  # nobody built it while we waited
            _compile(go, module, name, target)
    return target


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
        env=os.environ | {"CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""},
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
