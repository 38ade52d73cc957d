"""Recorded clusters: our own snapshot files, and what kubectl prints; reading and writing.

When was a recording made? Ours says so. kubectl's does not, so the last change of the file stands for it: the data is
no newer than that. A copied file may look younger than it is, which the snapshot's notes point out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from advisor.accelerators import Accelerators
from advisor.cluster import ClusterSnapshot
from advisor.errors import Fault, InputError, Where, likely
from advisor.kube import recording, texts
from advisor.kube.conversation import Needs
from advisor.kube.kubectl import Recording
from advisor.kube.progress import Progress
from advisor.kube.texts import Text
from advisor.labels import Labels

SUFFIXES = (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded cluster as a source. Reading it raises InputError when the file cannot be used."""

    name: str
    path: Path
    labels: Labels = ()

    def read(self, needs: Needs, accelerators: Accelerators, progress: Progress) -> ClusterSnapshot:
        found = _only(read(self.path, accelerators, needs.types), self.name, self.path)
        progress(self.name, "nodes", len(found.nodes))
        return replace(found, name=self.name, labels=self.labels)


def _only(found: Sequence[ClusterSnapshot], name: str, path: Path) -> ClusterSnapshot:
    if len(found) == 1:
        return found[0]
    named = {snapshot.name: snapshot for snapshot in found}
    if name not in named:
        hint = likely(name, named) or f"it holds {', '.join(named)}"
        raise _fault(path, f'holds {len(found)} clusters, and none is called "{name}"', hint)
    return named[name]


def named(argument: str) -> tuple[str, Path]:
    """The name ("" when none is given) and path of `NAME=PATH` or `PATH`."""
    name, equals, path = argument.partition("=")
    if not equals or "/" in name or Path(argument).exists():
        return "", Path(argument).expanduser()
    return name, Path(path).expanduser()


def read(
    path: Path, accelerators: Accelerators, referred: Collection[tuple[str, str]] = ()
) -> tuple[ClusterSnapshot, ...]:
    """The clusters in a file, or the one that the files of a folder record. Raises InputError, every fault placed.

    `referred`: groups and kinds of objects that workloads depend on, of what kubectl printed.
    """
    sources = _files(path)
    kubectl = Recording(accelerators, referred)
    ours: list[ClusterSnapshot] = []
    for text in _texts(sources):
        if _is_ours(text):
            ours.append(_decoded(text))
        else:
            kubectl.take(text)
    if not ours:
        try:
            return (kubectl.snapshot(stem(path), _last_change(sources)),)
        except InputError as error:
            raise Text(b"", str(path), lambda: None).placed(error) from None
    if kubectl.objects:
        raise _fault(path, "mixes snapshots with objects that kubectl printed", "keep them in files of their own")
    return _distinct(ours, path)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.removesuffix(".gz").endswith(SUFFIXES))
    if not found:
        raise _fault(
            path, "is a folder without recordings", f"files whose names end in {', '.join(SUFFIXES)}, or .gz after"
        )
    return found


def _texts(sources: Sequence[Path]) -> Iterator[Text]:
    for file in sources:
        yield from texts.of_file(file)


def _is_ours(text: Text) -> bool:
    try:
        return text.head.api_version.startswith(recording.FAMILY)
    except InputError:
        return False


def _decoded(text: Text) -> ClusterSnapshot:
    try:
        return recording.decode(text.body)
    except InputError as error:
        raise text.placed(error) from None


def _distinct(snapshots: Sequence[ClusterSnapshot], path: Path) -> tuple[ClusterSnapshot, ...]:
    names = [snapshot.name for snapshot in snapshots]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _fault(path, f"holds several clusters called {', '.join(twice)}")
    return tuple(snapshots)


def stem(path: Path) -> str:
    """The name of a cluster whose file says none: `eu` for eu.json.gz, and a folder's own name."""
    name = path.resolve().name
    for suffix in (".gz", *SUFFIXES):
        name = name.removesuffix(suffix)
    return name


def _last_change(sources: Sequence[Path]) -> datetime:
    """Of the file that has been unchanged for longest: the age of the oldest data used."""
    return datetime.fromtimestamp(min(file.stat().st_mtime for file in sources), UTC)


def write(path: Path, snapshots: Sequence[ClusterSnapshot]) -> None:
    """Write a snapshot file at once or not at all; packed if the name ends in .gz. It may replace one of ours only.

    Raises InputError when something else is there, or the folder cannot be written to.
    """
    if path.exists() and not _holds_ours(path):
        raise _fault(path, "exists and is not a snapshot of ours", "choose another name, or remove it first")
    content = recording.encode(snapshots)
    try:
        _replace(path, recording.compress(content) if path.suffix == ".gz" else content)
    except OSError as error:
        raise _fault(path, f"cannot be written: {error.strerror}") from None


def _replace(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(content)
            file.close()
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _holds_ours(path: Path) -> bool:
    try:
        first = next(texts.of_file(path), None)
        return path.is_file() and first is not None and _is_ours(first)
    except InputError:
        return False


def _fault(path: Path, message: str, hint: str = "") -> InputError:
    return InputError.of([Fault(message, where=Where(str(path)), hint=hint)])
