"""A pass is made when it pays: not so early that it writes the cache for little, not so late that all is carried."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.passes.ladder import pays_from
from outlive.context.policy import CACHE_WRITE, RICH, Policy
from tests.context.story import Story, body, drive, long_story

WINDOW = 200_000
PLAIN = "It is what it was and it will be so on and on with nothing in it that has a name of its own.\n"
"""Not a line of it is worth keeping."""


def plain_story(steps: int, lines: int) -> Story:
    story = Story()
    story.add(ev.SessionStarted, session="s", system="You are careful.")
    story.user("Please fix the parser.")
    for _ in range(steps):
        story.step(PLAIN * lines)
    return story


# -- the arithmetic

TOKENS = st.floats(0, 1e6)


@given(TOKENS, TOKENS, TOKENS, st.floats(0.5, 100), st.floats(-1e5, 1e5))
def test_at_the_mark_a_pass_has_just_paid(
    fixed: float, arrived: float, rest: float, requests: float, beside: float
) -> None:
    """Reads and writes of one request and those after it, with a pass and without one."""
    after = fixed + arrived + rest
    size = pays_from(after, fixed, arrived, requests) + beside
    passing = fixed + CACHE_WRITE * (after - fixed) + requests * after
    going_on = (size - arrived) + CACHE_WRITE * arrived + requests * size
    assert (passing - going_on) * beside <= 1e-6 * passing


# -- what a session does


def test_a_pass_comes_long_before_a_large_window_is_full() -> None:
    made = drive(Engine(WINDOW), plain_story(120, 30))
    assert made
    assert all(event.receipt.before < WINDOW / 2 for event in made)


def test_without_it_a_pass_waits_for_the_high_water_mark() -> None:
    made = drive(Engine(WINDOW, Policy(name="x", payback=0)), plain_story(300, 30))
    assert made
    assert all(event.receipt.before > 0.85 * WINDOW for event in made)


def test_many_small_steps_are_passed_earlier_than_few_large_ones() -> None:
    """What could leave is read again with every request, and there are more of them."""

    def first(steps: int, lines: int) -> int:
        return drive(Engine(WINDOW, Policy(name="x", payback=1000)), plain_story(steps, lines))[0].receipt.before

    assert first(600, 10) < first(60, 100)


def test_passes_keep_their_distance_where_little_can_leave() -> None:
    """All of a past full of names may be kept, so that a pass frees little; the next one must not follow at once."""
    keeping = Policy(name="x", price=0.0, lines_of_past=0.9, lines=0.6, lines_tokens=90_000)
    assert 1 <= len(drive(Engine(100_000, keeping), long_story(120))) <= 12


def test_the_next_pass_is_where_it_is_said_to_be() -> None:
    engine, story = Engine(WINDOW), plain_story(120, 30)
    passes = 0
    for event in story.events:
        if isinstance(event, ev.AssistantSaid):
            expected = engine.used > engine.next_pass
            reason = engine.due()
            assert reason in ("", "pressure")
            assert expected or not reason
            passes += bool(engine.next_request().passes)
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    assert passes


def test_a_pass_that_was_taken_back_is_not_made_again_at_once() -> None:
    engine, story = Engine(WINDOW), plain_story(120, 30)
    events = iter(story.events)
    made: tuple[ev.Compacted, ...] = ()
    while not made:
        event = next(events)
        if isinstance(event, ev.AssistantSaid):
            made = engine.next_request().passes
        if not made:
            engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    engine.append(ev.Undone(id=engine.history.last_id + 1, time=made[-1].time, target=made[-1].id))
    assert not engine.due()


@pytest.mark.parametrize("lines", [10, 60])
def test_every_pass_pays(lines: int) -> None:
    """It is made on a guess of what it will leave, and the guess is good enough."""
    story = Story()
    story.user("Please fix the parser.")
    for number in range(9000 // lines):
        story.step(PLAIN * lines + body(number, lines // 10))
    made = drive(Engine(WINDOW), story)
    assert len(made) > 3
    for receipt in (event.receipt for event in made):
        in_cache = receipt.after - receipt.cache_cost
        assert receipt.before > 0.95 * pays_from(receipt.after, in_cache, 40 * lines, RICH.payback)
