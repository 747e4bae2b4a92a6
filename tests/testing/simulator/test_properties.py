"""Properties of what is accepted: requests made of whole units are, and stay so when caching is asked for."""

import copy
import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlive.testing import Simulator, say
from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.models import KNOWN
from outlive.testing.simulator.seen import ReportedUsage
from outlive.testing.simulator.tokens import tokens_of
from tests.testing.simulator.talking import (
    CHAT,
    FUNCTION,
    TOOL,
    ask_claude,
    ask_gpt,
    assistant,
    claude,
    gpt,
    gpt_calls,
    gpt_result,
    result,
    use,
    user,
)

SLOW = settings(max_examples=60)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=400).filter(str.strip)


@pytest.fixture(scope="module")
def one() -> Iterator[Simulator]:
    with Simulator(brain=lambda request: say("Fine."), window=10**9, cache_minimum=1) as simulator:
        yield simulator


@st.composite
def conversations(draw: st.DrawFn) -> dict[str, Any]:
    """A request made of whole units, some of them consecutive turns of one side."""
    messages = [user(draw(WORDS))]
    for unit in range(draw(st.integers(0, 6))):
        ids = [f"t{unit}_{number}" for number in range(draw(st.integers(0, 3)))]
        said = draw(st.lists(WORDS, max_size=2 if ids else 0)) or ([] if ids else [draw(WORDS)])
        messages.append(assistant(*said, *(use(one) for one in ids)))
        results = draw(st.permutations([result(one, draw(WORDS)) for one in ids]))
        if draw(st.booleans()):
            messages += [user(one) for one in results]
        elif results:
            messages.append(user(*results))
        messages += [user(words) for words in draw(st.lists(WORDS, min_size=0 if ids else 1, max_size=2))]
    return claude(*messages, system=[{"type": "text", "text": draw(WORDS)}], tools=[TOOL])


