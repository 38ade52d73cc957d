"""What the documentation says is so: transcripts are run, links lead somewhere, lists are whole."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from advisor import cli
from advisor.commands import exits
from advisor.verdict import CODES, NOTES, VERDICTS

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
COMMANDS = (ROOT / "docs/commands.md").read_text()
VERDICT_PAGE = (ROOT / "docs/verdicts.md").read_text()


def transcripts() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                yield command, printed


@pytest.mark.parametrize(("command", "printed"), [pytest.param(*one, id=one[0]) for one in transcripts()])
def test_a_transcript_is_what_the_command_prints(command: str, printed: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "wm-place"
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "100"}
    ours = [sys.executable, "-m", "advisor", *arguments]
    found = subprocess.run(ours, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def commands(group: click.Group = cli.cli, before: str = "wm-place") -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that call it."""
    for name, command in group.commands.items():
        yield f"{before} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before} {name}")


def options() -> Iterator[str]:
    for _, command in commands():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                yield from (name for name in param.opts if name.startswith("--"))


def test_every_command_and_option_is_explained() -> None:
    assert [words for words, _ in commands() if words not in COMMANDS] == []
    assert sorted({name for name in options() if f"`{name}" not in COMMANDS}) == []


def test_no_option_is_explained_that_is_not_there() -> None:
    rows = re.findall(r"^\| (`.*?) \|", COMMANDS, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"--[a-z-]+", row)}
    assert named - {*options(), "--help", "--version"} == set()


def table(page: str, heading: str) -> dict[str, str]:
    section = page.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `(.*?)` \| (.*) \|$", section, re.MULTILINE))


def test_every_reason_and_note_is_explained_in_the_words_of_the_program() -> None:
    assert table(VERDICT_PAGE, "Reason codes") == dict(CODES)
    assert table(VERDICT_PAGE, "Notes") == dict(NOTES)


def test_every_verdict_and_exit_code_is_explained() -> None:
    assert [verdict for verdict in VERDICTS if f"| `{verdict}` |" not in VERDICT_PAGE] == []
    assert [code for code in exits.WORST_FIRST if f"| {code} |" not in VERDICT_PAGE] == []


def test_the_example_of_a_cluster_list_is_one() -> None:
    from advisor import files
    from advisor.kube import schema

    (document,) = files.documents(files.read(str(ROOT / "clusters.example.yaml")))
    assert [entry.name for entry in schema.cluster_file(document).clusters] == ["eu-h200", "us-h100", "lab"]


def test_every_key_decision_and_metric_of_the_server_is_explained() -> None:
    import yaml

    from advisor.server.metrics import Metrics
    from advisor.server.review import DECISIONS

    page = (ROOT / "docs/server.md").read_text()
    config = yaml.safe_load((ROOT / "deploy/manifests/config.yaml").read_text())["data"]["server.yaml"]
    metrics = re.findall(r"^# HELP (\w+?)(?:_created)? ", Metrics().text().decode(), re.MULTILINE)
    named = {*_keys(yaml.safe_load(config)), *DECISIONS, *metrics} - {"apiVersion", "kind"}
    assert sorted(name for name in named if f"`{name}`" not in page) == []


def _keys(tree: Mapping[str, Any]) -> Iterator[str]:
    for key, value in tree.items():
        yield from (f"{key}.{below}" for below in value) if isinstance(value, dict) else (key,)


def test_every_part_of_the_package_has_its_room() -> None:
    architecture = (ROOT / "ARCHITECTURE.md").read_text()
    parts = {path.name for path in (ROOT / "advisor").iterdir() if not path.name.startswith("_")}
    named = {f"{part}/" if (ROOT / "advisor" / part).is_dir() else part for part in parts}
    assert [part for part in sorted(named) if f"`{part}`" not in architecture] == []
