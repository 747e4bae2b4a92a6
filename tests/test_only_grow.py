"""Until a pass every request extends the one before, in the bytes that a provider gets."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from bench.context.sessions import manifest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive import events as ev
from outlive.context.engine import Engine
from outlive.context.errors import FloorError
from outlive.context.policy import POLICIES, RICH, Policy
from outlive.messages import Thinking, ToolCall
from outlive.models.anthropic.request import request_form as anthropic_form
from outlive.models.openai.form import request_form as openai_form
from outlive.models.openai.responses_form import responses_form
from outlive.replay.importers import read_recording
from outlive.replay.player import Replay
from outlive.request import Request
from tests.context.story import Story, body, logs
from tests.sample import part

RECORDINGS = [path for path, _ in manifest()]
EAGER = Policy(name="eager", engage=0.3, cold=0.1, tail_tokens=300)
Form = dict[str, Any]


def sent(request: Request) -> tuple[list[bytes], ...]:
    """What goes over the wire in each form, one text a message; cache breakpoints are no part of the prompt."""
    claude, chat, responses = anthropic_form(request), openai_form(request), responses_form(request)
    return [_bytes(claude), *_lines(claude["messages"])], _lines(chat["messages"]), _lines(responses["input"])


def _bytes(form: Form) -> bytes:
    return _plain({name: form.get(name) for name in ("system", "tools")})


def _lines(messages: list[Form]) -> list[bytes]:
    return [_plain(message) for message in messages]


def _plain(form: Form) -> bytes:
    return msgspec.json.encode(form).replace(b',"cache_control":{"type":"ephemeral"}', b"")


def assert_only_grows(requests: list[Request]) -> int:
    """How many requests extend the one before; the others came after a pass."""
    grown = 0
    wires = map(sent, requests)
    for (earlier, later), request in zip(pairwise(wires), requests[1:], strict=True):
        if any(made.receipt.rungs != ("spool",) for made in request.passes):
            continue
        grown += 1
        for before, after in zip(earlier, later, strict=True):
            assert after[: len(before)] == before
            assert len(after) > len(before)
    return grown


def play(engine: Engine, log: list[ev.Event]) -> list[Request]:
    """Ask before every answer of a log; requests that do not fit are left out with the one after them."""
    requests: list[Request] = []
    for event in log:
        if isinstance(event, ev.AssistantSaid):
            try:
                requests.append(engine.next_request())
            except FloorError:
                requests.clear()
        engine.append(msgspec.structs.replace(event, id=engine.history.last_id + 1))
    return requests


@settings(max_examples=60)
@given(logs(), st.sampled_from([2500, 8000, 20_000]), st.sampled_from([*POLICIES.values(), EAGER]))
def test_any_session_only_grows(log: list[ev.Event], window: int, policy: Policy) -> None:
    assert_only_grows(play(Engine(window, policy), log))


@pytest.mark.skipif(not RECORDINGS, reason="NO RECORDED SESSIONS: ../shared/data/trajectories is not there")
@pytest.mark.parametrize("number", part(range(len(RECORDINGS))), ids=lambda number: RECORDINGS[number].name[:24])
def test_a_recorded_session_only_grows(number: int) -> None:
    window = (50_000, 100_000, 200_000)[number % 3]
    steps = Replay(read_recording(RECORDINGS[number]), window=window, policy=RICH).steps()
    requests = [step.request for step in steps if step.request]
    assert assert_only_grows(requests) >= len(requests) * 3 // 4


def working(engine: Engine, turns: int) -> list[Request]:
    """A job with a plan, of which a step is done every ten turns."""
    story = Story()
    story.user("Never touch vendor/. Do all of it.")
    story.add(ev.DirectiveGiven, text="Never touch vendor/.")
    story.add(ev.PlanChanged, steps=tuple(ev.PlanStep(f"step {n}") for n in range(12)), current_step=1)
    for turn in range(turns):
        story.step(body(turn, 12), thought="hm")
        if turn % 10 == 9:
            story.add(ev.PlanChanged, done=(turn // 10 + 1,), current_step=turn // 10 + 2)
    return play(engine, story.events)


def told(request: Request) -> list[str]:
    blocks = (block for message in request.messages for block in message.blocks)
    return [text for block in blocks if (text := getattr(block, "text", "")).startswith("<state>")]


def test_a_state_block_enters_the_view_when_it_changes_and_stays_there() -> None:
    requests = working(Engine(200_000), 40)
    assert assert_only_grows(requests) == 39
    first, *changes = told(requests[-1])
    assert "[active] 1. step 0" in first
    assert "Never touch vendor/." in first
    assert changes == [
        f"<state>\nChanged since the state block above; the rest of it holds:\nPlan:\n"
        f"[done] {done}. step {done - 1}\n[active] {done + 1}. step {done}\n</state>"
        for done in (1, 2, 3)
    ]


def test_after_a_pass_one_whole_block_is_left() -> None:
    engine = Engine(30_000, EAGER)
    requests = working(engine, 100)
    passed = [request for request in requests if request.passes]
    assert passed
    for request in passed:
        (block,) = told(request)
        assert "Never touch vendor/." in block
        assert "Changed since" not in block


def test_a_block_that_is_far_is_told_again() -> None:
    engine = Engine(1_000_000, Policy(name="never", payback=0))
    story = Story()
    story.user("Do it.")
    story.add(ev.GoalSet, goal="all of it")
    for turn in range(30):
        story.step(body(turn, 60))
    blocks = told(play(engine, story.events)[-1])
    assert len(blocks) > 2
    assert blocks[1] == "<state>\nThis replaces the state blocks above.\nGoal: all of it\n</state>"
    assert blocks[2:] == blocks[1:-1]


def test_thinking_of_another_view_is_named() -> None:
    requests = working(Engine(30_000, EAGER), 100)
    for request in requests:
        own = request.messages[request.thinking_from :]
        assert any(isinstance(b, Thinking) for m in own for b in m.blocks) or request.passes or request is requests[0]
    passed = next(request for request in requests if request.passes)
    assert passed.thinking_from == len(passed.messages)


def test_a_result_that_comes_late_changes_nothing_that_was_said() -> None:
    engine, story = Engine(50_000), Story()
    story.user("Start both.")
    story.add(ev.AssistantSaid, blocks=(ToolCall("slow", "bash", {"command": "make"}),))
    story.step("quick")
    story.add(ev.ToolFinished, call_id="slow", text="all tests passed at last")
    story.step("more")
    requests = play(engine, story.events)
    assert_only_grows(requests)
    assert "a result came late: bash" in told(requests[-1])[-1]