def places(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Everything that may carry a breakpoint."""
    return [*body["tools"], *body["system"], *(block for message in body["messages"] for block in message["content"])]


@SLOW
@given(conversations(), st.data())
def test_whole_units_are_accepted_and_legal_breakpoints_change_nothing_but_the_bill(
    one: Simulator, body: dict[str, Any], data: st.DataObject
) -> None:
    plain = ask_claude(one, body)
    assert plain.status == 200, plain.body
    marked = copy.deepcopy(body)
    chosen = data.draw(st.lists(st.sampled_from(range(len(places(body)))), unique=True, max_size=4))
    for index in chosen:
        places(marked)[index]["cache_control"] = {"type": "ephemeral"}
    cached, again = ask_claude(one, marked), ask_claude(one, marked)
    assert (cached.status, again.status) == (200, 200)
    total = plain.body["usage"]["input_tokens"]
    for heard in (cached, again):
        usage = heard.body["usage"]
        kinds = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        assert sum(usage[kind] for kind in kinds) == total
        assert all(usage[kind] >= 0 for kind in kinds)
    assert again.body["usage"]["cache_creation_input_tokens"] == 0


@SLOW
@given(conversations(), st.data())
def test_taking_one_half_of_a_pair_away_is_refused(one: Simulator, body: dict[str, Any], data: st.DataObject) -> None:
    halves = [
        (message["content"], block)
        for message in body["messages"]
        for block in message["content"]
        if block["type"] in ("tool_use", "tool_result") and len(message["content"]) > 1
    ]
    if halves:
        content, block = data.draw(st.sampled_from(halves))
        content.remove(block)
        heard = ask_claude(one, body)
        assert heard.status == 400
        assert "tool_use" in heard.error["message"]


RICH_CLAUDE = claude(
    user("x", {"type": "image", "source": {"type": "base64", "data": "", "media_type": "image/png"}}),
    assistant("y", use("t1"), use("t2")),
    user(result("t1", [{"type": "text", "text": "one"}]), result("t2"), "z"),
    {"role": "system", "content": [{"type": "text", "text": "now"}], "clear_at": "next_user_message"},
    system=[{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    tools=[TOOL],
    tool_choice={"type": "auto"},
    thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    cache_control={"type": "ephemeral"},
    diagnostics={"previous_message_id": "msg_1"},
    context_management={
        "edits": [
            {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}},
            {
                "type": "clear_tool_uses_20250919",
                "trigger": {"type": "tool_uses", "value": 9},
                "exclude_tools": ["x"],
            },
        ]
    },
)
BETAS = ",".join(
    (
        "thinking-binding-controls-2026-08-01",
        "mid-conversation-system-clear-at-2026-08-21",
        "context-management-2025-06-27",
    )
)
RICH_GPT = gpt(
    {"role": "system", "content": "s"},
    {"role": "user", "content": [{"type": "text", "text": "x"}]},
    gpt_calls("c1", "c2"),
    gpt_result("c1"),
    gpt_result("c2"),
    tools=[FUNCTION],
    tool_choice="auto",
    stream=True,
    stream_options={"include_usage": True},
    max_completion_tokens=100,
)
RICH_RESPONSES: dict[str, Any] = {
    "model": "gpt-5.6-sol",
    "instructions": "s",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}", "status": "completed"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "y"}]},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "12h"}},
                {"type": "input_image", "image_url": "https://x.org/a.png", "detail": "auto"},
            ],
        },
    ],
    "tools": [{"type": "function", "name": "bash", "parameters": TOOL["input_schema"], "strict": False}],
    "tool_choice": "auto",
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "store": False,
    "max_output_tokens": 100,
}
ANYTHING = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "text", "user", [], {}, [{}], [[]]])


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list and object inside of a value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in [*value] if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from holders(value[key])


@SLOW
@given(st.sampled_from([RICH_CLAUDE, RICH_GPT, RICH_RESPONSES]), st.data())
def test_whatever_is_wrong_inside_of_a_request_is_refused_and_breaks_nothing(
    one: Simulator, rich: dict[str, Any], data: st.DataObject
) -> None:
    body = copy.deepcopy(rich)
    for _ in range(data.draw(st.integers(0, 2))):
        holder, key = data.draw(st.sampled_from([*holders(body)]))
        if data.draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(data.draw(ANYTHING))
    if rich is RICH_CLAUDE:
        heard = ask_claude(one, body, beta=BETAS)
    else:
        heard = ask_gpt(one, body, path="/v1/responses" if rich is RICH_RESPONSES else CHAT)
    assert heard.status in (200, 400, 404), heard.raw
    assert json.dumps(body) != json.dumps(rich) or heard.status == 200  # True and 1 are equal in Python, not in JSON


@given(st.integers(0, 10**9))
def test_the_count_is_the_quotient_rounded_up(characters: int) -> None:
    assert tokens_of(characters) == -(-characters * 10 // 32)


@given(WORDS, WORDS)
def test_a_signature_fits_its_own_text_only(text: str, other: str) -> None:
    signer = Signer("key")
    signature = signer.sign(text, "n1")
    assert signer.valid(text, signature)
    assert signer.valid(other, signature) is (other == text)
    assert not Signer("another").valid(text, signature)


def test_usage_adds_up() -> None:
    assert ReportedUsage(1, 2, 3, 4, 1) + ReportedUsage(10, 20, 30, 40, 10) == ReportedUsage(11, 22, 33, 44, 11)
    assert ReportedUsage(1, 2, 3, 4).prompt == 6


def test_the_models_are_ones_that_the_sdks_know() -> None:
    from anthropic.types import Model
    from openai.types import ChatModel

    listed = {name for kind in get_args(Model) for name in get_args(kind)} | {*get_args(ChatModel)}
    assert {model.name for model in KNOWN} <= listed
    assert len({model.name for model in KNOWN}) == len(KNOWN)
