"""Text of models, tools and files cannot do anything to the terminal."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from outlive.cli.chat.question import asked, preview
from outlive.cli.chat.render.cards import Card
from outlive.cli.chat.render.markdown import Prose
from outlive.cli.chat.render.paint import Look, Painter
from outlive.events import ToolFinished
from outlive.messages import ToolCall
from outlive.printable import clean, clean_output, one_line
from outlive.tools.permissions.asking import PermissionQuestion

BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
OURS = re.compile(r"\x1b\[[0-9;]*m")
ATTACKS = [
    "\x1b]52;c;ZXZpbA==\x07",  # the clipboard
    "\x1b]0;title\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b2J",
    "\x1bP+q544e\x1b\\",
    "\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\",
    "\u202eevil\u202c",
    "a\x08\x08b\x00\x07",
    "\x1b[6n",
    "\ud800",
]
anything = st.text(st.characters(codec=None), max_size=200) | st.lists(
    st.sampled_from([*ATTACKS, "word ", "\n", "\r", "`", "**", "\t", "```\n", "| a |\n|---|\n"]), max_size=12
).map("".join)


@given(anything)
def test_nothing_that_is_cleaned_can_control_a_terminal(text: str) -> None:
    assert not BAD.search(clean(text))
    assert not BAD.search(clean_output(text))
    line = one_line(text)
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Zl", "Zp")]
    line.encode()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("one\ntwo\t three", "one two three"),
        ("\x1b[31mred\x00", "␛[31mred␀"),
        ("right \u202eto left", "right �to left"),
        ("  much   room ", "much room"),
        ("half \ud83d a pair", "half � a pair"),
    ],
)
def test_a_text_becomes_one_harmless_line(raw: str, expected: str) -> None:
    assert one_line(raw) == expected


@given(anything)
@pytest.mark.parametrize("look", ["terminal", "dark", "light", "none", "plain"])
def test_only_our_own_styles_become_codes(look: Look, text: str) -> None:
    painter = Painter(60, look)
    call = ToolCall("1", text, {"command": text, "old_text": text, "new_text": "x", "path": text})
    question = PermissionQuestion(text, text, text, (text,))
    things = [
        Prose(text),
        Text(text),
        Card(call, ToolFinished(id=1, time=0.0, call_id="1", text=text, is_error=True, exit_code=1)),
        Card(call, ToolFinished(id=1, time=0.0, call_id="1", text=text)),
        preview(question),
        *asked(question, armed=True, reason=False),
    ]
    for thing in things:
        for line in painter.lines(thing):
            assert not BAD.search(OURS.sub("", line))
            assert look != "plain" or "\x1b" not in line


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_a_person_is_asked_about_hides_nothing(attack: str) -> None:
    shown = clean(f"echo {attack}; rm -rf /")
    assert shown.startswith("echo ")
    assert shown.endswith("; rm -rf /")
    assert len(shown) == len(f"echo {attack}; rm -rf /")


def test_a_carriage_return_does_not_hide_the_first_half_of_a_command() -> None:
    assert clean("rm -rf ~\rls") == "rm -rf ~␍ls"


def test_output_of_programs_loses_its_colours_and_keeps_the_last_state_of_a_progress_bar() -> None:
    assert clean_output("\x1b[31mred\x1b[0m\r\n10%\r55%\r100%\ndone") == "red\n100%\ndone"


def test_an_open_ended_sequence_does_not_swallow_what_follows() -> None:
    assert "the rest" in clean_output("\x1b]0;never closed\nthe rest")
