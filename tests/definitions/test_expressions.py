"""Which jq texts a definition may use (definitions.md 4.4, 4.5)."""

from __future__ import annotations

import os
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.definitions import expressions, tokens
from advisor.definitions.engine import TRUSTED, prepare
from advisor.errors import InputError

UPSTREAM = ("del", "range", "paths", "recurse", "walk", "repeat")
OURS = (
    *("while", "until", "input", "inputs", "input_filename", "input_line_number", "env", "debug", "stderr", "halt"),
    *("halt_error", "modulemeta", "get_search_list", "get_jq_origin", "get_prog_origin", "setpath", "delpaths"),
    *("keys_unsorted", "have_literal_numbers", "have_decnum", "lgamma_r", "import", "include"),
)
HIDING_PLACES = (
    "{}",
    ".a | {}",
    "[.. , {}]",
    "map({})",
    "def f: {}; f",
    "def f(g): g; f({})",
    'if .a then {} else "x" end',
    "{{a: if .a then 1, {}, 2 else 3 end}}",
    "{{a: {}}}",
    "{{({}): 1}}",
    "{{a: 1, (. | {}): 2}}",
    ".[{}]",
    ".[{}:]",
    ".[:{}]",
    '"\\({})"',
    '"a\\("b\\({})")"',
    '@json "x\\({})"',
    "reduce .[] as $x (0; {})",
    "foreach .[] as $x (0; 1; {})",
    "try {} catch .",
    ". as {{({}): $x}} | $x",
    "# a comment\n{}",
    "1 #{}\n, {}",
    ".a.{}? // {}",
)


def refusal(text: str, *, edits: bool = False) -> str:
    try:
        expressions.check(text, edits=edits)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("word", "place"), list(product((*UPSTREAM, *OURS), HIDING_PLACES)))
def test_a_refused_function_is_found_wherever_it_hides(word: str, place: str) -> None:
    assert f"{word} " in refusal(place.format(word, word))


@pytest.mark.parametrize("place", HIDING_PLACES)
def test_the_hiding_places_are_places_of_functions(place: str) -> None:
    TRUSTED.compile(place.format("length", "length"), edits=True)
    with pytest.raises(InputError, match="nothing_of_this_name/0 is not defined"):
        TRUSTED.compile(place.format("nothing_of_this_name", "nothing_of_this_name"), edits=True)


@pytest.mark.parametrize(
    "place",
    [
        *(".{}", ".a.{}", '."{}"', '.["{}"]', "{{{}: 1}}", "{{a: 1, {}: 2}}", "{{{}}}", '{{"{}": 1}}'),
        *("1 as ${} | ${}", ". as {{{}: $x}} | $x", "1 # {}\n", '"a\\(.{})"', 'select(.x == "{}")', "{}ed", "my_{}"),
    ],
)
@pytest.mark.parametrize("word", UPSTREAM + OURS)
def test_the_same_word_as_a_name_or_text_is_not_refused(word: str, place: str) -> None:
    assert not refusal(place.format(word, word))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("env.HOME", "env reaches outside"),
        ("$ENV", "$ENV reaches outside"),
        ("{$ENV}", "$ENV reaches outside"),
        ("$__loc__", "$__loc__ reaches outside"),
        ("{$__prog_args}", "$__prog_args reaches outside"),
        ("$ ENV", "unexpected character"),
        ("$$$$ENV", "unexpected character"),
        ("a::b", "modules"),
        ("$a::b", "$a::b reaches outside"),
        ("[.. ]", ".. may give outputs without end"),
        ("..a", ".. may give outputs without end"),
        (".a = 1", "= changes"),
        (".a |= 1", "|= changes"),
        (".a += 1", "+= changes"),
        (".a -= 1", "-= changes"),
        (".a *= 1", "*= changes"),
        (".a /= 1", "/= changes"),
        (".a %= 1", "%= changes"),
        (".a //= 1", "//= changes"),
        ('"\\(.a |= 1)"', "|= changes"),
        ("def f: f; f", "f calls itself"),
        ("def f: def g: f; g; f", "f calls itself"),
        ("def f: 1; def g(x): x | g(1); g(f)", "g calls itself"),
        ("def f: 1; def g: f; g", ""),
        (".a == 1 and .b != 2 or .c <= 3 and .d >= 4", ""),
        (".a // 1 | .b? // 2", ""),
        ("[.a] as [$x] ?// $x | $x", ""),
        ('.x == "a = b" # a = b', ""),
        ("def f(g): g | g; f(f(1))", ""),
    ],
)
def test_operators_variables_and_recursion(text: str, says: str) -> None:
    assert says in refusal(text) if says else not refusal(text)


