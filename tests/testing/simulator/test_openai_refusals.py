"""What the chat completions API refuses, and what it accepts."""

from typing import Any

import pytest

from outlive.testing import Simulator, say
from tests.testing.simulator.talking import FUNCTION, GPT, ask_gpt, gpt, gpt_calls, gpt_result, send

USER: dict[str, Any] = {"role": "user", "content": "hello"}


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def calling(**changes: Any) -> dict[str, Any]:
    """A request with one call, changed."""
    message = gpt_calls("c1")
    message["tool_calls"][0] |= changes
    return gpt(USER, message, gpt_result("c1"))


def formatted(schema: Any, **more: Any) -> dict[str, Any]:
    return gpt(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema, **more}})


OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CLOSED = {**OPEN, "additionalProperties": False}


def function(**changes: Any) -> dict[str, Any]:
    return gpt(tools=[{"type": "function", "function": {**FUNCTION["function"], **changes}}])


CASES: dict[str, tuple[dict[str, Any], str, str | None, str | None]] = {
    "unknown field": (gpt(top_k=3), "Unrecognized request argument supplied: top_k", None, None),
    "unknown fields": (
        gpt(top_k=3, thinking={}),
        "Unrecognized request arguments supplied: top_k, thinking",
        None,
        None,
    ),
    "no messages": (
        without(gpt(), "messages"),
        "Missing required parameter: 'messages'.",
        "messages",
        "missing_required_parameter",
    ),
    "no model": (
        without(gpt(), "model"),
        "Missing required parameter: 'model'.",
        "model",
        "missing_required_parameter",
    ),
    "empty messages": (gpt() | {"messages": []}, "Invalid 'messages': empty array.", "messages", "empty_array"),
    "bad role": (
        gpt({"role": "robot", "content": "x"}),
        "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and",
        "messages[0].role",
        "invalid_value",
    ),
    "content of null": (
        gpt({"role": "user", "content": None}),
        "Invalid value for 'content': expected a string, got null.",
        "messages.[0].content",
        None,
    ),
    "assistant without anything": (
        gpt(USER, {"role": "assistant", "content": None}),
        "Invalid value for 'content': expected a string, got null.",
        "messages.[1].content",
        None,
    ),
    "no parts": (
        gpt({"role": "user", "content": []}),
        "Invalid 'messages[0].content': empty array.",
        "messages[0].content",
        "empty_array",
    ),
    "part of a strange kind": (
        gpt({"role": "user", "content": [{"type": "tool_result"}]}),
        "Invalid value: 'tool_result'. Supported values are:",
        "messages[0].content[0].type",
        "invalid_value",
    ),
    "field of a message": (
        gpt({**USER, "cache_control": {}}),
        "Unknown parameter: 'messages[0].cache_control'.",
        "messages[0].cache_control",
        "unknown_parameter",
    ),
    "orphan": (
        gpt(USER, gpt_result("c1")),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "messages.[1].role",
        None,
    ),
    "result of another call": (
        gpt(USER, gpt_calls("c1"), gpt_result("c1"), gpt_result("c2")),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "messages.[3].role",
        None,
    ),
    "late result": (
        gpt(USER, gpt_calls("c1", "c2"), gpt_result("c1"), USER, gpt_result("c2")),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: c2",
        "messages.[3].role",
        None,
    ),
    "unanswered at the end": (
        gpt(USER, gpt_calls("c1")),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: c1",
        "messages.[2].role",
        None,
    ),
    "arguments as an object": (
        calling(function={"name": "bash", "arguments": {"command": "ls"}}),
        "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object",
        "messages[1].tool_calls[0].function.arguments",
        "invalid_type",
    ),
    "no call id": (
        calling(id=None),
        "Invalid type for 'messages[1].tool_calls[0].id': expected a string, but got null instead.",
        "messages[1].tool_calls[0].id",
        "invalid_type",
    ),
    "long call id": (
        calling(id="c" * 41),
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40",
        "messages[1].tool_calls[0].id",
        "string_above_max_length",
    ),
    "call of a strange kind": (
        calling(type="tool"),
        "Invalid value: 'tool'.",
        "messages[1].tool_calls[0].type",
        "invalid_value",
    ),
    "no calls in the list": (
        gpt(USER, {"role": "assistant", "content": "x", "tool_calls": []}),
        "Invalid 'messages[1].tool_calls': empty array.",
        "messages[1].tool_calls",
        "empty_array",
    ),
    "name of a function": (
        function(name="a.b"),
        "Invalid 'tools[0].function.name': string does not match pattern.",
        "tools[0].function.name",
        "invalid_value",
    ),
    "schema of text": (
        function(parameters={"type": "string"}),
        "Invalid schema for function 'bash': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"",
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    "schema with no such type": (
        function(parameters={"type": "object", "properties": {"a": {"type": "text"}}}),
        "Invalid schema for function 'bash': ",
        "tools[0].function.parameters",
        "invalid_function_parameters",
    ),
    "tool of a strange kind": (
        gpt(tools=[{**FUNCTION, "type": "poem"}]),
        "Invalid value: 'poem'. Supported values are: 'function', 'custom'.",
        "tools[0].type",
        "invalid_value",
    ),
    "choice of a strange kind": (
        gpt(tools=[FUNCTION], tool_choice="any"),
        "Invalid value: 'any'. Supported values are: 'none', 'auto', 'required'",
        "tool_choice",
        "invalid_value",
    ),
    "function without a name": (
        gpt({"role": "function", "content": "x"}),
        "Missing parameter 'name': messages with role 'function' must have a 'name'.",
        "messages.[0].name",
        None,
    ),
    "usage that is no yes or no": (
        gpt(stream=True, stream_options={"include_usage": 1}),
        "Invalid type for 'stream_options.include_usage': expected a boolean, but got an integer instead.",
        "stream_options.include_usage",
        "invalid_type",
    ),
    "field of a function": (
        function(input_schema={}),
        "Unknown parameter: 'tools[0].function.input_schema'.",
        "tools[0].function.input_schema",
        "unknown_parameter",
    ),
    "no tools in the list": (gpt(tools=[]), "Invalid 'tools': empty array.", "tools", "empty_array"),
    "choice without tools": (
        gpt(tool_choice="auto"),
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        "tool_choice",
        None,
    ),
    "options without a stream": (
        gpt(stream_options={"include_usage": True}),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
        None,
    ),
    "old name of the length": (
        gpt(max_tokens=100),
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens",
        "unsupported_parameter",
    ),
    "unknown format": (
        gpt(response_format={"type": "xml"}),
        "Invalid value: 'xml'. Supported values are: 'json_schema', 'json_object', 'text'.",
        "response_format.type",
        "invalid_value",
    ),
    "format without a schema": (
        gpt(response_format={"type": "json_schema", "json_schema": {"name": "a"}}),
        "Missing required parameter: 'response_format.json_schema.schema'.",
        "response_format.json_schema.schema",
        "missing_required_parameter",
    ),
    "strict format that is open": (
        formatted(OPEN, strict=True),
        "Invalid schema for response_format 'a': In context=(), 'additionalProperties' is required to be supplied",
        "response_format",
        "invalid_json_schema",
    ),
    "strict format with an optional field inside": (
        formatted(
            {**CLOSED, "properties": {"a": {"type": "array", "items": {**CLOSED, "required": []}}}}, strict=True
        ),
        "Invalid schema for response_format 'a': In context=('properties', 'a', 'items'), 'required' is required",
        "response_format",
        "invalid_json_schema",
    ),
    "strict format that is no object": (
        formatted({"type": "array", "items": {"type": "string"}}, strict=True),
        "Invalid schema for response_format 'a': schema must be a JSON Schema of 'type: \"object\"', got",
        "response_format",
        "invalid_json_schema",
    ),
    "too large an answer": (
        gpt(model="gpt-4o", max_tokens=16_385),
        "max_tokens is too large: 16385. This model supports at most 16384 completion tokens",
        "max_tokens",
        "invalid_value",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_the_words_of_the_api(sim: Simulator, name: str) -> None:
    body, words, param, code = CASES[name]
    heard = ask_gpt(sim, body)
    assert heard.status == 400
    assert heard.error["message"].startswith(words)
    assert {**heard.error, "message": ""} == {
        "message": "",
        "type": "invalid_request_error",
        "param": param,
        "code": code,
    }
    assert [refusal.message for refusal in sim.refusals] == [heard.error["message"]]
    assert sim.requests == []


ACCEPTED: dict[str, dict[str, Any]] = {
    "two users": gpt(USER, USER),
    "assistant first": gpt({"role": "assistant", "content": "hi"}, USER),
    "empty text": gpt({"role": "user", "content": ""}),
    "calls with text": gpt(USER, {**gpt_calls("c1"), "content": "I look"}, gpt_result("c1")),
    "results in any order": gpt(USER, gpt_calls("c1", "c2"), gpt_result("c2"), gpt_result("c1")),
    "arguments that are no JSON": calling(function={"name": "bash", "arguments": "{oops"}),
    "developer": gpt({"role": "developer", "content": [{"type": "text", "text": "be good"}]}, USER),
    "an image": gpt(
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]}
    ),
    "a function without parameters": gpt(
        tools=[{"type": "function", "function": {"name": "now"}}], tool_choice="auto"
    ),
    "max_tokens where it is known": gpt(model="gpt-4.1", max_tokens=10, temperature=0.5),
    "a strict format": formatted(CLOSED, strict=True),
    "a format that is not strict": formatted(OPEN),
    "JSON of any shape": gpt(response_format={"type": "json_object"}),
    "max_completion_tokens": gpt(max_completion_tokens=10, reasoning_effort="low"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_it_is_accepted(sim: Simulator, name: str) -> None:
    heard = ask_gpt(sim, ACCEPTED[name])
    assert (heard.status, sim.refusals) == (200, [])
    assert heard.body["choices"][0]["message"]["content"] == "Fine."


@pytest.mark.parametrize(
    ("headers", "words", "code"),
    [
        ({}, "You didn't provide an API key.", "missing_api_key"),
        ({"authorization": "Bearer wrong-key"}, "Incorrect API key provided: wron********.", "invalid_api_key"),
    ],
)
def test_a_missing_or_wrong_key_is_refused(sim: Simulator, headers: dict[str, str], words: str, code: str) -> None:
    heard = send(sim, "/v1/chat/completions", gpt(), headers)
    assert (heard.status, heard.error["code"]) == (401, code)
    assert heard.error["message"].startswith(words)


def test_an_unknown_model_is_not_found(sim: Simulator) -> None:
    heard = ask_gpt(sim, gpt(model="gpt-none"))
    assert (heard.status, heard.error["code"]) == (404, "model_not_found")
    assert heard.error["message"] == "The model `gpt-none` does not exist or you do not have access to it."


def test_malformed_json_is_refused(sim: Simulator) -> None:
    heard = ask_gpt(sim, b'{"model": ')
    assert (heard.status, heard.error["type"]) == (400, "invalid_request_error")


def test_a_body_that_is_too_large_is_refused() -> None:
    with Simulator(largest_body=1000) as sim:
        assert ask_gpt(sim, gpt({"role": "user", "content": "x" * 1000})).status == 413


def test_a_prompt_beyond_the_window_is_refused_with_both_figures() -> None:
    with Simulator(brain=lambda request: say("Fine."), window=1000) as sim:
        heard = ask_gpt(sim, gpt({"role": "user", "content": "x" * 3201}))
        assert heard.status == 400
        assert heard.error == {
            "message": "This model's maximum context length is 1000 tokens. However, your messages resulted in 1001 "
            "tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        }


def test_a_local_server_takes_any_key_and_any_model_it_is_given() -> None:
    from outlive.testing.simulator import SimulatedModel

    with Simulator(brain=lambda r: say("Fine."), key=None, models=[SimulatedModel("qwen3:8b", "openai")]) as sim:
        assert send(sim, "/v1/chat/completions", gpt(model="qwen3:8b", max_tokens=9), {}).status == 200
        assert ask_gpt(sim, gpt(model=GPT)).status == 404
