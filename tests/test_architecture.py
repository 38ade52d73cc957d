"""Doors are guarded, not just drawn: who may import whom, and which library is at home where (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "advisor"
MODULES = sorted(PACKAGE.rglob("*.py"))

LEAVES = ("errors", "quantity", "labels", "resources", "private")
NOUNS = (
    *LEAVES,
    "accelerators",
    "workload",
    "podrules",
    "cluster",
    "question",
    "verdict",
    "diagnosis",
    "problem",
    "inventory",
    "company",
)
CORE = ("fit", "model", "explain")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "quantity": ("errors",),
    "labels": (),
    "resources": ("quantity",),
    "private": (),
    "accelerators": LEAVES,
    "workload": LEAVES,
    "podrules": (*LEAVES, "workload"),
    "cluster": (*LEAVES, "accelerators"),
    "question": (*LEAVES, "accelerators", "workload", "cluster"),
    "verdict": (*LEAVES, "accelerators", "workload", "cluster", "question"),
    "diagnosis": (*LEAVES, "accelerators", "workload", "cluster", "question", "verdict"),
    "company": (*LEAVES, "accelerators", "workload", "cluster", "question", "verdict"),
    "problem": LEAVES,
    "inventory": LEAVES,
    "schema": LEAVES,
    "files": NOUNS,
    "definitions": (*NOUNS, "files"),
    "kube": (*NOUNS, "files", "schema"),
    "fit": NOUNS,
    "model": NOUNS,
    "explain": NOUNS,
    "assume": NOUNS,
    "surgery": NOUNS,
    "trial": (*NOUNS, *CORE, "assume", "surgery"),
    "judge": (*NOUNS, *CORE, "trial"),
    "memo": (*NOUNS, *CORE, "trial"),
    "advise": (*NOUNS, *CORE, "trial", "judge", "memo"),
    "whatif": (*NOUNS, "files", "schema", "advise", "surgery"),
    "render": NOUNS,
}
"""Room → rooms that it may import; a room that is not listed here is the shell, which may import all."""

SHELL = ("cli", "commands", "server", "__main__", "__init__")
ENTERED_FROM = {"server": ("cli", "commands", "server")}
"""Rooms of the shell that only these rooms may import."""

HOMES: dict[str, tuple[str, ...]] = {
    "click": ("cli.py",),
    "jq": ("definitions/engine.py",),
    "kubernetes": ("kube/client.py",),
    "urllib3": ("kube/client.py", "kube/trouble.py"),
    "msgspec": ("kube/*.py",),
    "ortools": ("model/*.py",),
    "prometheus_client": ("server/metrics.py",),
    "pydantic": ("*schema.py",),
    "pydantic_core": ("*schema.py",),
    "rich": ("commands/progress.py",),
    "starlette": ("server/http.py", "server/bodies.py", "server/serving.py"),
    "uvicorn": ("server/connections.py", "server/serving.py"),
    "yaml": ("files.py",),
    "numpy": (
        "cluster.py",
        "diagnosis.py",
        "problem.py",
        "judge.py",
        "fit/*.py",
        "model/*.py",
        "explain/*.py",
        "kube/*.py",
        "assume.py",
        "surgery.py",
        "whatif/edits/*.py",
    ),
}
"""Library → the modules that may import it."""


def name(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def room(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(module: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything a module imports, also inside functions."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name(module)}:{node.lineno} imports relatively"
            if node.module == "advisor":
                yield from ((node.lineno, f"advisor.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_room_imports_what_the_table_allows(module: Path) -> None:
    own = room(module)
    for line, imported in imports(module):
        if imported.startswith("advisor."):
            other = imported.split(".")[1]
            allowed = own in SHELL or other == own or other in MAY_IMPORT[own]
            allowed = allowed and own in ENTERED_FROM.get(other, (own,))
            assert allowed, f"{name(module)}:{line}: {own} must not import {other}"


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_library_stays_at_home(module: Path) -> None:
    for line, imported in imports(module):
        library = imported.split(".")[0]
        if library == "advisor" or library in sys.stdlib_module_names:
            continue
        assert library in HOMES, f"{name(module)}:{line}: {library} has no home in the table"
        at_home = any(fnmatchcase(name(module), pattern) for pattern in HOMES[library])
        assert at_home, f"{name(module)}:{line}: {library} is at home in {', '.join(HOMES[library])}"


def test_every_room_has_its_row() -> None:
    rooms = {room(module) for module in MODULES}
    assert rooms == {*MAY_IMPORT, *SHELL} & rooms
    assert not set(MAY_IMPORT) - rooms, "rows of the table without a room"


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_no_room_for_odds_and_ends(module: Path) -> None:
    assert not {"utils", "util", "helpers", "common", "misc", "manager"} & set(Path(name(module)).with_suffix("").parts)


KINDS = (
    "JobSet",
    "LeaderWorkerSet",
    "PyTorchJob",
    "MPIJob",
    "RayCluster",
    "RayJob",
    "StatefulSet",
    "CronJob",
    "Deployment",
)


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_no_kind_of_workload_is_named_in_python(module: Path) -> None:
    """Kinds are data (`catalog/`). Docstrings may speak of them."""
    tree = ast.parse(module.read_text())
    spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken:
            assert node.value not in KINDS, f"{name(module)}:{node.lineno}: {node.value}"


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_every_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text())), name(module)


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_only_one_module_changes_anything_on_a_server(module: Path) -> None:
    """`client.Api.send` creates, merges and deletes; what `temporary.py` does with it is taken away again."""
    calls = (node for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Call))
    sent = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "send"]
    assert not sent or name(module) == "kube/temporary.py", [call.lineno for call in sent]
