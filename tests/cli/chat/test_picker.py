"""Choosing from a list: the search, the drawing in any size, and the same by number on plain lines."""

import asyncio
from collections.abc import Iterable

import pytest
from rich.cells import cell_len

from outlive.cli.chat.picker import PickerRow
from outlive.cli.chat.picker.by_line import pick_by_line
from outlive.cli.chat.picker.rows import RowSearch
from outlive.cli.chat.picker.widget import drawn

ROWS = [
    PickerRow("Fix the parser", "2 h ago", "a", "It splits\nat the first colon."),
    PickerRow("Write docs", "1 day ago", "b", "All of them.", current=True),
    PickerRow("修正 the wide one", "now", "c", key="hidden-id"),
]


def shown(search: RowSearch, columns: int = 60, rows: int = 24) -> list[str]:
    return "".join(text for _, text, *_ in drawn(search, columns, rows)).split("\n")


def test_the_row_in_use_is_highlighted_first_and_stays_marked() -> None:
    search = RowSearch(ROWS)
    assert search.highlighted is ROWS[1]
    search.move(-5)
    assert search.highlighted is ROWS[0]
    assert shown(search)[1].startswith("· Write docs")


def test_every_word_of_the_search_has_to_be_in_a_row() -> None:
    search = RowSearch(ROWS)
    search.search("THE 2")
    assert search.found == [ROWS[0]]
    search.search("hidden")
    assert search.found == [ROWS[2]]
    search.search("nothing like this")
    assert search.highlighted is None
    assert "nothing matches" in shown(search)[-1]
    search.search("")
    assert search.highlighted is ROWS[1]


def test_the_preview_is_read_once_and_only_for_the_highlighted_row() -> None:
    read: list[str] = []

    def preview(name: str) -> str:
        read.append(name)
        return f"\x1b]0;owned\x07{name}"

    search = RowSearch([PickerRow(name, preview=lambda name=name: preview(name)) for name in "abc"])  # type: ignore[misc]
    assert "\x1b" not in search.preview()
    search.preview()
    assert read == ["a"]


@pytest.mark.parametrize(("columns", "rows"), [(20, 8), (39, 12), (79, 24), (120, 24), (199, 60), (60, 3)])
def test_it_fits_every_terminal(columns: int, rows: int) -> None:
    many = [PickerRow("row 修正 " * (n % 7 + 1), "detail " * 5, n, "preview 表示 " * 30) for n in range(40)]
    lines = shown(RowSearch(many), columns, rows)
    assert all(cell_len(line) <= columns for line in lines)
    assert len(lines) <= max(2, rows)


def test_the_preview_is_beside_the_list_where_there_is_room() -> None:
    search = RowSearch(ROWS)
    search.move(-1)
    assert any("Fix the parser" in line and "│ It splits" in line for line in shown(search, 120))
    narrow = shown(search, 60)
    assert "  │ It splits" in narrow
    assert not any("Fix" in line and "It splits" in line for line in narrow)


def test_a_label_cannot_break_out_of_its_line() -> None:
    search = RowSearch([PickerRow("one\ntwo\x1b[2J", "a\rb")])
    lines = shown(search)
    assert len(lines) == 2
    assert "\x1b" not in lines[0]


def by_line(answers: Iterable[str | None]) -> tuple[PickerRow | None, list[str]]:
    written: list[str] = []
    coming = iter(answers)

    async def read() -> str | None:
        return next(coming)

    return asyncio.run(pick_by_line("session", ROWS, read, written.append)), written


def test_on_plain_lines_a_number_chooses() -> None:
    row, written = by_line(["1"])
    assert row is ROWS[0]
    assert written[:3] == ["session:", "1. Fix the parser, 2 h ago", "2. Write docs, 1 day ago, in use now"]


@pytest.mark.parametrize("answer", ["", None])
def test_on_plain_lines_nothing_chooses_nothing(answer: str | None) -> None:
    assert by_line([answer])[0] is None


def test_on_plain_lines_words_search_until_one_is_left() -> None:
    assert by_line(["parser"])[0] is ROWS[0]
    row, written = by_line(["xyz", "9", "the", "2"])
    assert row is ROWS[2]
    assert "nothing has 'xyz' in it" in written
    assert "there is no number 9 in the list" in written
