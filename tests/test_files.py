"""YAML and JSON as kubectl reads them, and faults with their line."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import files
from advisor.errors import InputError
from advisor.files import Document, Source


def parsed(text: str) -> list[Document]:
    return files.documents(Source("a.yaml", text))


def value(text: str) -> Any:
    (document,) = parsed(text)
    return document.data


def fault(text: str) -> tuple[int | None, str]:
    with pytest.raises(InputError) as error:
        parsed(text)
    (one,) = error.value.faults
    assert one.where
    return one.where.line, one.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", True),
        ("Off", False),
        ("y", True),
        ("~", None),
        ("010", 8),
        ("0o10", 8),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e3", 1000),
        ("1.50", 1.5),
        ("1.0e+999", "1.0e+999"),
        ("-1e999", "-1e999"),
        ("9" * 400, "9" * 400),
        ("-" + "9" * 80, -1e80),
        ("0x" + "f" * 80, "0x" + "f" * 80),
        ("8Gi", "8Gi"),
        ("1:30", "1:30"),
        ("2026-11-30", "2026-11-30"),
        ('"010"', "010"),
        ("!!str 8", "8"),
        ("", "EMPTY"),
    ],
)
def test_scalars_are_those_of_kubectl(text: str, expected: object) -> None:
    """go-yaml v2's rules, with whole floats as integers, as Go prints them."""
    found = value(f"a: {text}\nb: EMPTY")["a"]
    assert found == (None if expected == "EMPTY" else expected)
    assert type(found) is type(None if expected == "EMPTY" else expected)


def test_json_is_read_as_json_and_flow_style_as_yaml() -> None:
    assert value('{"a": [1, 2.0, null], "y": "n"}') == {"a": [1, 2, None], "y": "n"}
    assert value('{"a": 1e999, "b": 1e3}') == {"a": "1e999", "b": 1000}
    assert value("{a: [1, yes]}") == {"a": [1, True]}


def test_merges_and_aliases() -> None:
    text = "base: &base {a: 1, b: 2}\nnext: {<<: *base, b: 3}\nboth: {<<: [*base, {c: 4}]}\n"
    found = value(text)
    assert (found["next"], found["both"]) == ({"a": 1, "b": 3}, {"a": 1, "b": 2, "c": 4})


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb: ]", 2, "is not YAML"),
        ("a:\n\tb: 1", 2, "is not YAML"),
        ("a: 1\nb: 2\na: 3", 3, 'the key "a" stands twice'),
        ('{"a": 1,\n "a": 2}', 2, 'the key "a" stands twice'),
        ("a: *x", 1, "refers to *x"),
        ("# a comment\n%YAML 1.1\n---\na: 1", 2, "begins with a directive"),
        ("%TAG ! tag:example.com,2000:\n---\na: 1", 1, "begins with a directive"),
        ("a: &x\n  b: *x", 2, "contains itself"),
        ("a: .inf", 1, "is not a number"),
        ("? [a]\n: 1", 1, "has a key that is no text"),
        ("a: !!int x", 1, "cannot be used here"),
        ("a: " + "[" * 200 + "]" * 200, 1, "nested more than"),
    ],
)
def test_faults_have_their_line(text: str, line: int, part: str) -> None:
    found, message = fault(text)
    assert found == line
    assert part in message


@pytest.mark.parametrize("tag", ["!mine", "!!python/object", "!<tag:example.com,2000:mine>"])
def test_a_tag_that_nobody_knows_makes_text_as_kubectl_has_it(tag: str) -> None:
    assert value(f"a: {tag} 2\nb: {tag} true\nc: {tag} [1]\nd: {tag} {{e: f}}") == {
        "a": "2",
        "b": "true",
        "c": [1],
        "d": {"e": "f"},
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_decoded_as_kubectl_does_it(encoding: str) -> None:
    assert value(files.decode("a: é".encode(encoding), "a.yaml").text) == {"a": "é"}


def test_what_is_no_utf_8_is_replaced_as_kubectl_does_it() -> None:
    assert value(files.decode("# café\na: é".encode("latin-1"), "a.yaml").text) == {"a": "\ufffd"}


def test_aliases_that_grow_without_end_are_refused_before_they_do() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    _, message = fault("\n".join(lines))
    assert "expands to more than" in message


def test_documents_keep_their_lines_and_empty_ones_are_left_out() -> None:
    found = parsed("a: 1\n---\n---\n# nothing\n---\nb:\n  c: 2\n")
    assert [(one.data, one.where.line) for one in found] == [({"a": 1}, 1), ({"b": {"c": 2}}, 6)]
    assert found[1].line(("b", "c")) == 7
    assert found[1].line(("b", "not", "there")) == 6


LIST = """\
kind: List
items:
- kind: A
  spec:
    n: 1
- {kind: B,
   spec: {n: 2}}

- kind: C
  spec: {n: 3}
"""


def test_members_of_a_list_have_their_lines() -> None:
    (document,) = parsed(LIST)
    members = document.members("items")
    assert [(one.data["kind"], one.where.line) for one in members] == [("A", 3), ("B", 6), ("C", 9)]
    assert [one.line(("spec", "n")) for one in members] == [5, 7, 10]


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 3))
def test_members_are_found_in_one_pass_where_a_pass_for_each_finds_them(depths: list[int], before: int) -> None:
    items = "".join(
        f"- name: m{n}\n" + "".join(f"  k{k}: {{a: [1, 2]}}\n" for k in range(d)) for n, d in enumerate(depths)
    )
    (document,) = parsed("# a comment\n" * before + f"kind: List\nitems:\n{items}" + ("" if items else "  []\n"))
    one_by_one = [document.member(item, "items", n) for n, item in enumerate(document.data["items"])]
    assert [one.where for one in document.members("items")] == [one.where for one in one_by_one]


def test_compressed_or_not(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.yaml", tmp_path / "a.yaml.gz"
    plain.write_text("a: 1")
    packed.write_bytes(gzip.compress(b"a: 1"))
    assert files.read(str(plain)).text == files.read(str(packed)).text == "a: 1"


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "bomb.yaml.gz"
    packed.write_bytes(gzip.compress(b" " * (files.MANIFEST_LIMIT + 10)))
    with pytest.raises(InputError, match="is larger than"):
        files.read(str(packed))


def test_what_is_dumped_is_read_back() -> None:
    data = {"a": ["yes", "010", 1.5, None, "multi\nline", ""], "b": {"c": True}}
    assert value(files.dump(data)) == data
