"""The only home of jq: an expression and a document give outputs, as upstream's runner would (definitions.md 4).

All outputs or an error, never a part of them; fewer than 1000; no environment and no modules. There are two ways to run
it: `TRUSTED` in this process, for our own catalogue, and `sandbox.SANDBOX` for what anybody else wrote. Compiled
programs are kept by their text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import jq

from advisor.definitions import expressions, tokens
from advisor.errors import Fault, InputError
from advisor.files import whole

LIBRARY = Path(jq.__file__).parent
MOST_OUTPUTS = 999
_LONGEST_MESSAGE = 200
_NOT_FINITE = "gives a number that is not finite"
_FINITE = f'if any(.. | numbers; isnan or isinfinite) then error("{_NOT_FINITE}") else . end'
_COMPILE_ERROR = re.compile(
    r"jq: error: (?:syntax error, )?(?P<what>.*?) at <\S+>, line (?P<line>\d+), column (?P<column>\d+):"
)
_TYPE = "(null|boolean|number|string|array|object)"
_PAIR = re.compile(rf"{_TYPE} \(.*\) and {_TYPE} \(.*\) (cannot be [a-z ]+)")
_VALUE = re.compile(r"(string|array|object) \(.*\)")
_PARSED = re.compile(r" \(while parsing '.*'\)")
_INDEX = re.compile(r'with (?:string \()?"(?P<key>.*)"\)?')
_QUOTED = re.compile(r'"(.*)"')
_FORMS = (
    (re.compile(r'^date ".*" does not match format ".*"$'), "a date does not match its format"),
    (re.compile(r"^.* is not a valid (format|modifier string)$"), r"text is not a valid \1"),
    (re.compile(r"^(Invalid path expression) .*$"), r"\1"),
)
OWN_ERROR = "ends with an error of its own, whose text is not shown: it may hold values of the object"
_UNDEFINED = re.compile(r"(?P<name>\w+)/0 is not defined")
EXHAUSTED = "exhausted"
"""The code of faults where an expression took more time, memory or room than it may."""
NO_VARIABLES: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A document as jq gets it, written down once for all expressions."""

    data: Any
    text: str


def prepare(data: Any) -> Prepared:
    """Whole floats become integers and keys are sorted, so that C jq sees what gojq sees (definitions.md 4.2)."""
    with within_depth():
        return Prepared(data, json.dumps(_whole(data), sort_keys=True, separators=(",", ":")))


@contextmanager
def within_depth() -> Iterator[None]:
    """An expression can build a value so deep that Python cannot walk it."""
    try:
        yield
    except RecursionError:
        raise InputError("gives a value that is nested too deeply", code=EXHAUSTED) from None


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_whole(member) for member in value]
    return whole(value) if isinstance(value, float) else value


class Engine(Protocol):
    """Where expressions run. Both methods raise InputError with jq's reason, cleaned up."""

    def compile(self, text: str, *, names: Collection[str] = (), edits: bool = False) -> None:
        """Check and compile only. `names`: the variables that an evaluation will give."""

    def evaluate(
        self, text: str, document: Prepared, *, variables: Mapping[str, Any] = NO_VARIABLES, edits: bool = False
    ) -> list[Any]:
        """All outputs. `variables` are bound as `$name`; `edits` as in `expressions.check`."""


class Direct:
    """Runs in this process: no limit of time or memory, so only for expressions of our own."""

    def compile(self, text: str, *, names: Collection[str] = (), edits: bool = False) -> None:
        program(text, tuple(sorted(names)), edits)

    def evaluate(
        self, text: str, document: Prepared, *, variables: Mapping[str, Any] = NO_VARIABLES, edits: bool = False
    ) -> list[Any]:
        return run(text, document.text, variables, edits)


TRUSTED: Engine = Direct()


def run(text: str, document: str, variables: Mapping[str, Any], edits: bool) -> list[Any]:
    compiled = program(text, tuple(sorted(variables)), edits)
    given = f"[{json.dumps(dict(variables))},{document}]" if variables else document
    outputs: list[Any] = []
    try:
        with within_depth():
            for output in compiled.input_text(given):
                if len(outputs) == MOST_OUTPUTS:
                    raise InputError(f"gives more than {MOST_OUTPUTS} outputs", code=EXHAUSTED)
                outputs.append(output)
    except ValueError as error:
        raise InputError(_short(_without_values(str(error), text))) from None
    return outputs


def _without_values(message: str, text: str) -> str:
    """jq's reason without what the document holds: types are named, and what the expression says itself."""
    if _has_own_errors(text):
        return message if message == _NOT_FINITE or json.dumps(message)[1:-1] in text else OWN_ERROR
    message = _PARSED.sub("", message)
    index = _INDEX.search(message)
    if index:
        message = message if f"{index['key']}" in text else _INDEX.sub("with text", message)
    elif _VALUE.search(message) and _PAIR.search(message):
        message = _PAIR.sub(r"\1 and \2 \3", message)
    else:
        message = _VALUE.sub(r"\1", message)
    for pattern, plain in _FORMS:
        message = pattern.sub(plain, message)
    return _QUOTED.sub(lambda found: found[0] if found[1] in text else "text", message)


@lru_cache(maxsize=4096)
def _has_own_errors(text: str) -> bool:
    return any(call.token.text == "error" for call in tokens.calls(tokens.tokens(text)))


@lru_cache(maxsize=4096)
def program(text: str, names: tuple[str, ...], edits: bool) -> Any:
    """The compiled program. Variables travel with the document, so that another value needs no other program."""
    expressions.check(text, edits=edits)
    head = f".[0] as {{{', '.join(f'${name}' for name in names)}}} | .[1] | " if names else ""
    try:
        return jq.compile(f"{head}({text}\n) | {_FINITE}")
    except ValueError:
        raise InputError.of([_not_compiled(text, names)]) from None


def _not_compiled(text: str, names: tuple[str, ...]) -> Fault:
    """Compile `text` by itself, for a message with the user's own lines and columns."""
    try:
        jq.compile(text, args=dict.fromkeys(names))
    except ValueError as error:
        found = _COMPILE_ERROR.search(str(error))
        if found:
            return _placed(text, found["what"], int(found["line"]), int(found["column"]))
    return Fault("not valid jq")


def _placed(text: str, what: str, line: int, column: int) -> Fault:
    before = text.split("\n")[line - 1].encode()[: column - 1].decode(errors="ignore")
    at = sum(len(earlier) + 1 for earlier in text.split("\n")[: line - 1]) + len(before)
    hint = tokens.caret(text, min(at, len(text)))
    missing = _UNDEFINED.fullmatch(what)
    if missing:
        hint += f"\n    a field begins with a dot: .{missing['name']}"
    return Fault(f"not valid jq: {what.replace('end of file', 'end of expression')}", hint=hint)


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 3] + "..."
