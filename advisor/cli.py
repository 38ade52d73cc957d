"""The command line: parse, one call per command, print, exit.

Everything slow is imported inside the command that needs it, so that `--help` is instant. A first argument that is no
command is a manifest; every option can also be given by the environment, as WM_PLACE_ and its long name.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from advisor.commands import exits, terminal
from advisor.commands.given import (
    Choosing,
    Clusters,
    Drafting,
    Editing,
    Judging,
    Manifests,
    Output,
    Registering,
    Result,
)
from advisor.errors import Fault, InputError

PROGRAM = "wm-place"
PREFIX = "WM_PLACE"
COMPLETE = "_WM_PLACE_COMPLETE"
DEFAULT_COMMAND = "place"

OTHER = "Other options"
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

T = TypeVar("T", Manifests, Clusters, Choosing, Editing, Drafting, Judging, Registering, Output)
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Option(click.Option):
    """An option that knows under which heading the help shows it."""

    def __init__(self, *names: Any, section: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


class Command(click.Command):
    """Options under headings, each also read from the environment."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings["context_settings"] = {"auto_envvar_prefix": PREFIX, "help_option_names": ["-h", "--help"]}
        super().__init__(*arguments, **settings)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record and isinstance(option, click.Option):
                sections.setdefault(getattr(option, "section", OTHER), []).append(record)
        for title in sorted(sections, key=lambda title: title == OTHER):
            with formatter.section(title):
                formatter.write_dl(sections[title])


class Words(click.Group):
    """Commands whose options may also stand before the word, as with kubectl."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        return super().parse_args(ctx, self._command_first(args))

    def _command_first(self, args: list[str]) -> list[str]:
        if not args or args[0] in ("-h", "--help", "--version"):
            return args
        position = self._first_word(args)
        if position is not None and args[position] in self.commands:
            return [args[position], *args[:position], *args[position + 1 :]]
        return self._without_command(args)

    def _without_command(self, args: list[str]) -> list[str]:
        return args

    def _first_word(self, args: Sequence[str]) -> int | None:
        """Where the first argument stands that is neither an option nor the value of one."""
        valued = set(_valued_options(self))
        position = 0
        while position < len(args) and args[position] != "--":
            word = args[position]
            if not word.startswith("-") or word == "-":
                return position
            position += 2 if _takes_next(word, valued) else 1
        return None


def _valued_options(group: click.Group) -> Iterator[str]:
    """Options of any command after which a value stands."""
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from _valued_options(command)
        options = (param for param in command.params if isinstance(param, click.Option))
        yield from (name for option in options if not (option.is_flag or option.count) for name in option.opts)


class Group(Words):
    """`wm-place MANIFEST` is `wm-place place MANIFEST`."""

    group_class = Words

    def _without_command(self, args: list[str]) -> list[str]:
        return [DEFAULT_COMMAND, *args]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The first word may also be a manifest, or an option of the default command.

        Files come first: click's script for bash forgets what came before them.
        """
        default = self.commands[DEFAULT_COMMAND]
        if incomplete.startswith("-"):
            return default.shell_complete(click.Context(default, parent=ctx), incomplete)
        return [CompletionItem(incomplete, type="file"), *super().shell_complete(ctx, incomplete)]


def _takes_next(word: str, valued: set[str]) -> bool:
    """Is the argument after this option its value? Not where it is attached: `--output=json`, `-ojson`, `-vojson`."""
    if word.startswith("--"):
        return word in valued
    letter = next((place for place, letter in enumerate(word) if f"-{letter}" in valued), None)
    return letter == len(word) - 1


def _seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Seconds of a duration as Go writes it."""
    if not value:
        return None
    from advisor.schema import duration

    try:
        return duration(value)
    except InputError as error:
        (fault,) = error.faults
        raise click.BadParameter(f"{fault.message}, {fault.hint}") from None


def _pairs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Labels to look for, in order of preference."""
    parts = [value.partition("=") for value in values]
    for key, equals, wanted in parts:
        if not (key and equals):
            raise click.BadParameter(f'"{key}{equals}{wanted}" is not KEY=VALUE, such as tier=reserved')
    return tuple((key, wanted) for key, _, wanted in parts)


