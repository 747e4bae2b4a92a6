"""What holds for any log, any window and any sequence of passes and undos."""

from itertools import pairwise

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.errors import FloorError
from outlive.context.policy import POLICIES, Policy
from outlive.messages import Message, Text
from outlive.request import Request
from tests.context.story import logs
from tests.context.wire import anthropic, openai, shown

windows = st.sampled_from([2500, 4000, 8000, 20_000])
policies = st.sampled_from([*POLICIES.values(), Policy(name="eager", engage=0.3, cold=0.1, tail_tokens=300)])
modest = settings(max_examples=60)


def ask(engine: Engine, whole: list[ev.Event] | None = None) -> Request | None:
    """The next request, or nothing when the floor does not fit such a small window."""
    made: tuple[ev.Event, ...] = ()
    try:
        request = engine.next_request()
        made = request.new_events
        return request
    except FloorError as error:
        made = error.new_events
        return None
    finally:
        if whole is not None:
            whole.extend(made)


def play(engine: Engine, log: list[ev.Event], requests: list[Request] | None = None) -> list[ev.Event]:
    """Feed a log as a session would, asking before each answer; returns the log with the passes in it."""
    whole: list[ev.Event] = []
    for event in log:
        if isinstance(event, ev.AssistantSaid):
            request = ask(engine, whole)
            if request is not None and requests is not None:
                requests.append(request)
        moved = msgspec.structs.replace(event, id=len(whole) + 1)
        engine.append(moved)
        whole.append(moved)
    return whole


@modest
@given(logs(), windows, policies)
def test_every_request_is_valid_for_both_providers(log: list[ev.Event], window: int, policy: Policy) -> None:
    requests: list[Request] = []
    play(Engine(window, policy), log, requests)
    for request in requests:
        anthropic(request.messages)
        openai(request.messages)


@modest
@given(logs(), windows, policies)
def test_the_same_log_gives_the_same_request(log: list[ev.Event], window: int, policy: Policy) -> None:
    live = Engine(window, policy)
    whole = play(live, log)
    resumed = Engine(window, policy)
    resumed.extend(ev.decode(ev.encode(event)) for event in whole)
    first, second = ask(live), ask(resumed)
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


@modest
@given(logs(), windows, policies)
def test_state_directives_and_current_request_are_always_there(
    log: list[ev.Event], window: int, policy: Policy
) -> None:
    engine = Engine(window, policy)
    play(engine, log)
    request = ask(engine)
    if request is None:
        return
    text = shown(request.messages)
    for directive in engine.history.state.directives:
        assert directive.text in request.state_block
        assert directive.text in text or not engine.history.units
    said = [e for e in log if isinstance(e, ev.UserSaid)]
    if said and (last := said[-1].blocks[-1]) and isinstance(last, Text):
        assert last.text.strip() in text
    assert "<state>" in text or not request.state_block or not engine.history.units


@modest
@given(logs(), windows, policies)
def test_every_byte_that_left_comes_back_through_a_visible_handle(
    log: list[ev.Event], window: int, policy: Policy
) -> None:
    engine = Engine(window, policy)
    play(engine, log)
    request = ask(engine)
    if request is None:
        return
    text = shown(request.messages)
    for unit in engine.history.units:
        for piece in unit.pieces:
            if not piece.text.strip() or piece.kind in ("call", "thought") or piece.text in text:
                continue
            assert all(f"@h{page}" in text for page in piece.pages), (piece.kind, piece.event)
            pages = [engine.recall(f"@h{page}") for page in piece.pages]
            assert all(page.tokens <= 3000 for page in pages)
            back = "".join(part.text for page in pages for part in page.parts if part.piece.key == piece.key)
            assert back == piece.text
            assert piece.text in "".join(page.text for page in pages)


@modest
@given(logs(), windows, policies, st.text(max_size=8))
def test_a_pass_never_grows_the_view_and_a_second_one_does_nothing(
    log: list[ev.Event], window: int, policy: Policy, focus: str
) -> None:
    engine = Engine(window, policy)
    play(engine, log)
    if ask(engine) is None:
        return
    before = len(shown(engine.next_request().messages))
    if engine.compact(focus) is not None:
        assert len(shown(engine.next_request().messages)) <= before + 200  # the receipt's line in the state block
    assert engine.compact(focus) is None
    assert engine.next_request().passes == ()


@modest
@given(logs(), windows, policies)
def test_undoing_a_pass_restores_the_view_before_it(log: list[ev.Event], window: int, policy: Policy) -> None:
    engine = Engine(window, policy)
    play(engine, log)
    if ask(engine) is None:
        return
    before = list(engine.messages)
    made = engine.compact()
    if made is not None:
        engine.append(ev.Undone(id=made.id + 1, time=made.time, target=made.id))
        assert engine.messages == before


@modest
@given(logs(), windows, policies)
def test_between_passes_each_request_extends_the_one_before(log: list[ev.Event], window: int, policy: Policy) -> None:
    requests: list[Request] = []
    play(Engine(window, policy), log, requests)
    for earlier, later in pairwise(requests):
        if all(made.receipt.rungs == ("spool",) for made in later.passes):
            kept, now = flat(earlier.messages), flat(later.messages)
            assert now[: len(kept)] == kept


def flat(messages: tuple[Message, ...]) -> list[object]:
    return [block for message in messages for block in message.blocks]


@modest
@given(logs(), st.integers(1, 12), windows)
def test_going_back_forgets_what_came_after(log: list[ev.Event], stay: int, window: int) -> None:
    engine, short = Engine(window), Engine(window)
    engine.extend(log)
    short.extend(event for event in log if event.id <= stay)
    engine.append(ev.Undone(id=len(log) + 1, time=0, target=stay, what="turn"))
    assert engine.messages == short.messages or engine.history.state == short.history.state
    assert [u.event for u in engine.history.units] == [u.event for u in short.history.units]