@pytest.mark.parametrize("text", ["# a \\\n env", "# a \\\r\n env", "# a \r env"])
def test_a_comment_whose_end_is_doubtful_is_refused(text: str) -> None:
    assert "read differently" in refusal(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (".[", "[ is not closed"),
        (".a)", ") closes nothing"),
        ("[.a)", ") closes nothing"),
        ('"a\\(.b"', '" is not closed'),
        ('"abc', '" is not closed'),
        ('"abc\\', "unexpected character"),
        (".a\0b", "a character that jq cannot read"),
        ('"\ud800"', "a character that jq cannot read"),
        ("é", "unexpected character"),
        ("[" * 201 + "]" * 201, "more than 200 levels"),
        ("." + "a" * tokens.LONGEST, "longer than 64 KiB"),
        ("." + "a" * (tokens.LONGEST - 1), ""),
    ],
)
def test_what_no_jq_could_read(text: str, says: str) -> None:
    assert says in refusal(text) if says else not refusal(text)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        (".a |= 1 | del(.b) | .c //= 2", True),
        ("[range(3)] | map(.. | numbers)", True),
        ("walk(.) | [paths] | [recurse]", True),
        ("[repeat(1)]", False),
        ("def f: f; f", False),
        (".a = env.HOME", False),
        (".a = $ENV", False),
        ("until(. > 3; . + 1)", False),
    ],
)
def test_programs_that_may_edit_still_stay_inside_and_end(text: str, allowed: bool) -> None:
    assert bool(refusal(text, edits=True)) is not allowed


def test_all_faults_come_at_once_and_each_shows_its_place() -> None:
    with pytest.raises(InputError) as raised:
        expressions.check(".a\n | del(.b) | env")
    assert [(fault.message.split()[0], fault.hint) for fault in raised.value.faults] == [
        ("del", " | del(.b) | env\n       ^"),
        ("env", " | del(.b) | env\n                 ^"),
    ]


def test_a_caret_in_a_long_line_shows_only_what_is_near() -> None:
    shown = tokens.caret("." + "a" * 500 + " | del(.b) | ." + "c" * 500, 504)
    line, mark = shown.split("\n")
    assert len(line) <= 100
    assert line[mark.index("^") - 4 :].startswith("del(.b)")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (".a | now", "depends on the clock"),
        ("localtime", "depends on the clock"),
        ('strptime("%Y")', "differently in upstream's jq"),
        ("@base64d", "differently in upstream's jq"),
        ("{b: 1, a: 2} | tojson", "another order"),
        ('"\\({b: 1})" | @json', "another order"),
        ('test("a(?=b)")', "look-around"),
        ('sub("(a)\\\\1"; "b")', "look-around"),
        ('"(?=" | length', ""),
        (".now", ""),
        (".a | tojson", ""),
        ('test("a(?:b)")', ""),
    ],
)
def test_warnings_of_what_upstreams_jq_answers_differently(text: str, says: str) -> None:
    found = [fault.message for fault in expressions.warnings(text)]
    assert [says in message for message in found] == ([True] if says else [])


@pytest.mark.parametrize(
    ("text", "shortens"),
    [
        (".a[].b // 1", True),
        ("(.x // 1) * (.a[].b // 1)", True),
        ("(.a[]) // 1", True),
        (".a[]?", True),
        (".a[] | select(.b)", True),
        (".a[] | .b // empty", True),
        (".a[] | .b // 1", False),
        (".a[] | (.b // 1) * (.c // 2)", False),
        ("[.a[].b] // 1", False),
        (".a // []", False),
        (".a[0] // 1", False),
        (".a.b", False),
        (".a.select", False),
    ],
)
def test_paths_that_can_give_fewer_values_than_they_visit(text: str, shortens: bool) -> None:
    assert expressions.may_shorten(text) is shortens


@pytest.mark.parametrize(("text", "outside"), [(".a // .b", True), ("(.a // .b)", False), ('."//"', False)])
def test_an_alternative_outside_all_brackets(text: str, outside: bool) -> None:
    assert expressions.has_alternative(text) is outside


PIECES = st.sampled_from(
    [
        *(
            "env",
            "$ENV",
            ".",
            ".a",
            ".env",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            ",",
            ":",
            "|",
            ";",
            '"',
            "\\(",
            "#",
            "\n",
            "\\",
        ),
        *(
            "if",
            "then",
            "else",
            "end",
            "def f:",
            "as $x",
            "1",
            "//",
            "?//",
            "==",
            "@json ",
            " ",
            "$",
            "..",
            "try",
            "\r",
        ),
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    refusal(text)


WRAPPINGS = st.sampled_from(
    [
        *("{}", "({})", "[{}]", '"\\({})"', "{{a: {}}}", "{{({}|tostring): 1}}", "if {} then 1 else 2 end", "try {}"),
        *("{{a: if true then 1, {}, 2 else 3 end}}", ".[{}]?", ".[{}:]?", ". as $x | {}", "def f: {}; f", "#\n{}"),
        *("1 as $x | {} , $x", '@text "x\\({})"', "{{a: ({}), b: 2}}", "first({})", "reduce {} as $x (0; $x)"),
        *("{{{}}}", "{{a: 1, {}}}", "{{{}: 1}}", '."{}"', ".{}", "1 # {}\n", '"{}"', "{{a: {} | tojson}}", ".a, {}"),
        "{}.SECRET?",
    ]
)
LEAVES = st.sampled_from(["env", "$ENV", "env.SECRET", "$ENV.SECRET", "$__loc__", "env|tojson", "{env}", ".a", '"x"'])


@settings(max_examples=400, deadline=None)
@given(st.lists(WRAPPINGS, max_size=4), LEAVES)
def test_what_is_allowed_never_shows_the_environment(wrappings: list[str], text: str) -> None:
    for wrapping in wrappings:
        text = wrapping.format(text)
    os.environ["SECRET"] = "hunter2"
    try:
        seen = repr(TRUSTED.evaluate(text, prepare({"a": 1})))
    except InputError as error:
        seen = str(error)
    finally:
        del os.environ["SECRET"]
    assert "hunter2" not in seen
