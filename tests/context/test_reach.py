"""What left the view comes back, and as what it was: after damage, and when it is no text."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.errors import UnknownHandle
from outlive.context.log.history import History
from outlive.context.passes.pass_input import current_request
from outlive.context.policy import Policy
from outlive.messages import Message, Opaque, Origin, Text, ToolCall
from tests.context.story import PICTURE, Story, body, drive, long_story

EAGER = Policy(name="eager", engage=0.5)


def logged(story: Story, window: int = 20_000) -> Engine:
    engine = Engine(window, EAGER)
    drive(engine, story)
    return engine


def handles(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"@h(\d+)", text)}


@settings(max_examples=40)
@given(lost=st.sets(st.integers(min_value=3, max_value=60), max_size=4))
def test_a_handle_never_stands_for_another_text_whatever_is_lost(lost: set[int]) -> None:
    engine = logged(long_story(40, lines=30))
    whole, events = engine.history.pages, engine.events
    victims = {e.id for n, e in enumerate(events) if n in lost and isinstance(e, (ev.ToolFinished, ev.UserSaid))}
    history = History()
    for event in events:
        if event.id not in victims:
            history.append(event)
    for number in handles("".join(e.digest for e in events if isinstance(e, ev.Compacted))):
        before = {part.piece.event: part.text for part in whole.get(number).parts}
        kept = {event: text for event, text in before.items() if event not in victims}
        if kept:
            assert {part.piece.event: part.text for part in history.pages.get(number).parts} == kept
        else:
            with pytest.raises(UnknownHandle, match="is lost: the text of event"):
                history.pages.get(number)
    assert len(history.pages) >= max(handles(engine.projection.digest))


def test_numbers_that_damage_freed_are_not_given_away() -> None:
    """The last result before a pass is lost; what comes after the pass must not take its pages."""
    story = long_story(40, lines=120)
    engine = logged(story, window=40_000)
    passes = [n for n, e in enumerate(engine.events) if isinstance(e, ev.Compacted)]
    victim = next(e for e in reversed(engine.events[: passes[-1]]) if isinstance(e, ev.ToolFinished))
    lost = {page.number for page in engine.history.pages if page.parts[0].piece.event == victim.id}
    history = History()
    for event in engine.events:
        if event is not victim:
            history.append(event)
    assert lost
    assert lost.isdisjoint(page.number for page in history.pages)


def pictured(*, last: bool) -> Story:
    story = Story()
    story.add(ev.SessionStarted, session="s", system="", tools=({"name": "read"},))
    story.add(ev.UserSaid, blocks=(Text("Make it look like this."), PICTURE))
    for number in range(30):
        story.step(body(number, 40))
    if not last:
        story.user("And now something else.")
        story.step(body(99, 40))
    return story


def blocks(messages: tuple[Message, ...]) -> list[object]:
    return [block for message in messages for block in message.blocks]


def test_the_picture_of_the_current_request_stays_in_view() -> None:
    engine = logged(pictured(last=True))
    assert engine.projection.digest
    assert PICTURE in blocks(engine.next_request().messages)
    again = Engine(20_000, EAGER)
    again.extend(engine.events)
    assert again.shown() == engine.shown()


def test_an_older_picture_leaves_a_handle_that_gives_it_back() -> None:
    engine = logged(pictured(last=False))
    engine.compact()
    request = engine.next_request()
    assert PICTURE not in blocks(request.messages)
    (row,) = (row for row in engine.projection.digest.splitlines() if "picture" in row)
    (number,) = handles(row)
    assert engine.recall(number).block == PICTURE


def test_pictures_of_results_and_blocks_of_a_provider_leave_handles_too() -> None:
    story = long_story(3)
    opaque = Opaque("anthropic", {"type": "server_tool_use", "id": "x", "input": {"q": "é"}})
    story.add(ev.AssistantSaid, blocks=(opaque, ToolCall("shot", "screenshot", {})))
    story.add(ev.ToolFinished, call_id="shot", text="", images=(PICTURE,))
    for number in range(30):
        story.step(body(50 + number, 40))
    engine = logged(story)
    found = [engine.recall(number) for number in sorted(handles(engine.projection.digest)) if number > 1_000_000]
    assert [page.block for page in found] == [opaque, PICTURE]
    assert json.loads(found[0].text) == opaque.data


def test_a_request_with_an_unanswered_call_still_fits_the_window() -> None:
    """A damaged log can lose the last result; the request goes out nonetheless, and must not be too large."""
    story = long_story(30, lines=20)
    engine = Engine(20_000, Policy(name="late", engage=0.96))
    for event in story.events:
        engine.append(event)
    engine.append(ev.AssistantSaid(id=1000, time=5000.0, blocks=(ToolCall("open", "read", {}),)))
    request = engine.next_request()
    assert request.tokens <= 20_000


def test_a_reminder_behind_the_request_does_not_take_its_place() -> None:
    story = long_story(1)
    story.user("Rename the flag, everywhere.")
    story.user("<system-reminder>The todo list is empty.</system-reminder>", "harness")
    engine = Engine(20_000)
    engine.extend(story.events)
    request = current_request(reversed(engine.history.units))
    assert request is not None
    assert request.text == "Rename the flag, everywhere."


@pytest.mark.parametrize("origin", ["user", "parent"])
def test_a_request_is_the_current_one_whatever_tags_are_in_it(origin: Origin) -> None:
    story = long_story(1)
    story.user("Rename the flag, everywhere.")
    story.user("<system-reminder>Rename it back.</system-reminder>", origin)
    engine = Engine(20_000)
    engine.extend(story.events)
    request = current_request(reversed(engine.history.units))
    assert request is not None
    assert request.text == "<system-reminder>Rename it back.</system-reminder>"
