"""jq texts before jq sees them: the tokens, and the read-only subset that a definition may use.

Mirrors upstream's validator (karta `pkg/jq/validation.go`) and is stricter: what loops, reaches outside the object or
exists in one jq only is refused too (definitions.md 4.5). The binding gives no syntax tree, so the rules are checked on
tokens, and a text that could be read in two ways is refused. Knows nothing of definitions and never runs anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from advisor.errors import Fault, InputError

LONGEST = 64 * 1024
_MOST_DEPTH = 200
_SHOWN = 100

_NAME = "[A-Za-z_][A-Za-z_0-9]*"
_CODE = re.compile(
    rf"""
    (?P<space>[ \t\r\n]+ | \#[^\n]*)
  | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<field>\.{_NAME})
  | (?P<variable>\$(?:{_NAME}::)*{_NAME})
  | (?P<format>@[A-Za-z0-9_]+)
  | (?P<word>(?:{_NAME}::)*{_NAME})
  | (?P<mark>\?//|//=|[|+*/%-]=|[=!<>]=|//|\.\.|["()\[\]{{}}.,:;|?=<>+*/%-])
    """,
    re.VERBOSE,
)
_STRING = re.compile(r'(?P<text>(?:[^"\\]|\\[^(])+)|(?P<mark>"|\\\()', re.DOTALL)
_CLOSES = {")": ("(", "\\("), "]": ("[",), "}": ("{",)}
_OPENS = ("(", "\\(", "[", "{")

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


class Token(NamedTuple):
    """`kind`: number, field, variable, format, word, mark, or text (a piece of a string literal)."""

    kind: str
    text: str
    at: int


class Call(NamedTuple):
    """A word in the place of a function, and the functions in whose bodies it stands."""

    token: Token
    bodies: frozenset[str]


def tokens(text: str) -> list[Token]:
    """The tokens of a jq text, without space and comments. Raises InputError for what no jq could read."""
    _admissible(text)
    found: list[Token] = []
    nest: list[Token] = []
    at = 0
    while at < len(text):
        in_string = bool(nest) and nest[-1].text == '"'
        match = (_STRING if in_string else _CODE).match(text, at)
        if not match:
            raise _error("unexpected character", text, at)
        token = Token(match.lastgroup or "", match.group(), at)
        if token.kind == "space":
            _one_reading(text, token)
        else:
            found.append(token)
            _follow(nest, token, in_string, text)
        at = match.end()
    if nest:
        raise _error(f"{nest[-1].text} is not closed", text, nest[-1].at)
    return found


def _admissible(text: str) -> None:
    if len(text) > LONGEST:
        raise InputError(f"is longer than {LONGEST // 1024} KiB")
    if "\0" in text or not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError("has a character that jq cannot read")


def _one_reading(text: str, space: Token) -> None:
    """jq versions differ in where a comment with a backslash or carriage return at its end stops."""
    if space.text[0] == "#" and ("\r" in space.text[:-1] or space.text.rstrip("\r").endswith("\\")):
        raise _error("the end of this comment is read differently by different jq versions", text, space.at)


def _follow(nest: list[Token], token: Token, in_string: bool, text: str) -> None:
    """Keep the stack of what is open."""
    if token.kind != "mark":
        return
    if token.text in _OPENS or (token.text == '"' and not in_string):
        nest.append(token)
    elif token.text == '"':
        nest.pop()
    elif token.text in _CLOSES:
        if not nest or nest[-1].text not in _CLOSES[token.text]:
            raise _error(f"{token.text} closes nothing", text, token.at)
        nest.pop()
    if len(nest) > _MOST_DEPTH:
        raise _error(f"is nested more than {_MOST_DEPTH} levels deep", text, token.at)


def calls(found: list[Token]) -> Iterator[Call]:
    """The words that are functions or keywords: not fields, variables, object keys or the names after `def`."""
    nest: list[tuple[str, str]] = []
    for before, token, after in _neighbours(found):
        inside = nest[-1][0] if nest else ""
        if token.kind == "mark":
            _enter_or_leave(nest, token.text, inside)
        elif token.kind != "word" or before == "def" or _is_key(before, after, inside):
            continue
        elif token.text in ("if", "def"):
            nest.append((token.text, after if token.text == "def" else ""))
        elif token.text == "end" and inside == "if":
            nest.pop()
        else:
            yield Call(token, frozenset(name for _, name in nest if name))


def _neighbours(found: list[Token]) -> Iterator[tuple[str, Token, str]]:
    texts = ["", *(token.text for token in found), ""]
    return zip(texts, found, texts[2:], strict=False)


def _enter_or_leave(nest: list[tuple[str, str]], mark: str, inside: str) -> None:
    if mark in _OPENS:
        nest.append((mark, ""))
    elif mark in _CLOSES:
        while nest.pop()[0] not in _CLOSES[mark]:
            pass
    elif mark == ";" and inside == "def":
        nest.pop()


def _is_key(before: str, after: str, inside: str) -> bool:
    """`{del: 1}` and `{del}`, but neither `.[del:]` nor the second word of `{a: if . then 1, del else 2 end}`."""
    return inside == "{" and before in ("{", ",") and after in (":", ",", "}")


def check(text: str, *, edits: bool = False) -> None:
    """Raise InputError with everything in `text` that is refused.

    `edits` is for programs that make a new object (a profile's, our own): assignment, `del`, `range`, `..` and their
    like are allowed; endless loops and what reaches outside the object never are.
    """
    found = tokens(text)
    faults = [_fault(message, text, at) for at, message in sorted(_refusals(found, edits))]
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
    return [_fault(message, text, at) for at, message in sorted(_doubts(found, words))]


def _doubts(found: list[Token], words: dict[str, int]) -> Iterator[tuple[int, str]]:
    for word, at in words.items():
        if word in _CLOCK:
            yield at, f"{word} depends on the clock, so the answer cannot be repeated"
        elif word in _TIMES or word == "@base64d":
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
            depth -= token.text in _CLOSES
            if depth == 0:
                yield token
            depth += token.text in _OPENS


def may_shorten(text: str) -> bool:
    """Can it give fewer outputs than it visits: `select`, `empty`, `?`, or `//` behind an iteration?"""
    found = tokens(text)
    if any(call.token.text in ("select", "empty") for call in calls(found)):
        return True
    streams = [False]
    for before, token, after in _neighbours(found):
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


def caret(text: str, at: int) -> str:
    """The line of `text` with position `at`, and below it a caret, as the hint of a Fault shows it."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].replace("\t", " ").rstrip("\r")
    column = at - start
    if len(line) > _SHOWN:
        left = max(0, column - _SHOWN // 2)
        line, column = line[left : left + _SHOWN], column - left
    return f"{line}\n    {' ' * column}^"


def _fault(message: str, text: str, at: int) -> Fault:
    return Fault(message, hint=caret(text, at))


def _error(message: str, text: str, at: int) -> InputError:
    return InputError.of([_fault(message, text, at)])
