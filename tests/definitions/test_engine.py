"""The contract of one evaluation (definitions.md 4.1 to 4.4)."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.definitions.engine import MOST_OUTPUTS, TRUSTED, Engine, prepare
from advisor.definitions.sandbox import SANDBOX
from advisor.errors import InputError

both = pytest.mark.parametrize("engine", [TRUSTED, SANDBOX], ids=["direct", "sandbox"])


def failure(engine: Engine, text: str, document: Any = None, **options: Any) -> str:
    with pytest.raises(InputError) as raised:
        engine.evaluate(text, prepare(document), **options)
    return str(raised.value)


@both
@pytest.mark.parametrize(
    ("text", "document", "outputs"),
    [
        (".a[]", {"a": [1, None, 4]}, [1, None, 4]),
        (".a[]?", {}, []),
        (".a.b.c", {}, [None]),
        (".a[] // 7", {"a": [None, 4, None]}, [4]),  # // drops nulls of a stream
        (".a[] // 7", {"a": [None, None]}, [7]),
        (".a[] | (. // 7)", {"a": [None, 4]}, [7, 4]),
        ("null + 1, (null > 0)", None, [1, False]),
        ('"x" | tonumber?', None, []),
        ("{requests: .a}", {"a": 1}, [{"requests": 1}]),
        (".[] | .x", {"z": {"x": 1}, "a": {"x": 2}}, [2, 1]),  # by key, not as written
        ("to_entries[].key", {"z": 1, "a": 2}, ["a", "z"]),
        (".a | tostring", {"a": 2.0}, ["2"]),
        (".a | tojson", {"a": [1e2, {"b": 3.0}]}, ['[100,{"b":3}]']),
        ("env_, .input", {"input": 1}, None),
        ('# nothing but a comment at the end\n.a # "', {"a": 1}, [1]),
    ],
)
def test_outputs(engine: Engine, text: str, document: Any, outputs: list[Any] | None) -> None:
    if outputs is None:
        assert "not valid jq" in failure(engine, text, document)
    else:
        assert engine.evaluate(text, prepare(document)) == outputs


@both
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".a[]", "Cannot iterate over null (null)"),
        (".a[] // 1", "Cannot iterate over null (null)"),  # // does not hide an error
        ("null * 2", "null (null) and number (2) cannot be multiplied"),
        ("1, 2, error", "an error of its own"),  # what came before an error is not an answer
        ('error("x\\ny")', "x y"),
        ("nan", "not finite"),
        ("[1, {a: [nan]}]", "not finite"),
        ("infinite", "not finite"),
        ("1e1000", "not finite"),
    ],
)
def test_an_error_is_the_whole_answer(engine: Engine, text: str, message: str) -> None:
    assert message in failure(engine, text)


@both
def test_999_outputs_pass_and_1000_do_not(engine: Engine) -> None:
    document = prepare({"a": list(range(MOST_OUTPUTS)), "b": list(range(MOST_OUTPUTS + 1))})
    assert len(engine.evaluate(".a[]", document)) == 999
    with pytest.raises(InputError, match="more than 999 outputs"):
        engine.evaluate(".b[]", document)


@both
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".a |", "not valid jq: unexpected end of expression\n    .a |\n       ^"),
        ("spec.x", "not valid jq: spec/0 is not defined\n    spec.x\n    ^\n    a field begins with a dot: .spec"),
        (".a |\n foo(1)", "not valid jq: foo/1 is not defined\n     foo(1)\n     ^"),
        ('"é€" | foo(1)', 'not valid jq: foo/1 is not defined\n    "é€" | foo(1)\n           ^'),
        ("$id", "not valid jq: $id is not defined\n    $id\n    ^"),
        ("", "not valid jq"),
        (".a) | (.b", ") closes nothing\n    .a) | (.b\n      ^"),
        ("def f: 1;", "not valid jq"),
    ],
)
def test_what_does_not_compile_says_where(engine: Engine, text: str, message: str) -> None:
    assert failure(engine, text) == message
    with pytest.raises(InputError):
        engine.compile(text)


@both
def test_variables_are_given_with_the_document(engine: Engine) -> None:
    document = prepare({"a": {"x": 1, "y": 2}})
    for name, value in (("x", 1), ("y", 2)):
        assert engine.evaluate(".a[$id], $more[]", document, variables={"id": name, "more": [None]}) == [value, None]
    engine.compile(".a[$id]", names=["id"])
    assert "$id is not defined" in failure(engine, ".a[$id]", variables={"other": 1})


@both
def test_a_program_that_edits_makes_a_new_object(engine: Engine) -> None:
    document = prepare({"spec": {"replicas": 0}})
    text = ".spec.replicas //= 1 | .spec.size //= $size | .spec.list = [range(2)]"
    edited = engine.evaluate(text, document, variables={"size": 3}, edits=True)
    assert edited == [{"spec": {"replicas": 0, "size": 3, "list": [0, 1]}}]
    assert document.data == {"spec": {"replicas": 0}}
    assert "//= changes the object" in failure(engine, text, variables={"size": 3})
    assert "env reaches outside" in failure(engine, ".a = env", edits=True)


def test_a_long_error_of_jq_is_cut() -> None:
    assert len(failure(TRUSTED, f'error("{"x" * 5000}")')) == 200


def test_a_document_is_written_down_sorted_and_with_whole_numbers() -> None:
    assert prepare({"b": 1.0, "a": [2.5, {"d": 1e3, "c": None}]}).text == '{"a":[2.5,{"c":null,"d":1000}],"b":1}'


@both
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".a | keys", "string has no keys"),
        (".a + .b", "string and array cannot be added"),
        (".c[.a]", "Cannot index number with text"),
        (".a.x", 'Cannot index string with string ("x")'),  # the key is the expression's own
        ("1 + .b", "number and array cannot be added"),
        (".a | fromjson", "Invalid numeric literal at line 1, column 8"),
    ],
)
def test_an_error_tells_nothing_of_the_document(engine: Engine, text: str, message: str) -> None:
    found = failure(engine, text, {"a": 'hunter2") and string', "b": ["hunter2"], "c": 1})
    assert message in found
    assert "hunter2" not in found


SECRETS = {"s": "hunter2", "n": 7, "a": ["hunter2"], "o": {"hunter2": "hunter2"}, "d": '{"hunter2', "r": "hunter2("}
CALLS = (
    "error",
    "fromjson",
    "tonumber",
    "keys",
    "@sh",
    "@base64d",
    "fromdate",
    "implode",
    "min_by(.x)",
    "tojson | error",
)
ABOUT = ("strptime({})", "format({})", "test({})", "splits({}; {})", "has({})", "ltrimstr({}) | error", "path({})")


@both
@pytest.mark.parametrize(
    "call", [*CALLS, *ABOUT, "error({{a: {}}})", ". + {}", ".[{}]", "match({}; {})", '@text "\\({})" | error']
)
def test_no_function_repeats_a_value_in_its_error(engine: Engine, call: str) -> None:
    document = prepare(SECRETS)
    messages = []
    for one in SECRETS:
        for other in SECRETS:
            text = f". as $o | .{one} | {call.format(*[f'$o.{other}'] * 2)}"
            try:
                engine.evaluate(text, document)
            except InputError as error:
                messages.append(str(error))
    assert [message for message in messages if "hunter2" in message] == []
    assert messages


@both
def test_an_author_may_say_what_is_wrong_in_words_of_the_expression(engine: Engine) -> None:
    assert failure(engine, 'error("wants a size")', {}) == "wants a size"
    assert "whose text is not shown" in failure(engine, "error(.a)", {"a": "hunter2"})
