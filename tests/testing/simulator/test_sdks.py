"""Through the official SDKs: what they read is what the script says."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import openai
import pytest

from outlive.testing import Fault, Simulator, call, calls, say, think
from outlive.testing.simulator import SeenRequest, Step
from tests.testing.simulator.talking import CLAUDE, FUNCTION, GPT, TOOL, ask_claude, ask_gpt, claude, gpt

LONG = "A sentence with an ümlaut and a 🙂 in it, long enough for several events. " * 3
STEP = think("I should look.") + say(LONG) + calls([call("bash", command="ls"), call("bash", command="pwd")])


@pytest.fixture
def script() -> Iterator[Simulator]:
    with Simulator(script=[STEP, say("Done.")]) as sim:
        yield sim
        sim.verify()


def claude_of(sim: Simulator, **more: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=sim.url, api_key="test-key", **more)


def gpt_of(sim: Simulator, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{sim.url}/v1", api_key="test-key", **more)


def ask(client: anthropic.Anthropic, messages: list[Any], **more: Any) -> anthropic.types.Message:
    with client.messages.stream(model=CLAUDE, max_tokens=2000, messages=messages, tools=[TOOL], **more) as stream:
        return stream.get_final_message()


@pytest.mark.parametrize("streaming", [True, False])
def test_anthropic_reads_thinking_text_and_calls_and_gives_them_back(script: Simulator, streaming: bool) -> None:
    with claude_of(script) as client:
        messages: list[Any] = [{"role": "user", "content": "go"}]
        if streaming:
            message = ask(client, messages)
        else:
            message = client.messages.create(model=CLAUDE, max_tokens=2000, messages=messages, tools=[TOOL])
        thought, said, first, second = message.content
        assert (thought.type, said.type, first.type, second.type) == ("thinking", "text", "tool_use", "tool_use")
        assert thought.type == "thinking"
        assert thought.thinking == "I should look."
        assert said.type == "text"
        assert said.text == LONG
        assert first.type == second.type == "tool_use"
        assert (first.input, second.input) == ({"command": "ls"}, {"command": "pwd"})
        assert first.id != second.id
        assert (message.stop_reason, message.model) == ("tool_use", CLAUDE)
        results = [{"type": "tool_result", "tool_use_id": one.id, "content": "x"} for one in (first, second)]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
        last = ask(client, messages)
        assert (last.content[0].type, last.stop_reason) == ("text", "end_turn")
    assert script.refusals == []
    assert script.usage.output == message.usage.output_tokens + last.usage.output_tokens
    assert script.usage.input == message.usage.input_tokens + last.usage.input_tokens


def test_the_events_of_a_stream_are_those_of_the_api() -> None:
    with Simulator(script=[think("hm") + say("yes") + call("bash")]) as sim:
        events = ask_claude(sim, claude(stream=True)).events
    assert [name for name, _ in events] == [
        "message_start",
        *("content_block_start", "ping", "content_block_delta", "content_block_delta", "content_block_stop"),
        *("content_block_start", "content_block_delta", "content_block_stop"),
        *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
        "message_delta",
        "message_stop",
    ]
    assert all(data["type"] == name for name, data in events)
    assert events[0][1]["message"]["content"] == []
    assert events[0][1]["message"]["stop_reason"] is None
    assert events[-2][1]["delta"]["stop_reason"] == "tool_use"
    assert [data["delta"]["type"] for name, data in events if name == "content_block_delta"] == [
        *("thinking_delta", "signature_delta", "text_delta", "input_json_delta", "input_json_delta"),
    ]


@pytest.mark.parametrize("streaming", [True, False])
def test_openai_reads_text_and_calls_and_gives_them_back(script: Simulator, streaming: bool) -> None:
    with gpt_of(script) as client:
        messages: list[Any] = [{"role": "system", "content": "be good"}, {"role": "user", "content": "go"}]
        if streaming:
            with client.chat.completions.stream(
                model=GPT,
                messages=messages,
                tools=[FUNCTION],
                stream_options={"include_usage": True},
            ) as stream:
                answer: Any = stream.get_final_completion()
        else:
            answer = client.chat.completions.create(model=GPT, messages=messages, tools=[FUNCTION])
        choice = answer.choices[0]
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", LONG)
        first, second = choice.message.tool_calls
        assert [json.loads(one.function.arguments) for one in (first, second)] == [
            {"command": "ls"},
            {"command": "pwd"},
        ]
        assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
        asked = [{"id": one.id, "type": "function", "function": one.function.to_dict()} for one in (first, second)]
        for one in asked:
            one["function"] = {name: one["function"][name] for name in ("name", "arguments")}
        messages.append({"role": "assistant", "content": choice.message.content, "tool_calls": asked})
        messages += [{"role": "tool", "tool_call_id": one.id, "content": "x"} for one in (first, second)]
        last = client.chat.completions.create(model=GPT, messages=messages, tools=[FUNCTION])
        assert (last.choices[0].message.content, last.choices[0].finish_reason) == ("Done.", "stop")
    assert script.refusals == []


@pytest.mark.parametrize("asked", [True, False])
def test_openai_streams_its_usage_only_when_asked(sim: Simulator, asked: bool) -> None:
    options = {"stream_options": {"include_usage": True}} if asked else {}
    events = ask_gpt(sim, gpt(stream=True, **options)).events
    assert events[-1] == ("", "[DONE]")
    chunks = [data for _, data in events[:-1]]
    assert [bool(chunk.get("usage")) for chunk in chunks] == [False] * (len(chunks) - 1) + [asked]
    assert (chunks[-1]["choices"] == []) is asked
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"


def test_both_list_and_name_their_models(sim: Simulator) -> None:
    with claude_of(sim) as one, gpt_of(sim) as other:
        claudes = [model.id for model in one.models.list()]
        gpts = [model.id for model in other.models.list()]
        assert CLAUDE in claudes
        assert GPT in gpts
        assert not set(claudes) & set(gpts)
        assert one.models.retrieve(CLAUDE).max_input_tokens == 200_000
        assert other.models.retrieve(GPT).id == GPT
        with pytest.raises(anthropic.NotFoundError):
            one.models.retrieve(GPT)
        with pytest.raises(openai.NotFoundError):
            other.models.retrieve(CLAUDE)


def test_anthropic_counts_tokens(sim: Simulator) -> None:
    with claude_of(sim) as client:
        counted = client.messages.count_tokens(model=CLAUDE, messages=[{"role": "user", "content": "x" * 32}])
        assert counted.input_tokens == 10


def test_errors_become_the_exceptions_of_the_sdks(sim: Simulator) -> None:
    with (
        anthropic.Anthropic(base_url=sim.url, api_key="wrong") as client,
        pytest.raises(anthropic.AuthenticationError),
    ):
        client.messages.create(model=CLAUDE, max_tokens=9, messages=[{"role": "user", "content": "x"}])
    with claude_of(sim) as client, pytest.raises(anthropic.BadRequestError, match="at least one message is required"):
        client.messages.create(model=CLAUDE, max_tokens=9, messages=[])
    with openai.OpenAI(base_url=f"{sim.url}/v1", api_key="wrong") as other, pytest.raises(openai.AuthenticationError):
        other.chat.completions.create(model=GPT, messages=[{"role": "user", "content": "x"}])
    with gpt_of(sim) as other, pytest.raises(openai.BadRequestError, match="empty array") as caught:
        other.chat.completions.create(model=GPT, messages=[])
    assert caught.value.code == "empty_array"


def test_the_environment_leads_both_sdks_here(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in sim.env().items():
        monkeypatch.setenv(name, value)
    with anthropic.Anthropic() as one, openai.OpenAI() as other:
        one.messages.create(model=CLAUDE, max_tokens=9, messages=[{"role": "user", "content": "x"}])
        other.chat.completions.create(model=GPT, messages=[{"role": "user", "content": "x"}])
    assert [request.provider for request in sim.requests] == ["anthropic", "openai"]


def test_the_asynchronous_clients_work_too(sim: Simulator) -> None:
    async def both() -> tuple[Any, Any]:
        one = anthropic.AsyncAnthropic(base_url=sim.url, api_key="test-key")
        other = openai.AsyncOpenAI(base_url=f"{sim.url}/v1", api_key="test-key")
        async with one, other:
            messages: Any = [{"role": "user", "content": "x"}]
            async with one.messages.stream(model=CLAUDE, max_tokens=9, messages=messages) as stream:
                first = await stream.get_final_text()
            second = await other.chat.completions.create(model=GPT, messages=messages)
            return first, second.choices[0].message.content

    assert asyncio.run(both()) == ("Fine.", "Fine.")


def test_eight_clients_at_once_each_get_their_own_answers() -> None:
    def brain(request: SeenRequest) -> Step:
        results = request.last_results()
        turns = len(request.results())
        return (
            say(f"{request.user_words()[0]} is done")
            if turns == 5
            else call("bash", command=f"{turns} {len(results)}")
        )

    def work(name: str) -> str:
        messages: list[Any] = [{"role": "user", "content": name}]
        with claude_of(sim) as client:
            while True:
                message = ask(client.with_options(max_retries=20), messages)
                used = [block for block in message.content if block.type == "tool_use"]
                if not used:
                    return message.content[0].text  # type: ignore[union-attr]
                results = [{"type": "tool_result", "tool_use_id": one.id, "content": name} for one in used]
                messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]

    names = [f"client {number}" for number in range(8)]
    with Simulator(brain=brain) as sim:
        sim.faults.add(Fault.status(529, retry_after=0.001), when=lambda request: request.number % 7 == 0)
        with ThreadPoolExecutor(8) as pool:
            assert [*pool.map(work, names)] == [f"{name} is done" for name in names]
        assert sim.refusals == []
        assert sorted(request.number for request in sim.requests) == [*range(1, len(sim.requests) + 1)]
        answered = [request for request in sim.requests if request.usage]
        assert len(answered) == 48
        sim.verify()
