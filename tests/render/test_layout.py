from __future__ import annotations

from advisor.render.layout import Cell, grid, paragraph
from advisor.render.style import BOLD, GREEN, Style, visible


def drawn(*rows: list[Cell], width: int | None = None, indent: str = "", color: bool = False) -> list[str]:
    return list(grid(rows, Style(width, color), indent))


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert drawn([Cell("a"), Cell("10", right=True), Cell("why")], [Cell("long"), Cell("9", right=True), Cell("")]) == [
        "a     10  why",
        "long   9",
    ]


def test_no_rows_are_no_lines() -> None:
    assert drawn() == []


def test_the_last_column_hangs_under_itself() -> None:
    assert drawn([Cell("name"), Cell("one two three four five six seven")], width=30) == [
        "name  one two three four five",
        "      six seven",
    ]


def test_the_last_column_goes_below_where_the_others_leave_no_room() -> None:
    long = "gke_project_europe-west4-a_training"
    assert drawn([Cell(long), Cell("one two three four five six seven eight")], width=50) == [
        long,
        "      one two three four five six seven eight",
    ]


def test_a_short_last_column_stays_beside_the_others() -> None:
    assert drawn([Cell("x" * 40), Cell("12")], width=50) == ["x" * 40 + "  12"]


def test_words_are_never_cut() -> None:
    word = "spec.template.spec.containers[0].resources.limits"
    assert list(paragraph(f"see {word} now", Style(30))) == ["see", word, "now"]


def test_without_a_width_a_record_is_a_line() -> None:
    assert drawn([Cell("name"), Cell("word " * 100 + "end")]) == ["name  " + "word " * 100 + "end"]


def test_colours_do_not_count_as_width() -> None:
    first, second = drawn([Cell("a", GREEN), Cell("b", BOLD)], [Cell("aaa"), Cell("b")], color=True)
    assert first == "\x1b[32ma\x1b[0m    \x1b[1mb\x1b[0m"
    assert second == "aaa  b"


def test_control_characters_are_written_out() -> None:
    assert visible("a\x1b[31mb\x00\u202e") == "a\\x1b[31mb\\x00\\u202e"
    assert drawn([Cell("two\nlines\x07"), Cell("x")]) == ["two lines\\x07  x"]
