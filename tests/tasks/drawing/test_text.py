import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outlive.printable import one_line
from outlive.tasks.drawing.text import cells, pixels, shorten, wrap
from tests.tasks.drawing.plans import characters


@pytest.mark.parametrize(
    ("text", "width"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("🎉", 2), ("☎️", 2), ("👩‍👧", 2), ("", 0)]
)
def test_cells_counts_the_columns_of_a_terminal(text: str, width: int) -> None:
    assert cells(text) == width


def test_wide_characters_are_estimated_wide() -> None:
    assert pixels("漢字漢字") > 1.5 * pixels("abcd")


@given(st.text(characters), st.integers(1, 30))
def test_a_shortened_text_fits(text: str, room: int) -> None:
    assert cells(shorten(text, room)) <= room


@example("0000\ufe0f\ufe0f", 2, 3)
@example("0000\u0301\ufe0f\u0301\ufe0f", 2, 3)
@given(st.text(characters), st.integers(2, 30), st.integers(1, 4))
def test_wrapped_lines_fit_and_lose_nothing_but_the_end(raw: str, room: int, lines: int) -> None:
    text = one_line(raw)
    wrapped = wrap(text, room, lines)
    assert len(wrapped) <= lines
    assert all(cells(line) <= room + 1 for line in wrapped)
    kept = "".join(wrapped).replace(" ", "")
    assert kept == text.replace(" ", "") or text.replace(" ", "").startswith(kept.removesuffix("…"))


def test_lines_break_between_words_and_inside_words_that_are_too_long() -> None:
    assert wrap("write the parser", 9, 3) == ["write the", "parser"]
    assert wrap("internationalisation", 8, 2) == ["internat", "ionalis…"]
    assert wrap("漢字漢字", 5, 2) == ["漢字", "漢字"]


def test_a_wrapped_line_has_room_for_what_widens_its_last_character() -> None:
    text = "00000\N{VARIATION SELECTOR-16}"
    assert cells(text) == 6
    assert [cells(line) for line in wrap(text, 5, 2)] == [4, 2]
    assert wrap(text, 6, 2) == [text]
