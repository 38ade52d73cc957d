"""The read-only subset of jq that a definition may use, and what is doubtful within it.

Mirrors upstream's validator (karta `pkg/jq/validation.go`) and is stricter: what loops, reaches outside the object or
exists in one jq only is refused too (definitions.md 4.5). Knows nothing of definitions and never runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from advisor.definitions.tokens import CLOSES, OPENS, Call, Token, calls, fault, neighbours, tokens
from advisor.errors import Fault, InputError

_ASSIGNS = frozenset(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="))
_EDITS = {
    **dict.fromkeys(("del", "delpaths", "setpath"), "changes the object, a definition only reads it"),
    **dict.fromkeys(("range", "paths", "recurse", "walk"), "may give outputs without end"),
}
_REFUSED = {
    **dict.fromkeys(("repeat", "while", "until"), "may run without end"),
    **dict.fromkeys(
        (
            *("env", "input", "inputs", "input_filename", "input_line_number", "debug", "stderr", "halt", "halt_error"),
            *("import", "include", "module", "modulemeta", "get_search_list", "get_jq_origin", "get_prog_origin"),
            "__loc__",
        ),
        "reaches outside the object",
    ),
    **dict.fromkeys(
        ("keys_unsorted", "have_literal_numbers", "have_decnum", "lgamma_r"),
        "is unknown to upstream's jq",
    ),
}
_CLOCK = ("now", "localtime")
_TIMES = ("strptime", "strftime", "strflocaltime", "mktime", "gmtime", "todate", "fromdate", "dateadd", "datesub")
_TEXTS = ("tojson", "tostring", "@json", "@text")
_REGEX = re.compile(r"\(\?<?[=!]|\\\\[1-9]")
_REGEX_USERS = ("test", "match", "capture", "scan", "split", "splits", "sub", "gsub")


@lru_cache(maxsize=4096)
def check(text: str, *, edits: bool = False) -> None:
    """Raise InputError with everything in `text` that is refused.

    `edits` is for programs that make a new object (a profile's, our own): assignment, `del`, `range`, `..` and their
    like are allowed; endless loops and what reaches outside the object never are.
    """
    found = tokens(text)
    faults = [fault(message, text, at) for at, message in sorted(_refusals(found, edits))]
    if faults:
        raise InputError.of(faults)


def _refusals(found: list[Token], edits: bool) -> Iterator[tuple[int, str]]:
    refused = _REFUSED if edits else _REFUSED | _EDITS
    for token, bodies in calls(found):
        if token.text in refused:
            yield token.at, f"{token.text} {refused[token.text]}"
        elif token.text in bodies:
            yield token.at, f"{token.text} calls itself and may run without end"
        elif "::" in token.text:
            yield token.at, "modules cannot be used"
    for token in found:
        if token.kind == "variable" and (token.text == "$ENV" or "::" in token.text or token.text.startswith("$__")):
            yield token.at, f"{token.text} reaches outside the object"
        elif token.kind == "mark" and token.text in _ASSIGNS and not edits:
            yield token.at, f"{token.text} changes the object, a definition only reads it"
        elif token.text == ".." and token.kind == "mark" and not edits:
            yield token.at, ".. may give outputs without end"


def warnings(text: str) -> list[Fault]:
    """What upstream's jq (gojq) and ours may answer differently, or differently tomorrow (definitions.md 4.4)."""
    found = tokens(text)
    words = {call.token.text: call.token.at for call in calls(found)}
    words |= {token.text: token.at for token in found if token.kind == "format"}
    return [fault(message, text, at) for at, message in sorted(_doubts(found, words))]


def of_the_clock(text: str) -> list[Fault]:
    """Where the answer depends on the time of day."""
    return [fault(_UNREPEATABLE.format(call.token.text), text, call.token.at) for call in _clocks(tokens(text))]


_UNREPEATABLE = "{} depends on the clock, so the answer cannot be repeated"


def _clocks(found: list[Token]) -> Iterator[Call]:
    return (call for call in calls(found) if call.token.text in _CLOCK)


def _doubts(found: list[Token], words: dict[str, int]) -> Iterator[tuple[int, str]]:
    for call in _clocks(found):
        yield call.token.at, _UNREPEATABLE.format(call.token.text)
    for word, at in words.items():
        if word in _TIMES or word == "@base64d":
            yield at, f"{word} answers differently in upstream's jq"
        elif word in _TEXTS and any(token.kind == "mark" and token.text == "{" for token in found):
            yield at, f"{word} writes the keys of an object made here in another order in upstream's jq"
    if not any(word in words for word in _REGEX_USERS):
        return
    for token in found:
        if token.kind == "text" and _REGEX.search(token.text):
            yield token.at, "look-around and back-references do not exist in upstream's regular expressions"


def has_alternative(text: str) -> bool:
    """Is there a `//` outside all brackets?"""
    return any(token.text == "//" for token in _outermost(tokens(text)))


def _outermost(found: list[Token]) -> Iterator[Token]:
    depth = 0
    for token in found:
        if token.kind == "mark":
            depth -= token.text in CLOSES
            if depth == 0:
                yield token
            depth += token.text in OPENS


def may_shorten(text: str) -> bool:
    """Can it give fewer outputs than it visits: `select`, `empty`, `?`, or `//` behind an iteration?"""
    found = tokens(text)
    if any(call.token.text in ("select", "empty") for call in calls(found)):
        return True
    streams = [False]
    for before, token, after in neighbours(found):
        match token.text if token.kind == "mark" else "":
            case "?":
                return True
            case "//" if streams[-1]:
                return True
            case "|" | ",":
                streams[-1] = False
            case "[" if after == "]" and before not in ("", "|", ",", "(", "//", ":"):
                streams[-1] = True
                streams.append(False)
            case "(" | "\\(" | "[" | "{":
                streams.append(False)
            case ")" | "]" | "}":
                inner = streams.pop()
                streams[-1] |= inner and token.text == ")"
    return False
