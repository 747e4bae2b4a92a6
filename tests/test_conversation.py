"""The context engine in somebody else's loop: messages of a provider's shape in and out."""

import json
import re
from typing import Any

import pytest

from outlive import Conversation, FloorError, UnknownHandle
from outlive.context import Engine
from outlive.context.engine import Engine as Home
from outlive.testing import Simulator, say

Form = dict[str, Any]
LINES = "\n".join(f"line {number}: value_{number}" for number in range(300))


def anthropic(number: int, text: str) -> list[Form]:
    use = {"type": "tool_use", "id": f"t{number}", "name": "read_file", "input": {"path": f"f{number}.py"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def openai(number: int, text: str) -> list[Form]:
    function = {"name": "read_file", "arguments": json.dumps({"path": f"f{number}.py"})}
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": f"t{number}", "function": function}]}
    return [called, {"role": "tool", "tool_call_id": f"t{number}", "content": text}]


def test_the_engine_has_one_home() -> None:
    assert Engine is Home


@pytest.mark.parametrize(("shape", "steps"), [("anthropic", anthropic), ("openai", openai)])
def test_a_long_conversation_stays_within_its_window_and_nothing_is_lost(shape: Any, steps: Any) -> None:
    talk = Conversation(shape, window=12_000, system="Be brief.")
    talk.add({"role": "user", "content": "Read all files. Never delete any."})
    for number in range(20):
        for message in steps(number, f"{number}\n{LINES}"):
            talk.add(message)
        request = talk.request()
        assert len(json.dumps(request)) / 3 < 12_000
    text = json.dumps(request)
    assert "Read all files. Never delete any." in text
    handles = re.findall(r"@h\d+", text)
    assert f"3\n{LINES}" in [talk.recall(handle) for handle in handles]
    with pytest.raises(UnknownHandle):
        talk.recall("@h999")


def test_messages_come_out_as_they_went_in() -> None:
    talk = Conversation("openai", tools=[{"type": "function", "function": {"name": "look", "parameters": {}}}])
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    messages: list[Form] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]},
        *openai(1, "found"),
    ]
    for message in messages:
        talk.add(message)
    request = talk.request()
    assert request["tools"][0]["function"]["name"] == "look"
    sent = request["messages"]
    assert sent[0] == messages[0]
    assert sent[1]["content"][:2] == messages[1]["content"]
    (called,) = sent[2]["tool_calls"]
    assert called["function"] == messages[2]["tool_calls"][0]["function"]
    assert sent[3]["content"] == "found"


@pytest.mark.parametrize("shape", ["anthropic", "openai"])
def test_a_provider_takes_the_requests(shape: Any) -> None:
    talk = Conversation(shape, system="Be brief.")
    talk.add({"role": "user", "content": "hello"})
    for message in (anthropic if shape == "anthropic" else openai)(1, "found"):
        talk.add(message, prompt_tokens=400)
    with Simulator(brain=lambda request: say("ok")) as sim:
        keys = sim.env()
        if shape == "anthropic":
            import anthropic as sdk

            with sdk.Anthropic(base_url=keys["ANTHROPIC_BASE_URL"], api_key=keys["ANTHROPIC_API_KEY"]) as client:
                answer: Any = client.messages.create(model="claude-sonnet-5-5", max_tokens=100, **talk.request())
            talk.add({"role": "assistant", "content": answer.model_dump()["content"]})
        else:
            import openai as other

            with other.OpenAI(base_url=keys["OPENAI_BASE_URL"], api_key=keys["OPENAI_API_KEY"]) as server:
                answer = server.chat.completions.create(model="gpt-4.1", **talk.request())
            talk.add(answer.choices[0].message.model_dump())
        assert sim.refusals == []
    assert "ok" in json.dumps(talk.request())


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("anthropic", {"role": "tool", "content": "x"}),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result"}]}),
        ("openai", {"role": "tool", "content": "x"}),
        ("openai", {"role": "owner", "content": "x"}),
        ("openai", {"role": "user", "content": [{"type": "input_audio"}]}),
        ("openai", {"role": "assistant", "tool_calls": [{"id": "1"}]}),
    ],
)
def test_what_is_not_a_message_is_refused_and_changes_nothing(shape: Any, message: Form) -> None:
    talk = Conversation(shape)
    talk.add({"role": "user", "content": "hello"})
    before = talk.request()
    with pytest.raises(ValueError, match=r"\w"):
        talk.add(message)
    assert talk.request() == before


def test_too_much_at_once_is_an_error_that_says_what_fills_the_window() -> None:
    talk = Conversation(window=2_000, system="x " * 9_000)
    talk.add({"role": "user", "content": "hello"})
    with pytest.raises(FloorError) as raised:
        talk.request()
    assert raised.value.breakdown["system"] > 2_000
    assert (raised.value.code, "larger window" in raised.value.hint) == ("floor", True)