def _contexts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names of contexts, for completion; none where the kubeconfig cannot be read."""
    from advisor.kube.kubeconfig import load

    with suppress(InputError):
        named = tuple(ctx.params.get("kubeconfig") or ())
        return [name for name in load(named).contexts if name.startswith(incomplete)]
    return []


def _version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"{PROGRAM} {version(PROGRAM)}")
        ctx.exit()


def _options(section: str, *rows: tuple[tuple[str, ...], dict[str, Any]]) -> Decorator:
    """Options of one heading, in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for names, settings in reversed(rows):
            function = click.option(*names, cls=Option, section=section, **settings)(function)
        return function

    return decorate


def _row(*names: str, **settings: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    return names, settings


class _Lines(click.types.StringParamType):
    """Text with blanks in it: in a variable of the environment each value has a line of its own."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        return [line.strip() for line in rv.splitlines() if line.strip()]


_FILE = click.Path()
"""For completion only: whether a file can be read is said where it is read."""

_beside = _row(
    "--with",
    "beside",
    multiple=True,
    type=_FILE,
    metavar="FILE",
    help="Objects to which the manifests refer, such as runtimes: a file or a folder. Repeatable.",
)

_manifests = click.argument("manifests", nargs=-1, type=_FILE, metavar="MANIFEST...")

_asking = _options(
    "What is asked about",
    _row(
        "-f",
        "--filename",
        multiple=True,
        type=_FILE,
        metavar="FILE",
        help="A file, a folder, or - for stdin: as MANIFEST.",
    ),
    _beside,
    _row("-n", "--namespace", default="", metavar="NAME", help="Namespace of objects that name none."),
    _row(
        "-l",
        "--selector",
        default="",
        metavar="SELECTOR",
        help="Only workloads with these labels, such as team=ml,stage!=dev.",
    ),
    _row(
        "--definition", multiple=True, type=_FILE, metavar="FILE", help="Definitions of kinds, before ours. Repeatable."
    ),
)

_way_in = (
    _row("--kubeconfig", multiple=True, type=_FILE, metavar="FILE", help="In place of $KUBECONFIG. Repeatable."),
    _row("--as", "impersonate", default="", metavar="USER", envvar="WM_PLACE_AS", help="The user to impersonate."),
    _row(
        "--timeout",
        "--request-timeout",
        metavar="DURATION",
        callback=_seconds,
        envvar=["WM_PLACE_TIMEOUT", "WM_PLACE_REQUEST_TIMEOUT"],
        help="For each cluster, everything together. Default: 20s.",
    ),
)

_asking_one = _options(
    "Which cluster is asked about TYPE/NAME",
    _row(
        "--context",
        multiple=True,
        shell_complete=_contexts,
        metavar="NAME",
        help="A context of the kubeconfig. Default: the current one.",
    ),
    *_way_in,
)

_looking = _options(
    "Which clusters are looked at",
    _row(
        "--from-snapshot",
        multiple=True,
        type=_FILE,
        metavar="[NAME=]PATH",
        help="A recording: of wm-place snapshot, or of kubectl get nodes,pods,... -A -o json. Repeatable.",
    ),
    _row(
        "--clusters",
        default="",
        type=_FILE,
        metavar="FILE",
        allow_from_autoenv=False,
        help="A list of clusters. Default: ./clusters.yaml, then $WM_PLACE_CLUSTERS, then all contexts.",
    ),
    _row(
        "--context",
        multiple=True,
        shell_complete=_contexts,
        metavar="NAME",
        help="A context of the kubeconfig. Repeatable.",
    ),
    _row("--all-contexts", is_flag=True, help="All contexts of the kubeconfig."),
    *_way_in,
)

_choosing = _options(
    "How to choose",
    _row("--allow-reduced", is_flag=True, help="Also place at a smaller size, where the workload allows it."),
    _row("--strategy", type=click.Choice(["pack", "spread"]), help="Default: pack."),
    _row(
        "--prefer",
        metavar="KEY=VALUE",
        callback=_pairs,
        multiple=True,
        help="Clusters with this label first. Repeatable, in order.",
    ),
    _row("--max-age", metavar="DURATION", callback=_seconds, help="A cluster whose data is older counts as unknown."),
    _row("--wait", metavar="DURATION", callback=_seconds, help="Ask again for so long, until everything is placed."),
    _row(
        "--solver-workers",
        type=click.IntRange(min=1),
        metavar="N",
        expose_value=False,
        help="Accepted for scripts; answers never depend on it.",
    ),
)

_editing = _options(
    "What if",
    _row("--add-nodes", multiple=True, metavar="CLUSTER=COUNTxNODE", help="More nodes like one that is there."),
    _row(
        "--drain",
        multiple=True,
        type=_Lines(),
        metavar="CLUSTER=NODES",
        help="A node, or a selector such as rack=r7. Repeatable.",
    ),
    _row(
        "--cordon", multiple=True, type=_Lines(), metavar="CLUSTER=NODES", help="The same, with the pods left on them."
    ),
    _row("--lose-cluster", multiple=True, metavar="CLUSTER", help="A cluster that is gone."),
    _row("--replicas", multiple=True, metavar="ROLE=N", help="A role at another size."),
    _row("--quota", multiple=True, metavar="CLUSTER=NAMESPACE/KEY=VALUE", help="Another limit in a ResourceQuota."),
    _row("--without", multiple=True, metavar="CLUSTER=NAMESPACE", help="All pods of a namespace gone."),
)

_FORMATS = click.Choice(["table", "wide", "json", "yaml", "name"])

_WITH_GANGS = click.Choice([*_FORMATS.choices, "podgroup"])

_printing = _options(
    "How the answer is printed",
    _row("-o", "--output", type=_FORMATS, default="table", show_default=True),
    _row("--no-headers", is_flag=True, help="Only the rows of tables."),
)

_gangs = _options(
    "How the answer is printed",
    _row("-o", "--output", type=_WITH_GANGS, default="table", show_default=True),
    _row("--no-headers", is_flag=True, help="Only the rows of tables."),
    _row(
        "--for",
        "scheduler",
        type=click.Choice(["kai", "volcano", "scheduler-plugins", "kubernetes"]),
        envvar="WM_PLACE_FOR",
        help="For -o podgroup: whose objects. Default: what the chosen cluster serves.",
    ),
)

_common = _options(
    OTHER,
    _row("--no-color", is_flag=True, help="Also by $NO_COLOR; in a pipe there is never any."),
    _row("-v", "--verbose", count=True, help="Say more on stderr; -vv adds tracebacks of our faults."),
)


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[OPTIONS]",
    subcommand_metavar="MANIFEST... | COMMAND [ARGS]...",
    epilog="""\b
Examples:
  wm-place train.yaml                    with ./clusters.yaml, or all contexts
  helm template . | wm-place - -o wide   with the assignment and every reason
  wm-place train.yaml --context eu --context us --wait 10m
  wm-place train.yaml --from-snapshot eu.json --from-snapshot us.json.gz
  wm-place train.yaml --drain eu=rack=r7   what if a rack is drained
\b
Exit codes:
  0 placed   1 not now, a retry may help   2 usage or input   3 never
  4 cannot tell   5 no definition for a kind   70 a fault of wm-place
  The worst of several workloads wins: 70, 2, 5, 4, 3, 1, 0.""",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def cli() -> None:
    """Which of several Kubernetes clusters can take the whole gang of this workload now, with a node for every pod, or
    why none can and what would change that.

    MANIFEST is a file, a folder, or - for stdin. Options are those of the command place: see place --help."""


@cli.command()
@_manifests
@_asking
@_looking
@_choosing
@_editing
@_gangs
@_common
def place(**given: Any) -> Result:
    """Choose a cluster for each workload (the default command).

    MANIFEST is a file, a folder, or - for stdin. Workloads in it are found by their definitions, everything else is
    passed over. Every option can be given by the environment, such as WM_PLACE_OUTPUT=wide."""
    _refuse_misspelt_command(given["manifests"])
    asked = _taken(Manifests, given), _taken(Clusters, given), _taken(Choosing, given), _taken(Output, given)
    editing = _taken(Editing, given)
    if editing.stated:
        from advisor.commands import whatif

        return whatif.place_otherwise(*asked, editing)
    from advisor.commands import place

    return place.run(*asked)


@cli.command()
@click.argument("scenario", type=_FILE, metavar="SCENARIO")
@_options(
    "What is asked about",
    _beside,
    _row("-n", "--namespace", default="", metavar="NAME", help="Namespace of objects that name none."),
    _row(
        "--definition", multiple=True, type=_FILE, metavar="FILE", help="Definitions of kinds, before ours. Repeatable."
    ),
)
@_looking
@_choosing
@_printing
@_common
def whatif(**given: Any) -> Result:
    """Compare the answers before and after changes.

    SCENARIO is a file, or - for stdin. It has workloads, a base (clusters or recordings) and steps; each step changes
    nodes, clusters, quotas or workloads, and may say what it expects: the exit code is 1 where that does not come."""
    from advisor.commands import whatif

    asking = _taken(Manifests, {**given, "manifests": ()})
    return whatif.run(
        given["scenario"], asking, _taken(Clusters, given), _taken(Choosing, given), _taken(Output, given)
    )


@cli.command()
@click.argument("manifests", nargs=-1, type=_FILE, metavar="MANIFEST...|TYPE/NAME...")
@_asking
@_asking_one
@_gangs
@_common
def describe(**given: Any) -> Result:
    """Show the roles, pods and gangs of workloads.

    A workload is shown as its definition sees it, with every default applied; -o wide says which. TYPE/NAME is a live
    object, as kubectl has it: its status, and where its pods are, come along."""
    from advisor.commands import describe

    return describe.run(_taken(Manifests, given), _taken(Clusters, given), _taken(Output, given))


@cli.group()
def definitions() -> None:
    """The definitions of kinds: which there are, whether they are right, how to write one."""


_FILE_OF_DEFINITIONS = _row(
    "--definition", multiple=True, type=_FILE, metavar="FILE", help="Definitions of kinds, before ours. Repeatable."
)
_beside_ours = _options("Which definitions there are", _FILE_OF_DEFINITIONS)


@definitions.command("list")
@_beside_ours
@_looking
@_printing
@_common
def list_(**given: Any) -> Result:
    """List all definitions by precedence, and which is overridden by which.

    Files that are named come before the user's folder, that before a cluster's own, that before ours. Clusters are
    asked only where an option names them."""
    from advisor.commands.kinds import listing

    return listing.run(given["definition"], _taken(Clusters, given), _taken(Output, given))


@definitions.command()
@click.argument("words", nargs=-1, required=True, metavar="KIND|NAME...")
@_beside_ours
@_looking
@_printing
@_common
def show(words: tuple[str, ...], **given: Any) -> Result:
    """Print the definition that is used for a kind, as its file has it.

    A kind may be given as JobSet, jobset.jobset.x-k8s.io, jobset.x-k8s.io/v1alpha2/JobSet, or by its definition's
    name."""
    from advisor.commands.kinds import listing

    return listing.show(words, given["definition"], _taken(Clusters, given), _taken(Output, given))


@definitions.command()
@click.argument("files", nargs=-1, type=_FILE, metavar="FILE...")
@_printing
@_common
def validate(files: tuple[str, ...], **given: Any) -> Result:
    """Say everything that is wrong or doubtful in files of definitions.

    Exit code 0: they can be used; 2: they cannot."""
    from advisor.commands.kinds import checking

    return checking.run(files, _taken(Output, given))


@definitions.command()
@click.argument("words", nargs=-1, type=_FILE, metavar="FILE|NAME...")
@_options("What is tried", _row("--all", "every", is_flag=True, help="Our whole catalogue."), _FILE_OF_DEFINITIONS)
@_options(
    "Before the controller itself",
    _row(
        "--live",
        default="",
        metavar="CONTEXT",
        shell_complete=_contexts,
        allow_from_autoenv=False,
        help="Create the examples of one definition in this cluster, compare their pods, and take all of it away.",
    ),
    _row("--yes", is_flag=True, allow_from_autoenv=False, help="Do not ask."),
    _row("--wait", metavar="DURATION", callback=_seconds, help="For the pods of each example. Default: 1m."),
    *_way_in,
)
@_printing
@_common
def test(words: tuple[str, ...], every: bool, **given: Any) -> Result:
    """Try the examples of placement profiles, and show what does not come out as they say.

    Exit code 0: everything comes out; 1: something does not; 4: with --live, nothing could be tried."""
    if given["live"]:
        from advisor.commands.kinds import judging

        return judging.run(_taken(Judging, {**given, "words": words}), _taken(Output, given))
    from advisor.commands.kinds import examples

    return examples.run(words, given["definition"], _taken(Output, given), every=every)


@definitions.command()
@click.argument("words", nargs=-1, type=_FILE, metavar="FILE|NAME...")
@_options(
    "What is registered",
    _FILE_OF_DEFINITIONS,
    _row("--category", default="", metavar="NAME", help="The type's category, by name or id."),
    _row("--priority", default="", metavar="NAME", help="The type's priority, by name or id."),
)
@_options(
    "Where",
    _row("--to", default="", metavar="URL", help="The control plane; without it the request is only printed."),
    _row("--token-file", default="", type=_FILE, metavar="FILE", help="A file with the token for it."),
    _row(
        "--certificate-authority",
        "authority",
        default="",
        type=_FILE,
        metavar="FILE",
        envvar="WM_PLACE_CERTIFICATE_AUTHORITY",
        help="Whom to trust, in place of the system's authorities.",
    ),
    _row("--dry-run", is_flag=True, help="Look everything up, print the request, and send nothing."),
    _row("--timeout", metavar="DURATION", callback=_seconds, help="For everything together. Default: 20s."),
)
@_options(
    "How the request is printed",
    _row("-o", "--output", type=click.Choice(["json", "yaml"]), default="json", show_default=True),
)
@_common
def register(**given: Any) -> Result:
    """Print or send the request that registers kinds with a Run:ai control plane.

    One request for each kind, with the definitions of all its versions. Exit code 1: a type exists there already."""
    from advisor.commands.kinds import registering

    return registering.run(_taken(Registering, given), _taken(Output, given))


@definitions.command()
@click.argument("subject", default="", type=_FILE, metavar="[FILE|GROUP/KIND]")
@_options(
    "What it is made from",
    _row("--crd", default="", metavar="NAME", help="A CRD of the cluster, such as jobsets.jobset.x-k8s.io."),
    _row(
        "--from",
        "live",
        default="",
        metavar="TYPE/NAME",
        envvar="WM_PLACE_FROM",
        help="A live object, and the pods that came of it.",
    ),
    _row("-n", "--namespace", default="", metavar="NAME", help="The live object's; default: that of the context."),
    _row("-o", "--output", "file", default="", type=_FILE, metavar="FILE", help="Where to; default: stdout."),
)
@_asking_one
@_common
def init(**given: Any) -> Result:
    """Draft a definition for a kind, with comments on everything that is a guess.

    FILE holds a CustomResourceDefinition or an example object. With --from the draft is held against the living pods:
    exit code 1 where it does not reproduce them, or they do not prove it."""
    from advisor.commands.kinds import drafting

    return drafting.run(_taken(Drafting, given), _taken(Clusters, given), _taken(Output, given))


@cli.command()
@_options(
    "What is recorded",
    _row("-o", "--output", "file", default="", type=_FILE, metavar="FILE", help="Where to; default: stdout."),
    _row(
        "-n", "--namespace", multiple=True, metavar="NAME", help="Quotas and limits of this namespace only. Repeatable."
    ),
    _row("-A", "--all-namespaces", is_flag=True, help="Of all namespaces: the default."),
)
@_looking
@_common
def snapshot(**given: Any) -> Result:
    """Record clusters to a file that --from-snapshot accepts."""
    from advisor.commands import snapshot

    if given["namespace"] and given["all_namespaces"]:
        raise InputError("--namespace and --all-namespaces contradict each other", hint="take one of the two")
    return snapshot.run(_taken(Clusters, given), given["namespace"], given["file"], _taken(Output, given))


@cli.command()
@_options(
    "What is served",
    _row("--config", default="", required=True, type=_FILE, metavar="FILE", help="A server.yaml; see docs/server.md."),
)
@_common
def serve(**given: Any) -> Result:
    """Answer admission reviews and placement questions over HTTPS, until told to end."""
    from advisor.commands import serve

    return serve.run(given["config"])


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> Result:
    """Print a completion script for a shell.

    In bash: source <(wm-place completion bash)

    For kubectl wm-place nothing is needed: kubectl finds kubectl_complete-wm_place beside it."""
    kind = get_completion_class(shell)
    assert kind is not None
    return Result(kind(cli, {}, PROGRAM, COMPLETE).source(), exits.PLACED)


def _refuse_misspelt_command(words: Sequence[str]) -> None:
    """A first word that is like a command and no file is hardly a manifest."""
    like = get_close_matches(words[0], cli.commands, n=1) if words else []
    if like and not os.path.lexists(words[0]):
        raise InputError(f'"{words[0]}" is no command and no file', hint=f"did you mean {like[0]}?")


def _taken(kind: type[T], given: dict[str, Any]) -> T:
    """What was given, as far as `kind` has a field for it."""
    return kind(**{field.name: given[field.name] for field in fields(kind) if field.name in given})


def main() -> NoReturn:
    """`wm-place`, and `kubectl wm-place`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit code. Nothing that goes wrong leaves as an exception."""
    _open_streams()
    no_color = "--no-color" in arguments
    try:
        result = cli.main(arguments, prog_name=_program(), complete_var=COMPLETE, standalone_mode=False)
        return _written(result) if isinstance(result, Result) else exits.PLACED
    except click.ClickException as error:
        terminal.say([_usage(error)], no_color=no_color)
        return exits.INPUT
    except InputError as error:
        terminal.say(error.faults, no_color=no_color)
        return exits.INPUT
    except (click.Abort, KeyboardInterrupt):
        return exits.INTERRUPTED
    except OSError as error:
        if error.errno not in NO_ROOM:
            return _our_fault(error, arguments)
        _let_go_of_stdout()
        terminal.say([Fault(f"the answer cannot be written: {error.strerror}")], no_color=no_color)
        return exits.INPUT
    except Exception as error:  # noqa: BLE001 - the one place where any fault of ours becomes a report
        return _our_fault(error, arguments)


def _our_fault(error: Exception, arguments: list[str]) -> int:
    from advisor.commands import crash

    sys.stderr.write(crash.report(error, arguments, set(_words(cli)), whole=crash.verbose_enough(arguments)))
    return exits.OURS


def _words(group: click.Group) -> Iterator[str]:
    """The names of all commands."""
    for name, command in group.commands.items():
        yield name
        if isinstance(command, click.Group):
            yield from _words(command)


def _open_streams() -> None:
    """UTF-8 whatever the locale, as kubectl writes; a stream that was closed swallows what is written to it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8", errors="replace")  # noqa: SIM115 - for good
            setattr(sys, name, nowhere)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _program() -> str:
    return f"kubectl {PROGRAM}" if Path(sys.argv[0]).name.startswith("kubectl-") else PROGRAM


def _written(result: Result) -> int:
    try:
        sys.stdout.write(result.text)
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_stdout()
        return exits.CLOSED_PIPE
    except OSError as error:
        _let_go_of_stdout()
        raise InputError(f"the answer cannot be written: {error.strerror}") from None
    return result.code


def _let_go_of_stdout() -> None:
    """What is still buffered goes nowhere, else Python complains about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.ClickException) -> Fault:
    context = getattr(error, "ctx", None)
    return Fault(" ".join(error.format_message().split()), hint=f"see {context.command_path} --help" if context else "")


def complete() -> None:
    """`kubectl_complete-wm_place`: kubectl calls it with the words after `wm-place`, the last one unfinished.

    A line for each choice, with its description after a tab; then what the shell shall do, in Cobra's numbers: complete
    file names if nothing else matches (0), or nothing more (4).
    """
    *words, incomplete = sys.argv[1:] or [""]
    items = ShellComplete(cli, {}, f"kubectl {PROGRAM}", COMPLETE).get_completions(words, incomplete)
    for line in _choices(items):
        click.echo(line)
    click.echo(":0" if any(item.type != "plain" for item in items) else ":4")


def _choices(items: Sequence[CompletionItem]) -> Iterator[str]:
    for item in items:
        if item.type == "plain":
            yield f"{item.value}\t{item.help}" if item.help else str(item.value)
