"""Walls of text in the user's place: what a harness put there is shortened, what is meant to be heeded stays."""

import pytest

from outlive.context.engine import Engine
from outlive.context.policy import WALL, Policy
from outlive.messages import Origin
from tests.context.story import Story, body
from tests.context.wire import shown

FILLER = "\n".join(f"- entry {n}: something that can be done with this one here" for n in range(400))
RULE = "You must never write to the folder of another entry."
LISTING = f"<system-reminder>\nWhat there is:\n{FILLER}\n{RULE}\n{FILLER}\nThe end of it.\n</system-reminder>"
SHORT = "<system-reminder>\nThe file notes.md was changed by the user.\n</system-reminder>"
GUIDE = f"# AGENTS.md instructions for /work\n\n{FILLER}\n{FILLER}"
TAGGED_GUIDE = f"<context>\nAbout this project:\n# claudeMd\n{FILLER}\n{FILLER}\n</context>"
PASTED = f"Here is all that I know:\n{FILLER}\n{FILLER}"


def folded(*words: tuple[str, Origin]) -> Engine:
    """A session in a window with room for all of it, after a pass."""
    engine, story = Engine(200_000, Policy(name="x", tail_tokens=1_000, tail=0.01)), Story()
    for text, origin in words:
        story.user(text, origin)
        story.says("I see.")
    story.user("Fix the parser.")
    for number in range(20):
        story.step(body(number, 40))
    engine.extend(story.events)
    assert engine.compact() is not None
    return engine


def test_a_wall_of_a_harness_is_shortened_though_there_is_room() -> None:
    engine = folded((LISTING, "harness"))
    text = shown(engine.next_request().messages)
    assert LISTING not in text
    assert RULE in text
    assert "What there is:" in text
    assert "The end of it." in text
    assert "[shortened; whole text: @h" in text
    wall = next(piece for unit in engine.history.units for piece in unit.pieces if piece.text == LISTING)
    assert wall.tokens > WALL
    assert "".join(engine.recall(page).text for page in wall.pages) == LISTING


@pytest.mark.parametrize(
    ("words", "origin"),
    [
        (SHORT, "harness"),
        (GUIDE, "memory"),
        (GUIDE, ""),
        (TAGGED_GUIDE, ""),
        (PASTED, "user"),
        (LISTING.upper(), "user"),
        (LISTING.upper(), "stdin"),
    ],
)
def test_what_is_short_or_a_guide_or_the_user_s_own_stays_whole(words: str, origin: Origin) -> None:
    assert words in shown(folded((words, origin), (LISTING, "harness")).next_request().messages)


def test_a_wall_that_was_just_said_is_whole_until_it_is_answered() -> None:
    story = Story()
    story.user("Fix the parser.")
    for number in range(20):
        story.step(body(number, 40))
    story.user(LISTING, "harness")
    engine = Engine(200_000, Policy(name="x", tail_tokens=1_000, tail=0.01))
    engine.extend(story.events)
    assert engine.compact() is not None
    assert LISTING in shown(engine.next_request().messages)


def test_what_does_not_fit_is_previewed_and_leaves_most_of_the_window() -> None:
    engine, story = Engine(40_000), Story()
    story.user("Read the skill.")
    story.user("\n".join(f"line {number} of a skill" for number in range(40_000)), origin="harness")
    engine.extend(story.events)
    request = engine.next_request()
    assert [made.receipt.rungs for made in request.passes] == [("spool",)]
    assert request.tokens < 0.3 * 40_000


def test_data_beside_the_user_s_words_gives_way_before_them() -> None:
    first, second = PASTED, PASTED.replace("entry", "item")
    data = GUIDE.replace("entry", "record")
    text = shown(folded((first, "user"), (second, "user"), (data, "stdin")).next_request().messages)
    assert first in text
    assert second in text
    assert data not in text
    assert "record 0:" in text
