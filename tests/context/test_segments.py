"""A digest grows by segments: what is in the provider's cache is left as it is while that pays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.log.pieces import make_piece
from outlive.context.passes.lines.name_index import NameIndex
from outlive.context.passes.lines.reuse_score import price_factor
from outlive.context.passes.plan import pays_to_merge
from outlive.context.policy import CACHE_WRITE, MERGE_REQUESTS, MOST_SEGMENTS, PRICE_FACTOR, PRIOR, RETURNS
from outlive.context.projection import passes_of
from outlive.messages import Text, ToolCall
from outlive.models.anthropic.request import request_form
from outlive.models.openai.form import request_form as chat_form
from outlive.models.openai.responses_form import responses_form
from tests.context.story import Story, body, drive, long_story

WINDOW = 60_000


def passes_on(engine: Engine, steps: int = 200) -> list[ev.Compacted]:
    made = drive(engine, long_story(steps, lines=40))
    assert len(made) > 3
    return made


def texts_of(engine: Engine) -> list[str]:
    return [segment.text for segment in engine.projection.segments]


# -- what stays


def test_a_warm_pass_writes_one_segment_and_leaves_the_others_to_the_byte() -> None:
    engine, story = Engine(WINDOW), long_story(200, lines=40)
    before: list[str] = []
    kept = 0
    for event in story.events:
        if isinstance(event, ev.AssistantSaid):
            request = engine.next_request()
            now = texts_of(engine)
            for made in request.passes:
                kept += len(made.keeps) > 0
                kept_parts = [s.text for s in engine.projection.segments if s.event in made.keeps]
                assert now[: len(kept_parts)] == before[: len(kept_parts)]
                assert now[len(kept_parts) :] == [text for text in (made.words, made.digest) if text]
            first = request.messages[0].blocks if now else ()
            assert [block.text for block in first[: len(now)] if isinstance(block, Text)] == now
            assert request.segments == len(now)
            before = now
        engine.append(replace(event, id=engine.history.last_id + 1))
    assert kept > 2


def test_what_was_changed_is_told_below_the_digest_and_not_as_the_users_words() -> None:
    engine, story = Engine(WINDOW), long_story(60, lines=40)
    edit = ToolCall("edit", "edit_file", {"path": "src/parser.py", "old_string": "a", "new_string": "b"})
    story.add(ev.AssistantSaid, blocks=(edit,))
    story.add(ev.ToolFinished, call_id="edit", text="ok")
    for number in range(30):
        story.step(body(900 + number, 40))
    drive(engine, story)
    segments = len(engine.projection.segments)
    below = [block for block in engine.next_request().messages[0].blocks[segments:] if isinstance(block, Text)]
    assert [block.origin for block in below] == ["", "user"]
    assert below[0].text.startswith(
        "[What was done until now, by the log. For reference.]\nChanged files: src/parser.py"
    )


def test_a_receipt_does_not_count_what_is_still_in_the_cache() -> None:
    made = passes_on(Engine(WINDOW))
    later = [event for event in made if event.keeps]
    assert later
    for event in later:
        assert event.receipt.cache_cost < event.receipt.after - event.receipt.kinds_after["digest"] / 3


def test_segments_do_not_become_more_and_more() -> None:
    engine = Engine(WINDOW)
    passes_on(engine, steps=1_200)
    assert 1 < passes_of(engine.projection.segments) <= MOST_SEGMENTS


def test_a_cold_pass_writes_the_whole_digest_again_and_leaves_a_smaller_tail() -> None:
    engine = Engine(WINDOW)
    passes_on(engine, steps=208)
    assert passes_of(engine.projection.segments) > 1
    (made,) = engine.next_request(now=engine.history.last_time + 10_000).passes
    assert made.receipt.reason == "cold"
    assert made.keeps == ()
    tail = sum(unit.tokens for unit in engine.history.units[engine.folded :])
    assert 0 < tail < engine.budget.tail / 2
    assert passes_of(engine.projection.segments) == 1


def test_a_pass_that_is_asked_for_writes_the_whole_digest_again() -> None:
    engine = Engine(WINDOW)
    passes_on(engine)
    made = engine.compact("helper_3000")
    assert made is not None
    assert made.keeps == ()


@pytest.mark.parametrize("last", [False, True])
def test_what_is_to_be_kept_whole_from_now_on_stands_whole_after_the_next_pass(last: bool) -> None:
    engine = Engine(WINDOW)
    passes_on(engine)
    piece = engine.history.units[engine.folded - 1 if last else 9].pieces[-1]
    assert piece.text not in "\n".join(texts_of(engine))
    number, time = engine.history.last_id + 1, engine.history.last_time
    engine.append(ev.StateChanged(id=number, time=time, preserved_refs=(piece.call_id,)))
    more = Story(clock=engine.history.last_time + 5)
    for number in range(40):
        more.step(body(700 + number, 40), tool=f"look{number}")
    made = drive(engine, more)
    assert made[0].receipt.reason == "pressure"
    assert piece.text in made[0].digest


def test_previews_leave_the_digest_as_it_is() -> None:
    engine, story = Engine(WINDOW), Story()
    passes_on(engine)
    before = passes_of(engine.projection.segments)
    story.step(*[body(900 + number, 700) for number in range(4)])
    for event in story.events:
        engine.append(replace(event, id=engine.history.last_id + 1))
    spooled = next(made for made in engine.next_request().passes if made.receipt.rungs == ("spool",))
    assert (spooled.digest, len(spooled.keeps)) == ("", before)


def test_undoing_a_pass_brings_back_the_segments_before_it() -> None:
    engine, story = Engine(WINDOW), long_story(200, lines=40)
    shown: list[tuple[ev.Compacted, list[str]]] = []
    for event in story.events:
        if isinstance(event, ev.AssistantSaid):
            before = texts_of(engine)
            shown += [(made, before) for made in engine.next_request().passes]
        engine.append(replace(event, id=engine.history.last_id + 1))
    made, before = shown[-1]
    engine.append(ev.Undone(id=engine.history.last_id + 1, time=0.0, target=made.id))
    assert texts_of(engine) == before
    first = engine.history.units[engine.folded].pieces[0]
    assert engine.history.index.folded_lines == first.first_line


# -- the log


def test_a_fresh_reader_of_the_log_shows_the_same() -> None:
    engine = Engine(WINDOW)
    passes_on(engine)
    again = Engine(WINDOW)
    again.extend(ev.decode(ev.encode(event)) for event in engine.events)
    assert again.shown() == engine.shown()
    assert texts_of(again) == texts_of(engine)


def test_a_pass_writes_its_own_segment_only() -> None:
    engine = Engine(WINDOW)
    made = passes_on(engine)[-1]
    assert made.keeps
    assert texts_of(engine)[-1] == made.digest
    assert all(text not in ev.encode(made).decode() for text in texts_of(engine)[:-1])


def test_a_pass_whose_ground_is_lost_is_not_shown_and_nothing_is_missing() -> None:
    engine = Engine(WINDOW)
    lost, *_, last = (made for made in passes_on(engine) if made.digest)
    assert last.keeps
    damaged = Engine(WINDOW)
    damaged.extend(event for event in engine.events if event.id != last.keeps[0])
    assert lost.id
    digest = "\n".join(texts_of(damaged))
    shown = "\n".join(b.text for m in damaged.shown() for b in m.blocks if isinstance(b, Text))
    assert "Please fix the parser" in shown
    unreached = [
        page
        for unit in damaged.history.units[: damaged.folded]
        if unit.kind == "step"
        for page in unit.pages
        if f"@h{page}" not in digest
    ]
    assert unreached == []


# -- the user's words


def test_a_request_that_stood_below_stands_in_the_next_segment() -> None:
    engine, story = Engine(WINDOW), long_story(200, lines=40)
    made = drive(engine, story)
    assert engine.projection.request == "Please fix the parser. Never touch vendor/ files."
    assert made[-1].request
    more = Story()
    more.user("Now write the changelog.")
    for number in range(40):
        more.step(body(500 + number, 40))
    later = drive(engine, more)
    assert later[0].keeps
    assert engine.projection.request == "Now write the changelog."
    digest = "\n".join(texts_of(engine))
    assert digest.count("Please fix the parser. Never touch vendor/ files.") == 1


# -- when it pays


@given(st.floats(1, 1e5), st.floats(0, 1))
def test_a_merge_pays_when_the_requests_after_it_save_what_it_writes(kept: float, share: float) -> None:
    live = share * kept
    left = kept + MERGE_REQUESTS * kept
    merged = CACHE_WRITE * live + MERGE_REQUESTS * live
    assert pays_to_merge(kept, live) == (merged < left) or merged == pytest.approx(left)


# -- on the wire


def test_the_end_of_the_digest_is_a_breakpoint() -> None:
    engine = Engine(WINDOW)
    passes_on(engine)
    request = replace(engine.next_request(), tools=())
    last = texts_of(engine)[-1]
    content = request_form(request)["messages"][0]["content"]
    marked = [block["text"] for block in content if "cache_control" in block]
    assert marked == [last]
    form = request_form(request)
    assert sum("cache_control" in block for m in form["messages"] for block in m["content"]) == 3
    parts = chat_form(request, breakpoints=True)["messages"][1]["content"]
    assert [part["text"] for part in parts if "prompt_cache_breakpoint" in part][-1] == last
    items = responses_form(request, breakpoints=True)["input"]
    texts = [p["text"] for item in items for p in item.get("content", ()) if "prompt_cache_breakpoint" in p]
    assert last in texts
    assert str(items).count("prompt_cache_breakpoint") == 4


# -- what a session shows about itself


@given(st.integers(0, 10_000), st.floats(0, 1e9))
def test_the_price_of_a_line_follows_what_comes_back_within_bounds(returns: int, carried: float) -> None:
    index = NameIndex()
    assert price_factor(index) == 1.0
    index.returns, index.carried = returns, carried
    low, high = PRICE_FACTOR
    assert low <= price_factor(index) <= high
    assert (price_factor(index) > 1.0) == (returns < RETURNS * carried) or returns == pytest.approx(RETURNS * carried)


def test_where_nothing_comes_back_fewer_lines_are_kept() -> None:
    engine = Engine(200_000)
    made = drive(engine, long_story(400, lines=40))
    index = engine.history.index
    assert (index.returns, index.carried > PRIOR) == (0, True)
    assert made[-1].receipt.lines_kept < max(event.receipt.lines_kept for event in made) * 0.7


def test_only_names_that_calls_bring_back_from_folded_lines_count() -> None:
    engine, story = Engine(WINDOW), long_story(40, lines=40)
    drive(engine, story)
    index = engine.history.index
    assert index.returns == 0
    for path, counted in (("value_1003", 1), ("value_1003", 0), ("value_39001", 0)):
        before = index.returns
        index.add(make_piece(9_999, 0, "call", f'read {{"path": "{path}"}}'))
        assert index.returns - before == counted, path


def test_what_is_said_about_a_name_does_not_take_the_place_of_where_it_was_seen() -> None:
    index = NameIndex()
    index.add(make_piece(1, 0, "said", "I will look for parse_header."))
    index.add(make_piece(2, 0, "result", "def parse_header(data): ..."))
    index.add(make_piece(3, 0, "said", "Found parse_header."))
    assert index.names["parse_header"].line == 1
    index.add(make_piece(4, 0, "call", "edit parse_header"))
    assert index.names["parse_header"].line == 3
