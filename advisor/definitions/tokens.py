"""Cuts a jq text into tokens, and tells which of its words are functions.

The binding gives no syntax tree; the rules of `expressions.py` are checked on these tokens. Follows jq's lexer (jq 1.8
`src/lexer.l`), and where two versions of it read a text differently, the text is refused.
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
CLOSES = {")": ("(", "\\("), "]": ("[",), "}": ("{",)}
OPENS = ("(", "\\(", "[", "{")


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
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text):
        raise InputError("has a character that jq cannot read")


def _one_reading(text: str, space: Token) -> None:
    """jq versions differ in where a comment with a backslash or carriage return at its end stops."""
    if space.text[0] == "#" and ("\r" in space.text[:-1] or space.text.rstrip("\r").endswith("\\")):
        raise _error("the end of this comment is read differently by different jq versions", text, space.at)


def _follow(nest: list[Token], token: Token, in_string: bool, text: str) -> None:
    """Keep the stack of what is open."""
    if token.kind != "mark":
        return
    if token.text in OPENS or (token.text == '"' and not in_string):
        nest.append(token)
    elif token.text == '"':
        nest.pop()
    elif token.text in CLOSES:
        if not nest or nest[-1].text not in CLOSES[token.text]:
            raise _error(f"{token.text} closes nothing", text, token.at)
        nest.pop()
    if len(nest) > _MOST_DEPTH:
        raise _error(f"is nested more than {_MOST_DEPTH} levels deep", text, token.at)


def calls(found: list[Token]) -> Iterator[Call]:
    """The words that are functions or keywords: not fields, variables, object keys or the names after `def`."""
    nest: list[tuple[str, str]] = []
    for before, token, after in neighbours(found):
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


def neighbours(found: list[Token]) -> Iterator[tuple[str, Token, str]]:
    texts = ["", *(token.text for token in found), ""]
    return zip(texts, found, texts[2:], strict=False)


def _enter_or_leave(nest: list[tuple[str, str]], mark: str, inside: str) -> None:
    if mark in OPENS:
        nest.append((mark, ""))
    elif mark in CLOSES:
        while nest.pop()[0] not in CLOSES[mark]:
            pass
    elif mark == ";" and inside == "def":
        nest.pop()


def _is_key(before: str, after: str, inside: str) -> bool:
    """`{del: 1}` and `{del}`, but neither `.[del:]` nor the second word of `{a: if . then 1, del else 2 end}`."""
    return inside == "{" and before in ("{", ",") and after in (":", ",", "}")


def caret(text: str, at: int) -> str:
    """The line of `text` with position `at`, and below it a caret, as the hint of a Fault shows it."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].replace("\t", " ").rstrip("\r")
    column = at - start
    if len(line) > _SHOWN:
        left = max(0, column - _SHOWN // 2)
        line, column = line[left : left + _SHOWN], column - left
    return f"{line}\n    {' ' * column}^"


def fault(message: str, text: str, at: int) -> Fault:
    """A fault at a position of an expression."""
    return Fault(message, hint=caret(text, at))


def _error(message: str, text: str, at: int) -> InputError:
    return InputError.of([fault(message, text, at)])
