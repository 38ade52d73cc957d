"""The whole process, given a definition that means harm: a message, an exit code, and nothing of the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fleet import definition, pod_template, write

SECRET = "hunter2"
PATIENCE = 60
"""Seconds after which the test gives up on a process that should have ended long before."""

CROSS = " | ".join(f".l[] as $v{n}" for n in range(16))
LOOP = "[" + "[1,1,1,1,1,1,1,1][] | " * 12 + "1]"
REACHING = (
    "env.SECRET",
    "$ENV.SECRET | error",
    "input",
    'import "/proc/self/environ" as $x; $x',
    '"\\(env)"',
    "input_filename",
)
ENDLESS = (
    LOOP,
    f"{LOOP} | length",
    '"a" * 1e9',
    "def f: f; f",
    "." + "a" * 1_000_000,
    "[" * 100_000,
    f"{LOOP[1:-1]} | 1",
)


def ran(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """As a shell would start it, so that what a child writes to stderr is seen too."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SECRET": SECRET, "PYTHONPATH": _own()}
    command = [sys.executable, "-m", "advisor", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)


def _own() -> str:
    return str(Path(__file__).parents[2])


def manifest(folder: Path) -> Path:
    spec = {"template": pod_template(1)}
    return write(
        folder / "foo.yaml",
        {"apiVersion": "example.com/v1", "kind": "FooJob", "metadata": {"name": "it"}, "spec": spec},
    )


def harmless(found: subprocess.CompletedProcess[str], codes: Sequence[int] = (2,)) -> None:
    said = found.stdout + found.stderr
    assert found.returncode in codes, said
    assert "error: " in said
    assert SECRET not in said
    assert "Traceback" not in said and "fault of wm-place" not in said


@pytest.mark.parametrize("text", [*REACHING, *ENDLESS], ids=lambda text: text[:20])
def test_a_definition(folder: Path, text: str) -> None:
    path = write(folder / "def.yaml", definition("FooJob", text))
    harmless(ran(folder, "describe", manifest(folder), "--definition", path))


@pytest.mark.parametrize("text", [*REACHING, *ENDLESS, "[range(1e9)]", "last(range(1e9))"], ids=lambda text: text[:20])
def test_a_profile(folder: Path, text: str) -> None:
    path = write(folder / "def.yaml", definition(), profile(prepare=text))
    found = ran(folder, "describe", manifest(folder), "--definition", path)
    harmless(found)
    assert f"error: {path}:" in found.stderr and " spec.prepare: " in found.stderr
    assert str(manifest(folder)) not in found.stderr


def test_what_only_a_manifest_brings_to_light_is_the_profiles_fault_all_the_same(folder: Path) -> None:
    path = write(folder / "def.yaml", definition(), profile(prepare='.x = "a" * (.spec.size * 1e9)'))
    sized = {"apiVersion": "example.com/v1", "kind": "FooJob", "metadata": {"name": "it"}, "spec": {"size": 1}}
    asked = write(folder / "foo.yaml", sized)
    found = ran(folder, "describe", asked, "--definition", path)
    harmless(found)
    assert f"error: {path}:" in found.stderr and " spec.prepare: needs more than 512 MiB" in found.stderr
    assert "its definition has faults" in found.stdout


def test_where_either_may_be_wrong_both_places_are_told(folder: Path) -> None:
    path = write(folder / "def.yaml", definition(), profile(prepare=".spec.template | keys | .[0]"))
    asked = manifest(folder)
    found = ran(folder, "describe", asked, "--definition", path)
    harmless(found)
    assert f"error: {asked}:" in found.stderr and f"in the placement profile, {path}:" in found.stderr
    assert "its manifest has faults" in found.stdout


def test_a_broken_profile_in_the_users_folder_is_warned_about(folder: Path) -> None:
    own = folder / ".config/wm-place/definitions"
    own.mkdir(parents=True)
    path = write(own / "def.yaml", definition(), profile(prepare=".spec.x = env"))
    write(own / "sound.yaml", definition("BarJob"))
    listed = ran(folder, "definitions", "list")
    assert listed.returncode == 0 and "BarJob" in listed.stdout and "FooJob" not in listed.stdout
    assert f"warning: {path}:" in listed.stderr and " spec.prepare: env reaches outside the object" in listed.stderr
    harmless(ran(folder, "describe", manifest(folder)), codes=(5,))


def profile(**spec: Any) -> dict[str, Any]:
    own = {"for": {"group": "example.com", "kind": "FooJob", "versions": ["v1"]}, **spec}
    return {"apiVersion": "wm-place/v1", "kind": "PlacementProfile", "spec": own}


def test_many_loops_are_stopped_as_one(folder: Path) -> None:
    """Forty components, each with a path that does not end: the time is for all of them."""
    whole = definition("FooJob", LOOP)
    whole["spec"]["structureDefinition"]["childComponents"] = [
        {"name": f"c{n}", "ownerRef": "foo", "specDefinition": {"podTemplateSpecPath": LOOP}} for n in range(40)
    ]
    path = write(folder / "def.yaml", whole)
    found = ran(folder, "describe", manifest(folder), "--definition", path)
    harmless(found)
    assert "did not end within 2 s" in found.stderr


def test_every_command_that_looks_at_definitions(folder: Path) -> None:
    path = write(
        folder / "def.yaml", *(definition(f"Foo{n}", text) for n, text in enumerate((*REACHING, *ENDLESS[3:6])))
    )
    harmless(ran(folder, "definitions", "validate", path))
    harmless(ran(folder, "definitions", "list", "--definition", path))
    harmless(ran(folder, "definitions", "test", path))
    own = folder / ".config/wm-place/definitions"
    own.mkdir(parents=True)
    path.rename(own / "def.yaml")
    listed = ran(folder, "definitions", "list")
    assert listed.returncode == 0 and SECRET not in listed.stdout + listed.stderr
    assert listed.stderr.count("warning: ") == len(REACHING) + 3


def test_values_of_the_manifest_stay_where_they_are(folder: Path) -> None:
    """What a manifest keeps in env, no definition can bring into a message."""
    template = pod_template(1)
    template["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": SECRET}]
    spec = {"template": template}
    asked = {"apiVersion": "example.com/v1", "kind": "FooJob", "metadata": {"name": "it"}, "spec": spec}
    path = write(folder / "foo.yaml", asked)
    value = ".spec.template.spec.containers[0].env[0].value"
    for text in (
        f"error({value})",
        f"{value} | fromjson",
        f'{value} | strptime("%Y")',
        f"{value} | keys",
        f"{value}[{value}]",
    ):
        file = write(folder / "def.yaml", definition("FooJob", text))
        harmless(ran(folder, "describe", path, "--definition", file))


def test_deep_and_large_files_are_refused(folder: Path) -> None:
    for name, text in (
        ("deep.yaml", "apiVersion: run.ai/v1alpha1\nkind: Karta\nspec: " + "[" * 100_000),
        ("deep.json", '{"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "spec": ' + "[" * 100_000),
        ("large.yaml", "apiVersion: run.ai/v1alpha1\nkind: Karta\nspec: " + "a" * (9 << 20)),
        (
            "bomb.yaml",
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"{c}: &{c} [{','.join([f'*{b}'] * 9)}]\n" for b, c in zip("abcdefg", "bcdefgh", strict=True)),
        ),
    ):
        (folder / name).write_text(text)
        harmless(ran(folder, "definitions", "validate", name))
