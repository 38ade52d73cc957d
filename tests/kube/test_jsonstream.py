"""Objects are found in any JSON text, wherever the text is cut into blocks."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.kube import jsonstream
from advisor.kube.jsonstream import Found, MalformedError

SCALARS = st.none() | st.booleans() | st.integers() | st.text(alphabet=st.sampled_from('a"\\[]{},é\n'), max_size=8)
OBJECTS = st.dictionaries(
    st.sampled_from(["a", "items", 'q"', "x]"]),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3)
    ),
    max_size=4,
).filter(lambda found: not isinstance(found.get("items"), list))


def found(text: bytes, block: int = jsonstream.BLOCK) -> list[Found]:
    stream = io.BytesIO(text)
    return list(jsonstream.objects(lambda _: stream.read(block)))


def parsed(text: bytes, block: int = jsonstream.BLOCK) -> list[Any]:
    return [json.loads(one.body) for one in found(text, block)]


@given(st.lists(OBJECTS, max_size=4), st.sampled_from([None, 1, 4]), st.integers(1, 40), st.booleans())
def test_lists_arrays_and_single_objects(items: list[Any], indent: int | None, block: int, ascii_only: bool) -> None:
    def text(value: Any) -> bytes:
        return json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()

    listed = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"x": "]}"}}
    assert parsed(text(listed), block) == items
    assert parsed(text(items), block) == items
    assert parsed(b"\n".join(map(text, items)), block) == items
    assert parsed(text(listed) + b"\n---\n" + text(listed), block) == items * 2


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.integers(1, 40))
def test_offsets_say_where_an_object_begins(items: list[Any], block: int) -> None:
    text = json.dumps({"kind": "PodList", "items": items}, indent=2).encode()
    for one in found(text, block):
        assert text[one.offset : one.offset + len(one.body)] == one.body
        assert json.loads(one.list_head) == {"kind": "PodList", "items": 0}


def test_only_the_items_at_the_top_are_a_list() -> None:
    inner = {"metadata": {"items": [1, {"items": [{}]}]}}
    assert parsed(json.dumps(inner).encode()) == [inner]
    assert parsed(json.dumps({"items": {"a": 1}}).encode()) == [{"items": {"a": 1}}]
    assert parsed(json.dumps({"x": [{"a": 1}], "items": [inner], "y": [{}]}).encode()) == [inner]


@pytest.mark.parametrize("text", [b"", b"  \n", b"\xef\xbb\xbf\n", b"---\n", b"[]", b'{"items": []}'])
def test_nothing_in_it(text: bytes) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text", [b'{"a": 1', b'{"items": [{}]', b'{"items": [{', b"{}}", b"{} x {}", b"[{} 3 {}]", b'{"a": "', b"3", b"]"]
)
@pytest.mark.parametrize("block", [1, jsonstream.BLOCK])
def test_what_is_no_json(text: bytes, block: int) -> None:
    with pytest.raises(MalformedError) as caught:
        found(text, block)
    assert 0 <= caught.value.offset <= len(text)


def test_an_object_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonstream, "LARGEST_OBJECT", 1 << 20)
    with pytest.raises(MalformedError, match="holds an object of more than 1 MiB"):
        found(b'[{"a": "' + b"x" * (2 << 20) + b'"}]', 4096)
