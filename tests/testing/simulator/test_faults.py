"""What can go wrong on purpose, as the official SDKs live through it."""

import http.client
import json
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from outlive.testing import Fault, Simulator, call, calls, say
from tests.testing.simulator.talking import (
    CLAUDE,
    FUNCTION,
    GPT,
    TOOL,
    ask_claude,
    ask_gpt,
    claude,
    gpt,
    gpt_result,
    send,
    user,
)

MESSAGES: Any = [{"role": "user", "content": "go"}]


def ask_sdk(sim: Simulator, retries: int = 0) -> anthropic.types.Message:
    with (
        anthropic.Anthropic(base_url=sim.url, api_key="test-key", max_retries=retries) as client,
        client.messages.stream(model=CLAUDE, max_tokens=900, messages=MESSAGES, tools=[TOOL]) as stream,
    ):
        return stream.get_final_message()


def ask_other_sdk(sim: Simulator, retries: int = 0) -> Any:
    with openai.OpenAI(base_url=f"{sim.url}/v1", api_key="test-key", max_retries=retries) as client:
        return client.chat.completions.create(model=GPT, messages=MESSAGES, tools=[FUNCTION])


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (401, "authentication_error"),
        (403, "permission_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_status_comes_in_the_form_of_each_provider(sim: Simulator, code: int, kind: str) -> None:
    sim.faults.add(Fault.status(code), at=(1, 2))
    heard = ask_claude(sim, claude())
    assert (heard.status, heard.error["type"]) == (code, kind)
    heard = ask_gpt(sim, gpt())
    assert (heard.status, set(heard.error)) == (code, {"message", "type", "param", "code"})
    assert ask_claude(sim, claude()).status == 200
    assert [request.fault is None for request in sim.requests] == [False, False, True]
    assert [request.usage is None for request in sim.requests] == [True, True, False]
    assert sim.refusals == []


def test_the_sdks_retry_and_honour_the_wait() -> None:
    with Simulator(script=[say("at last"), say("again")]) as sim:
        sim.faults.add(Fault.status(429, retry_after=0.01), at=1)
        sim.faults.add(Fault.status(529, retry_after=0.01, in_milliseconds=True), at=2)
        assert ask_sdk(sim, retries=2).content[0].type == "text"
        sim.faults.add(Fault.status(503, retry_after=0.01))
        assert ask_other_sdk(sim, retries=2).choices[0].message.content == "again"
        assert len(sim.requests) == 5
        sim.verify()


def test_the_wait_is_in_the_header(sim: Simulator) -> None:
    sim.faults.add(Fault.status(429, retry_after=2), at=1)
    sim.faults.add(Fault.status(429, retry_after=0.25, in_milliseconds=True), at=2)
    assert ask_claude(sim, claude()).headers["retry-after"] == "2"
    assert ask_claude(sim, claude()).headers["retry-after-ms"] == "250"


def test_a_rule_meets_the_requests_it_fits_as_often_as_it_says(sim: Simulator) -> None:
    sim.faults.add(Fault.status(500), when=lambda request: "bad" in request.text, times=2)
    said = ["good", "bad", "good", "bad", "bad"]
    assert [ask_claude(sim, claude(user(word))).status for word in said] == [200, 500, 200, 500, 200]


def test_an_invalid_request_is_refused_before_any_fault(sim: Simulator) -> None:
    sim.faults.add(Fault.status(500))
    assert ask_claude(sim, claude(nonsense=1)).status == 400
    assert ask_claude(sim, claude()).status == 500


@pytest.mark.parametrize("within_line", [True, False])
def test_a_cut_stream_ends_without_an_end_and_the_step_is_kept(within_line: bool) -> None:
    with Simulator(script=[say("a long answer " * 20)]) as sim:
        sim.faults.add(Fault.cut(4, within_line=within_line), at=(1, 2))
        with pytest.raises((anthropic.APIConnectionError, httpx2.RemoteProtocolError)):
            ask_sdk(sim)
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask_claude(sim, claude(stream=True))
        raw = caught.value.partial.decode()
        assert raw.count("\n\n") == 4
        assert raw.endswith("\n\n") is not within_line
        assert ask_sdk(sim).stop_reason == "end_turn"
        sim.verify()


def test_a_whole_answer_can_be_cut_too() -> None:
    with Simulator(script=[say("a long answer " * 20)]) as sim:
        sim.faults.add(Fault.cut(0))
        with pytest.raises(openai.APIConnectionError):
            ask_other_sdk(sim)
        assert ask_other_sdk(sim).choices[0].finish_reason == "stop"
        sim.verify()


def test_an_error_in_the_middle_of_a_stream() -> None:
    with Simulator(script=[say("a long answer " * 20)]) as sim:
        sim.faults.add(Fault.error_event(3), at=(1, 2, 3))
        events = ask_claude(sim, claude(stream=True)).events
        assert [name for name, _ in events] == ["message_start", "content_block_start", "ping", "error"]
        assert events[-1][1]["error"] == {"type": "overloaded_error", "message": "Overloaded"}
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            ask_sdk(sim)
        with (
            openai.OpenAI(base_url=f"{sim.url}/v1", api_key="test-key") as client,
            pytest.raises(openai.APIError, match="overloaded"),
        ):
            [*client.chat.completions.create(model=GPT, messages=MESSAGES, stream=True)]
        assert ask_sdk(sim).stop_reason == "end_turn"
        sim.verify()


def test_a_slow_stream_waits_before_each_event(sim: Simulator) -> None:
    sim.faults.add(Fault.slow(0.001))
    assert ask_claude(sim, claude(stream=True)).events[-1][0] == "message_stop"


def test_an_empty_answer_and_a_refusal_keep_the_step() -> None:
    with Simulator(script=[say("one"), say("two")]) as sim:
        sim.faults.add(Fault.empty(), at=(1, 4))
        sim.faults.add(Fault.refusal(), at=(2, 5))
        assert (ask_sdk(sim).content, ask_sdk(sim).stop_reason) == ([], "refusal")
        assert ask_sdk(sim).stop_reason == "end_turn"
        empty, refused, last = (ask_other_sdk(sim).choices[0] for _ in range(3))
        assert (empty.message.content, empty.finish_reason) == (None, "stop")
        assert refused.finish_reason == "content_filter"
        assert last.message.content == "two"
        sim.verify()


@pytest.mark.parametrize("streaming", [True, False])
def test_an_answer_is_cut_in_its_text(streaming: bool) -> None:
    with Simulator(script=[say("0123456789"), say("0123456789")]) as sim:
        sim.faults.add(Fault.max_tokens(4), at=(1, 2))
        heard = ask_claude(sim, claude(stream=streaming))
        if streaming:
            deltas = [data["delta"].get("text", "") for name, data in heard.events if name == "content_block_delta"]
            stops = [data["delta"]["stop_reason"] for name, data in heard.events if name == "message_delta"]
            assert ("".join(deltas), stops) == ("0123", ["max_tokens"])
        else:
            assert (heard.body["content"][0]["text"], heard.body["stop_reason"]) == ("0123", "max_tokens")
        choice = ask_gpt(sim, gpt()).body["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("0123", "length")
        sim.verify()


def test_an_answer_is_cut_in_the_json_of_a_call() -> None:
    with Simulator(script=[call("bash", command="echo hello"), call("bash", command="echo hello")]) as sim:
        sim.faults.add(Fault.max_tokens(len("bash") + 12), at=(1, 2))
        events = ask_claude(sim, claude(stream=True)).events
        deltas = [data["delta"]["partial_json"] for name, data in events if name == "content_block_delta"]
        assert "".join(deltas) == '{"command":"'
        assert events[-2][1]["delta"]["stop_reason"] == "max_tokens"
        function = ask_gpt(sim, gpt()).body["choices"][0]["message"]["tool_calls"][0]["function"]
        assert function["arguments"] == '{"command":"'


def test_an_answer_is_no_longer_than_the_request_allows() -> None:
    with Simulator(brain=lambda request: say("x" * 100)) as sim:
        body = ask_claude(sim, claude(max_tokens=10)).body
        assert (len(body["content"][0]["text"]), body["stop_reason"]) == (32, "max_tokens")
        assert body["usage"]["output_tokens"] == 10
        choice = ask_gpt(sim, gpt(max_completion_tokens=10)).body["choices"][0]
        assert (len(choice["message"]["content"]), choice["finish_reason"]) == (32, "length")


def test_the_prompt_is_too_long_on_demand(sim: Simulator) -> None:
    sim.faults.add(Fault.too_long(213_000, 200_000), at=(1, 2))
    heard = ask_claude(sim, claude())
    assert heard.status == 400
    assert heard.error["message"] == "prompt is too long: 213000 tokens > 200000 maximum"
    heard = ask_gpt(sim, gpt())
    assert (heard.status, heard.error["code"]) == (400, "context_length_exceeded")
    assert "maximum context length is 200000 tokens" in heard.error["message"]
    assert "resulted in 213000 tokens" in heard.error["message"]


def test_sloppy_calls_of_local_models() -> None:
    step = calls([call("bash", command="ls"), call("bash", command="pwd")])
    with Simulator(script=[step] * 4) as sim:
        sim.faults.add(Fault.bad_arguments(), at=1)
        sim.faults.add(Fault.bad_arguments("{'command': 'ls'}"), at=2)
        sim.faults.add(Fault.no_call_ids(), at=3)
        sim.faults.add(Fault.call_as_text(), at=4)
        for wrong in ('{"command":"ls"', "{'command': 'ls'}"):
            message = ask_gpt(sim, gpt()).body["choices"][0]["message"]
            assert message["tool_calls"][0]["function"]["arguments"] == wrong
            with pytest.raises(ValueError, match=r"Expecting|delimiter"):
                json.loads(wrong)
        message = ask_other_sdk(sim).choices[0].message
        assert [one.function.arguments for one in message.tool_calls] == ['{"command":"ls"}', '{"command":"pwd"}']
        assert [getattr(one, "id", None) for one in message.tool_calls] == [None, None]
        choice = ask_gpt(sim, gpt()).body["choices"][0]
        assert choice["finish_reason"] == "stop"
        assert "tool_calls" not in choice["message"]
        assert '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}' in choice["message"]["content"]
        sim.verify()


def test_a_fault_of_the_other_provider_is_reported() -> None:
    with Simulator(brain=lambda request: call("bash")) as sim:
        sim.faults.add(Fault.bad_arguments())
        assert ask_claude(sim, claude()).status == 200
        with pytest.raises(AssertionError, match=r"'bad arguments' is OpenAI's, and met request 1 of anthropic"):
            sim.verify()


def test_what_a_call_without_id_leads_to_is_judged_as_strictly(sim: Simulator) -> None:
    sent = {
        "role": "assistant",
        "tool_calls": [{"type": "function", "function": {"name": "bash", "arguments": "{}"}}],
    }
    heard = ask_gpt(sim, gpt({"role": "user", "content": "x"}, sent, gpt_result("c1")))
    assert heard.error["message"] == "Missing required parameter: 'messages[1].tool_calls[0].id'."


def test_other_paths_do_not_count_as_requests(sim: Simulator) -> None:
    sim.faults.add(Fault.status(500), at=1)
    assert send(sim, "/v1/models", b"", {"authorization": "Bearer test-key"}, "GET").status == 200
    assert ask_claude(sim, claude()).status == 500
