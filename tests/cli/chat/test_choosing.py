"""Lists at a real terminal: sessions, models, modes, earlier prompts; and the search in what was said."""

from pathlib import Path

import pytest

from tests.cli.chat.test_terminal import Open, pytestmark, transcript

__all__ = ["pytestmark"]


def test_a_session_is_found_by_typing_and_opened(terminal: Open) -> None:
    window = terminal("quick")
    window.type("paint the house")
    window.until("First.")
    window.type("/new")
    window.until("goes on with this session")
    window.type("water the plants")
    window.when(lambda shown: shown.count("First.") == 2, "the second answer")
    window.type("/resume")
    assert "│ > water the plants" in window.until("1 of 2 ·")
    window.keys("p", "a", "i", "n", "t")
    shown = window.until("1 of 1 ·")
    assert "▸ paint the house" in shown
    assert "│ > paint the house" in shown
    window.keys("Enter")
    shown = window.until("resumed ·")
    assert "Enter takes" not in shown


def test_escape_and_ctrl_c_leave_a_list_and_nothing_else(terminal: Open) -> None:
    window = terminal("quick")
    for key in ("Escape", "C-c", "C-d"):
        window.type("/mode")
        window.until("permission mode:")
        window.keys(key)
        window.when(lambda shown: "permission mode:" not in shown and "\n>" in shown, "the input is back")
    assert "Ctrl-C again leaves" not in window.screen()
    window.type("still here")
    window.until("First.")


def test_a_mode_is_chosen_with_what_it_allows(terminal: Open) -> None:
    window = terminal("quick", columns=60)
    window.type("/mode")
    window.until("Edits and commands are asked")
    window.keys("Down", "Down")
    window.until("refused, whatever")
    window.keys("Enter")
    window.until("next pass at 27k · plan")


def test_a_model_is_chosen_from_those_that_are_known(terminal: Open) -> None:
    window = terminal("models", columns=120)
    window.type("/model")
    shown = window.until("▸ scripted:sonnet")
    assert "in use" in shown
    window.keys("o", "p", "u", "s")
    shown = window.until("1 of 1 ·")
    assert "scripted:opus  Tests · 300k window · $3 in, $15 out" in shown
    assert "│ dollars a million tokens: 3 input" in shown
    window.keys("Enter")
    window.until("going on with scripted:opus")


def test_an_earlier_prompt_is_edited_and_sent_again(terminal: Open, tmp_path: Path) -> None:
    window = terminal("quick")
    window.type("paint the hose")
    window.until("First.")
    window.type("thank you")
    window.until("Second.")
    window.type("/edit")
    window.until("▸ thank you")
    window.keys("Down")
    window.until("▸ paint the hose")
    window.keys("Enter")
    window.until("the conversation is as before 'paint the hose'")
    window.keys("BSpace", "BSpace", "BSpace")
    window.type("ouse")
    window.when(lambda _: "paint the house" in transcript(tmp_path), "the changed prompt in the log")
    assert "Undone" in transcript(tmp_path)


def test_escape_twice_goes_back_to_before_a_message(terminal: Open, tmp_path: Path) -> None:
    window = terminal("quick")
    window.type("paint the house")
    window.until("First.")
    window.type("/continue")
    window.until("nothing was cut off")  # it rests
    window.keys("Escape")
    window.keys("Escape")
    window.until("▸ paint the house")
    window.keys("Enter")
    window.until("▸ conversation and files")
    window.keys("Down")
    window.until("▸ conversation ")
    window.keys("Enter")
    window.until("the conversation is as before 'paint the house'")
    window.until("\n> paint the house\n")
    assert "Undone" in transcript(tmp_path)


@pytest.mark.parametrize("size", [(40, 12), (200, 50)])
def test_a_list_fits_narrow_and_wide_windows(terminal: Open, size: tuple[int, int]) -> None:
    window = terminal("quick", columns=size[0], rows=size[1])
    window.type("/mode")
    shown = window.until("1 of 4")
    assert all(f" {mode}" in shown for mode in ("accept-edits", "plan", "bypass"))
    assert shown.count("1 of 4") == 1
    window.keys("Escape")
    window.when(lambda shown: "1 of 4" not in shown, "gone")


def test_the_help_is_readable_in_forty_columns(terminal: Open) -> None:
    window = terminal("quick", columns=40, rows=20)
    window.type("/help")
    shown = window.until("Shift+Tab")
    assert "/model [PROVIDER:NAME] [EFFORT]\n  show or change the model" in shown
    assert "/rewind [EVENT [files|conversation]]\n" in shown


def test_ctrl_c_leaves_the_search_and_nothing_else(terminal: Open) -> None:
    window = terminal("quick")
    window.type("first words")
    window.until("First.")
    window.type("second words")
    window.until("Second.")
    window.keys("C-r", "f", "i", "r", "s", "t")
    window.until("> first words\n")
    window.keys("C-c")
    shown = window.when(lambda shown: "I-search" not in shown, "search is over")
    assert "Ctrl-C again leaves" not in shown
    window.keys("C-r", "w", "o", "r", "d", "s")
    window.until("\n> second words\n")
    window.keys("Enter", "C-c")
    window.until("Ctrl-C again leaves")
