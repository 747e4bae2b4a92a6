"""A result that the model has not seen is whole in the next request, whatever has to give way, if it fits at all."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.passes.survey import floor_tokens
from outlive.context.policy import SAFE
from outlive.context.tokens import estimate
from outlive.messages import ToolResult
from outlive.request import Request
from tests.context.story import Story, body, logs, long_story
from tests.context.test_properties import ask, windows
from tests.context.wire import shown

LINE = estimate(body(1, 100)) / 100


def play(engine: Engine, story: Story) -> Request:
    """Turn by turn; the request after the last event."""
    for event in story.events:
        if isinstance(event, ev.AssistantSaid):
            engine.next_request()
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    return engine.next_request()


def newest(request: Request) -> list[str]:
    return [block.text for block in request.messages[-1].blocks if isinstance(block, ToolResult)]


def test_a_batch_of_most_of_the_window_is_shown_whole_and_older_history_gives_way() -> None:
    engine, story = Engine(30_000), long_story(30)
    lines = round(0.8 * 30_000 / LINE)
    story.step(body(77, lines))
    request = play(engine, story)
    assert newest(request) == [body(77, lines)]
    assert request.tokens <= 30_000
    assert "Never touch vendor/ files." in shown(request.messages)
    assert engine.recall(1)


def test_of_a_batch_that_cannot_fit_only_the_largest_is_previewed() -> None:
    engine, story = Engine(30_000), long_story(30)
    small = [body(80 + n, round(2_500 / LINE)) for n in range(6)]
    story.step(*small, body(99, round(30_000 / LINE)))
    request = play(engine, story)
    assert newest(request)[:6] == small
    assert "preview" in newest(request)[6]
    assert "value_99000" in newest(request)[6]
    assert request.tokens <= 30_000


def test_words_that_gave_way_to_a_batch_are_whole_again_after_the_next_pass() -> None:
    engine, story = Engine(30_000), long_story(12)
    words = "We want this: " + " ".join(f"a plain wish numbered {n}" for n in range(400))
    story.user(words)
    for number in range(12):
        story.step(body(40 + number, 60))
    story.user("Go on.")
    story.step(body(77, round(0.84 * 30_000 / LINE)))
    crowded = play(engine, story)
    assert newest(crowded) == [body(77, round(0.84 * 30_000 / LINE))]
    assert words not in shown(crowded.messages)
    story.events.clear()
    story.step(body(78, 60), said="I have read it.")
    assert words in shown(play(engine, story).messages)


@settings(max_examples=200)
@given(logs(), windows, st.lists(st.integers(1, 120), min_size=1, max_size=4))
def test_what_fits_beside_the_floor_is_never_touched(log: list[ev.Event], window: int, sizes: list[int]) -> None:
    engine = Engine(window)
    story = Story(list(log))
    story.step(*(body(500 + n, size) for n, size in enumerate(sizes)))
    for event in story.events:
        if isinstance(event, ev.AssistantSaid):
            ask(engine)
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    fits = floor_tokens(engine._ladder.given(compacted=True)) <= SAFE * engine.budget.hard
    request = ask(engine)
    if fits:
        assert request is not None
        assert newest(request) == [body(500 + n, size) for n, size in enumerate(sizes)]
