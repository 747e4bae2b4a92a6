"""Finished lines: never too wide, calm, and with nothing left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from outlive.cli.chat.render.cards import Card, headline
from outlive.cli.chat.render.item import Hanging, Item, Rhythm
from outlive.cli.chat.render.markdown import Prose
from outlive.cli.chat.render.paint import Painter
from outlive.events import ToolFinished
from outlive.messages import ToolCall


def shown(text: str, width: int = 60) -> list[str]:
    return Painter(width, "plain").lines(Prose(text))


@given(st.text("ab 漢字🎉-*`#|\n", max_size=120), st.integers(20, 80))
def test_no_line_is_wider_than_the_window(text: str, width: int) -> None:
    painter = Painter(width, "plain")
    call = ToolCall("1", "bash", {"command": text})
    result = ToolFinished(id=1, time=0.0, call_id="1", text=text, exit_code=1, is_error=True)
    for thing in (Prose(text), Hanging("> ", Text(text)), Card(call, result)):
        assert all(cell_len(line) <= width for line in painter.lines(thing))


def test_code_is_highlighted_and_indented() -> None:
    lines = Painter(60).lines(Prose("```python\ndef f():\n    return 1\n```"))
    assert Painter(60, "plain").lines(Prose("```python\ndef f():\n    return 1\n```")) == [
        "  def f():",
        "      return 1",
    ]
    assert "\x1b[" in lines[0]


def test_code_in_an_unknown_language_is_shown_all_the_same() -> None:
    assert shown("```klingon\nqapla\n```") == ["  qapla"]


def test_tags_pictures_and_definitions_stay_visible() -> None:
    text = (
        "Vec<T> and <b>x</b>\n\n<details>\nhidden\n</details>\n\n[ref]: http://example.org\n\n![pic](http://a/b.png)"
    )
    joined = "\n".join(shown(text))
    for part in ("Vec<T>", "<b>x</b>", "<details>", "hidden", "[ref]: http://example.org", "http://a/b.png"):
        assert part in joined


def test_a_link_shows_where_it_leads() -> None:
    assert shown("[the bank](http://evil.example)") == ["the bank (http://evil.example)"]


def test_line_ends_of_an_answer_stay() -> None:
    assert shown("one\ntwo") == ["one", "two"]


@pytest.mark.parametrize("look", ["none", "plain"])
def test_without_colour_there_is_none(look: str) -> None:
    lines = Painter(60, look).lines(Text("x", "bold red"))  # type: ignore[arg-type]
    assert lines == (["\x1b[1mx\x1b[0m"] if look == "none" else ["x"])


def test_cards_stand_close_and_words_have_air() -> None:
    rhythm = Rhythm()
    kinds = ["user", "answer", "card", "card", "note", "answer", "answer"]
    gaps = [rhythm.gap(Item(kind, "")) for kind in kinds]  # type: ignore[arg-type]
    assert gaps == [False, True, True, False, False, True, True]


def test_a_very_long_block_is_shown_as_it_was_written() -> None:
    text = "- **item**\n" * 8_000
    assert Painter(60, "plain").lines(Prose(text)) == text.strip().splitlines()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"pattern": "def main", "path": "src"}, "def main in src"),
        ({"pattern": "*.py"}, "*.py"),
        ({"pattern": 3, "path": "src"}, "src"),
        ({"command": "ls", "path": "src"}, "ls"),
    ],
)
def test_a_search_is_shown_with_what_it_looks_for(given: dict[str, object], shown: str) -> None:
    assert headline(ToolCall("c", "grep", given), 60, "●", "good").plain == f"● grep {shown}"
